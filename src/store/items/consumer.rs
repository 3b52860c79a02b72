//! The other items of a consumer (its workers, a function, the stream that it follows, cards that may be complete), and
//! which of all an item is.

use crate::domain::{
    ids::{EventId, LineUserId},
    time::Timestamp,
};

use super::{
    super::{
        keys::{self, Progress, ProgressKey},
        state::{Candidate, CandidateRole, ShardProgress},
        unreadable::Unreadable,
    },
    Fields, Item,
    attributes::Writer,
    handed_out::{batch_facts, by_and_spans},
    shard::shard,
};

/// Returns the item that says that a function is handed the records of a stream.
pub(in super::super) fn function(partition: &str, now: Timestamp) -> Item {
    Writer::progress(Progress::Function, ProgressKey::Function { partition }).text("updatedAt", now).done()
}

/// Returns the item of the stream that a consumer follows.
pub(in super::super) fn followed(consumer: &str, arn: &str, now: Timestamp) -> Item {
    Writer::progress(Progress::Followed, ProgressKey::Followed { consumer })
        .text("streamArn", arn)
        .text("updatedAt", now)
        .done()
}

/// Reads the ARN of the stream that a consumer follows.
pub(in super::super) fn followed_arn(item: &Item) -> Result<&str, Unreadable> {
    Fields::of(item).text("streamArn")
}

/// What an item of a stream's partition holds.
pub(in super::super) enum OnBoard {
    Candidate(Candidate),
    /// A function that is handed the records noted this then.
    Function(Timestamp),
    /// Of a newer version, which knows what to do with it.
    Other,
    Shard(ShardProgress),
}

/// Reads an item of a stream's partition. Only a function has batches, so they say that one runs.
pub(in super::super) fn on_board(item: &Item) -> Result<OnBoard, Unreadable> {
    let fields = Fields::of(item);
    if let Some(worker) = keys::worker_of(fields.sk()) {
        let role =
            if fields.some_text("errand")? == Some("push") { CandidateRole::Pusher } else { CandidateRole::Waiter };
        return Ok(OnBoard::Candidate(Candidate { worker, role, heartbeat: fields.number("beat")? }));
    }
    if keys::is_functions(fields.sk()) {
        return fields.parsed("updatedAt").map(OnBoard::Function);
    }
    if keys::shard_of(fields.sk()).is_some() { shard(item).map(OnBoard::Shard) } else { Ok(OnBoard::Other) }
}

/// Checks that an item of a consumer can be read, of whatever kind.
pub(in super::super) fn check(item: &Item) -> Result<(), Unreadable> {
    on_board(item)?;
    let sk = Fields::of(item).sk();
    if keys::is_followed(sk) {
        return followed_arn(item).map(drop);
    }
    let is_whole = keys::is_batch(sk) && batch_facts(item).is_some();
    let names_spans = keys::is_batch(sk) || keys::run_of(sk).is_some();
    if names_spans && !is_whole { by_and_spans(item).map(drop) } else { Ok(()) }
}

/// A card of which it can't be said yet whether it is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingCompletion {
    /// Of which event.
    pub event_id: EventId,
    /// Whose.
    pub line_user_id: LineUserId,
    /// Made anew by each write, so that what is written meanwhile isn't taken away.
    pub(in super::super) id: String,
}

impl PendingCompletion {
    pub(in super::super) fn new(event_id: &EventId, line_user_id: &LineUserId, id: String) -> Self {
        Self { event_id: event_id.clone(), line_user_id: line_user_id.clone(), id }
    }

    pub(in super::super) fn key(&self) -> ProgressKey<'_> {
        ProgressKey::Pending { event_id: &self.event_id, line_user_id: &self.line_user_id }
    }

    pub(in super::super) fn item(&self, now: Timestamp) -> Item {
        Writer::progress(Progress::Pending, self.key()).text("id", &self.id).text("updatedAt", now).done()
    }

    pub(in super::super) fn read(item: &Item) -> Result<Self, Unreadable> {
        let fields = Fields::of(item);
        let card = keys::card_of(fields.sk());
        let (event_id, line_user_id) = card.ok_or_else(|| fields.unreadable("SK", "names no event and participant"))?;
        Ok(Self { event_id, line_user_id, id: fields.text("id")?.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::text, *};

    #[test]
    fn the_stored_form_is_pinned_and_read_back() {
        let user = LineUserId::stored("U1234567890abcdef").unwrap();
        let rally: EventId = "rally".parse().unwrap();
        let at: Timestamp = "2026-05-23T10:00:00.000Z".parse().unwrap();
        let item = PendingCompletion::new(&rally, &user, "x-1".to_owned()).item(at);
        let expected = Item::from([
            ("PK".to_owned(), text("PENDING_COMPLETIONS")),
            ("SK".to_owned(), text("rally#U1234567890abcdef")),
            ("entityType".to_owned(), text("PENDING_COMPLETION")),
            ("id".to_owned(), text("x-1")),
            ("updatedAt".to_owned(), text("2026-05-23T10:00:00.000Z")),
        ]);
        assert_eq!(item, expected);
        let read = PendingCompletion { event_id: rally, line_user_id: user, id: "x-1".to_owned() };
        assert_eq!(PendingCompletion::read(&item), Ok(read));
        let foreign = Item::from([("SK".to_owned(), text("x"))]);
        assert_eq!(PendingCompletion::read(&foreign).unwrap_err().attribute, "SK");
    }
}

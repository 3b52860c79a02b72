//! A card of which it can't be said yet whether it is complete.

use crate::domain::{
    ids::{EventId, LineUserId},
    time::Timestamp,
};

use super::{
    super::{
        keys::{self, Progress, ProgressKey},
        unreadable::Unreadable,
    },
    Fields, Item,
    attributes::Writer,
};

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

//! The other items of a consumer (its workers, a function, the stream that it follows), and which of all an item is.

use crate::domain::time::Timestamp;

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

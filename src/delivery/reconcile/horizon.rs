//! Which facts' records can still be brought by the table's stream: pure.
//!
//! | the fact | its record |
//! | --- | --- |
//! | is older than the stream remembers, or than a function is handed | is gone |
//! | happened before the stream began, or the table has no stream | is not in it |
//! | anything else | may still come |
//!
//! Clocks: a fact is dated by a server, a stream by DynamoDB. A fact that a server's slow clock dates before the stream
//! may be in it after all, and one that was written while the stream was being turned on may not be. The first is sent
//! ahead of the stream, with the key and the mark that the stream's readers know, and with the attempt noted before; the
//! second is left until it is so old that its record is gone.

use std::time::Duration;

use crate::delivery::retry::RETRY_LIMIT;
use crate::domain::time::Timestamp;
use crate::store::{progress::Board, table::TableStream};

/// When a fact is older than this, its record is no longer in the stream: that keeps records for 24 hours (AWS developer
/// guide: "Change data capture for DynamoDB Streams"); the rest is for clocks that differ.
pub const FORGOTTEN: Duration = Duration::from_mins(24 * 60 + 15);

/// A function is not handed older records: `MaximumRecordAgeInSeconds` of its event source mapping, as docs/deploy.md has
/// it. One that is handed older ones all the same finds the mark, or the same key.
pub const DISCARDED: Duration = RETRY_LIMIT;

/// A shard whose progress wasn't written for so long has no reader: a live one writes several times in a lease. Clocks
/// of two machines are compared, so this is long.
const SILENT: Duration = Duration::from_mins(15);

/// Who brings the records of the table's stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// An AWS Lambda function.
    Function,
    /// The workers of `consume`, whether or not one runs.
    Workers,
}

impl Readers {
    /// Out of the progress of the stream: a function, if one noted that it runs and no worker is alive.
    #[must_use]
    pub fn of(board: &Board, now: Timestamp) -> Self {
        let is_alive = |updated_at| now.since(updated_at) < SILENT;
        let mut owned = board.shards.iter().filter(|item| item.owner.is_some() && !item.reached.finished);
        let has_worker = owned.any(|item| is_alive(item.updated_at));
        if board.function.is_some() && !has_worker { Self::Function } else { Self::Workers }
    }

    /// How old a fact's record can be when they bring it.
    fn oldest(self) -> Duration {
        match self {
            Self::Function => DISCARDED,
            Self::Workers => FORGOTTEN,
        }
    }
}

/// What became of a fact's record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordState {
    /// It may still come; from then on it is gone.
    Coming(Timestamp),
    /// It can't come any more.
    Gone,
    /// The table's stream never had it, as far as clocks agree.
    NotInStream,
}

/// What the table's stream can still bring.
#[derive(Debug, Clone, Copy)]
pub struct Horizon {
    /// Facts up to here are too old.
    gone: Timestamp,
    /// Since when the stream has records; `None`: there is no stream.
    since: Option<Timestamp>,
    oldest: Duration,
}

impl Horizon {
    /// Of a table with this stream, now. A stream that doesn't say when it began may have everything.
    #[must_use]
    pub fn of(stream: Option<&TableStream>, readers: Readers, now: Timestamp) -> Self {
        let since = stream.map(|stream| stream.began.unwrap_or(Timestamp::EPOCH));
        let oldest = readers.oldest();
        Self { gone: now.plus_millis(-millis(oldest)), since, oldest }
    }

    /// What became of the record of a fact of this time.
    #[must_use]
    pub fn record(&self, at: Timestamp) -> RecordState {
        if at <= self.gone {
            RecordState::Gone
        } else if self.since.is_none_or(|since| at < since) {
            RecordState::NotInStream
        } else {
            RecordState::Coming(at.plus_millis(millis(self.oldest)))
        }
    }

    /// Whether it is so old that its record is gone, wherever it was.
    #[must_use]
    pub fn is_gone(&self, at: Timestamp) -> bool {
        self.record(at) == RecordState::Gone
    }

    /// Whether the record may still come.
    #[must_use]
    pub fn is_coming(&self, at: Timestamp) -> bool {
        matches!(self.record(at), RecordState::Coming(_))
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::{
        progress::{ShardProgress, ShardState, WorkerId},
        stream::ShardId,
    };

    fn at(text: &str) -> Timestamp {
        format!("2026-05-{text}:00.000Z").parse().unwrap()
    }

    fn stream(began: &str) -> TableStream {
        TableStream { arn: "arn".to_owned(), began: Some(at(began)) }
    }

    #[test]
    fn a_record_is_left_to_workers_for_a_day_and_to_a_function_for_as_long_as_line_remembers_keys() {
        let (stream, now) = (stream("01T00:00"), at("24T12:00"));
        let workers = Horizon::of(Some(&stream), Readers::Workers, now);
        assert_eq!(workers.record(at("23T11:45")), RecordState::Gone);
        assert_eq!(workers.record(at("23T11:46")), RecordState::Coming(at("24T12:01")));
        let function = Horizon::of(Some(&stream), Readers::Function, now);
        assert_eq!(function.record(at("23T13:00")), RecordState::Gone);
        assert_eq!(function.record(at("23T13:01")), RecordState::Coming(at("24T12:01")));
    }

    #[test]
    fn what_happened_before_the_stream_began_or_without_one_is_not_in_it() {
        let (stream, now) = (stream("24T11:00"), at("24T12:00"));
        let horizon = Horizon::of(Some(&stream), Readers::Workers, now);
        assert_eq!(horizon.record(at("24T10:59")), RecordState::NotInStream);
        assert!(horizon.is_coming(at("24T11:00")), "a fact of the same moment may be in it");
        assert!(horizon.is_gone(at("23T11:00")), "whatever stream it was in");
        let none = Horizon::of(None, Readers::Workers, now);
        assert_eq!(none.record(at("24T12:00")), RecordState::NotInStream);
    }

    proptest! {
        /// What is left is taken from the reported moment on, and not a moment before.
        #[test]
        fn a_record_that_is_coming_is_gone_from_the_reported_moment_on(
            began in prop::option::of(0i64..200_000_000),
            fact in 0i64..200_000_000,
            now in 0i64..200_000_000,
            readers in prop::sample::select(vec![Readers::Function, Readers::Workers]),
        ) {
            let [fact, now] = [fact, now].map(|millis| at("23T00:00").plus_millis(millis));
            let began = began.map(|millis| at("23T00:00").plus_millis(millis));
            let stream = TableStream { began, ..stream("23T00:00") };
            let record = |now| Horizon::of(Some(&stream), readers, now).record(fact);
            match record(now) {
                RecordState::Coming(until) => {
                    prop_assert!(began.is_none_or(|began| fact >= began) && until > now);
                    prop_assert_eq!(record(until), RecordState::Gone);
                    prop_assert_eq!(record(until.plus_millis(-1)), RecordState::Coming(until));
                }
                RecordState::Gone => prop_assert!(now.since(fact) >= readers.oldest()),
                RecordState::NotInStream => prop_assert!(began.is_some_and(|began| fact < began)),
            }
        }
    }

    #[test]
    fn a_stream_that_does_not_say_when_it_began_may_have_everything() {
        let stream = TableStream { began: None, ..stream("24T11:00") };
        assert!(Horizon::of(Some(&stream), Readers::Workers, at("24T12:00")).is_coming(at("24T10:00")));
    }

    #[test]
    fn a_function_is_believed_unless_a_worker_is_alive() {
        let now = at("24T12:00");
        let shard = |owner: Option<&str>, finished, updated_at| ShardProgress {
            shard: ShardId::from("s".to_owned()),
            parent: None,
            owner: owner.map(|owner| WorkerId::from(owner.to_owned())),
            fencing_token: 1,
            heartbeat: 1,
            reached: ShardState { finished, ..ShardState::default() },
            updated_at,
        };
        let readers =
            |function, shards: Vec<ShardProgress>| Readers::of(&Board { shards, function, ..Board::default() }, now);
        assert_eq!(readers(None, vec![]), Readers::Workers);
        let noted = Some(at("20T12:00"));
        assert_eq!(readers(noted, vec![]), Readers::Function);
        assert_eq!(readers(noted, vec![shard(Some("w"), false, at("24T11:59"))]), Readers::Workers);
        for left in [
            shard(None, false, at("24T11:59")),
            shard(Some("w"), true, at("24T11:59")),
            shard(Some("w"), false, at("24T11:40")),
        ] {
            assert_eq!(readers(noted, vec![left]), Readers::Function);
        }
    }
}

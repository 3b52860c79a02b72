//! Every key of the consumers' table.
//!
//! | `PK` | `SK` | holds |
//! | --- | --- | --- |
//! | `CONSUMER#{name}#STREAM#{arn}` | `SHARD#{shardId}` | lease and checkpoint of one shard |
//! | the same | `WORKER#{id}` | a worker that waits for a lease, or pushes without one |
//! | the same | `BATCH#{sequence}` | a batch that a function was handed and has not finished |
//! | the same | `FUNCTION` | that a function is handed the records, not a worker |
//! | `CONSUMER#{name}` | `STREAM` | the stream that its workers follow |
//! | `CONSUMER#{name}#RECONCILE` | `RUN#{id}` | what a run of `reconcile` has in flight |
//! | `COUNTS#{eventId}` | `HOUR#{hour}#{stream arn}#{shardId}` | what one shard's records of that hour count |
//! | the same | `HOUR#{hour}#CORRECTION` | what `stats rebuild` found to be missing or too much |
//! | `PENDING_COMPLETIONS` | `{eventId}#{lineUserId}` | a card of which it can't be said yet whether it is complete |
//! | `BACKFILL#gsi2` | `PROGRESS` | how far `table backfill` came |
//! | `PUSHES#{channel}` | `{yyyy-mm}`, Tokyo's | how many of the month's pushes are reserved |

use crate::domain::{
    counts::Hour,
    ids::{ChannelName, EventId, LineUserId},
    time::Month,
};

use super::super::ids::{SequenceNumber, ShardId, WorkerId};

/// The partition of all cards of which it can't be said yet whether they are complete.
pub(in super::super) const PENDING_COMPLETIONS: &str = "PENDING_COMPLETIONS";

/// How the sort keys of a consumer's workers begin.
pub(in super::super) const WORKERS: &str = "WORKER#";

/// How the sort keys of batches begin.
pub(in super::super) const BATCHES: &str = "BATCH#";

/// How the partitions of channels' pushes begin.
const PUSHES: &str = "PUSHES#";

const FOLLOWED: &str = "STREAM";
const FUNCTION: &str = "FUNCTION";

/// Names one item of the consumers' table. `partition` is a [`reading_partition`].
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum ProgressKey<'a> {
    Backfill,
    Batch { partition: &'a str, first: &'a SequenceNumber },
    Correction { event_id: &'a EventId, hour: &'a Hour },
    Counts { event_id: &'a EventId, hour: &'a Hour, stream_arn: &'a str, shard: &'a ShardId },
    Followed { consumer: &'a str },
    Function { partition: &'a str },
    Pending { event_id: &'a EventId, line_user_id: &'a LineUserId },
    Pushes { channel: &'a ChannelName, month: Month },
    Run { consumer: &'a str, id: &'a WorkerId },
    Shard { partition: &'a str, shard: &'a ShardId },
    Worker { partition: &'a str, worker: &'a WorkerId },
}

impl ProgressKey<'_> {
    pub(in super::super) fn pk(self) -> String {
        match self {
            Self::Backfill => "BACKFILL#gsi2".to_owned(),
            Self::Batch { partition, .. }
            | Self::Function { partition }
            | Self::Shard { partition, .. }
            | Self::Worker { partition, .. } => partition.to_owned(),
            Self::Correction { event_id, .. } | Self::Counts { event_id, .. } => counts_partition(event_id),
            Self::Followed { consumer } => format!("CONSUMER#{consumer}"),
            Self::Pending { .. } => PENDING_COMPLETIONS.to_owned(),
            Self::Pushes { channel, .. } => format!("{PUSHES}{channel}"),
            Self::Run { consumer, .. } => format!("CONSUMER#{consumer}#RECONCILE"),
        }
    }

    pub(in super::super) fn sk(self) -> String {
        match self {
            Self::Backfill => "PROGRESS".to_owned(),
            Self::Batch { first, .. } => format!("{BATCHES}{first}"),
            Self::Correction { hour, .. } => format!("HOUR#{}#CORRECTION", hour.as_str()),
            Self::Counts { hour, stream_arn, shard, .. } => format!("HOUR#{}#{stream_arn}#{shard}", hour.as_str()),
            Self::Followed { .. } => FOLLOWED.to_owned(),
            Self::Function { .. } => FUNCTION.to_owned(),
            Self::Pending { event_id, line_user_id } => format!("{event_id}#{line_user_id}"),
            Self::Pushes { month, .. } => month.to_string(),
            Self::Run { id, .. } => format!("RUN#{id}"),
            Self::Shard { shard, .. } => format!("SHARD#{shard}"),
            Self::Worker { worker, .. } => format!("{WORKERS}{worker}"),
        }
    }
}

/// Returns the partition of those who read a stream for a consumer.
pub(in super::super) fn reading_partition(consumer: &str, stream_arn: &str) -> String {
    format!("{}STREAM#{stream_arn}", consumers_partitions(consumer))
}

/// Returns how all partitions of a consumer begin, but the one of the stream that it follows.
pub(in super::super) fn consumers_partitions(consumer: &str) -> String {
    format!("CONSUMER#{consumer}#")
}

pub(in super::super) fn counts_partition(event_id: &EventId) -> String {
    format!("COUNTS#{event_id}")
}

pub(in super::super) fn shard_of(sk: &str) -> Option<ShardId> {
    sk.strip_prefix("SHARD#").map(str::to_owned).map(ShardId::from)
}

pub(in super::super) fn worker_of(sk: &str) -> Option<WorkerId> {
    sk.strip_prefix(WORKERS).map(str::to_owned).map(WorkerId::from)
}

pub(in super::super) fn run_of(sk: &str) -> Option<WorkerId> {
    sk.strip_prefix("RUN#").map(str::to_owned).map(WorkerId::from)
}

pub(in super::super) fn is_batch(sk: &str) -> bool {
    sk.starts_with(BATCHES)
}

/// Returns whether a sort key names something that only a function writes.
pub(in super::super) fn is_functions(sk: &str) -> bool {
    sk == FUNCTION || is_batch(sk)
}

/// Returns whether a sort key names the stream that a consumer follows.
pub(in super::super) fn is_followed(sk: &str) -> bool {
    sk == FOLLOWED
}

pub(in super::super) fn card_of(sk: &str) -> Option<(EventId, LineUserId)> {
    let (event_id, user) = sk.split_once('#')?;
    Some((event_id.parse().ok()?, LineUserId::stored(user).ok()?))
}

/// Returns whether an item of an event's counts is of an hour. Anything else is another program's, or a newer version's.
pub(in super::super) fn is_of_an_hour(sk: &str) -> bool {
    sk.starts_with("HOUR#")
}

pub(in super::super) fn names_hour(sk: &str, hour: &Hour) -> bool {
    sk.starts_with(&format!("HOUR#{}#", hour.as_str()))
}

/// Returns whether a partition of the consumers' table is one of this program's. A newer version may keep items of other
/// kinds there.
pub(in super::super) fn is_progress_partition(pk: &str) -> bool {
    pk == PENDING_COMPLETIONS || ["BACKFILL#", "CONSUMER#", "COUNTS#", PUSHES].iter().any(|ours| pk.starts_with(ours))
}

/// What an item of the consumers' table is, as its key says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Progress {
    Backfill,
    Batch,
    Counts,
    Followed,
    Function,
    Pending,
    Pushes,
    Run,
    Shard,
    Worker,
}

impl Progress {
    /// Takes a key apart; `None` = the key of something this program doesn't know.
    pub(in super::super) fn parse(pk: &str, sk: &str) -> Option<Self> {
        let is_consumers = pk.starts_with("CONSUMER#");
        match (pk, sk.split('#').next().unwrap_or_default()) {
            (_, "SHARD") if is_consumers => Some(Self::Shard),
            (_, "WORKER") if is_consumers => Some(Self::Worker),
            (_, "BATCH") if is_consumers => Some(Self::Batch),
            (_, "RUN") if is_consumers => Some(Self::Run),
            (_, "FUNCTION") if is_consumers => Some(Self::Function),
            (_, "STREAM") if is_consumers => Some(Self::Followed),
            (pk, "HOUR") if pk.starts_with("COUNTS#") => Some(Self::Counts),
            (PENDING_COMPLETIONS, _) => Some(Self::Pending),
            ("BACKFILL#gsi2", "PROGRESS") => Some(Self::Backfill),
            (pk, month) if pk.starts_with(PUSHES) => month.parse::<Month>().ok().map(|_| Self::Pushes),
            _ => None,
        }
    }

    /// Returns the event that the key names, if it is the key of something of one event.
    pub(in super::super) fn event_of(self, pk: &str, sk: &str) -> Option<EventId> {
        match self {
            Self::Counts => pk.strip_prefix("COUNTS#")?.parse().ok(),
            Self::Pending => sk.split('#').next()?.parse().ok(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name() -> impl Strategy<Value = String> {
        "[A-Za-z0-9:/_#.-]{1,80}"
    }

    proptest! {
        #[test]
        fn a_key_of_progress_is_read_as_it_was_written(
            consumer in "[a-z]{1,20}", arn in name(), shard in name(), worker in name(), first in "[0-9]{1,40}"
        ) {
            let partition = reading_partition(&consumer, &arn);
            let partition = &*partition;
            let (shard, worker) = (&ShardId::from(shard), &WorkerId::from(worker));
            let first: &SequenceNumber = &first.parse().unwrap();
            let parsed = |key: ProgressKey<'_>| Progress::parse(&key.pk(), &key.sk());
            let shards = ProgressKey::Shard { partition, shard };
            prop_assert_eq!((parsed(shards), shard_of(&shards.sk())), (Some(Progress::Shard), Some(shard.clone())));
            let workers = ProgressKey::Worker { partition, worker };
            prop_assert_eq!((parsed(workers), worker_of(&workers.sk())), (Some(Progress::Worker), Some(worker.clone())));
            let run = ProgressKey::Run { consumer: &consumer, id: worker };
            prop_assert_eq!((parsed(run), run_of(&run.sk())), (Some(Progress::Run), Some(worker.clone())));
            prop_assert_eq!(parsed(ProgressKey::Batch { partition, first }), Some(Progress::Batch));
            prop_assert_eq!(parsed(ProgressKey::Function { partition }), Some(Progress::Function));
            prop_assert_eq!(parsed(ProgressKey::Followed { consumer: &consumer }), Some(Progress::Followed));
            prop_assert!([shards, workers, run].iter().all(|key| is_progress_partition(&key.pk())));
        }

        #[test]
        fn a_key_of_an_events_progress_names_the_event(
            event in "[A-Za-z0-9][A-Za-z0-9_-]{0,63}", user in "U[0-9a-f]{32}", arn in name(), shard in name()
        ) {
            let (event_id, line_user_id) = (&event.parse().unwrap(), &LineUserId::stored(&user).unwrap());
            let (hour, shard) = (&Hour::stored("2026-05-23T19:00+09:00"), &ShardId::from(shard));
            let counts = ProgressKey::Counts { event_id, hour, stream_arn: &arn, shard };
            for key in [counts, ProgressKey::Correction { event_id, hour }] {
                prop_assert_eq!(Progress::parse(&key.pk(), &key.sk()), Some(Progress::Counts));
                prop_assert_eq!(Progress::Counts.event_of(&key.pk(), &key.sk()), Some(event_id.clone()));
                prop_assert!(is_of_an_hour(&key.sk()) && names_hour(&key.sk(), hour));
            }
            let pending = ProgressKey::Pending { event_id, line_user_id };
            prop_assert_eq!(Progress::parse(&pending.pk(), &pending.sk()), Some(Progress::Pending));
            prop_assert_eq!(card_of(&pending.sk()), Some((event_id.clone(), line_user_id.clone())));
        }
    }

    #[test]
    fn the_key_of_a_months_pushes_is_pinned() {
        let (channel, month) = (&"main".parse().unwrap(), "2026-05".parse().unwrap());
        let key = ProgressKey::Pushes { channel, month };
        assert_eq!([key.pk(), key.sk()], ["PUSHES#main", "2026-05"]);
        assert_eq!(Progress::parse(&key.pk(), &key.sk()), Some(Progress::Pushes));
        assert!(is_progress_partition(&key.pk()));
        assert_eq!(Progress::parse("PUSHES#main", "2026"), None);
    }

    #[test]
    fn the_backfills_key_is_pinned_and_other_keys_are_not_ours() {
        let key = ProgressKey::Backfill;
        assert_eq!([key.pk(), key.sk()], ["BACKFILL#gsi2", "PROGRESS"]);
        assert_eq!(Progress::parse(&key.pk(), &key.sk()), Some(Progress::Backfill));
        for (pk, sk) in [("", ""), ("SHARD#1", "SHARD#1"), ("CONSUMER#c", "TICKET#1"), ("COUNTS#e", "DAY#1")] {
            assert_eq!(Progress::parse(pk, sk), None);
        }
        assert!(!is_progress_partition("TICKETS") && is_progress_partition("CONSUMER#c"));
    }
}

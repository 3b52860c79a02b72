//! How far each shard was read, and by whom (table `line-event-consumers`).
//!
//! One item per consumer, stream and shard; every write of it is conditional. The **fence** grows with each take-over,
//! so a worker that lost its lease can't write any more, however late it wakes up. The **beat** grows with each write
//! of the owner: observers see that it moves, and need no clock but their own.
//!
//! | PK | SK | holds |
//! | --- | --- | --- |
//! | `CONSUMER#{name}#STREAM#{arn}` | `SHARD#{shardId}` | lease and progress of one shard |
//! | the same | `WORKER#{id}` | a worker that waits for a lease, or pushes without one |
//! | the same | `BATCH#{sequence}` | a batch that a function was handed and has not finished |
//! | the same | `FUNCTION` | that a function is handed the records, not a worker |
//! | `CONSUMER#{name}` | `STREAM` | the stream that its workers follow |
//! | `CONSUMER#{name}#RECONCILE` | `RUN#{id}` | what a run of `reconcile` has under way |
//!
//! Items that can't be read: `progress/damaged.rs`.

mod batches;
mod candidates;
mod damaged;
mod followed;
mod handed_out;
pub(super) mod items;

pub use batches::{BatchFacts, BatchNote, EventFacts, NotedBatch};
pub use candidates::{Candidate, Errand};
pub use damaged::DamagedShard;
pub use followed::Followed;
pub use handed_out::{By, HandedOut, Run};

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

use aws_sdk_dynamodb::{
    operation::{transact_write_items::TransactWriteItemsError, update_item::builders::UpdateItemFluentBuilder},
    types::{AttributeValue, ReturnValuesOnConditionCheckFailure::AllOld, TransactWriteItem, Update},
};

use crate::domain::{counts::Counts, time::Timestamp};

use super::{
    Store, StoreError,
    counts::{HourOfEvent, ShardCounts},
    guard::{Guarded, gone, guarded},
    items::Item,
    stream::{ListedShard, SequenceNumber, ShardId},
};
use items::OnBoard;
pub(super) use items::check;

/// Names one run of one worker: never the same twice, so a lease of the run before is somebody else's.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkerId(String);

impl WorkerId {
    /// A new name (UUID v4).
    #[must_use]
    pub fn made() -> Self {
        Self(uuid::Uuid::new_v4().to_string())
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for WorkerId {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A stretch of times of facts, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FactSpan {
    /// The oldest.
    pub from: Timestamp,
    /// The newest.
    pub through: Timestamp,
}

impl FactSpan {
    /// Whether a fact of this time lies in it.
    #[must_use]
    pub fn contains(self, at: Timestamp) -> bool {
        self.from <= at && at <= self.through
    }

    /// The shortest one that contains both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { from: self.from.min(other.from), through: self.through.max(other.through) }
    }

    /// The shortest one that contains all of these times; `None` for no times.
    pub fn around(times: impl IntoIterator<Item = Timestamp>) -> Option<Self> {
        times.into_iter().map(|at| Self { from: at, through: at }).reduce(Self::and)
    }
}

/// How far a shard was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reached {
    /// Every record up to this one is finished; absent: none is, reading begins at the trim horizon.
    pub checkpoint: Option<SequenceNumber>,
    /// Every record of the shard is finished, and the shard is closed.
    pub finished: bool,
    /// Records whose facts happened in here may have been handed to LINE although they are not finished
    /// (`uncoveredFrom` to `handedOutThrough`). Written before they are handed out. Without `uncoveredFrom` there are
    /// none: the shard was given back with nothing under way.
    pub handed_out: Option<FactSpan>,
    /// Such spans whose records can't be read again: they were trimmed meanwhile. For `reconcile`.
    pub doubtful: Vec<FactSpan>,
}

impl Reached {
    /// Whether nothing of the shard may have been handed to LINE without being finished.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.handed_out.is_none() && self.doubtful.is_empty()
    }
}

/// The item of one shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardProgress {
    /// The shard.
    pub shard: ShardId,
    /// The shard that must be finished before. Not there, or no item of it: there is nothing to wait for.
    pub parent: Option<ShardId>,
    /// Who reads it; nobody after a graceful stop.
    pub owner: Option<WorkerId>,
    /// Grows with each take-over.
    pub fence: u64,
    /// Grows with each write of the owner.
    pub beat: u64,
    /// How far it was read.
    pub reached: Reached,
    /// When it was last written, by the writer's wall clock: for people, and to clear away what is days old.
    pub updated_at: Timestamp,
}

/// Everything known about who reads a stream, and how far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Board {
    /// The shards, by name.
    pub shards: Vec<ShardProgress>,
    /// Shards whose items can't be read: no worker takes them before they are begun anew.
    pub damaged: Vec<DamagedShard>,
    /// Workers without a shard.
    pub candidates: Vec<Candidate>,
    /// When a function that is handed the stream's records last noted that; `None`: none ever did.
    pub function: Option<Timestamp>,
}

/// The right to read a shard and to write its progress, until somebody else takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The shard.
    pub shard: ShardId,
    /// The shard before it.
    pub parent: Option<ShardId>,
    /// Who holds it.
    pub owner: WorkerId,
    /// The fence it was taken with.
    pub fence: u64,
}

/// What a write of a lease's holder came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saved {
    /// The lease is somebody else's now: nothing was written, and nothing may be done for this shard any more.
    Lost,
    /// It is written.
    Yes,
}

/// What the holder of a lease wants with it after a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// To go on.
    Keep,
    /// To give it to whoever comes.
    Release,
}

/// The progress of one consumer of one stream.
#[derive(Debug, Clone)]
pub struct Consumers {
    store: Store,
    partition: String,
    stream_arn: String,
}

impl Store {
    /// The progress of the consumer `name` (two consumers of one stream must not share a name) on a stream.
    #[must_use]
    pub fn consumers(&self, name: &str, stream_arn: &str) -> Consumers {
        Consumers {
            store: self.clone(),
            partition: format!("CONSUMER#{name}#STREAM#{stream_arn}"),
            stream_arn: stream_arn.to_owned(),
        }
    }
}

impl Consumers {
    /// Whether both are of the same consumer and stream.
    #[must_use]
    pub fn is_of_the_same_stream(&self, other: &Self) -> bool {
        self.partition == other.partition
    }

    /// Where the counts of one of its shards are.
    #[must_use]
    pub fn counts_of(&self, shard: &ShardId) -> ShardCounts {
        self.store.shard_counts(&self.stream_arn, shard)
    }

    /// Everything, consistent: one Query (a page per 1 MB, which is thousands of shards). What can't be read is reported.
    pub async fn board(&self) -> Result<Board, StoreError> {
        let mut board = Board::default();
        let mut after = None;
        loop {
            let query = self.store.client.query().table_name(&self.store.tables.consumers).consistent_read(true);
            let query = query.key_condition_expression("PK = :pk");
            let query = query.expression_attribute_values(":pk", AttributeValue::S(self.partition.clone()));
            let page = query.set_exclusive_start_key(after).send().await?;
            for item in page.items.unwrap_or_default() {
                self.read_into(&mut board, item);
            }
            after = page.last_evaluated_key;
            if after.is_none() {
                return Ok(board);
            }
        }
    }

    fn read_into(&self, board: &mut Board, item: Item) {
        match items::on_board(&item) {
            Ok(OnBoard::Candidate(candidate)) => board.candidates.push(candidate),
            Ok(OnBoard::Function(noted_at)) => board.function = board.function.max(Some(noted_at)),
            Ok(OnBoard::Other) => {}
            Ok(OnBoard::Shard(shard)) => board.shards.push(shard),
            Err(unreadable) => {
                self.store.report(&unreadable);
                let shard = items::shard_id(&item);
                board.damaged.extend(shard.map(|shard| DamagedShard { shard, seen: item }));
            }
        }
    }

    /// Makes the item of a shard that was found; one that is there stays as it is. Parents first: whoever sees a
    /// child that names a parent relies on the parent's item.
    pub async fn register(&self, shard: &ListedShard, now: Timestamp) -> Result<(), StoreError> {
        let item = items::new_shard(&self.partition, shard, now);
        let put = self.store.client.put_item().table_name(&self.store.tables.consumers).set_item(Some(item));
        guarded(put.condition_expression("attribute_not_exists(PK)").send().await).map(|_| ())
    }

    /// Takes the lease of a shard, on condition that nothing happened to it since `seen` was read: `None` if
    /// somebody was faster. An attempt of ours whose answer got lost is recognised.
    pub async fn take(
        &self,
        seen: &ShardProgress,
        worker: &WorkerId,
        now: Timestamp,
    ) -> Result<Option<ShardProgress>, StoreError> {
        let update = self
            .update(items::shard_key(&seen.shard))
            .update_expression("SET #owner = :me, fence = :next, beat = :beat, updatedAt = :now")
            .condition_expression("fence = :fence AND beat = :seen")
            .expression_attribute_names("#owner", "owner")
            .expression_attribute_values(":me", AttributeValue::S(worker.as_str().to_owned()))
            .expression_attribute_values(":next", number(seen.fence + 1))
            .expression_attribute_values(":beat", number(seen.beat.wrapping_add(1)))
            .expression_attribute_values(":fence", number(seen.fence))
            .expression_attribute_values(":seen", number(seen.beat))
            .expression_attribute_values(":now", AttributeValue::S(now.to_string()))
            .return_values_on_condition_check_failure(AllOld);
        Ok(match guarded(update.send().await)? {
            // Every write changes the beat, so the rest of the item is as it was seen.
            Guarded::Done => {
                let (owner, fence, beat) = (Some(worker.clone()), seen.fence + 1, seen.beat.wrapping_add(1));
                Some(ShardProgress { owner, fence, beat, updated_at: now, ..seen.clone() })
            }
            Guarded::Refused(found) => {
                // One that can't be read any more isn't ours: the next look at the board finds it damaged.
                let found = found.as_ref().and_then(|found| items::shard(found).ok());
                found.filter(|item| item.owner.as_ref() == Some(worker) && item.fence == seen.fence + 1)
            }
        })
    }

    /// Writes how far a shard was read; this renews the lease too. Repeating it is harmless.
    pub async fn save(
        &self,
        lease: &Lease,
        reached: &Reached,
        hold: Hold,
        now: Timestamp,
    ) -> Result<Saved, StoreError> {
        match self.save_with(lease, Written::of(lease, reached, hold, now), hold).await {
            Err(StoreError::Broken(_)) => {
                self.save_with(lease, Written::of(lease, reached, hold, now).with_a_new_beat(now), hold).await
            }
            saved => saved,
        }
    }

    async fn save_with(&self, lease: &Lease, written: Written, hold: Hold) -> Result<Saved, StoreError> {
        let Written { expression, names, values } = written;
        let update = self
            .update(items::shard_key(&lease.shard))
            .update_expression(expression)
            .condition_expression(HOLDS)
            .set_expression_attribute_names(Some(names))
            .set_expression_attribute_values(Some(values));
        Ok(match guarded(update.return_values_on_condition_check_failure(AllOld).send().await)? {
            Guarded::Done => Saved::Yes,
            Guarded::Refused(found) => refused(found.as_ref(), lease, hold),
        })
    }

    /// The same, and in the same transaction the counts of what the checkpoint has passed: absolute values, so that
    /// repeating it is as harmless. At most 99 of them (a transaction has 100 actions).
    pub async fn save_counting(
        &self,
        lease: &Lease,
        reached: &Reached,
        hold: Hold,
        now: Timestamp,
        counts: (&ShardCounts, &BTreeMap<HourOfEvent, Counts>),
    ) -> Result<Saved, StoreError> {
        match self.save_counting_with(lease, Written::of(lease, reached, hold, now), hold, counts).await {
            Err(StoreError::Broken(_)) => {
                let written = Written::of(lease, reached, hold, now).with_a_new_beat(now);
                self.save_counting_with(lease, written, hold, counts).await
            }
            saved => saved,
        }
    }

    async fn save_counting_with(
        &self,
        lease: &Lease,
        written: Written,
        hold: Hold,
        counts: (&ShardCounts, &BTreeMap<HourOfEvent, Counts>),
    ) -> Result<Saved, StoreError> {
        let Written { expression, names, values } = written;
        let update = Update::builder()
            .table_name(&self.store.tables.consumers)
            .set_key(Some(self.key(items::shard_key(&lease.shard))))
            .update_expression(expression)
            .condition_expression(HOLDS)
            .set_expression_attribute_names(Some(names))
            .set_expression_attribute_values(Some(values))
            .return_values_on_condition_check_failure(AllOld)
            .build()
            .map_err(StoreError::broken)?;
        let puts = counts.0.puts(counts.1)?.into_iter().map(|put| TransactWriteItem::builder().put(put).build());
        let actions = std::iter::once(TransactWriteItem::builder().update(update).build()).chain(puts).collect();
        let written = self.store.client.transact_write_items().set_transact_items(Some(actions)).send().await;
        let Err(failure) = written else { return Ok(Saved::Yes) };
        let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) = failure.as_service_error() else {
            return Err(failure.into());
        };
        match cancelled.cancellation_reasons().first() {
            Some(reason) if reason.code() == Some("ConditionalCheckFailed") => Ok(refused(reason.item(), lease, hold)),
            // Nothing can be added to the beat: it isn't a number.
            Some(reason) if reason.code() == Some("ValidationError") => Err(StoreError::Broken(failure.into())),
            // A conflict, a throttle: nothing was written, and it may be repeated.
            _ => Err(StoreError::Unavailable(failure.into())),
        }
    }

    /// Takes away the item of a shard that is finished and that the stream has forgotten.
    pub async fn forget_shard(&self, shard: &ShardId) -> Result<(), StoreError> {
        let delete = self.store.client.delete_item().table_name(&self.store.tables.consumers);
        let delete = delete.set_key(Some(self.key(items::shard_key(shard)))).condition_expression("finished = :yes");
        // It is not finished after all, or gone already.
        gone(delete.expression_attribute_values(":yes", AttributeValue::Bool(true)).send().await)
    }

    fn update(&self, sort: String) -> UpdateItemFluentBuilder {
        let update = self.store.client.update_item().table_name(&self.store.tables.consumers);
        update.set_key(Some(self.key(sort)))
    }

    fn key(&self, sort: String) -> HashMap<String, AttributeValue> {
        items::key(&self.partition, sort)
    }
}

/// The condition of every write of a lease's holder.
const HOLDS: &str = "#owner = :me AND fence = :fence";

/// What every write of a lease's holder does to the beat.
const NEXT_BEAT: &str = "beat = beat + :one";

/// A write of the holder, as an Update says it.
struct Written {
    expression: String,
    names: HashMap<String, String>,
    values: HashMap<String, AttributeValue>,
}

impl Written {
    /// The whole item is written, so that the owner mends what others damaged in it.
    fn of(lease: &Lease, reached: &Reached, hold: Hold, now: Timestamp) -> Self {
        let (mut set, mut removed, mut values) = items::progress(reached);
        match &lease.parent {
            Some(parent) => {
                set.push_str(", parent = :parent");
                values.insert(":parent".to_owned(), items::text(parent.as_str()));
            }
            None => removed.push("parent"),
        }
        removed.extend((hold == Hold::Release).then_some("#owner"));
        let remove = if removed.is_empty() { String::new() } else { format!(" REMOVE {}", removed.join(", ")) };
        values.extend([
            (":one".to_owned(), number(1)),
            (":me".to_owned(), items::text(lease.owner.as_str())),
            (":fence".to_owned(), number(lease.fence)),
            (":now".to_owned(), items::text(now.to_string())),
            (":shard".to_owned(), items::text(lease.shard.as_str())),
            (":type".to_owned(), items::text(items::SHARD_TYPE)),
        ]);
        Self {
            expression: format!("SET {NEXT_BEAT}, updatedAt = :now, shardId = :shard, entityType = :type{set}{remove}"),
            names: HashMap::from([("#owner".to_owned(), "owner".to_owned())]),
            values,
        }
    }

    /// The same where nothing can be added to the beat, because it is missing or isn't a number: it begins anew at the
    /// time, which is above every count of writes.
    fn with_a_new_beat(mut self, now: Timestamp) -> Self {
        self.expression = self.expression.replace(NEXT_BEAT, "beat = :one");
        self.values.insert(":one".to_owned(), number(u64::try_from(now.as_millis()).unwrap_or_default()));
        self
    }
}

/// What a refused write of a holder means.
fn refused(found: Option<&Item>, lease: &Lease, hold: Hold) -> Saved {
    // An item that can't be read is not ours any more.
    let found = found.and_then(|found| items::shard(found).ok());
    // Our own release, whose answer got lost, has taken the owner away already.
    let ours = found.is_some_and(|item| item.owner.is_none() && item.fence == lease.fence);
    if ours && hold == Hold::Release { Saved::Yes } else { Saved::Lost }
}

fn number(value: u64) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

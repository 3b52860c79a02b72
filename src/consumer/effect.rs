//! What follows from the records: the consumer is given a list of effects, and knows nothing else about them.
//!
//! An effect says which records concern it ([`Effect::job`]) and does one such job at a time for each order key
//! ([`Work::handle`]). A record is finished when every effect that it concerns has finished its job; one that concerns
//! none is finished as soon as it is read. Every job may come twice: an effect is idempotent, or knows what it has done.

use std::{sync::Arc, time::Duration};

use aws_sdk_dynamodb::types::TransactWriteItem;
use futures_util::future::{self, BoxFuture};
use tokio_util::sync::CancellationToken;

use crate::domain::{
    ids::{EventId, LineUserId},
    time::Timestamp,
};
use crate::store::{
    StoreError,
    stream::{Record, SequenceNumber, ShardId},
};

use super::{lease::Lead, lease_status::LeaseStatus, place::Place};

/// The effects of a consumer, in the order in which a record is shown to them.
pub type Effects = Arc<[Arc<dyn Effect>]>;

/// Something that follows from facts.
pub trait Effect: Send + Sync {
    /// Returns its name in logs: one word, and another one for each effect.
    fn name(&self) -> &'static str;

    /// Returns the job that a record is for this effect; `None`: the record doesn't concern it. `source` names the shard
    /// in logs.
    fn job(&self, record: &Record, source: &str) -> Option<Job>;

    /// Returns what this effect writes together with the checkpoint of a shard, if it writes anything. Called each time
    /// that reading the shard begins at a checkpoint. Without checkpoints of ours (AWS Lambda keeps its own) it isn't
    /// called at all.
    fn checkpoint_writes(&self, _stream_arn: &str, _shard: &ShardId) -> Option<Arc<dyn CheckpointWrites>> {
        None
    }

    /// Returns what one worker does for all, again and again.
    fn leader_work(&self) -> Vec<Arc<dyn LeaderWork>> {
        Vec::new()
    }

    /// Takes note of this worker's place among the live ones; called after each look at them.
    fn placed(&self, _place: &Place) {}
}

/// What a record is for one effect.
pub struct Job {
    /// Jobs of one effect with the same key are done one after the other, in the order of their records.
    pub order_key: String,
    /// The fact that it follows from.
    pub fact: FactRef,
    /// The work itself.
    pub work: Arc<dyn Work>,
}

/// A fact: whose, and when it happened. Written down before a job is handed out, so that after a crash it is known
/// which jobs were certainly not begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactRef {
    /// The event.
    pub event_id: EventId,
    /// The participant.
    pub participant: LineUserId,
    /// When it happened; when its record was made, where the fact can't be read.
    pub at: Timestamp,
}

/// The work of a job.
pub trait Work: Send + Sync {
    /// Does the work, or as much of it as may be done now. Dropped when the lease is lost.
    fn handle<'a>(&'a self, handling: &'a Handling) -> BoxFuture<'a, Progress>;
}

/// Under which circumstances a job is handled.
#[derive(Debug, Clone)]
pub struct Handling {
    /// The lease of the job's shard: nothing may be begun after its deadline.
    pub lease: LeaseStatus,
    /// Whether the job may have been handed out before: by an earlier owner of the shard, or by this one.
    pub maybe_handed_out: bool,
    /// Cancelled when the worker stops: what has begun is brought to its end, pauses are cut short.
    pub stop: CancellationToken,
}

/// What a job came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Nothing is left to do for its record.
    Finished,
    /// It comes again after the next write of the checkpoint, or to the next owner of the shard.
    Unfinished,
}

/// What an effect writes together with the checkpoint of one shard: in one transaction, so that it is written once for
/// each record however often the record is read.
pub trait CheckpointWrites: Send + Sync {
    /// Takes note of the next record.
    fn note(&self, record: &Record);

    /// Returns how far the checkpoint can move up to `checkpoint` if this effect may add at most `room` writes to it.
    fn limit(&self, checkpoint: SequenceNumber, room: usize) -> SequenceNumber;

    /// Returns the writes for the noted records up to this one. The same records are asked for again until
    /// [`CheckpointWrites::written`]. Each write must be one that may be repeated.
    fn writes<'a>(
        &'a self,
        checkpoint: &'a SequenceNumber,
    ) -> BoxFuture<'a, Result<Vec<TransactWriteItem>, StoreError>>;

    /// Takes note that the checkpoint is written, and everything up to it.
    fn written(&self, checkpoint: &SequenceNumber);
}

/// Work that one worker does for all: the one that owns the first shard.
pub trait LeaderWork: Send + Sync {
    /// Returns the time between the end of one run and the begin of the next.
    fn interval(&self) -> Duration;

    /// Returns whether it only looks: nothing is left to do because it has not run.
    fn only_looks(&self) -> bool {
        false
    }

    /// Returns the time between becoming the leader and the first run. While leadership is vacant every worker leads.
    fn delay(&self, _lead: Lead, _round: Duration) -> Duration {
        Duration::ZERO
    }

    /// Waits until there is a reason to run before the interval is over.
    fn wake(&self) -> BoxFuture<'_, ()> {
        Box::pin(future::pending())
    }

    /// Does the work once; ends early when the worker stops.
    fn run<'a>(&'a self, stop: &'a CancellationToken) -> BoxFuture<'a, ()>;

    /// Takes note that this worker doesn't lead (any more).
    fn resign(&self) {}
}

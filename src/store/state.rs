//! What is known of the consumers of the stream: values, without I/O.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{
    ids::{EventId, LineUserId},
    time::Timestamp,
};

use super::ids::{SequenceNumber, ShardId, WorkerId};

/// A stretch of times of facts, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FactSpan {
    /// The oldest.
    pub from: Timestamp,
    /// The newest.
    pub through: Timestamp,
}

impl FactSpan {
    /// Returns whether a fact of this time lies in it.
    #[must_use]
    pub fn contains(self, at: Timestamp) -> bool {
        self.from <= at && at <= self.through
    }

    /// Returns the shortest one that contains both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { from: self.from.min(other.from), through: self.through.max(other.through) }
    }

    /// Returns the shortest one that contains all of these times; `None` for no times.
    pub fn around(times: impl IntoIterator<Item = Timestamp>) -> Option<Self> {
        times.into_iter().map(|at| Self { from: at, through: at }).reduce(Self::and)
    }
}

/// How far a shard was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShardState {
    /// Every record up to this one is finished; absent: none is, reading begins at the trim horizon.
    pub checkpoint: Option<SequenceNumber>,
    /// Every record of the shard is finished, and the shard is closed.
    pub finished: bool,
    /// Records whose facts happened in here may have been handed to LINE although they are not finished
    /// (`uncoveredFrom` to `handedOutThrough`). Written before they are handed out. Without `uncoveredFrom` there are
    /// none: the shard was given back with nothing under way.
    pub handed_out: Option<FactSpan>,
    /// Such spans whose records can't be read again: they were trimmed meanwhile. For `reconcile`.
    pub maybe_sent: Vec<FactSpan>,
}

impl ShardState {
    /// Returns whether nothing of the shard may have been handed to LINE without being finished.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.handed_out.is_none() && self.maybe_sent.is_empty()
    }
}

/// The item of one shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardProgress {
    /// The shard.
    pub shard: ShardId,
    /// The shard that must be finished before. Not there, or no item of it: there is nothing to wait for.
    pub parent: Option<ShardId>,
    /// Who reads it; no worker after a graceful stop.
    pub owner: Option<WorkerId>,
    /// The fencing token: grows with each take-over.
    pub fencing_token: u64,
    /// The heartbeat: grows with each write of the owner.
    pub heartbeat: u64,
    /// How far it was read.
    pub reached: ShardState,
    /// When it was last written, by the writer's wall clock: for operators, and to clear away what is days old.
    pub updated_at: Timestamp,
}

/// The right to read a shard and to write its progress, until another worker takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The shard.
    pub shard: ShardId,
    /// The shard before it.
    pub parent: Option<ShardId>,
    /// Its owner.
    pub owner: WorkerId,
    /// The fencing token it was taken with.
    pub fencing_token: u64,
}

/// What a write of a lease's owner came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saved {
    /// The lease is another worker's now: nothing was written, and nothing may be done for this shard any more.
    LeaseLost,
    /// It is written.
    Done,
}

/// What the owner of a lease wants with it after a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterWrite {
    /// To keep it.
    Keep,
    /// To give it to any worker.
    Release,
}

/// A worker without a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Who.
    pub worker: WorkerId,
    /// What it is there for.
    pub role: CandidateRole,
    /// Grows while it lives.
    pub heartbeat: u64,
}

/// What a worker without a shard is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidateRole {
    /// It pushes without a shard (`reconcile`), and needs a share of the pushes.
    Pusher,
    /// It waits for a lease.
    Waiter,
}

/// Facts that may have been handed to LINE without being finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandedOut {
    /// Their times.
    pub span: FactSpan,
    /// By whom.
    pub by: By,
}

impl HandedOut {
    /// Facts of an event that a function was handed.
    #[must_use]
    pub fn by_function((event_id, facts): (EventId, EventFacts)) -> Self {
        let EventFacts { span, participants } = facts;
        Self { span, by: By::Function { event_id, participants } }
    }

    /// Returns whether a participant's fact of this event and time is among them.
    #[must_use]
    pub fn covers(&self, event_id: &EventId, participant: &LineUserId, at: Timestamp) -> bool {
        let may_be_theirs = match &self.by {
            By::Function { event_id: event, participants } => event == event_id && participants.contains(participant),
            By::Run(run) => run.event_id == *event_id,
            By::Stream => true,
        };
        may_be_theirs && self.span.contains(at)
    }
}

/// Who handed facts out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// A function that was handed a batch with facts of this event and of these participants.
    Function {
        /// Of which event.
        event_id: EventId,
        /// Whose.
        participants: BTreeSet<LineUserId>,
    },
    /// A run of `reconcile`.
    Run(Run),
    /// A worker that reads the stream, of whatever event and at whatever time.
    Stream,
}

/// A run of `reconcile` that has something under way, or broke off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Its name.
    pub id: WorkerId,
    /// Of which event the facts are.
    pub event_id: EventId,
    /// No push of them was made before, by this run.
    pub since: Timestamp,
}

/// The facts of a batch that may have been handed to LINE without being finished, by event.
pub type BatchFacts = BTreeMap<EventId, EventFacts>;

/// Facts of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFacts {
    /// Their times.
    pub span: FactSpan,
    /// Whose they are.
    pub participants: BTreeSet<LineUserId>,
}

impl EventFacts {
    /// Makes those of one fact.
    #[must_use]
    pub fn one(participant: LineUserId, at: Timestamp) -> Self {
        Self { span: FactSpan { from: at, through: at }, participants: BTreeSet::from([participant]) }
    }

    /// Adds all of another one.
    pub fn add(&mut self, other: Self) {
        self.span = self.span.and(other.span);
        self.participants.extend(other.participants);
    }
}

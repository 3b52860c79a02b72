//! One run of `reconcile`: how it is done, what all its parts need to know, and why it ends early.

use tokio_util::sync::CancellationToken;

use crate::consumer::LeaseStatus;
use crate::domain::{ids::EventId, mode::Mode, time::Timestamp};
use crate::store::{
    StoreError,
    progress::{Run, WorkerId},
};

use super::{
    finding::{Grounds, Migrated},
    summary::Counts,
};
use crate::delivery::Delivery;

/// How a run is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// Whether anything is done.
    pub mode: Mode,
    /// What is known of another program's notices.
    pub migrated: Migrated,
}

impl From<Mode> for Manner {
    fn from(mode: Mode) -> Self {
        Self { mode, migrated: Migrated::default() }
    }
}

/// Why there is no run, or why it broke off. It may always be run again.
#[derive(Debug, thiserror::Error)]
pub enum ReconcileError {
    /// The index of the stamps' holders is being filled: it would show only a part of them.
    #[error("the index GSI2 is still being filled: `stamp-rally table create` waits for it")]
    IndexNotReady,
    /// A table made from the source article has no index of the stamps' holders.
    #[error(
        "the table has no index GSI2, by which stamps are found: run `stamp-rally table create`, then `stamp-rally table backfill`"
    )]
    NoIndex,
    /// The event isn't there.
    #[error("event \"{0}\" does not exist")]
    NoSuchEvent(EventId),
    /// Live workers use up the pushes a second.
    #[error(
        "`delivery.pushes_per_second` is {rate}, and what else pushes ({others}) leaves nothing of it: raise it, or stop one of them meanwhile"
    )]
    NothingLeft {
        /// The setting.
        rate: u32,
        /// How many others push.
        others: usize,
    },
    /// The store did not do as asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Receives what one event has come to so far.
pub type Report<'a> = dyn Fn(&EventId, &Counts) + Sync + 'a;

/// One run.
pub(super) struct Reconciling<'a> {
    pub delivery: &'a Delivery,
    pub mode: Mode,
    /// Its name in the table of progress.
    pub me: WorkerId,
    /// When it began: later facts are not looked at.
    pub now: Timestamp,
    pub grounds: Grounds,
    /// Earlier runs that broke off, or are still at work.
    pub others: Vec<Run>,
    pub lease: LeaseStatus,
    pub stop: &'a CancellationToken,
    pub report: &'a Report<'a>,
}

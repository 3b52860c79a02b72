//! What the owner of a shard lets those know who work on its records.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

/// Until when a lease is certainly ours, and whether too much waits for it. Its clones are one.
#[derive(Debug, Clone)]
pub struct LeaseStatus(Arc<Status>);

#[derive(Debug)]
struct Status {
    /// In ms of uptime.
    deadline: AtomicU64,
    backpressure: AtomicBool,
}

impl LeaseStatus {
    /// Creates the status of a lease that is certainly ours until this uptime, on our own monotonic clock.
    #[must_use]
    pub fn until(uptime: Duration) -> Self {
        Self(Arc::new(Status { deadline: AtomicU64::new(millis(uptime)), backpressure: AtomicBool::new(false) }))
    }

    /// Creates the status of work that needs no lease.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::until(Duration::MAX)
    }

    /// Moves the deadline to this uptime.
    pub fn extend(&self, uptime: Duration) {
        self.0.deadline.store(millis(uptime), Ordering::Release);
    }

    /// Returns whether the lease is certainly ours at this uptime. If not, another worker may own the shard, and nothing
    /// may be begun for it.
    #[must_use]
    pub fn is_valid(&self, uptime: Duration) -> bool {
        millis(uptime) < self.0.deadline.load(Ordering::Acquire)
    }

    /// Returns whether so much waits that reading pauses: what waits longer holds up others.
    #[must_use]
    pub fn has_backpressure(&self) -> bool {
        self.0.backpressure.load(Ordering::Relaxed)
    }

    /// Notes that reading pauses.
    pub fn raise_backpressure(&self) {
        self.0.backpressure.store(true, Ordering::Relaxed);
    }

    /// Notes that reading continues.
    pub fn lift_backpressure(&self) {
        self.0.backpressure.store(false, Ordering::Relaxed);
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

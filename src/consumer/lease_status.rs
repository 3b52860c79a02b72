//! What the owner of a shard lets those know who work on its records.

use std::{sync::Arc, time::Duration};

use tokio::sync::watch;

/// Until when a lease is certainly ours, and whether too much waits for it. Its clones are one.
#[derive(Debug, Clone)]
pub struct LeaseStatus(Arc<watch::Sender<Status>>);

#[derive(Debug)]
struct Status {
    /// An uptime.
    deadline: Duration,
    has_backpressure: bool,
}

impl LeaseStatus {
    /// Creates the status of a lease that is certainly ours until this uptime, on our own monotonic clock.
    #[must_use]
    pub fn until(uptime: Duration) -> Self {
        Self(Arc::new(watch::Sender::new(Status { deadline: uptime, has_backpressure: false })))
    }

    /// Creates the status of work that needs no lease.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::until(Duration::MAX)
    }

    /// Moves the deadline to this uptime.
    pub fn extend(&self, uptime: Duration) {
        self.0.send_modify(|status| status.deadline = uptime);
    }

    /// Returns whether the lease is certainly ours at this uptime. If not, another worker may own the shard, and nothing
    /// may be begun for it.
    #[must_use]
    pub fn is_valid(&self, uptime: Duration) -> bool {
        uptime < self.0.borrow().deadline
    }

    /// Returns whether so much waits that reading pauses: what waits longer holds up others.
    #[must_use]
    pub fn has_backpressure(&self) -> bool {
        self.0.borrow().has_backpressure
    }

    /// Notes that reading pauses.
    pub fn raise_backpressure(&self) {
        self.0.send_modify(|status| status.has_backpressure = true);
    }

    /// Notes that reading continues.
    pub fn lift_backpressure(&self) {
        self.0.send_modify(|status| status.has_backpressure = false);
    }
}

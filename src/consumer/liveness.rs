//! Whether a worker is at work, for readiness.

use std::{sync::Arc, time::Duration};

use tokio::sync::watch;

use crate::domain::time::Timestamp;

/// When a worker last looked at the progress of all. Clones are one.
#[derive(Debug, Clone)]
pub struct Liveness {
    /// The uptime of its last look; `None`: it has not looked yet.
    last: Arc<watch::Sender<Option<Duration>>>,
    lease: Duration,
}

impl Liveness {
    /// Creates the liveness of a worker that has not looked yet.
    pub(super) fn of(lease: Duration) -> Self {
        Self { last: Arc::default(), lease }
    }

    /// Notes that the worker has looked at this uptime, which is now.
    pub(super) fn set(&self, uptime: Duration, now: Timestamp) {
        self.last.send_replace(Some(uptime));
        metrics::gauge!("stamp_rally_worker_round_timestamp_seconds").set(now.as_seconds());
    }

    /// Returns whether the worker has looked within a lease: after a longer silence its shards are another worker's.
    #[must_use]
    pub fn is_alive(&self, uptime: Duration) -> bool {
        self.last.borrow().is_some_and(|last| uptime.saturating_sub(last) <= self.lease)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_at_work_from_its_first_round_until_a_lease_after_its_last() {
        let seconds = Duration::from_secs;
        let liveness = Liveness::of(seconds(15));
        assert!(!liveness.is_alive(seconds(0)) && !liveness.is_alive(seconds(60)), "it has never looked");
        liveness.set(seconds(60), Timestamp::EPOCH);
        assert!(liveness.is_alive(seconds(60)) && liveness.is_alive(seconds(75)));
        assert!(!liveness.is_alive(seconds(76)));
        liveness.set(seconds(80), Timestamp::EPOCH);
        assert!(liveness.is_alive(seconds(90)));
    }
}

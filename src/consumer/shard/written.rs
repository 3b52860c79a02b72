//! What was written of a shard's progress, and when the next write is due.

use std::time::Duration;

use tokio::time::Instant;

use crate::store::{
    StoreError,
    progress::{AfterWrite, FactSpan, Saved, ShardState},
    stream::{SequenceNumber, ShardId},
};

use crate::consumer::window::Window;

/// The least time between two writes.
const INTERVAL: Duration = Duration::from_secs(1);

/// A write that is over.
pub(super) struct Writing {
    pub reached: ShardState,
    /// What may be handed out when it is stored; nothing if the shard was given back.
    pub span: Option<FactSpan>,
    pub after: AfterWrite,
    /// The uptime before it was sent: from then on the lease is ours for some time.
    pub began: Duration,
    pub result: Result<Saved, StoreError>,
}

pub(super) struct Written {
    pub at: Option<Instant>,
    pub failed: bool,
    pub checkpoint: Option<SequenceNumber>,
    began: Instant,
}

impl Written {
    /// Begins with what was written by the owner before.
    pub fn begin(checkpoint: Option<SequenceNumber>) -> Self {
        Self { at: None, failed: false, checkpoint, began: Instant::now() }
    }

    /// Returns whether the whole window's progress is written.
    pub fn reached_all(&self, window: &Window) -> bool {
        window.checkpoint().is_none() || self.checkpoint.as_ref() == window.checkpoint()
    }

    /// Returns when the next write is due: soon if there is news, else to renew the lease.
    pub fn due_at(&self, due: Due, round: Duration) -> Instant {
        let interval = INTERVAL.min(round.max(Duration::from_millis(50)));
        match (self.at, due) {
            (None, Due::AtOnce | Due::Soon) => self.began,
            (None, Due::ForRenewal) => self.began + round,
            (Some(at), Due::AtOnce) if !self.failed => at,
            (Some(at), Due::AtOnce | Due::Soon) => at + interval,
            (Some(at), Due::ForRenewal) => at + round,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// There is news, and whether it is written is asked.
    AtOnce,
    /// There is no news.
    ForRenewal,
    /// There is news.
    Soon,
}

/// Clears the gauges of a shard that this process reads no more: what they said last must not stay there for ever.
pub(in crate::consumer) fn report_over(shard: &ShardId) {
    for gauge in ["stamp_rally_shard_lag_seconds", "stamp_rally_shard_unfinished"] {
        metrics::gauge!(gauge, "shard" => shard.to_string()).set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consumer::lease::Times;

    fn written_at(at: Instant) -> Written {
        Written { at: Some(at), ..Written::begin(None) }
    }

    #[test]
    fn a_shard_with_news_is_written_once_a_second_at_most() {
        let (now, round) = (Instant::now(), Times::of(Duration::from_secs(15)).round);
        let written = written_at(now);
        assert_eq!(written.due_at(Due::Soon, round), now + Duration::from_secs(1));
        assert_eq!(written.due_at(Due::ForRenewal, round), now + round, "else to renew its lease");
        let failed = Written { failed: true, ..written_at(now) };
        assert_eq!(failed.due_at(Due::Soon, round), now + Duration::from_secs(1));
        assert_eq!(failed.due_at(Due::AtOnce, round), now + Duration::from_secs(1), "also if it is asked");
    }

    #[test]
    fn a_lease_of_a_second_is_renewed_in_time_all_the_same() {
        let (now, round) = (Instant::now(), Times::of(Duration::from_secs(1)).round);
        assert_eq!(written_at(now).due_at(Due::Soon, round), now + round);
    }
}

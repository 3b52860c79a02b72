//! Messages out: what the stream brings becomes pushes, and pushes become marks.
//!
//! | file | holds | I/O |
//! | --- | --- | --- |
//! | [`handler`] | one notice: pass over, push, mark, or park | store, LINE |
//! | [`retry`] | one notice until nothing more is to be done now | time |
//! | [`drain`] | what is held, when its channel goes on | store, LINE |
//! | [`reconcile`] | what the stream has forgotten | store, LINE |
//! | [`channel`], [`pace`], [`message`], [`outcome`] | a channel's health and speed, texts, names | none but waiting |
//! | [`lease`], [`shards`], [`lanes`], [`window`], [`coverage`] | who reads what, in which order, how far: state machines | none |
//! | [`called`] | what a record calls for | none |
//! | [`batch`], [`limits`] | records that somebody else has read, as AWS Lambda does, in limited time | progress, time |
//! | [`shard`], [`worker`] | the loops around them | stream, progress |
//!
//! Whatever happens may happen twice: every write is guarded, every push carries a key that LINE knows again.

pub mod batch;
pub mod called;
pub mod channel;
pub mod coverage;
pub mod drain;
pub mod handler;
pub mod lanes;
pub mod lease;
pub mod limits;
pub mod message;
pub mod outcome;
pub mod pace;
pub mod reconcile;
pub mod retry;
pub mod shard;
pub mod shards;
pub mod window;
pub mod worker;

#[cfg(test)]
mod simulation;

use std::{sync::Arc, time::Duration};

use serde::Deserialize;

use crate::domain::{
    settings::{count, millis},
    time::Timestamp,
};
use crate::line::RetryAfter;

pub use handler::{Delivery, DeliveryParts};
pub use outcome::{Outcome, Tally};
pub use worker::Worker;

/// The pace of delivery (configuration section `delivery`).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeliverySettings {
    /// Pushes a second on one channel, all workers together; LINE itself allows 2,000 requests a second.
    #[serde(deserialize_with = "count::<1, 1_000_000, _, _>")]
    pub pushes_per_second: u32,
    /// How long to wait between two reads of a shard while records come.
    #[serde(rename = "poll_interval_ms", deserialize_with = "millis::<1, 60_000, _>")]
    pub poll_interval: Duration,
    /// How many notices of one channel are worked on at once.
    #[serde(deserialize_with = "count::<1, 1024, _, _>")]
    pub concurrency: usize,
    /// Within this time the shards of a dead worker move to another one.
    #[serde(rename = "lease_ms", deserialize_with = "millis::<100, 300_000, _>")]
    pub lease: Duration,
    /// How often a paused channel is tried.
    #[serde(rename = "hold_probe_ms", deserialize_with = "millis::<100, 3_600_000, _>")]
    pub hold_probe: Duration,
}

/// How long a notice is tried again and again before it is parked, and how fast.
#[derive(Clone)]
pub struct Patience {
    /// The longest first pause; it doubles each time.
    pub first_pause: Duration,
    /// No pause is longer.
    pub longest_pause: Duration,
    /// How long a notice on the ordinary path may wait for LINE: the stream stands behind it.
    pub ordinary: Duration,
    /// How long a held notice is tried in one go.
    pub held: Duration,
    /// A part from 0 to 1, anew each time: pauses are jittered with it.
    pub chance: Arc<dyn Fn() -> f64 + Send + Sync>,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            first_pause: Duration::from_millis(200),
            longest_pause: Duration::from_secs(10),
            ordinary: Duration::from_secs(30),
            held: Duration::from_secs(5),
            chance: Arc::new(fastrand::f64),
        }
    }
}

impl Patience {
    /// How long a `Retry-After` is obeyed: as long as it says, `longest_pause` (10 s) at most.
    ///
    /// The most is the longest that we'd wait by ourselves. It is a third of the time that a notice may wait on the
    /// stream, so that one wrong value (a day, a date in another century) costs an attempt, and neither parks a notice
    /// nor stalls its channel. The least is our own pause, which [`Delivery::deliver`] keeps in any case: a zero or a
    /// date in the past speeds nothing up.
    fn bounded_wait(&self, asked: Option<RetryAfter>, now: Timestamp) -> Duration {
        asked.map_or(Duration::ZERO, |asked| asked.wait(now)).min(self.longest_pause)
    }

    /// The pause before attempt `n` (1 = the first repetition): exponential, full jitter (AWS Architecture Blog:
    /// "Exponential Backoff And Jitter"), never zero.
    fn pause(&self, n: u32) -> Duration {
        let most = self.first_pause.saturating_mul(1 << n.saturating_sub(1).min(16)).min(self.longest_pause);
        most.mul_f64((self.chance)().clamp(0.0, 1.0)).max(Duration::from_millis(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_after_is_obeyed_for_ten_seconds_at_most() {
        let patience = Patience::default();
        let now: Timestamp = "2026-05-23T10:00:00.000Z".parse().unwrap();
        let wait = |asked| patience.bounded_wait(asked, now).as_secs();
        for (seconds, obeyed) in [(0, 0), (1, 1), (10, 10), (11, 10), (86_400, 10), (u64::MAX, 10)] {
            assert_eq!(wait(Some(RetryAfter::Seconds(seconds))), obeyed);
        }
        assert_eq!(wait(Some(RetryAfter::At(now.plus_millis(3_000)))), 3);
        assert_eq!(wait(Some(RetryAfter::At("9999-12-31T00:00:00.000Z".parse().unwrap()))), 10);
        assert_eq!(wait(Some(RetryAfter::At(Timestamp::EPOCH))), 0);
        assert_eq!(wait(None), 0);
    }
}

//! Messages out: what the stream brings becomes pushes, and pushes become marks.
//!
//! | file | holds | I/O |
//! | --- | --- | --- |
//! | [`effect`] | delivery as an effect of the consumer: which record is which notice, the leader's work | none |
//! | [`parts`] | what delivery is made of | none |
//! | `attempt` | one notice until nothing more is to be done now: facts, decision, push, mark, or park | store, LINE |
//! | [`drain`], [`in_time`] | what is held, when its channel is resumed; the same in limited time | store, LINE |
//! | [`reconcile`] | what the stream has forgotten | store, LINE |
//! | `report.rs` | what operators see of what waits | store, LINE |
//! | [`channel`], [`health`], [`rate`], [`retry`], [`message`] | a channel's health and rate, pauses, texts | time |
//! | [`budget`] | the month's pushes of a channel | store |
//! | [`pending`], [`outcome`] | a notice to be sent, and what became of it | none |
//!
//! Whatever happens may happen twice: every write is guarded, every push carries a key that LINE knows again.

mod attempt;
pub mod budget;
pub mod channel;
pub mod drain;
pub mod effect;
pub mod health;
pub mod in_time;
mod lock;
pub mod message;
pub mod outcome;
pub mod parts;
pub mod pending;
pub mod rate;
pub mod reconcile;
mod report;
pub mod retry;

use std::time::Duration;

use serde::Deserialize;

use crate::consumer::ConsumerSettings;
use crate::domain::config_value::{count, millis};

pub use effect::NoticeEffect;
pub use outcome::{Outcome, Tally};
pub use parts::{Delivery, DeliveryParts};
pub use retry::RetrySettings;

/// How delivery works (configuration section `delivery`).
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
    /// How often a paused channel is probed.
    #[serde(rename = "hold_probe_ms", deserialize_with = "millis::<100, 3_600_000, _>")]
    pub probe_interval: Duration,
}

impl DeliverySettings {
    /// Returns the settings of a consumer with this effect. With fewer pushes a second than workers, the last ones could
    /// never push.
    #[must_use]
    pub fn of_consumer(&self) -> ConsumerSettings {
        let most_workers = self.pushes_per_second as usize;
        ConsumerSettings { lease: self.lease, poll_interval: self.poll_interval, most_workers }
    }
}

//! The event: a rally with its window, zone and channel. A setting: `change.rs` says how it changes.

mod change;
mod limits;

use std::{collections::BTreeSet, str::FromStr};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Malformed,
    ids::{ChannelName, EventId, text_type},
    setting::Name,
    time::{TimeZone, Timestamp},
};

pub use change::{EventChange, EventNames, EventRemains, FixedChange};
pub use limits::ClaimLimits;

/// A rally, as its organiser set it up (entity `EVENT`).
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its id, for ever.
    pub event_id: EventId,
    /// Its name, as participants read it.
    pub name: Name,
    /// When stamps can be acquired.
    pub window: Window,
    /// In which its days and hours are counted.
    pub time_zone: TimeZone,
    /// The LINE channels it lives on; fixed once a participant is registered.
    pub channel: ChannelName,
    /// Its LIFF app, `1234567890-AbcdEfgh`, where it has one.
    pub liff_id: Option<LiffId>,
    /// Over how many partitions its index keys are spread; fixed once a participant is registered.
    pub index_shards: IndexShards,
    /// Its former values: a server that had not read the change yet may have registered participants under those keys.
    pub former_index_shards: BTreeSet<IndexShards>,
    /// The Flex message for a completed card, as LINE wants it, with placeholders.
    pub completion_message_content: Option<Value>,
    /// What it asks of all claims.
    pub limits: ClaimLimits,
    /// When it was first written.
    pub created_at: Timestamp,
    /// Its version: grows with every write.
    pub updated_at: Timestamp,
}

impl Event {
    /// Returns every number of partitions over which its participants may be spread.
    pub fn all_index_shards(&self) -> impl Iterator<Item = IndexShards> {
        self.former_index_shards.iter().copied().chain([self.index_shards])
    }
}

/// `[startsAt, endsAt)`: not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    starts_at: Timestamp,
    ends_at: Timestamp,
}

impl Window {
    /// Makes a window that begins before it ends.
    pub fn new(starts_at: Timestamp, ends_at: Timestamp) -> Result<Self, Malformed> {
        if starts_at < ends_at {
            Ok(Self { starts_at, ends_at })
        } else {
            Err(Malformed::new("endsAt", "must be later than startsAt"))
        }
    }

    /// Returns the first instant in it.
    #[must_use]
    pub fn starts_at(self) -> Timestamp {
        self.starts_at
    }

    /// Returns the first instant after it.
    #[must_use]
    pub fn ends_at(self) -> Timestamp {
        self.ends_at
    }

    /// Returns where an instant lies relative to the window.
    #[must_use]
    pub fn phase(self, now: Timestamp) -> Phase {
        if now < self.starts_at {
            Phase::ToCome
        } else if now < self.ends_at {
            Phase::Open
        } else {
            Phase::Over
        }
    }

    /// Returns whether the window has ended.
    #[must_use]
    pub fn is_over(self, now: Timestamp) -> bool {
        self.phase(now) == Phase::Over
    }
}

/// Where an instant lies relative to a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Before its first instant.
    ToCome,
    /// In it.
    Open,
    /// After its last instant.
    Over,
}

text_type! {
    /// A LIFF app's id: `{Login channel id}-{8 letters or digits}` (LINE: "Registering LIFF apps").
    LiffId, "liffId", "must look like 1234567890-AbcdEfgh", |text| {
        text.split_once('-').is_some_and(|(channel, app)| {
            (1..=20).contains(&channel.len())
                && channel.bytes().all(|b| b.is_ascii_digit())
                && (1..=20).contains(&app.len())
                && app.bytes().all(|b| b.is_ascii_alphanumeric())
        })
    }
}

impl LiffId {
    /// Returns the link that a stamp's code is shown as: LIFF opens the event's page with it.
    #[must_use]
    pub fn link_of_code(&self, code: &str) -> String {
        format!("https://liff.line.me/{self}/s/{code}")
    }
}

/// Over how many index partitions an event is spread: 1 to 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct IndexShards(u8);

impl IndexShards {
    /// One partition: fits up to about 1,000 writes a second.
    pub const ONE: Self = Self(1);

    /// As many as there can be.
    pub const MOST: Self = Self(32);

    /// Returns the number.
    #[must_use]
    pub fn count(self) -> u8 {
        self.0
    }
}

impl TryFrom<i64> for IndexShards {
    type Error = Malformed;

    fn try_from(count: i64) -> Result<Self, Malformed> {
        let fits = u8::try_from(count).ok().filter(|n| (1..=32).contains(n));
        fits.map(Self).ok_or_else(|| Malformed::new("indexShards", "must be a whole number from 1 to 32"))
    }
}

impl From<IndexShards> for i64 {
    fn from(shards: IndexShards) -> Self {
        i64::from(shards.0)
    }
}

//! Instants in their one text form, and the clock; `zone.rs` has time zones and local time, `span.rs` stretches of time.

mod span;
mod zone;

use std::{str::FromStr, sync::Arc, time::Duration};

use chrono::{DateTime, Datelike, SecondsFormat, Utc};
use derive_more::Display;
use serde::{Deserialize, Serialize};

use super::{Malformed, ids::by_text};

pub use span::{Range, Span};
pub use zone::{LocalTime, TimeZone};

/// An instant, UTC, whole milliseconds, written `2026-05-23T10:00:00.000Z`.
///
/// Text order is time order only because the form never varies; years 1 to 9999 alone keep it.
#[derive(Display, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[display("{}", _0.to_rfc3339_opts(SecondsFormat::Millis, true))]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp(DateTime<Utc>);

impl Timestamp {
    /// The first instant of 1970.
    pub const EPOCH: Self = Self(DateTime::UNIX_EPOCH);

    /// Makes an instant of milliseconds since 1970; `None` outside the years 1 to 9999.
    #[must_use]
    pub fn from_millis(millis: i64) -> Option<Self> {
        DateTime::from_timestamp_millis(millis).filter(|at| (1..=9999).contains(&at.year())).map(Self)
    }

    /// Returns the milliseconds since 1970.
    #[must_use]
    pub fn as_millis(self) -> i64 {
        self.0.timestamp_millis()
    }

    /// Returns the seconds since 1970, as metrics have times.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of the years 1 to 9999 fit")]
    pub fn as_seconds(self) -> f64 {
        self.as_millis() as f64 / 1000.0
    }

    /// Reads an instant with any offset (RFC 3339); what is finer than a millisecond is cut off.
    pub fn parse_instant(what: &'static str, text: &str) -> Result<Self, Malformed> {
        let at = DateTime::parse_from_rfc3339(text).ok().and_then(|at| Self::from_millis(at.timestamp_millis()));
        at.ok_or_else(|| Malformed::new(what, "must be an instant with an offset, like 2026-05-23T10:00:00+09:00"))
    }

    /// Returns this instant moved by whole milliseconds, kept within the form's years.
    #[must_use]
    pub fn plus_millis(self, millis: i64) -> Self {
        Self::from_millis(self.as_millis().saturating_add(millis)).unwrap_or(self)
    }

    /// Returns how long after `earlier` this is; zero if it isn't.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        (self.0 - earlier.0).to_std().unwrap_or_default()
    }
}

by_text!(Timestamp, |at| at.to_string());

impl FromStr for Timestamp {
    type Err = Malformed;

    /// Reads the stored form, and no other.
    fn from_str(text: &str) -> Result<Self, Malformed> {
        let at = Self::parse_instant("timestamp", text).ok().filter(|at| at.to_string() == text);
        at.ok_or_else(|| Malformed::new("timestamp", "must be UTC with three decimals, like 2026-05-23T10:00:00.000Z"))
    }
}

/// Where the time comes from: the machine's clocks, or one that a test sets.
pub trait TimeSource: Send + Sync {
    /// Returns the time of the wall clock.
    fn now(&self) -> Timestamp;
    /// Returns the time since some fixed moment of this process; never runs backwards, so durations are safe.
    fn uptime(&self) -> Duration;
}

/// A clock, shared by all that need the time.
pub type Clock = Arc<dyn TimeSource>;

/// The machine's own clocks.
#[derive(Debug)]
pub struct MachineClock(std::time::Instant);

impl MachineClock {
    /// Starts a clock that counts its uptime from here.
    #[must_use]
    pub fn start() -> Clock {
        Arc::new(Self(std::time::Instant::now()))
    }
}

impl TimeSource for MachineClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "this is the clock that everything else is handed")]
        let now = Utc::now();
        Timestamp::from_millis(now.timestamp_millis()).unwrap_or(Timestamp::EPOCH)
    }

    fn uptime(&self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn other_forms_are_not_the_stored_form() {
        for bad in [
            "2026-05-23T10:00:00Z",
            "2026-05-23T10:00:00.0000Z",
            "2026-05-23T19:00:00.000+09:00",
            "2026-05-23 10:00:00.000Z",
            "2026-05-23T23:59:60.000Z",
            "2026-05-01",
        ] {
            let refused = bad.parse::<Timestamp>().unwrap_err().to_string();
            assert_eq!(refused, "timestamp: must be UTC with three decimals, like 2026-05-23T10:00:00.000Z", "{bad}");
        }
        assert!(Timestamp::parse_instant("startsAt", "+12026-05-23T10:00:00Z").is_err());
    }

    proptest! {
        #[test]
        fn text_order_is_time_order(a in -62_135_596_800_000i64..253_402_300_800_000, b in -62_135_596_800_000i64..253_402_300_800_000) {
            let (a, b) = (Timestamp::from_millis(a).unwrap(), Timestamp::from_millis(b).unwrap());
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
            prop_assert_eq!(at(&a.to_string()), a);
        }
    }
}

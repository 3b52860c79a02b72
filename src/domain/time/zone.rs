//! Time zones: the days and hours of an event.

use std::str::FromStr;

use chrono::{DateTime, Days, LocalResult, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone as _};
use derive_more::Display;
use serde::{Deserialize, Serialize};

use super::Timestamp;
use crate::domain::{Malformed, ids::by_text};

/// A date and a time of day by the wall clock of some zone.
pub type LocalTime = NaiveDateTime;

/// A time zone by its IANA name.
#[derive(Display, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[display("{}", _0.name())]
#[serde(try_from = "String", into = "String")]
pub struct TimeZone(chrono_tz::Tz);

impl TimeZone {
    /// The zone of an event that names none.
    pub const TOKYO: Self = Self(chrono_tz::Asia::Tokyo);

    /// Returns the first instant of a local day. Where midnight is skipped (a clock put forward at
    /// midnight), the day begins with the first instant that exists; where it comes twice, with the first.
    #[must_use]
    pub fn start_of(self, day: NaiveDate) -> Timestamp {
        self.instants(day.and_time(NaiveTime::MIN)).into_iter().next().unwrap_or(Timestamp::EPOCH)
    }

    /// Returns the instants of a local time: two, in order, where the clock is put back over it; where it is put forward
    /// over it, the first instant after that.
    #[must_use]
    pub fn instants(self, local: LocalTime) -> Vec<Timestamp> {
        let quarter_hours = (0..=96).map(|n| local + TimeDelta::minutes(15 * n));
        let first =
            quarter_hours.map(|local| self.0.from_local_datetime(&local)).find(|found| *found != LocalResult::None);
        let of = |at: DateTime<_>| Timestamp::from_millis(at.timestamp_millis());
        match first {
            Some(LocalResult::Single(at)) => of(at).into_iter().collect(),
            Some(LocalResult::Ambiguous(first, second)) => of(first).into_iter().chain(of(second)).collect(),
            Some(LocalResult::None) | None => Vec::new(),
        }
    }

    /// Returns the instant at which a local day is over.
    #[must_use]
    pub fn end_of(self, day: NaiveDate) -> Timestamp {
        day.checked_add_days(Days::new(1)).map_or(Timestamp::EPOCH, |next| self.start_of(next))
    }

    /// Returns the first instant of an hour as [`TimeZone::hour_of`] writes it, in any zone.
    #[must_use]
    pub fn start_of_hour(text: &str) -> Option<Timestamp> {
        let at = DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M%:z").ok()?;
        Timestamp::from_millis(at.timestamp_millis())
    }

    /// Returns the hour an instant falls into, as local time with its offset: `2026-05-23T10:00+09:00`.
    /// The offset keeps the two hours apart that a clock put back shows twice.
    #[must_use]
    pub fn hour_of(self, at: Timestamp) -> String {
        at.0.with_timezone(&self.0).format("%Y-%m-%dT%H:00%:z").to_string()
    }
}

impl FromStr for TimeZone {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        text.parse().map(Self).map_err(|_| Malformed::new("timeZone", "must be an IANA time zone, like Asia/Tokyo"))
    }
}

by_text!(TimeZone, |zone| zone.to_string());

impl Timestamp {
    /// Returns what the wall clock of a zone shows at this instant.
    #[must_use]
    pub fn local(self, zone: TimeZone) -> LocalTime {
        self.0.with_timezone(&zone.0).naive_local()
    }

    /// Returns the instant as local time, `2026/05/23 20:30`: the form of messages.
    #[must_use]
    pub fn in_zone(self, zone: TimeZone) -> String {
        self.0.with_timezone(&zone.0).format("%Y/%m/%d %H:%M").to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_day_whose_midnight_is_skipped_begins_with_its_first_instant() {
        let cairo: TimeZone = "Africa/Cairo".parse().unwrap();
        assert_eq!(cairo.start_of(NaiveDate::from_ymd_opt(2026, 4, 24).unwrap()), at("2026-04-23T22:00:00.000Z"));
    }

    #[test]
    fn the_hour_that_comes_twice_has_two_names() {
        let berlin: TimeZone = "Europe/Berlin".parse().unwrap();
        assert_eq!(berlin.hour_of(at("2026-10-25T00:30:00.000Z")), "2026-10-25T02:00+02:00");
        assert_eq!(berlin.hour_of(at("2026-10-25T01:30:00.000Z")), "2026-10-25T02:00+01:00");
    }
}

//! The one text form of time, the clock, and the days of an event's time zone.

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use chrono::{
    DateTime, Datelike, Days, LocalResult, NaiveDate, NaiveTime, SecondsFormat, TimeDelta, TimeZone as _, Utc,
};
use serde::{Deserialize, Serialize};

use super::Malformed;

/// An instant, UTC, whole milliseconds, written `2026-05-23T10:00:00.000Z`.
///
/// Text order is time order only because the form never varies; years 1 to 9999 alone keep it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp(DateTime<Utc>);

impl Timestamp {
    /// The first instant of 1970.
    pub const EPOCH: Self = Self(DateTime::UNIX_EPOCH);

    /// Milliseconds since 1970; `None` outside the years 1 to 9999.
    #[must_use]
    pub fn from_millis(millis: i64) -> Option<Self> {
        DateTime::from_timestamp_millis(millis).filter(|at| (1..=9999).contains(&at.year())).map(Self)
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub fn as_millis(self) -> i64 {
        self.0.timestamp_millis()
    }

    /// Seconds since 1970, as metrics tell times.
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

    /// This instant moved by whole milliseconds, kept within the form's years.
    #[must_use]
    pub fn plus_millis(self, millis: i64) -> Self {
        Self::from_millis(self.as_millis().saturating_add(millis)).unwrap_or(self)
    }

    /// How long after `earlier` this is; zero if it isn't.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        (self.0 - earlier.0).to_std().unwrap_or_default()
    }

    /// `2026/05/23 20:30` in a zone: the form people read in a message.
    #[must_use]
    pub fn in_zone(self, zone: TimeZone) -> String {
        self.0.with_timezone(&zone.0).format("%Y/%m/%d %H:%M").to_string()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = Malformed;

    /// Reads the stored form, and no other.
    fn from_str(text: &str) -> Result<Self, Malformed> {
        let at = Self::parse_instant("timestamp", text).ok().filter(|at| at.to_string() == text);
        at.ok_or_else(|| Malformed::new("timestamp", "must be UTC with three decimals, like 2026-05-23T10:00:00.000Z"))
    }
}

impl TryFrom<String> for Timestamp {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(at: Timestamp) -> Self {
        at.to_string()
    }
}

/// Where the time comes from: the machine, or a test's hand.
pub trait TimeSource: Send + Sync {
    /// The wall clock.
    fn now(&self) -> Timestamp;
    /// Time since some fixed moment of this process; never runs backwards, so durations are safe.
    fn uptime(&self) -> Duration;
}

/// The clock that is handed to whoever needs the time.
pub type Clock = Arc<dyn TimeSource>;

/// The machine's own clocks.
#[derive(Debug)]
pub struct MachineClock(std::time::Instant);

impl MachineClock {
    /// A clock that counts its uptime from here.
    #[must_use]
    pub fn start() -> Clock {
        Arc::new(Self(std::time::Instant::now()))
    }
}

impl TimeSource for MachineClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "this is the clock that everybody else is handed")]
        let now = Utc::now();
        Timestamp::from_millis(now.timestamp_millis()).unwrap_or(Timestamp::EPOCH)
    }

    fn uptime(&self) -> Duration {
        self.0.elapsed()
    }
}

/// A time zone by its IANA name.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeZone(chrono_tz::Tz);

impl TimeZone {
    /// The zone of an event that names none.
    pub const TOKYO: Self = Self(chrono_tz::Asia::Tokyo);

    /// The first instant of a local day. Where midnight is skipped (a clock put forward at
    /// midnight), the day begins with the first instant that exists; where it comes twice, with the first.
    #[must_use]
    pub fn start_of(self, day: NaiveDate) -> Timestamp {
        let midnight = day.and_time(NaiveTime::MIN);
        let quarter_hours = (0..=96).map(|n| midnight + TimeDelta::minutes(15 * n));
        let first = quarter_hours.map(|local| self.0.from_local_datetime(&local)).find_map(|found| match found {
            LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => Timestamp::from_millis(at.timestamp_millis()),
            LocalResult::None => None,
        });
        first.unwrap_or(Timestamp::EPOCH)
    }

    /// The instant at which a local day is over.
    #[must_use]
    pub fn end_of(self, day: NaiveDate) -> Timestamp {
        day.checked_add_days(Days::new(1)).map_or(Timestamp::EPOCH, |next| self.start_of(next))
    }

    /// The first instant of an hour, as [`TimeZone::hour_of`] wrote it in whatever zone.
    #[must_use]
    pub fn start_of_hour(text: &str) -> Option<Timestamp> {
        let at = DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M%:z").ok()?;
        Timestamp::from_millis(at.timestamp_millis())
    }

    /// The hour an instant falls into, as local time with its offset: `2026-05-23T10:00+09:00`.
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

impl TryFrom<String> for TimeZone {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        text.parse()
    }
}

impl From<TimeZone> for String {
    fn from(zone: TimeZone) -> Self {
        zone.0.name().to_owned()
    }
}

impl fmt::Display for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

impl fmt::Debug for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

/// A stretch of time: from an instant, inclusive, to an instant, exclusive; open ends are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// The first instant that belongs to it.
    pub from: Option<Timestamp>,
    /// The first instant that doesn't any more.
    pub to: Option<Timestamp>,
}

impl Span {
    /// Reads `from` and `to` as people give them: days of the zone (`2026-05-24`, both inclusive)
    /// or instants (`2026-05-24T00:00:00+09:00`, `to` exclusive).
    pub fn parse(from: Option<&str>, to: Option<&str>, zone: TimeZone) -> Result<Self, Malformed> {
        let from = from.map(|text| edge("from", text, |day| zone.start_of(day))).transpose()?;
        let to = to.map(|text| edge("to", text, |day| zone.end_of(day))).transpose()?;
        Ok(Self { from, to })
    }
}

/// One end of a span. A `+` that a query string turned into a space is understood.
fn edge(what: &'static str, text: &str, at: impl Fn(NaiveDate) -> Timestamp) -> Result<Timestamp, Malformed> {
    if let Some(day) = day(text) {
        return Ok(at(day));
    }
    let rule = "must be a day (2026-05-24) or an instant with an offset (2026-05-24T00:00:00+09:00)";
    Timestamp::parse_instant(what, &text.replace(' ', "+")).map_err(|_| Malformed::new(what, rule))
}

/// A day as `YYYY-MM-DD`, within the years that a timestamp can show with a day to spare.
fn day(text: &str) -> Option<NaiveDate> {
    let fits = text.len() == 10 && text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|day| fits && (2..=9998).contains(&day.year()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn half_past_midnight_in_tokyo_belongs_to_the_new_day() {
        let span = Span::parse(Some("2026-05-24"), Some("2026-05-24"), TimeZone::TOKYO).unwrap();
        assert_eq!(span.from, Some(at("2026-05-23T15:00:00.000Z")));
        assert_eq!(span.to, Some(at("2026-05-24T15:00:00.000Z")));
    }

    #[test]
    fn instants_take_any_offset_even_after_a_query_string_ate_the_plus() {
        let span =
            Span::parse(Some("2026-05-24T00:30:00 09:00"), Some("2026-05-24T01:00:00.123456-05:00"), TimeZone::TOKYO)
                .unwrap();
        assert_eq!(span.from, Some(at("2026-05-23T15:30:00.000Z")));
        assert_eq!(span.to, Some(at("2026-05-24T06:00:00.123Z")));
    }

    #[test]
    fn a_day_whose_midnight_is_skipped_begins_with_its_first_instant() {
        let cairo: TimeZone = "Africa/Cairo".parse().unwrap();
        assert_eq!(cairo.start_of(NaiveDate::from_ymd_opt(2026, 4, 24).unwrap()), at("2026-04-23T22:00:00.000Z"));
    }

    #[test]
    fn the_hour_that_comes_twice_is_told_apart() {
        let berlin: TimeZone = "Europe/Berlin".parse().unwrap();
        assert_eq!(berlin.hour_of(at("2026-10-25T00:30:00.000Z")), "2026-10-25T02:00+02:00");
        assert_eq!(berlin.hour_of(at("2026-10-25T01:30:00.000Z")), "2026-10-25T02:00+01:00");
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
            let told = bad.parse::<Timestamp>().unwrap_err().to_string();
            assert_eq!(told, "timestamp: must be UTC with three decimals, like 2026-05-23T10:00:00.000Z", "{bad}");
        }
        assert!(Timestamp::parse_instant("startsAt", "+12026-05-23T10:00:00Z").is_err());
        for bad in ["2026-5-24", "2026-02-30", "tomorrow", "", "0000-01-01"] {
            assert!(Span::parse(Some(bad), None, TimeZone::TOKYO).is_err(), "{bad}");
        }
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

//! When a stamp can be acquired: its own window, and hours of the day.

#[cfg(test)]
mod tests;

use std::{fmt, str::FromStr};

use chrono::{Datelike as _, NaiveTime, Timelike as _, Weekday};
use serde::{Deserialize, Serialize};

use super::{
    Malformed,
    event::Window,
    time::{LocalTime, TimeZone, Timestamp},
};

/// How many days ahead an opening is looked for: each weekday comes within them.
const DAYS_AHEAD: u64 = 8;

/// A stamp's own window, `[from, until)`; without an end where it names none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Availability {
    /// `availableFrom`
    pub from: Option<Timestamp>,
    /// `availableUntil`
    pub until: Option<Timestamp>,
}

impl Availability {
    /// Refuses a window that ends before it begins.
    pub fn check(self) -> Result<(), Malformed> {
        match (self.from, self.until) {
            (Some(from), Some(until)) if until <= from => {
                Err(Malformed::new("availableUntil", "must be later than availableFrom"))
            }
            _ => Ok(()),
        }
    }
}

/// A time of the day by the wall clock, `10:00`; `24:00` is the end of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WallTime {
    minutes: u16,
}

impl WallTime {
    const MIDNIGHT: u16 = 24 * 60;

    fn of(time: NaiveTime) -> u32 {
        time.num_seconds_from_midnight() / 60
    }

    fn as_time(self) -> NaiveTime {
        let minutes = u32::from(self.minutes);
        NaiveTime::from_hms_opt(minutes / 60, minutes % 60, 0).unwrap_or(NaiveTime::MIN)
    }
}

impl FromStr for WallTime {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let minutes = || {
            let (hour, minute) = text.split_once(':')?;
            let digits = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
            let fits = digits(hour) && digits(minute);
            let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
            let minutes = hour * 60 + minute;
            (fits && minute < 60 && minutes <= Self::MIDNIGHT).then_some(minutes)
        };
        let minutes =
            minutes().ok_or_else(|| Malformed::new("hours", "must be a time of day like 09:30, up to 24:00"))?;
        Ok(Self { minutes })
    }
}

impl TryFrom<String> for WallTime {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map_err(|error: Malformed| error.rule)
    }
}

impl From<WallTime> for String {
    fn from(time: WallTime) -> Self {
        time.to_string()
    }
}

impl fmt::Display for WallTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.minutes / 60, self.minutes % 60)
    }
}

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Day {
    /// Monday.
    Mon,
    /// Tuesday.
    Tue,
    /// Wednesday.
    Wed,
    /// Thursday.
    Thu,
    /// Friday.
    Fri,
    /// Saturday.
    Sat,
    /// Sunday.
    Sun,
}

impl From<Weekday> for Day {
    fn from(day: Weekday) -> Self {
        match day {
            Weekday::Mon => Self::Mon,
            Weekday::Tue => Self::Tue,
            Weekday::Wed => Self::Wed,
            Weekday::Thu => Self::Thu,
            Weekday::Fri => Self::Fri,
            Weekday::Sat => Self::Sat,
            Weekday::Sun => Self::Sun,
        }
    }
}

/// Hours of a day, by the wall clock of the event's zone: `[from, until)`. An `until` before `from` is the next day's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawHours")]
pub struct Hours {
    /// On which days they begin; all if none is named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    weekdays: Vec<Day>,
    from: WallTime,
    until: WallTime,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawHours {
    #[serde(default)]
    weekdays: Option<Vec<Day>>,
    from: WallTime,
    until: WallTime,
}

impl TryFrom<RawHours> for Hours {
    type Error = &'static str;

    fn try_from(raw: RawHours) -> Result<Self, Self::Error> {
        if raw.from.minutes == WallTime::MIDNIGHT {
            return Err("from must be a time of day like 09:30, before 24:00");
        }
        if raw.from == raw.until {
            return Err("until must differ from from: a whole day is 00:00 until 24:00");
        }
        match raw.weekdays {
            Some(days) if days.is_empty() => Err("weekdays must name a day, or be left out for all of them"),
            days => Ok(Self { weekdays: days.unwrap_or_default(), from: raw.from, until: raw.until }),
        }
    }
}

impl Hours {
    fn begin_on(&self, day: Weekday) -> bool {
        self.weekdays.is_empty() || self.weekdays.contains(&day.into())
    }

    fn admit(&self, local: LocalTime) -> bool {
        let minute = WallTime::of(local.time());
        let (from, until) = (u32::from(self.from.minutes), u32::from(self.until.minutes));
        if from < until {
            self.begin_on(local.weekday()) && (from..until).contains(&minute)
        } else {
            (minute >= from && self.begin_on(local.weekday()))
                || (minute < until && self.begin_on(local.weekday().pred()))
        }
    }
}

/// All hours of a stamp: 1 to 14, of which one must admit; none means that every hour does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Hours>")]
pub struct AllHours(Vec<Hours>);

impl AllHours {
    /// Returns whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether an instant is within one of them, by the wall clock of a zone.
    #[must_use]
    pub fn admit(&self, at: Timestamp, zone: TimeZone) -> bool {
        self.is_empty() || self.0.iter().any(|hours| hours.admit(at.local(zone)))
    }

    /// Returns the next instant after `now` at which one of them begins; where a clock is put forward over it, the first
    /// instant after that.
    #[must_use]
    pub fn next_opening(&self, now: Timestamp, zone: TimeZone) -> Option<Timestamp> {
        let today = now.local(zone).date();
        let days = (0..DAYS_AHEAD).filter_map(|ahead| today.checked_add_days(chrono::Days::new(ahead)));
        let beginnings = days.flat_map(|day| {
            let hours = self.0.iter().filter(move |hours| hours.begin_on(day.weekday()));
            hours.flat_map(move |hours| zone.instants(day.and_time(hours.from.as_time())))
        });
        beginnings.filter(|at| *at > now && self.admit(*at, zone)).min()
    }
}

impl TryFrom<Vec<Hours>> for AllHours {
    type Error = &'static str;

    fn try_from(hours: Vec<Hours>) -> Result<Self, Self::Error> {
        if (1..=14).contains(&hours.len()) { Ok(Self(hours)) } else { Err("must have 1 to 14 hours, or be left out") }
    }
}

/// Why a stamp is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// It can be acquired from this instant on, at the earliest.
    NotYet(Timestamp),
    /// It can't be acquired any more.
    Over,
    /// It is closed at this hour; it opens at this instant, if it does at all.
    Hours(Option<Timestamp>),
}

/// When a stamp can be acquired.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Its own window.
    pub available: Availability,
    /// Hours of the day.
    pub hours: AllHours,
}

impl Schedule {
    /// Refuses an instant at which the stamp is closed; `event` bounds when it opens again.
    pub fn admit(&self, at: Timestamp, event: Window, zone: TimeZone) -> Result<(), Closed> {
        if let Some(from) = self.available.from.filter(|from| at < *from) {
            return Err(Closed::NotYet(from));
        }
        if self.available.until.is_some_and(|until| at >= until) {
            return Err(Closed::Over);
        }
        if self.hours.admit(at, zone) {
            return Ok(());
        }
        let is_within = |opening: &Timestamp| {
            *opening < event.ends_at() && self.available.until.is_none_or(|until| *opening < until)
        };
        Err(Closed::Hours(self.hours.next_opening(at, zone).filter(is_within)))
    }
}

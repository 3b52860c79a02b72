//! Calendar months.

use std::{fmt, str::FromStr};

use chrono::{Datelike as _, NaiveDate};

use super::Timestamp;
use crate::domain::Malformed;

/// A month of Tokyo's calendar, by which an account's messages are counted: `2026-05`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Month {
    year: i32,
    month: u32,
}

impl Month {
    /// Returns the month in which an instant lies in Tokyo.
    #[must_use]
    pub fn of(at: Timestamp) -> Self {
        let local = at.0.with_timezone(&chrono_tz::Asia::Tokyo);
        Self { year: local.year(), month: local.month() }
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

impl FromStr for Month {
    type Err = Malformed;

    /// Reads the form that is written, and no other.
    fn from_str(text: &str) -> Result<Self, Malformed> {
        let first = NaiveDate::parse_from_str(&format!("{text}-01"), "%Y-%m-%d").ok();
        let month = first.map(|day| Self { year: day.year(), month: day.month() });
        let month = month.filter(|month| month.to_string() == text);
        month.ok_or_else(|| Malformed::new("month", "must be a month like 2026-05"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_begins_at_midnight_in_tokyo() {
        for (at, month) in [
            ("2026-05-31T14:59:59.999Z", "2026-05"),
            ("2026-05-31T15:00:00.000Z", "2026-06"),
            ("2026-12-31T15:00:00.000Z", "2027-01"),
        ] {
            assert_eq!(Month::of(at.parse().unwrap()).to_string(), month, "{at}");
        }
    }

    #[test]
    fn a_month_is_read_as_it_is_written_and_in_no_other_form() {
        let month = Month::of("2026-05-23T10:00:00.000Z".parse().unwrap());
        assert_eq!("2026-05".parse(), Ok(month));
        for bad in ["2026-5", "2026-13", "2026-00", "2026", "26-05", "2026-05-01", "", "+2026-05"] {
            assert!(bad.parse::<Month>().is_err(), "{bad}");
        }
    }
}

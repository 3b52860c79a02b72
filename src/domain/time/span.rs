//! Stretches of time, and how clients give them: one rule for the organisers' API and the command line.

use chrono::{Datelike, NaiveDate};

use super::{TimeZone, Timestamp};
use crate::domain::Malformed;

/// A stretch of time: from an instant, inclusive, to an instant, exclusive; open ends are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// The first instant that belongs to it.
    pub from: Option<Timestamp>,
    /// The first instant that doesn't any more.
    pub to: Option<Timestamp>,
}

impl Span {
    /// Reads `from` and `to` as a [`Range`] of a zone.
    pub fn parse(from: Option<&str>, to: Option<&str>, zone: TimeZone) -> Result<Self, Malformed> {
        Range::parse(from, to)?.in_zone(zone)
    }
}

/// `from` and `to` as clients give them: days (`2026-05-24`, both inclusive) or instants
/// (`2026-05-24T00:00:00+09:00`, `to` exclusive).
#[derive(Debug, Clone, Copy, Default)]
pub struct Range {
    from: Option<Edge>,
    to: Option<Edge>,
}

#[derive(Debug, Clone, Copy)]
enum Edge {
    Day(NaiveDate),
    Instant(Timestamp),
}

impl Range {
    /// Reads both ends. Which instants a day has depends on a zone, which may be known later.
    pub fn parse(from: Option<&str>, to: Option<&str>) -> Result<Self, Malformed> {
        let edge = |what, text: Option<&str>| text.map(|text| Edge::parse(what, text)).transpose();
        Ok(Self { from: edge("from", from)?, to: edge("to", to)? })
    }

    /// Returns the span in a zone. Refuses one that ends before it begins, or when it begins.
    pub fn in_zone(self, zone: TimeZone) -> Result<Span, Malformed> {
        let from = self.from.map(|edge| edge.instant(|day| zone.start_of(day)));
        let to = self.to.map(|edge| edge.instant(|day| zone.end_of(day)));
        match (from, to) {
            (Some(from), Some(to)) if from >= to => {
                Err(Malformed::new("to", "must end after from begins (a day ends when it is over)"))
            }
            _ => Ok(Span { from, to }),
        }
    }
}

impl Edge {
    /// A `+` that a query string turned into a space is understood.
    fn parse(what: &'static str, text: &str) -> Result<Self, Malformed> {
        if let Some(day) = day(text) {
            return Ok(Self::Day(day));
        }
        let rule = "must be a day (2026-05-24) or an instant with an offset (2026-05-24T00:00:00+09:00)";
        let at = Timestamp::parse_instant(what, &text.replace(' ', "+"));
        at.map(Self::Instant).map_err(|_| Malformed::new(what, rule))
    }

    fn instant(self, of_day: impl FnOnce(NaiveDate) -> Timestamp) -> Timestamp {
        match self {
            Self::Day(day) => of_day(day),
            Self::Instant(at) => at,
        }
    }
}

/// Reads a day as `YYYY-MM-DD`, within the years that a timestamp can show with a day to spare.
fn day(text: &str) -> Option<NaiveDate> {
    let fits = text.len() == 10 && text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|day| fits && (2..=9998).contains(&day.year()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_span_that_ends_before_it_begins_is_refused() {
        let span = |from, to| Span::parse(Some(from), Some(to), TimeZone::TOKYO);
        assert!(span("2026-05-24", "2026-05-24").is_ok());
        assert!(span("2026-05-24T00:00:00+09:00", "2026-05-24").is_ok());
        let refused = span("2026-05-24", "2026-05-23").unwrap_err().to_string();
        assert_eq!(refused, "to: must end after from begins (a day ends when it is over)");
        assert!(span("2026-05-24T00:00:00+09:00", "2026-05-24T00:00:00+09:00").is_err());
    }

    #[test]
    fn what_is_neither_a_day_nor_an_instant_is_refused() {
        for bad in ["2026-5-24", "2026-02-30", "tomorrow", "", "0000-01-01"] {
            assert!(Span::parse(Some(bad), None, TimeZone::TOKYO).is_err(), "{bad}");
        }
    }
}

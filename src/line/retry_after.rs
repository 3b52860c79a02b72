//! `Retry-After`: how long the sender of an answer asks to wait (RFC 9110, section 10.2.3).

use std::time::{Duration, UNIX_EPOCH};

use crate::domain::time::Timestamp;

/// The value of the header. LINE documents none; the gateways before it may send one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    /// Not before this instant.
    At(Timestamp),
    /// Not within so many seconds after the answer.
    Seconds(u64),
}

impl RetryAfter {
    /// Reads whole seconds, or a date in one of the three forms of an HTTP date (RFC 9110, section 5.6.7). Anything else
    /// is `None`, as if the header were missing.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim_ascii();
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            // More digits than fit are a very long time.
            return Some(Self::Seconds(text.parse().unwrap_or(u64::MAX)));
        }
        let since_1970 = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
        Timestamp::from_millis(i64::try_from(since_1970.as_millis()).ok()?).map(Self::At)
    }

    /// Returns the time to wait, counted from `now`, which is when the answer came; zero for a date in the past. Any
    /// length is possible: bounds are the caller's.
    #[must_use]
    pub fn wait(self, now: Timestamp) -> Duration {
        match self {
            Self::At(at) => at.since(now),
            Self::Seconds(seconds) => Duration::from_secs(seconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "1994-11-06T08:49:00.000Z";

    fn wait(text: &str) -> Option<u64> {
        RetryAfter::read(text).map(|after| after.wait(NOW.parse().unwrap()).as_secs())
    }

    #[test]
    fn seconds_are_counted_from_the_answer() {
        for (text, seconds) in [("0", 0), ("120", 120), (" 7 ", 7), ("99999999999999999999999999", u64::MAX)] {
            assert_eq!(wait(text), Some(seconds), "{text}");
        }
    }

    #[test]
    fn a_date_in_any_of_the_three_forms_is_waited_for() {
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(wait(text), Some(37), "{text}");
        }
        assert_eq!(wait("Sun, 06 Nov 1994 08:48:59 GMT"), Some(0), "the past is not waited for");
    }

    #[test]
    fn what_is_neither_counts_as_missing() {
        for text in ["", "soon", "-1", "1.5", "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994", "１２"] {
            assert_eq!(wait(text), None, "{text}");
        }
    }
}

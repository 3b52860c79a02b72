//! What the settings of a rally, events and stamp masters, have in common: names, versions, and how a change is
//! completed.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Malformed, ids::text_type, time::Timestamp};

text_type! {
    /// The name of an event or a stamp as participants read it: 1 to 200 characters, none of them a control character.
    Name, "name", "must be 1 to 200 characters without control characters", |text| {
        !text.trim().is_empty() && text.chars().count() <= 200 && !text.chars().any(char::is_control)
    }
}

/// Refuses a change that leaves out an attribute whose stored value can't be read: a default would replace a value that
/// the item had.
pub(super) fn must_replace(unreadable: &[&'static str], is_named: impl Fn(&str) -> bool) -> Result<(), Malformed> {
    match unreadable.iter().find(|name| !is_named(name)) {
        Some(name) => Err(Malformed::new(*name, "is required, because the stored value is missing or can't be read")),
        None => Ok(()),
    }
}

/// Returns the version after `old`: `max(now, old + 1 ms)`, so that it grows even while the clock doesn't.
pub(super) fn next_version(old: Timestamp, now: Timestamp) -> Timestamp {
    now.max(old.plus_millis(1))
}

/// Returns a value that a new setting must have.
pub(super) fn required<T>(what: &'static str, value: Option<T>) -> Result<T, Malformed> {
    value.ok_or_else(|| Malformed::new(what, "is required"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_grows_even_while_the_clock_stops_or_runs_back() {
        let at = |text: &str| text.parse().unwrap();
        let old = at("2026-05-23T01:00:00.000Z");
        assert_eq!(next_version(old, old), at("2026-05-23T01:00:00.001Z"));
        assert_eq!(next_version(old, at("2020-01-01T00:00:00.000Z")), at("2026-05-23T01:00:00.001Z"));
        assert_eq!(next_version(old, at("2026-05-23T02:00:00.000Z")), at("2026-05-23T02:00:00.000Z"));
    }
}

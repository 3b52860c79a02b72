//! When a stream began, out of its label: pure.

use crate::domain::time::Timestamp;

/// Reads a stream's label, "a timestamp, in ISO 8601 format" (API reference: `TableDescription`), of any precision and
/// in UTC: `2026-05-23T10:00:00.123`. The embedded engine writes seconds since 1970: `1780000000.123456789`.
pub(super) fn began(label: &str) -> Option<Timestamp> {
    match label.split_once('.') {
        Some((seconds, fraction)) if is_digits(seconds) && is_digits(fraction) => {
            let millis: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
            Timestamp::from_millis(seconds.parse::<i64>().ok()?.checked_mul(1000)?.checked_add(millis)?)
        }
        _ if label.ends_with('Z') => Timestamp::parse_instant("stream label", label).ok(),
        _ => Timestamp::parse_instant("stream label", &format!("{label}Z")).ok(),
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_of_dynamodb_is_an_instant_in_utc() {
        for (label, began_at) in [
            ("2015-05-20T20:51:10.252", "2015-05-20T20:51:10.252Z"),
            ("2026-05-23T10:00:00", "2026-05-23T10:00:00.000Z"),
            ("2026-05-23T10:00:00.123456", "2026-05-23T10:00:00.123Z"),
            ("2026-05-23T10:00:00.123Z", "2026-05-23T10:00:00.123Z"),
            ("1780000000.050999999", "2026-05-28T20:26:40.050Z"),
        ] {
            assert_eq!(began(label).map(|at| at.to_string()).as_deref(), Some(began_at), "{label}");
        }
    }

    #[test]
    fn a_label_of_another_form_says_nothing() {
        for label in ["", "latest", ".", "1780000000", "1780000000.x", "99999999999999999999.1", "2026-05-23"] {
            assert_eq!(began(label), None, "{label}");
        }
    }
}

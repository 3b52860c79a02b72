//! The ids that keys are made of. A value of these types can't break a key: the separator `#`,
//! control characters and anything else outside the pattern never get in.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Malformed;

/// Makes a type of text: a private text, one door in (`FromStr`, which serde uses too), many ways out.
macro_rules! text_type {
    ($(#[$doc:meta])* $name:ident, $what:literal, $rule:literal, $fits:expr) => {
        $(#[$doc])*
        #[derive(derive_more::Display, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Returns it as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = Malformed;

            fn from_str(text: &str) -> Result<Self, Malformed> {
                let fits: fn(&str) -> bool = $fits;
                if fits(text) { Ok(Self(text.to_owned())) } else { Err(Malformed::new($what, $rule)) }
            }
        }

        $crate::domain::ids::by_text!($name, |id| id.0);
    };
}

/// Lets a type in by its one door, `FromStr`, also where a `String` comes, and out as its text; `Debug` shows that, too.
macro_rules! by_text {
    ($name:ident, $text:expr) => {
        impl TryFrom<String> for $name {
            type Error = Malformed;

            fn try_from(text: String) -> Result<Self, Malformed> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                let text: fn($name) -> Self = $text;
                text(value)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
}

pub(super) use {by_text, text_type};

text_type! {
    /// Names a rally: `stamp-rally-202606`.
    EventId, "eventId", "must match [A-Za-z0-9][A-Za-z0-9_-]{0,63}", |text| word(text, 64, |c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

text_type! {
    /// Names a stamp within its event: `001`.
    StampId, "stampId", "must match [A-Za-z0-9][A-Za-z0-9_-]{0,63}", |text| word(text, 64, |c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

text_type! {
    /// Names a pair of LINE channels (Login and Messaging) in the configuration: `main`.
    ChannelName, "channel", "must match [a-z0-9][a-z0-9-]{0,31}", |text| word(text, 32, |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

text_type! {
    /// A participant, as the provider of the event's channels knows them (LINE: "Get user IDs").
    LineUserId, "lineUserId", "must match U[0-9a-f]{32}", |text| {
        text.len() == 33 && text.starts_with('U') && text[1..].bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    }
}

text_type! {
    /// LINE's name of a webhook event (a ULID today), the last part of a FRIENDSHIP's key.
    WebhookEventId, "webhookEventId", "must match [0-9A-Za-z_-]{1,64}", |text| {
        (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    }
}

text_type! {
    /// Names the request that wrote a fact: the client's `Idempotency-Key`, or one made by us.
    RequestId, "Idempotency-Key", "must match 1 to 255 visible ASCII characters", |text| {
        (1..=255).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic())
    }
}

impl LineUserId {
    /// Reads an id that a table already holds. The source article's examples are shorter than
    /// LINE's ids (`U1234567890abcdef`); they are read back, and never accepted at the edge.
    pub fn stored(text: &str) -> Result<Self, Malformed> {
        let fits = text.len() <= 64
            && text.len() >= 2
            && text.starts_with('U')
            && text.bytes().all(|b| b.is_ascii_alphanumeric());
        if fits {
            Ok(Self(text.to_owned()))
        } else {
            Err(Malformed::new("lineUserId", "a stored id is `U` and up to 63 letters or digits"))
        }
    }
}

impl RequestId {
    /// Makes an id of our own (UUID v4) for a request that brought none.
    #[must_use]
    pub fn generate() -> Self {
        Self(uuid::Uuid::new_v4().to_string())
    }
}

/// Returns whether a text is one to `most` characters that `may` be there, the first a letter or digit.
fn word(text: &str, most: usize, may: fn(char) -> bool) -> bool {
    (1..=most).contains(&text.len()) && text.chars().all(may) && text.starts_with(|c: char| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_could_break_a_key_are_refused() {
        for bad in ["", "#", "a#b", "-a", "_a", "a b", "a\n", "a\u{0}", "ä", "a/b", &"a".repeat(65)] {
            assert!(bad.parse::<EventId>().is_err(), "{bad:?}");
            assert!(bad.parse::<StampId>().is_err(), "{bad:?}");
        }
        for good in ["a", "001", "stamp-rally-202606", "A_b-9", &"a".repeat(64)] {
            assert_eq!(good.parse::<EventId>().unwrap().as_str(), good);
        }
    }

    #[test]
    fn a_user_id_is_lines_form_at_the_edge_and_the_articles_when_read_back() {
        assert!("U0123456789abcdef0123456789abcdef".parse::<LineUserId>().is_ok());
        for bad in [
            "U1234567890abcdef",
            "u0123456789abcdef0123456789abcdef",
            "U0123456789ABCDEF0123456789abcdef",
            "Uあ123456789abcdef0123456789abc",
        ] {
            assert!(bad.parse::<LineUserId>().is_err(), "{bad:?}");
        }
        assert!(LineUserId::stored("U1234567890abcdef").is_ok());
        assert!(LineUserId::stored("U12#STAMP").is_err());
    }

    #[test]
    fn a_refusal_names_the_field_and_the_rule() {
        let error = "a#b".parse::<StampId>().unwrap_err();
        assert_eq!(error.to_string(), "stampId: must match [A-Za-z0-9][A-Za-z0-9_-]{0,63}");
    }

    #[test]
    fn serde_comes_in_by_the_same_door() {
        assert!(serde_json::from_str::<ChannelName>("\"main\"").is_ok());
        assert!(serde_json::from_str::<ChannelName>("\"Main\"").is_err());
    }
}

//! Staff and screens of an event: bearers of tokens that grant stamps, or show the codes of stamps, and nothing else.
//!
//! | file | holds |
//! | --- | --- |
//! | `staff/stamps.rs` | at which stamps a token is good |
//! | `staff/token.rs` | the token, and the hash that is stored of it |

mod stamps;
mod token;

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{
    Malformed,
    ids::{EventId, text_type},
    time::Timestamp,
    worded::worded,
};

pub use stamps::StaffStamps;
pub use token::{StaffToken, TokenHash};

text_type! {
    /// Names a member of the staff, or a screen, within an event.
    StaffId, "staffId", "must match [A-Za-z0-9][A-Za-z0-9_-]{0,63}", |text| {
        let may = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        (1..=64).contains(&text.len()) && text.bytes().all(may) && text.starts_with(|c: char| c.is_ascii_alphanumeric())
    }
}

text_type! {
    /// What organisers call a member of the staff, or a screen.
    StaffName, "name", "must be 1 to 64 characters without control characters", |text| {
        !text.trim().is_empty() && text.chars().count() <= 64 && !text.chars().any(char::is_control)
    }
}

worded! {
    /// What a token is good for.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    StaffRole {
        /// Shows the codes of its stamps.
        Screen = "screen",
        /// Grants its stamps.
        Staff = "staff",
    }
}

/// A member of the staff, or a screen (entity `STAFF`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staff {
    /// Of which event.
    pub event_id: EventId,
    /// Which one.
    pub staff_id: StaffId,
    /// What organisers call it.
    pub name: StaffName,
    /// What its token is good for.
    pub role: StaffRole,
    /// At which stamps.
    pub stamps: StaffStamps,
    /// The SHA-256 of its token.
    pub sha256: TokenHash,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on its token isn't good any more by itself.
    pub expires_at: Option<Timestamp>,
    /// Since when its token is refused.
    pub revoked_at: Option<Timestamp>,
}

impl Staff {
    /// Returns whether its token is good now: neither revoked nor expired.
    #[must_use]
    pub fn is_good(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|expires_at| now < expires_at)
    }
}

/// What an organiser asks for: a new member of the staff, or a new screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffOrder {
    /// What it shall be called.
    pub name: StaffName,
    /// What its token shall be good for.
    pub role: StaffRole,
    /// At which stamps.
    pub stamps: StaffStamps,
    /// Until when; for ever if absent.
    pub expires_at: Option<Timestamp>,
}

impl StaffOrder {
    /// Makes the item and its token, which is known to its bearer alone. Refuses one that would have expired already.
    pub fn make(
        self,
        event_id: EventId,
        now: Timestamp,
        chance: StaffChance,
    ) -> Result<(Staff, StaffToken), Malformed> {
        if self.expires_at.is_some_and(|expires_at| expires_at <= now) {
            return Err(Malformed::new("expiresAt", format!("must be later than now, {now}")));
        }
        let staff_id: StaffId = hex::encode(chance.id).parse()?;
        let token = StaffToken::new(&staff_id, chance.secret);
        let Self { name, role, stamps, expires_at } = self;
        let sha256 = token.hash();
        let staff =
            Staff { event_id, staff_id, name, role, stamps, sha256, created_at: now, expires_at, revoked_at: None };
        Ok((staff, token))
    }
}

/// The random bytes of a new token.
#[derive(Clone, Copy)]
pub struct StaffChance {
    /// Of its `staffId`.
    pub id: [u8; 6],
    /// Of its secret.
    pub secret: [u8; 32],
}

impl From<[u8; 38]> for StaffChance {
    fn from(bytes: [u8; 38]) -> Self {
        let (mut id, mut secret) = ([0; 6], [0; 32]);
        id.copy_from_slice(&bytes[..6]);
        secret.copy_from_slice(&bytes[6..]);
        Self { id, secret }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn order(expires_at: Option<Timestamp>) -> StaffOrder {
        let name = "駅の受付".parse().unwrap();
        StaffOrder { name, role: StaffRole::Staff, stamps: StaffStamps::All, expires_at }
    }

    fn chance() -> StaffChance {
        [7; 38].into()
    }

    #[test]
    fn a_new_token_names_its_staff_and_only_its_hash_is_kept() {
        let now = at("2026-05-23T10:00:00.000Z");
        let (staff, token) = order(None).make("rally".parse().unwrap(), now, chance()).unwrap();
        assert_eq!(staff.staff_id.as_str(), "070707070707");
        assert_eq!(StaffToken::staff_id(token.as_str()), Some(staff.staff_id.clone()));
        assert!(staff.sha256.is_of(token.as_str()) && !staff.sha256.is_of("070707070707.x"));
        assert!(!format!("{staff:?}{token:?}").contains(token.as_str()));
    }

    #[test]
    fn a_token_is_good_until_it_expires_or_is_revoked() {
        let (now, end) = (at("2026-05-23T10:00:00.000Z"), at("2026-05-23T18:00:00.000Z"));
        let (staff, _) = order(Some(end)).make("rally".parse().unwrap(), now, chance()).unwrap();
        assert!(staff.is_good(now) && staff.is_good(end.plus_millis(-1)) && !staff.is_good(end));
        let revoked = Staff { revoked_at: Some(now), ..staff };
        assert!(!revoked.is_good(now));
    }

    #[test]
    fn a_token_that_would_have_expired_is_refused() {
        let now = at("2026-05-23T10:00:00.000Z");
        let refused = order(Some(now)).make("rally".parse().unwrap(), now, chance()).unwrap_err();
        assert_eq!(refused.to_string(), "expiresAt: must be later than now, 2026-05-23T10:00:00.000Z");
    }

    #[test]
    fn a_name_has_at_most_64_characters() {
        assert!("あ".repeat(64).parse::<StaffName>().is_ok());
        let refused = "あ".repeat(65).parse::<StaffName>().unwrap_err();
        assert_eq!(refused.to_string(), "name: must be 1 to 64 characters without control characters");
        assert!(" ".parse::<StaffName>().is_err() && "a\nb".parse::<StaffName>().is_err());
    }
}

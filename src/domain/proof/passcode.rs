//! Passcodes: a word that is told or shown at a stamp. Only its keyed hash is stored.

use std::fmt;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

use super::keys::ProofKeys;
use crate::domain::{
    Malformed,
    ids::{EventId, StampId},
};

/// Returns a text as it is compared: NFKC, lower case, without white space.
fn normalised(text: &str) -> String {
    let lower = text.nfkc().flat_map(char::to_lowercase);
    lower.nfkc().filter(|character| !character.is_whitespace()).collect()
}

/// A passcode, normalised: 3 to 64 characters.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Passcode(String);

impl Passcode {
    /// Returns what is stored of it, made with the newest key; `None` without a key.
    #[must_use]
    pub fn hash(&self, keys: &ProofKeys, event_id: &EventId, stamp_id: &StampId) -> Option<PasscodeHash> {
        keys.sign(context(event_id, stamp_id, &self.0).as_bytes()).map(PasscodeHash)
    }
}

impl TryFrom<String> for Passcode {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        let normalised = normalised(&text);
        if (3..=64).contains(&normalised.chars().count()) {
            Ok(Self(normalised))
        } else {
            Err(Malformed::new("passcode", "must have 3 to 64 characters, white space not counted"))
        }
    }
}

impl fmt::Debug for Passcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passcode(…)")
    }
}

/// What is stored of a passcode: an HMAC-SHA256, bound to its stamp, in hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PasscodeHash([u8; 32]);

impl PasscodeHash {
    /// Returns whether a text that a participant typed is the passcode: normalised, by any of the keys.
    #[must_use]
    pub fn is_of(&self, text: &str, keys: &ProofKeys, (event_id, stamp_id): (&EventId, &StampId)) -> bool {
        keys.have_signed(context(event_id, stamp_id, &normalised(text)).as_bytes(), &self.0)
    }
}

impl TryFrom<String> for PasscodeHash {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        let malformed = || Malformed::new("passcodeHash", "must be 64 hexadecimal digits");
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)) {
            return Err(malformed());
        }
        let mut hash = [0; 32];
        for (byte, start) in hash.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(&text[start..start + 2], 16).map_err(|_| malformed())?;
        }
        Ok(Self(hash))
    }
}

impl From<PasscodeHash> for String {
    fn from(hash: PasscodeHash) -> Self {
        hash.to_string()
    }
}

impl fmt::Display for PasscodeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PasscodeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasscodeHash(…)")
    }
}

fn context(event_id: &EventId, stamp_id: &StampId, normalised: &str) -> String {
    format!("passcode#{event_id}#{stamp_id}#{normalised}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::proof::code::tests::contract_keys;

    fn passcode(text: &str) -> Passcode {
        text.to_owned().try_into().unwrap()
    }

    #[test]
    fn the_hash_is_the_contracts() {
        let (event, stamp) = ("stamp-rally-202606".parse().unwrap(), "001".parse().unwrap());
        let hash = passcode("himitsu").hash(&contract_keys(), &event, &stamp).unwrap();
        assert_eq!(hash.to_string(), "40aac5eb08a187f045c8eb7e5c6313910498b01029cb8cd732a0c5e6c447a100");
        assert_eq!(PasscodeHash::try_from(hash.to_string()), Ok(hash));
        for typed in ["himitsu", " Ｈｉ Mitsu\u{3000}", "HIMITSU"] {
            assert!(hash.is_of(typed, &contract_keys(), (&event, &stamp)), "{typed}");
        }
        assert!(!hash.is_of("himitu", &contract_keys(), (&event, &stamp)));
        assert!(!hash.is_of("himitsu", &contract_keys(), (&event, &"002".parse().unwrap())));
    }

    #[test]
    fn a_passcode_has_3_to_64_characters_once_normalised_and_is_never_shown() {
        for bad in ["", " a b ", &"x".repeat(65)] {
            assert!(Passcode::try_from(bad.to_owned()).is_err(), "{bad}");
        }
        assert_eq!(passcode("カキ 氷"), passcode("ｶｷ氷"));
        assert_eq!(format!("{:?}", passcode("himitsu")), "Passcode(…)");
    }
}

//! Tokens of staff and screens: `{staffId}.{secret}`. What is stored is the hash alone.

use std::fmt;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::StaffId;
use crate::domain::{Malformed, ids::by_text};

/// A new token: shown once, to whom it was made for.
pub struct StaffToken(String);

impl StaffToken {
    /// Makes the token of these random bytes.
    pub(super) fn new(staff_id: &StaffId, secret: [u8; 32]) -> Self {
        Self(format!("{staff_id}.{}", BASE64_URL_SAFE_NO_PAD.encode(secret)))
    }

    /// Returns whose token a text says to be; `None` if it is none.
    #[must_use]
    pub fn staff_id(text: &str) -> Option<StaffId> {
        text.split_once('.')?.0.parse().ok()
    }

    /// Returns its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn hash(&self) -> TokenHash {
        TokenHash(Sha256::digest(&self.0).into())
    }
}

impl fmt::Debug for StaffToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StaffToken(…)")
    }
}

/// The SHA-256 of a token, in 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// Returns whether a text is the token. How long that takes shows nothing of it.
    #[must_use]
    pub fn is_of(&self, text: &str) -> bool {
        self.0.ct_eq(Sha256::digest(text).as_slice()).into()
    }
}

impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl std::str::FromStr for TokenHash {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let mut hash = [0; 32];
        match hex::decode_to_slice(text, &mut hash) {
            Ok(()) => Ok(Self(hash)),
            Err(_) => Err(Malformed::new("sha256", "must be 64 hexadecimal digits")),
        }
    }
}

by_text!(TokenHash, |hash| hash.to_string());

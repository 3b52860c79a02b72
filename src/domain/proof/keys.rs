//! The keys that make and check codes and passcodes (`proofs.keys`).

use std::fmt;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq as _};

/// What every text begins with that a key signs: no signature of ours is one of another use of the key.
const PURPOSE: &[u8] = b"stamp-rally/1#";

/// The keys, newest first: the newest makes, all are accepted. Removing one ends all that it made.
#[derive(Clone, Default)]
pub struct ProofKeys(Vec<Hmac<Sha256>>);

/// Why a text is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// It isn't base64url.
    #[error("must be base64url without padding: `stamp-rally proof-key new` makes one")]
    Encoding,
    /// It has fewer than 32 bytes, or more than 64.
    #[error("must have 32 to 64 bytes, not {0}: `stamp-rally proof-key new` makes one")]
    Length(usize),
}

impl ProofKeys {
    /// Reads keys as they are configured, newest first: base64url, 32 to 64 bytes each. The error has the place of the
    /// first that is none; the text itself is never shown.
    pub fn read<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, (usize, KeyFault)> {
        let keys = texts.into_iter().enumerate();
        keys.map(|(place, text)| key(text).map_err(|fault| (place, fault))).collect::<Result<_, _>>().map(Self)
    }

    /// Returns whether there is none: no code can be made or checked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Signs a context with the newest key; `None` if there is none.
    pub(super) fn sign(&self, context: &[u8]) -> Option<[u8; 32]> {
        self.0.first().map(|key| signature(key, context))
    }

    /// Returns whether one of the keys signs a context by this signature's first bytes. Every key is tried, in constant time.
    pub(super) fn have_signed(&self, context: &[u8], start: &[u8]) -> bool {
        let fits = |key: &Hmac<Sha256>| signature(key, context)[..start.len().min(32)].ct_eq(start);
        self.0.iter().fold(Choice::from(0), |found, key| found | fits(key)).into()
    }
}

fn key(text: &str) -> Result<Hmac<Sha256>, KeyFault> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| KeyFault::Encoding)?;
    if !(32..=64).contains(&bytes.len()) {
        return Err(KeyFault::Length(bytes.len()));
    }
    let mut mac = Hmac::new_from_slice(&bytes).map_err(|_| KeyFault::Length(bytes.len()))?;
    mac.update(PURPOSE);
    Ok(mac)
}

fn signature(key: &Hmac<Sha256>, context: &[u8]) -> [u8; 32] {
    key.clone().chain_update(context).finalize().into_bytes().into()
}

impl fmt::Debug for ProofKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProofKeys({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_32_to_64_bytes_in_base64url() {
        let of = |length: usize| BASE64_URL_SAFE_NO_PAD.encode(vec![7; length]);
        assert!(ProofKeys::read([of(32).as_str(), of(64).as_str()]).is_ok());
        assert_eq!(ProofKeys::read([of(32).as_str(), of(31).as_str()]).unwrap_err(), (1, KeyFault::Length(31)));
        assert_eq!(ProofKeys::read([of(65).as_str()]).unwrap_err(), (0, KeyFault::Length(65)));
        assert_eq!(ProofKeys::read(["+"]).unwrap_err(), (0, KeyFault::Encoding));
    }

    #[test]
    fn every_key_is_accepted_the_newest_signs_and_none_is_shown() {
        let (old, new) = (BASE64_URL_SAFE_NO_PAD.encode([1; 32]), BASE64_URL_SAFE_NO_PAD.encode([2; 32]));
        let (both, alone) = (ProofKeys::read([&*new, &*old]).unwrap(), ProofKeys::read([&*old]).unwrap());
        let signed = alone.sign(b"x").unwrap();
        assert!(both.have_signed(b"x", &signed) && !both.have_signed(b"y", &signed));
        assert!(!alone.have_signed(b"x", &both.sign(b"x").unwrap()));
        assert!(!ProofKeys::default().have_signed(b"x", &signed));
        assert_eq!(format!("{both:?}"), "ProofKeys(2)");
    }
}

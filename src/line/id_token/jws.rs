//! A token taken apart: a JWS in compact serialization (RFC 7515, section 7.1).
//!
//! Everything in here is only claimed. [`Jws::claims`] alone returns what was signed, and needs the key for it.
//! The cryptography is aws-lc-rs's.

use aws_lc_rs::signature::ParsedPublicKey;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IgnoredAny},
};
use sha2::Sha256;

use super::{
    claims::Said,
    error::{Flaw, TokenError},
};

/// A token whose signature isn't checked yet.
pub(super) struct Jws<'a> {
    pub(super) header: Header,
    /// What the signature is of: header and payload as they came.
    signed: &'a str,
    payload: &'a str,
    signature: Vec<u8>,
}

/// What a header may say and mean something to us. An algorithm or key in it only chooses among ours.
#[derive(Deserialize)]
pub(super) struct Header {
    pub(super) alg: String,
    pub(super) kid: Option<String>,
    /// Extensions that must be understood, or the token refused (RFC 7515, section 4.1.11): we understand none.
    #[serde(default, deserialize_with = "there")]
    crit: bool,
    /// Such an extension, for tokens that don't list it (RFC 7797).
    #[serde(default, deserialize_with = "there")]
    b64: bool,
}

/// What a signature is checked with. Each has one algorithm, whatever a token says.
pub(super) enum Key<'a> {
    /// One of LINE's, made for ES256 (RFC 7518, section 3.4).
    Es256(&'a ParsedPublicKey),
    /// A Login channel's secret (RFC 7518, section 3.2).
    Hs256(&'a str),
}

impl<'a> Jws<'a> {
    /// Takes a token apart; its header must be readable, and ask for nothing that we don't know.
    pub(super) fn parse(token: &'a str) -> Result<Self, TokenError> {
        let unreadable = TokenError::Invalid(Flaw::Header);
        let Some((signed, signature)) = token.rsplit_once('.') else { return Err(unreadable) };
        let Some((header, payload)) = signed.split_once('.') else { return Err(unreadable) };
        let header: Header = object(header).filter(|_| !payload.contains('.')).ok_or(unreadable)?;
        if header.crit || header.b64 {
            return Err(TokenError::Invalid(Flaw::Form));
        }
        let signature = decoded(signature).ok_or(TokenError::Invalid(Flaw::Form))?;
        Ok(Self { header, signed, payload, signature })
    }

    /// Returns the claims, if they were signed with this key.
    pub(super) fn claims(&self, key: &Key<'_>) -> Result<Said, TokenError> {
        if !key.signed(self.signed.as_bytes(), &self.signature) {
            return Err(TokenError::Invalid(Flaw::Signature));
        }
        self.unverified_claims().ok_or(TokenError::Invalid(Flaw::Form))
    }

    /// Returns what the token claims: good for asking LINE about it, and for nothing else.
    pub(super) fn unverified_claims(&self) -> Option<Said> {
        object(self.payload)
    }
}

impl Key<'_> {
    fn signed(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Es256(key) => key.verify_sig(message, signature).is_ok(),
            Self::Hs256(secret) => Hmac::<Sha256>::new_from_slice(secret.as_bytes())
                .is_ok_and(|mac| mac.chain_update(message).verify_slice(signature).is_ok()),
        }
    }
}

fn object<T: DeserializeOwned>(part: &str) -> Option<T> {
    let json = decoded(part)?;
    // A struct may also come as an array, as far as serde is concerned.
    if !json.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    serde_json::from_slice(&json).ok()
}

/// Reads that a member is there, whatever its value, `null` too.
fn there<'de, D: Deserializer<'de>>(json: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(json).map(|_| true)
}

fn decoded(part: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(part).ok()
}

//! Who somebody is: LINE's ID tokens, verified here with LINE's published keys, or by LINE.
//!
//! The `sub` of a verified token is the only identity there is. Nothing of a token is ever logged,
//! nor part of an error.

mod claims;
mod endpoint;
mod keys;
mod seen;

use std::{
    fmt,
    sync::{Arc, LazyLock},
    time::Duration,
};

use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header, errors::ErrorKind};
use secrecy::{ExposeSecret, SecretString};

use super::{Cause, Platform};
use crate::domain::{
    ids::LineUserId,
    time::{Clock, Timestamp},
};
use claims::{Claims, Said};
use keys::KeyRing;
use seen::{Seen, Signing, Verified};

/// Longest token that is looked at. LINE's own have about 700 bytes; one with every claim there is, some 2,000.
const LONGEST: usize = 8 * 1024;

/// The Login channels of one channel of ours: whose tokens are accepted for its events.
#[derive(Debug, Clone)]
pub struct LoginChannels {
    /// The accepted `aud` values: Login channel ids. A LINE MINI App has one for each of its stages.
    pub ids: Vec<String>,
    /// The Login channel secret, only where web login (HS256) is wanted.
    pub hs256_secret: Option<SecretString>,
}

/// How tokens are verified (`line.verification`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verification {
    /// LINE is asked for each token it hasn't been asked for yet.
    Endpoint,
    /// Here, with LINE's published keys.
    Jwks,
}

/// The settings of a verifier.
#[derive(Debug, Clone, Copy)]
pub struct VerifierSettings {
    /// How.
    pub verification: Verification,
    /// At most one fetch of the keys in this time, however many tokens name a key we don't know.
    pub jwks_refetch: Duration,
    /// How far LINE's clock and ours may differ (`exp`, `iat`).
    pub leeway: Duration,
}

/// Why a token names nobody.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// All is right but the time: the person has to log in again.
    #[error("the ID token has expired")]
    Expired,
    /// It will never be accepted; the reason is one of a few fixed words, for metrics.
    #[error("the ID token is invalid: {0}")]
    Invalid(&'static str),
    /// It can't be told now: LINE doesn't answer. The same token may be good in a moment.
    #[error("LINE can't say now whether the ID token is good")]
    Unavailable(#[source] Cause),
}

/// Verifies ID tokens. Clones share the keys and what was verified before.
#[derive(Clone)]
pub struct TokenVerifier(Arc<Inner>);

struct Inner {
    way: Way,
    leeway: Duration,
    clock: Clock,
    seen: Seen,
}

enum Way {
    Endpoint(Platform),
    Jwks(KeyRing),
}

impl TokenVerifier {
    /// A verifier that has fetched nothing yet.
    #[must_use]
    pub fn new(platform: Platform, settings: VerifierSettings, clock: Clock) -> Self {
        // Without it, a build in which another crate turns on a second provider panics at the first token.
        // An error says that one is installed: by the verifier before this one.
        let _installed = jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER.install_default();
        let way = match settings.verification {
            Verification::Endpoint => Way::Endpoint(platform),
            Verification::Jwks => Way::Jwks(KeyRing::new(platform, settings.jwks_refetch, clock.clone())),
        };
        Self(Arc::new(Inner { way, leeway: settings.leeway, clock, seen: Seen::default() }))
    }

    /// Whom a token names, if LINE issued it for one of the accepted Login channels and it is still good.
    ///
    /// A token that was verified within the last hour is answered from memory, `aud` and `exp`
    /// checked again.
    pub async fn verify(&self, token: &str, accepted: &LoginChannels) -> Result<LineUserId, TokenError> {
        if token.len() > LONGEST {
            return Err(TokenError::Invalid("too_long"));
        }
        let (now, uptime) = (self.0.clock.now(), self.0.clock.uptime());
        let digest = seen::digest(token);
        if let Some(verified) = self.0.seen.find(&digest, uptime) {
            return verified.user_for(accepted, self.0.leeway, now);
        }
        let (claims, signing) = match &self.0.way {
            Way::Endpoint(platform) => endpoint::ask(platform, token, accepted).await?,
            Way::Jwks(keys) => signed_claims(keys, token, accepted).await?,
        };
        let claims = Claims::read(&claims)?;
        let verified = Verified { claims, signing, at: uptime };
        let user = verified.user_for(accepted, self.0.leeway, now)?;
        self.0.seen.keep(digest, verified);
        Ok(user)
    }
}

impl Verified {
    fn user_for(&self, accepted: &LoginChannels, leeway: Duration, now: Timestamp) -> Result<LineUserId, TokenError> {
        if self.signing == Signing::LoginSecret && accepted.hs256_secret.is_none() {
            return Err(TokenError::Invalid("algorithm"));
        }
        self.claims.user_for(&accepted.ids, leeway, now)
    }
}

/// Made once: every first request of a visit needs it.
static ES256_ALONE: LazyLock<Validation> = LazyLock::new(|| signature_alone(Algorithm::ES256));

/// The claims of a token whose signature is right: ES256 with one of LINE's keys, or HS256 with the
/// Login channel's secret. Which of them is never the token's choice: a key has one algorithm.
async fn signed_claims(keys: &KeyRing, token: &str, accepted: &LoginChannels) -> Result<(Said, Signing), TokenError> {
    let header = decode_header(token).map_err(|_| TokenError::Invalid("header"))?;
    match (header.alg, header.kid, &accepted.hs256_secret) {
        (Algorithm::ES256, Some(kid), _) => {
            let key = keys.find(&kid).await.map_err(|error| TokenError::Unavailable(error.into()))?;
            let key = key.ok_or(TokenError::Invalid("unknown_key"))?;
            Ok((claims_signed_with(&key, &ES256_ALONE, token)?, Signing::LineKey))
        }
        (Algorithm::ES256, None, _) => Err(TokenError::Invalid("key_id_missing")),
        (Algorithm::HS256, None, Some(secret)) => {
            let key = DecodingKey::from_secret(secret.expose_secret().as_bytes());
            let key = key.map_err(|_| TokenError::Invalid("algorithm"))?;
            Ok((claims_signed_with(&key, &signature_alone(Algorithm::HS256), token)?, Signing::LoginSecret))
        }
        _ => Err(TokenError::Invalid("algorithm")),
    }
}

fn claims_signed_with(key: &DecodingKey, signature_alone: &Validation, token: &str) -> Result<Said, TokenError> {
    decode(token, key, signature_alone).map(|token| token.claims).map_err(|error| match error.kind() {
        ErrorKind::InvalidSignature => TokenError::Invalid("signature"),
        _ => TokenError::Invalid("form"),
    })
}

/// The signature and its algorithm alone: the claims are checked in `claims.rs`, with the clock that is handed in.
fn signature_alone(algorithm: Algorithm) -> Validation {
    let mut validation = Validation::new(algorithm);
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    validation.validate_aud = false;
    validation
}

impl fmt::Debug for TokenVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = match &self.0.way {
            Way::Endpoint(_) => Verification::Endpoint,
            Way::Jwks(_) => Verification::Jwks,
        };
        f.debug_struct("TokenVerifier").field("way", &way).field("leeway", &self.0.leeway).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;

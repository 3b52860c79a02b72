//! Verifies ID tokens, by LINE's published keys or by LINE itself.

use std::{fmt, sync::Arc, time::Duration};

use serde::Deserialize;

use super::{
    super::platform::Platform,
    claims::{Claims, LoginChannels, Said},
    endpoint,
    error::{Flaw, TokenError},
    jws::{Jws, Key},
    keys::KeyRing,
    seen::{self, Seen, Signing, Verified},
};
use crate::domain::{
    ids::LineUserId,
    time::{Clock, Timestamp},
};

/// Longest token that is looked at. LINE's own have about 700 bytes; one with every claim there is, some 2,000.
pub(super) const LONGEST: usize = 8 * 1024;

/// How tokens are verified (`line.verification`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verification {
    /// LINE is asked about each token that it hasn't accepted within the hour.
    Endpoint,
    /// Here, with LINE's published keys.
    #[serde(alias = "local")]
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

/// Verifies ID tokens. Clones share the keys and what was verified before.
#[derive(Clone)]
pub struct TokenVerifier(pub(super) Arc<Inner>);

pub(super) struct Inner {
    way: Way,
    leeway: Duration,
    clock: Clock,
    pub(super) seen: Seen,
}

enum Way {
    Endpoint(Platform),
    Jwks(KeyRing),
}

impl TokenVerifier {
    /// Returns a verifier that has fetched nothing yet.
    #[must_use]
    pub fn new(platform: Platform, settings: VerifierSettings, clock: Clock) -> Self {
        let way = match settings.verification {
            Verification::Endpoint => Way::Endpoint(platform),
            Verification::Jwks => Way::Jwks(KeyRing::new(platform, settings.jwks_refetch, clock.clone())),
        };
        Self(Arc::new(Inner { way, leeway: settings.leeway, clock, seen: Seen::default() }))
    }

    /// Returns the user that a token names, if LINE issued it for one of the accepted Login channels and it is still good.
    ///
    /// A token that was verified before is answered from memory as long as the keys that it was verified with would be
    /// used, an hour at most; all but the signature is checked again.
    pub async fn verify(&self, token: &str, accepted: &LoginChannels) -> Result<LineUserId, TokenError> {
        if token.len() > LONGEST {
            return Err(TokenError::Invalid(Flaw::TooLong));
        }
        let (now, uptime) = (self.0.clock.now(), self.0.clock.uptime());
        let digest = seen::digest(token);
        if let Some(verified) = self.0.seen.find(&digest, uptime) {
            return verified.user_for(accepted, self.0.leeway, now);
        }
        let (at, (said, signing)) = match &self.0.way {
            Way::Endpoint(platform) => (uptime, endpoint::ask(platform, token, accepted).await?),
            // Looked at before the key is: what is remembered is never younger than its key.
            Way::Jwks(keys) => (keys.fetched_at().unwrap_or(uptime), signed_claims(keys, token, accepted).await?),
        };
        let verified = Verified { claims: Claims::read(&said)?, signing, at };
        let user = verified.user_for(accepted, self.0.leeway, now)?;
        self.0.seen.keep(digest, verified);
        Ok(user)
    }
}

impl Verified {
    fn user_for(&self, accepted: &LoginChannels, leeway: Duration, now: Timestamp) -> Result<LineUserId, TokenError> {
        if let Signing::LoginSecret(signed_with) = &self.signing {
            let secret = accepted.secret().ok_or(TokenError::Invalid(Flaw::Algorithm))?;
            if seen::digest(secret) != *signed_with {
                return Err(TokenError::Invalid(Flaw::Signature));
            }
        }
        self.claims.user_for(&accepted.ids, leeway, now)
    }
}

/// Returns the claims of a token whose signature is right: ES256 with one of LINE's keys, or HS256 with the Login channel's
/// secret.
async fn signed_claims(keys: &KeyRing, token: &str, accepted: &LoginChannels) -> Result<(Said, Signing), TokenError> {
    let jws = Jws::parse(token)?;
    match (jws.header.alg.as_str(), &jws.header.kid, accepted.secret()) {
        ("ES256", Some(kid), _) => {
            let key = keys.find(kid).await.map_err(|error| TokenError::Unavailable(error.into()))?;
            let key = key.ok_or(TokenError::Invalid(Flaw::UnknownKey))?;
            Ok((jws.claims(&Key::Es256(&key))?, Signing::LineKey))
        }
        ("ES256", None, _) => Err(TokenError::Invalid(Flaw::KeyIdMissing)),
        ("HS256", None, Some(secret)) => {
            Ok((jws.claims(&Key::Hs256(secret))?, Signing::LoginSecret(seen::digest(secret))))
        }
        _ => Err(TokenError::Invalid(Flaw::Algorithm)),
    }
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

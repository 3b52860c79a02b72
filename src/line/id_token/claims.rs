//! The claims of a token, checked: who issued it, for whom, and when.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::{Flaw, TokenError};
use crate::domain::{ids::LineUserId, json::Plain, time::Timestamp};

/// The issuer of every ID token (LINE Login: "Verify ID token").
const ISSUER: &str = "https://access.line.me";

/// The Login channels of one channel of ours: whose tokens are accepted for its events.
#[derive(Debug, Clone)]
pub struct LoginChannels {
    /// The accepted `aud` values: Login channel ids. A LINE MINI App has one for each of its stages.
    pub ids: Vec<String>,
    /// The Login channel secret, only where web login (HS256) is wanted.
    pub hs256_secret: Option<SecretString>,
}

impl LoginChannels {
    /// Returns what web login's tokens may be signed with; an empty secret, with which anyone can sign, doesn't count.
    pub(super) fn secret(&self) -> Option<&str> {
        self.hs256_secret.as_ref().map(ExposeSecret::expose_secret).filter(|secret| !secret.is_empty())
    }
}

/// The claims that matter, as a token or LINE says them: any of them may be missing, or be anything. Names, pictures and
/// the rest are passed over.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Said {
    iss: Plain,
    aud: Plain,
    sub: Plain,
    exp: Plain,
    iat: Plain,
}

impl Said {
    pub(super) fn audience(&self) -> Option<&str> {
        self.aud.0.as_str()
    }
}

impl From<Map<String, Value>> for Said {
    fn from(mut object: Map<String, Value>) -> Self {
        let mut claim = |name| Plain(object.remove(name).unwrap_or_default());
        Self { iss: claim("iss"), aud: claim("aud"), sub: claim("sub"), exp: claim("exp"), iat: claim("iat") }
    }
}

/// The same, each in LINE's form: what is kept of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claims {
    user: LineUserId,
    audience: String,
    /// Seconds since 1970, as all times of a token.
    expires_at: i64,
    issued_at: i64,
}

impl Claims {
    /// Reads the claims; each must be there in LINE's form, and the issuer must be LINE.
    pub(super) fn read(said: &Said) -> Result<Self, TokenError> {
        if said.iss.0.as_str() != Some(ISSUER) {
            return Err(TokenError::Invalid(Flaw::Issuer));
        }
        let audience = said.audience().ok_or(TokenError::Invalid(Flaw::Audience))?.to_owned();
        let user = said.sub.0.as_str().and_then(|text| text.parse().ok()).ok_or(TokenError::Invalid(Flaw::Subject))?;
        let issued_at = said.iat.0.as_i64().ok_or(TokenError::Invalid(Flaw::IssuedAt))?;
        let expires_at = said.exp.0.as_i64().ok_or(TokenError::Invalid(Flaw::ExpiresAt))?;
        Ok(Self { user, audience, expires_at, issued_at })
    }

    /// Returns the user they name, if they are meant for one of `audiences` and good now. `Expired` only if
    /// all else is right.
    pub(super) fn user_for(
        &self,
        audiences: &[String],
        leeway: Duration,
        now: Timestamp,
    ) -> Result<LineUserId, TokenError> {
        let leeway = i64::try_from(leeway.as_millis()).unwrap_or(i64::MAX);
        let millis = |seconds: i64| seconds.saturating_mul(1_000);
        if !audiences.contains(&self.audience) {
            return Err(TokenError::Invalid(Flaw::Audience));
        }
        if millis(self.issued_at) > now.as_millis().saturating_add(leeway) {
            return Err(TokenError::Invalid(Flaw::IssuedAt));
        }
        if now.as_millis() >= millis(self.expires_at).saturating_add(leeway) {
            return Err(TokenError::Expired);
        }
        Ok(self.user.clone())
    }
}

//! What can be wrong with a token, in one word each, and what to do about it.

use std::fmt;

use super::super::error::Cause;

/// Why a token names no user.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// All is right but the time: the participant has to log in again.
    #[error("the ID token has expired")]
    Expired,
    /// It will never be accepted.
    #[error("the ID token is invalid: {0}")]
    Invalid(Flaw),
    /// It isn't known now: LINE doesn't answer. The same token may be good in a moment.
    #[error("LINE can't say now whether the ID token is good")]
    Unavailable(#[source] Cause),
}

/// Why a token will never be accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// An algorithm that isn't accepted, here or at all.
    Algorithm,
    /// `aud` isn't a Login channel of the event's channel.
    Audience,
    /// `exp` is no time.
    ExpiresAt,
    /// It can't be read, or asks for what we don't know.
    Form,
    /// Its header can't be read.
    Header,
    /// `iat` is no time, or in the future.
    IssuedAt,
    /// `iss` isn't LINE.
    Issuer,
    /// An ES256 token without `kid`.
    KeyIdMissing,
    /// LINE's verify endpoint says no.
    RefusedByLine,
    /// The signature is wrong.
    Signature,
    /// `sub` is no user id.
    Subject,
    /// Longer than any token of LINE's.
    TooLong,
    /// LINE has no key of that `kid`.
    UnknownKey,
}

impl Flaw {
    /// Each of them.
    pub const ALL: [Self; 13] = [
        Self::Algorithm,
        Self::Audience,
        Self::ExpiresAt,
        Self::Form,
        Self::Header,
        Self::IssuedAt,
        Self::Issuer,
        Self::KeyIdMissing,
        Self::RefusedByLine,
        Self::Signature,
        Self::Subject,
        Self::TooLong,
        Self::UnknownKey,
    ];

    /// As metrics spell it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Algorithm => "algorithm",
            Self::Audience => "audience",
            Self::ExpiresAt => "expires_at",
            Self::Form => "form",
            Self::Header => "header",
            Self::IssuedAt => "issued_at",
            Self::Issuer => "issuer",
            Self::KeyIdMissing => "key_id_missing",
            Self::RefusedByLine => "refused_by_line",
            Self::Signature => "signature",
            Self::Subject => "subject",
            Self::TooLong => "too_long",
            Self::UnknownKey => "unknown_key",
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

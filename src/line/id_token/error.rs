//! What can be wrong with a token, in one word each, and what to do about it.

use super::super::error::Cause;
use crate::domain::worded::worded;

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

worded! {
    /// Why a token will never be accepted, as metrics spell it.
    Flaw {
        /// An algorithm that isn't accepted, here or at all.
        Algorithm = "algorithm",
        /// `aud` isn't a Login channel of the event's channel.
        Audience = "audience",
        /// `exp` is no time.
        ExpiresAt = "expires_at",
        /// It can't be read, or asks for what we don't know.
        Form = "form",
        /// Its header can't be read.
        Header = "header",
        /// `iat` is no time, or in the future.
        IssuedAt = "issued_at",
        /// `iss` isn't LINE.
        Issuer = "issuer",
        /// An ES256 token without `kid`.
        KeyIdMissing = "key_id_missing",
        /// LINE's verify endpoint says no.
        RefusedByLine = "refused_by_line",
        /// The signature is wrong.
        Signature = "signature",
        /// `sub` is no user id.
        Subject = "subject",
        /// Longer than any token of LINE's.
        TooLong = "too_long",
        /// LINE has no key of that `kid`.
        UnknownKey = "unknown_key",
    }
}

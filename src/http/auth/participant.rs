//! The participant, whom a verified LIFF ID token names.

use actix_web::HttpRequest;

use crate::domain::ids::LineUserId;
use crate::http::problem::ApiError;
use crate::line::id_token::{Flaw, LoginChannels, TokenError, TokenVerifier};

use super::Credentials;

/// A participant whose ID token was verified for one event. There is no other way to make one: an identity never comes
/// from a body, a query or another header.
#[derive(Debug)]
pub struct Participant {
    /// Who it is.
    pub(in crate::http) line_user_id: LineUserId,
}

impl Participant {
    /// Verifies an ID token against login channels.
    pub async fn verified(token: &str, verifier: &TokenVerifier, login: &LoginChannels) -> Result<Self, ApiError> {
        let line_user_id = verifier.verify(token, login).await.inspect_err(count)?;
        Ok(Self { line_user_id })
    }
}

/// Returns the ID token that a request brings.
pub(in crate::http) fn id_token(req: &HttpRequest) -> Result<&str, ApiError> {
    match Credentials::of(req) {
        Credentials::Bearer(token) => Ok(token),
        Credentials::Nothing => Err(ApiError::TokenMissing),
        Credentials::Unusable => Err(ApiError::TokenInvalid),
    }
}

const EXPIRED: &str = "expired";
const UNAVAILABLE: &str = "unavailable";

fn count(error: &TokenError) {
    refused(match error {
        TokenError::Expired => EXPIRED,
        TokenError::Invalid(flaw) => flaw.as_str(),
        TokenError::Unavailable(_) => UNAVAILABLE,
    })
    .increment(1);
}

/// Sets the counter of every reason to zero, so that its first increase can be seen.
pub(in crate::http) fn count_from_nothing() {
    let reasons = Flaw::ALL.into_iter().map(Flaw::as_str).chain([EXPIRED, UNAVAILABLE]);
    reasons.for_each(|reason| refused(reason).increment(0));
}

fn refused(reason: &'static str) -> metrics::Counter {
    metrics::counter!("id_tokens_refused_total", "reason" => reason)
}

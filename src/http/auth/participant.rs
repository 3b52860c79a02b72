//! The participant: whoever a verified LIFF ID token names.

use actix_web::HttpRequest;

use crate::domain::{
    event::Event,
    ids::{LineUserId, RequestId},
    stamp::Claim,
};
use crate::http::{app::App, problem::ApiError};
use crate::line::id_token::{Flaw, TokenError};

use super::Credentials;

/// Somebody whose ID token was verified for one event. There is no other way to make one: an identity never comes
/// from a body, a query or another header.
#[derive(Debug)]
pub struct Participant {
    line_user_id: LineUserId,
}

impl Participant {
    /// Verifies the request's ID token against the login channels of the event's own channel.
    pub async fn verified(req: &HttpRequest, app: &App, event: &Event) -> Result<Self, ApiError> {
        let token = match Credentials::of(req) {
            Credentials::Bearer(token) => token,
            Credentials::Nothing => return Err(ApiError::TokenMissing),
            Credentials::Unusable => return Err(ApiError::TokenInvalid),
        };
        let channel = app.channels.get(&event.channel).ok_or_else(|| unconfigured(event))?;
        let line_user_id = app.verifier.verify(token, &channel.login).await.inspect_err(count)?;
        Ok(Self { line_user_id })
    }

    /// Who it is.
    #[must_use]
    pub fn line_user_id(&self) -> &LineUserId {
        &self.line_user_id
    }

    /// Asks for a stamp in their own name.
    #[must_use]
    pub fn claims(self, request_id: RequestId) -> Claim {
        Claim { line_user_id: self.line_user_id, request_id }
    }
}

/// Our trouble, not the participant's: the event names a channel that this server isn't configured for.
fn unconfigured(event: &Event) -> ApiError {
    let (event_id, channel) = (&event.event_id, &event.channel);
    ApiError::Internal(format!("event {event_id} lives on channel {channel}, which is not configured").into())
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

/// Every reason, none so far: who watches for growth must see where it begins.
pub(in crate::http) fn count_from_nothing() {
    let reasons = Flaw::ALL.into_iter().map(Flaw::as_str).chain([EXPIRED, UNAVAILABLE]);
    reasons.for_each(|reason| refused(reason).increment(0));
}

fn refused(reason: &'static str) -> metrics::Counter {
    metrics::counter!("id_tokens_refused_total", "reason" => reason)
}

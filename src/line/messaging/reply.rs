//! A reply: the answer to what a participant did, by the token that LINE gave with it. It costs none of the month's
//! messages.
//!
//! A token works once, within a minute of its receipt (Messaging API reference, "Reply token"), and LINE takes no retry key
//! with it: what keeps a repetition from being a second message is the token itself.

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use serde_json::Value;

use super::{Accepted, Attempt, Messenger, accepted};
use crate::line::{
    answer::{Answer, CallError, REQUEST_ID},
    channel_token::{Bearer, NoToken},
    error::Cause,
    retry_after::RetryAfter,
};

const REPLY: &str = "/v2/bot/message/reply";

/// Why a reply wasn't accepted for certain, by what a caller can do about it.
#[derive(Debug, thiserror::Error)]
pub enum ReplyError {
    /// 5xx, an answer that isn't LINE's, a timeout after the request may have left, a lost connection: LINE may have
    /// accepted it. The same token again finds out: LINE takes it once.
    #[error("LINE may have accepted the reply")]
    Ambiguous {
        /// Why it isn't known.
        #[source]
        source: Cause,
    },
    /// 400 or another 4xx of LINE's: the token is used up, too old or no token, or the message is one that LINE doesn't
    /// take. If this was the only attempt, certainly not accepted.
    #[error("LINE refused the reply: {status} {message}")]
    Refused {
        /// The HTTP status; 0 where no request could be made of the message.
        status: u16,
        /// LINE's own words, at most 500 characters.
        message: String,
    },
    /// 429. Certainly not accepted: again with the same token, while it lives.
    #[error("too many messages at once")]
    TooMany {
        /// How long we are asked to wait.
        retry_after: Option<RetryAfter>,
    },
    /// 401 or 403 of LINE's, also with a new channel token; or LINE issues no channel token to us. Certainly not accepted.
    #[error(
        "LINE refused the channel: {status} {message} (check its access_token, or its messaging_channel_id and channel_secrets)"
    )]
    Unauthorized {
        /// The HTTP status; 0 where the channel token can't be sent at all.
        status: u16,
        /// LINE's own words, at most 500 characters.
        message: String,
    },
    /// The connection was never made, for the reply or for the channel token it needs: certainly not accepted. Again with
    /// the same token, while it lives.
    #[error("LINE can't be reached")]
    Unreachable {
        /// How long we are asked to wait.
        retry_after: Option<RetryAfter>,
        /// Why not.
        #[source]
        source: Cause,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Reply<'a> {
    reply_token: &'a str,
    messages: [&'a Value; 1],
}

impl Messenger {
    /// Answers what a participant did with one message. A refused channel token is replaced once: with it LINE has not looked
    /// at the reply token.
    pub async fn reply(&self, reply_token: &SecretString, message: &Value) -> Result<Accepted, ReplyError> {
        let body = Reply { reply_token: reply_token.expose_secret(), messages: [message] };
        let body = serde_json::to_vec(&body)
            .map_err(|_| ReplyError::Refused { status: 0, message: "the message can't be written".to_owned() })?;
        let token = self.token.current().await?;
        match self.attempt_reply(body.clone(), &token).await {
            Err(ReplyError::Unauthorized { .. }) if self.token.renews() => {
                self.token.forget_refused(&token);
                let token = self.token.current().await?;
                self.attempt_reply(body, &token).await
            }
            outcome => outcome,
        }
    }

    async fn attempt_reply(&self, body: Vec<u8>, token: &Bearer) -> Result<Accepted, ReplyError> {
        let request = self.platform.post(REPLY).header(AUTHORIZATION, token.header.clone());
        let request = request.header(CONTENT_TYPE, "application/json").body(body);
        outcome(Answer::to(request).await?).await
    }
}

/// Returns what LINE's answer to a reply means (Messaging API reference: "Send reply message", "Status codes").
async fn outcome(answer: Answer) -> Result<Accepted, ReplyError> {
    let retry_after = answer.retry_after();
    match answer.status() {
        200..=299 => Ok(accepted(answer, REQUEST_ID, Attempt::This).await),
        status @ (401 | 403) => Err(ReplyError::Unauthorized { status, message: answer.said().await }),
        429 => Err(ReplyError::TooMany { retry_after }),
        // 408 says that the request did not arrive whole in time, so it isn't LINE's word on the message.
        status @ (400..=407 | 409..=499) => Err(ReplyError::Refused { status, message: answer.said().await }),
        status => {
            let said = answer.said().await;
            Err(CallError::Status { status, said, retry_after }.into())
        }
    }
}

impl From<CallError> for ReplyError {
    /// For a reply that got no clear answer of LINE's.
    fn from(error: CallError) -> Self {
        let retry_after = error.retry_after();
        if error.never_left() {
            Self::Unreachable { retry_after, source: error.into() }
        } else {
            Self::Ambiguous { source: error.into() }
        }
    }
}

impl From<NoToken> for ReplyError {
    /// For a reply that never left, because it had no channel token.
    fn from(error: NoToken) -> Self {
        match error {
            NoToken::Refused { status, message } => Self::Unauthorized { status, message },
            NoToken::Unavailable(error) => Self::Unreachable { retry_after: error.retry_after(), source: error.into() },
        }
    }
}

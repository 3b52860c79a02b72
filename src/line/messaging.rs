//! Messages out: push, reply (`messaging/reply.rs`), and how much of the month's quota is left.

pub mod reply;

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    answer::{Answer, CallError, REQUEST_ID},
    channel_token::{Access, Bearer, ChannelToken, NoToken},
    error::{Cause, LineError},
    platform::Platform,
    retry_after::RetryAfter,
};
use crate::domain::{ids::LineUserId, time::Clock};

const PUSH: &str = "/v2/bot/message/push";
const QUOTA: &str = "/v2/bot/message/quota";
const CONSUMPTION: &str = "/v2/bot/message/quota/consumption";

/// How long the rest of an accepted push's answer is waited for, so that its connection can be used
/// again. What it says changes nothing.
const REST: Duration = Duration::from_secs(1);

/// Sends the messages of one channel. Clones share its token and connections.
#[derive(Debug, Clone)]
pub struct Messenger {
    platform: Platform,
    token: ChannelToken,
}

/// A push that LINE accepted. Whether it is shown depends on the participant's friendship with the account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// LINE's id of the accepted request: `x-line-request-id`, after a 409 `x-line-accepted-request-id`.
    pub request_id: Option<String>,
    /// Whether an earlier attempt with the same retry key was the accepted one (409).
    pub before: bool,
}

/// Why a push wasn't accepted for certain, by what delivery can do about it.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// 5xx, an answer that isn't LINE's, a timeout after the request may have left, a lost connection: LINE may have
    /// accepted it. Again with the same key.
    #[error("LINE may have accepted the message")]
    Ambiguous {
        /// How long we are asked to wait.
        retry_after: Option<RetryAfter>,
        /// Why it isn't known.
        #[source]
        source: Cause,
    },
    /// 429, the month's messages are used up; to be confirmed by [`Messenger::quota`]. Certainly not accepted.
    #[error("the month's messages are used up")]
    MonthlyLimit,
    /// 429, too fast. Certainly not accepted: again with the same key.
    #[error("too many messages at once")]
    RateLimited {
        /// How long we are asked to wait.
        retry_after: Option<RetryAfter>,
    },
    /// Another 4xx of LINE's: this message will never be accepted.
    #[error("LINE refused the message: {status} {message}")]
    Refused {
        /// The HTTP status; 0 where no request could be made of the message.
        status: u16,
        /// LINE's own words, at most 500 characters.
        message: String,
    },
    /// 401 or 403 of LINE's, also with a new token; or LINE issues no token to us. Certainly not accepted.
    #[error(
        "LINE refused the channel: {status} {message} (check its access_token, or its messaging_channel_id and channel_secrets)"
    )]
    Unauthorized {
        /// The HTTP status; 0 where the token can't be sent at all.
        status: u16,
        /// LINE's own words, at most 500 characters.
        message: String,
    },
    /// The connection was never made, for the push or for the token it needs: certainly not
    /// accepted. Again with the same key.
    #[error("LINE can't be reached")]
    Unreachable {
        /// How long we are asked to wait.
        retry_after: Option<RetryAfter>,
        /// Why not.
        #[source]
        source: Cause,
    },
}

impl PushError {
    /// Returns how long we are asked to wait before the push is made again.
    #[must_use]
    pub fn retry_after(&self) -> Option<RetryAfter> {
        match self {
            Self::Ambiguous { retry_after, .. }
            | Self::RateLimited { retry_after }
            | Self::Unreachable { retry_after, .. } => *retry_after,
            Self::MonthlyLimit | Self::Refused { .. } | Self::Unauthorized { .. } => None,
        }
    }
}

/// How much the account may send this month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Messages a month; `None` without a limit.
    pub limit: Option<u64>,
    /// Used up so far, roughly: LINE calls it an approximation.
    pub used: u64,
}

impl Quota {
    /// Returns whether nothing is left.
    #[must_use]
    pub fn is_used_up(self) -> bool {
        self.left() == Some(0)
    }

    /// Returns how many are left; `None` without a limit.
    #[must_use]
    pub fn left(self) -> Option<u32> {
        self.limit.map(|limit| u32::try_from(limit.saturating_sub(self.used)).unwrap_or(u32::MAX))
    }
}

#[derive(Serialize)]
struct Push<'a> {
    to: &'a LineUserId,
    messages: [&'a Value; 1],
}

impl Messenger {
    /// Returns the messenger of a channel.
    #[must_use]
    pub fn new(platform: Platform, access: Access, clock: Clock) -> Self {
        Self { token: ChannelToken::new(platform.clone(), access, clock), platform }
    }

    /// Sends one message to one participant.
    ///
    /// `retry_key` goes with the very first attempt: LINE remembers it for 24 hours, and while it
    /// does, the same push can be repeated without reaching the participant twice (LINE: "Retrying an API
    /// request"). A refused token is replaced once.
    pub async fn push(&self, to: &LineUserId, message: &Value, retry_key: Uuid) -> Result<Accepted, PushError> {
        let body = serde_json::to_vec(&Push { to, messages: [message] })
            .map_err(|_| PushError::Refused { status: 0, message: "the message can't be written".to_owned() })?;
        let token = self.token.current().await?;
        match self.attempt(body.clone(), &token, retry_key).await {
            Err(PushError::Unauthorized { .. }) if self.token.renews() => {
                self.token.forget_refused(&token);
                let token = self.token.current().await?;
                self.attempt(body, &token, retry_key).await
            }
            outcome => outcome,
        }
    }

    /// Forgets the channel token; the next call issues a new one. A long-lived one stays.
    pub fn renew_token(&self) {
        self.token.forget();
    }

    /// Returns the month's limit and what is used of it. A refused token is replaced once.
    pub async fn quota(&self) -> Result<Quota, LineError> {
        let quota = self.read("the quota", QUOTA).await?;
        let consumption = self.read("the quota's consumption", CONSUMPTION).await?;
        let limited = quota.get("type").and_then(Value::as_str) != Some("none");
        let value = quota.get("value").and_then(Value::as_u64);
        let used = consumption.get("totalUsage").and_then(Value::as_u64);
        match (limited, value, used) {
            (false, _, Some(used)) => Ok(Quota { limit: None, used }),
            (true, Some(limit), Some(used)) => Ok(Quota { limit: Some(limit), used }),
            _ => Err(LineError::from_call("the quota", CallError::Form("no value or totalUsage"))),
        }
    }

    async fn attempt(&self, body: Vec<u8>, token: &Bearer, retry_key: Uuid) -> Result<Accepted, PushError> {
        let request = self.platform.post(PUSH).header(AUTHORIZATION, token.header.clone());
        let request = request.header("X-Line-Retry-Key", retry_key.to_string());
        let request = request.header(CONTENT_TYPE, "application/json").body(body);
        outcome(Answer::to(request).await?).await
    }

    async fn read(&self, what: &'static str, path: &str) -> Result<Map<String, Value>, LineError> {
        let token = self.token.current().await.map_err(|error| LineError::from_token(what, error))?;
        match self.read_with(path, &token).await {
            Err(CallError::Status { status: 401 | 403, .. }) if self.token.renews() => {
                self.token.forget_refused(&token);
                let token = self.token.current().await.map_err(|error| LineError::from_token(what, error))?;
                self.read_with(path, &token).await
            }
            read => read,
        }
        .map_err(|error| LineError::from_call(what, error))
    }

    async fn read_with(&self, path: &str, token: &Bearer) -> Result<Map<String, Value>, CallError> {
        Answer::to(self.platform.get(path).header(AUTHORIZATION, token.header.clone())).await?.success().await
    }
}

/// Returns what LINE's answer to a push means (LINE: "Retrying an API request", "Status codes").
async fn outcome(answer: Answer) -> Result<Accepted, PushError> {
    let retry_after = answer.retry_after();
    match answer.status() {
        200..=299 => Ok(accepted(answer, REQUEST_ID, Attempt::This).await),
        409 => Ok(accepted(answer, "x-line-accepted-request-id", Attempt::Earlier).await),
        status @ (401 | 403) => Err(PushError::Unauthorized { status, message: answer.said().await }),
        429 => Err(too_many(&answer.said().await, retry_after)),
        // 408 says that the request did not arrive whole in time, so it isn't LINE's word on the message.
        status @ (400..=407 | 410..=499) => Err(PushError::Refused { status, message: answer.said().await }),
        status => {
            let said = answer.said().await;
            Err(CallError::Status { status, said, retry_after }.into())
        }
    }
}

/// Which attempt LINE accepted.
#[derive(PartialEq)]
enum Attempt {
    Earlier,
    This,
}

async fn accepted(answer: Answer, id_header: &str, attempt: Attempt) -> Accepted {
    let request_id = answer.header(id_header);
    // The status has said it all; a body that is broken or never ends can't take it back.
    let _rest = tokio::time::timeout(REST, answer.body()).await;
    Accepted { request_id, before: attempt == Attempt::Earlier }
}

/// LINE's two 429s differ in their text alone; it may change, so delivery asks the quota endpoints too.
fn too_many(said: &str, retry_after: Option<RetryAfter>) -> PushError {
    let is_monthly = said.to_ascii_lowercase().contains("monthly limit");
    if is_monthly { PushError::MonthlyLimit } else { PushError::RateLimited { retry_after } }
}

impl From<CallError> for PushError {
    /// For a push that got no clear answer of LINE's.
    fn from(error: CallError) -> Self {
        let retry_after = error.retry_after();
        if error.never_left() {
            Self::Unreachable { retry_after, source: error.into() }
        } else {
            Self::Ambiguous { retry_after, source: error.into() }
        }
    }
}

impl From<NoToken> for PushError {
    /// For a push that never left, because it had no token.
    fn from(error: NoToken) -> Self {
        match error {
            NoToken::Refused { status, message } => Self::Unauthorized { status, message },
            NoToken::Unavailable(error) => Self::Unreachable { retry_after: error.retry_after(), source: error.into() },
        }
    }
}

impl LineError {
    fn from_token(what: &'static str, error: NoToken) -> Self {
        match error {
            NoToken::Refused { status, message } => Self::Refused { status, message },
            NoToken::Unavailable(source) => Self::Unavailable { what, source: source.into() },
        }
    }
}

#[cfg(test)]
mod tests;

//! The token that our messages carry: a long-lived one, or stateless ones, issued as needed.
//!
//! Stateless channel access tokens (LINE: "Channel access token") live 15 minutes and can't be
//! revoked. One is kept until a minute before its end and issued anew by one caller for all.

use std::{fmt, sync::Arc, time::Duration};

use parking_lot::Mutex;
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};

use super::{
    answer::{Answer, CallError},
    platform::Platform,
};
use crate::domain::time::Clock;

const ISSUE: &str = "/oauth2/v3/token";

/// What LINE documents for a stateless token; used where `expires_in` is missing.
const LIFETIME_S: u64 = 900;

/// How a channel proves itself to the Messaging API.
#[derive(Debug, Clone)]
pub enum Access {
    /// A long-lived token from LINE's console, used as it is.
    LongLived(SecretString),
    /// Stateless tokens, issued with the channel's id and newest secret.
    Stateless {
        /// Of the Messaging API channel, not the Login channel's.
        messaging_channel_id: String,
        /// The newest channel secret.
        channel_secret: SecretString,
    },
}

/// The channel's token. Clones share it.
#[derive(Clone)]
pub(super) struct ChannelToken(Arc<Inner>);

struct Inner {
    platform: Platform,
    access: Access,
    clock: Clock,
    /// Locked by the caller that issues one.
    issuing: tokio::sync::Mutex<()>,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    issued: Option<Issued>,
    /// How many calls have ended, well or not: callers that waited for one share its failure.
    calls: u64,
    failure: Option<NoToken>,
}

struct Issued {
    bearer: Bearer,
    /// The uptime from which on it isn't used any more.
    until: Duration,
}

/// A token as the value of the `Authorization` header; its `Debug` shows nothing.
#[derive(Debug, Clone)]
pub(super) struct Bearer {
    pub(super) header: HeaderValue,
    /// Which of our tokens it is.
    serial: u64,
}

/// Why there is no token. Whatever the reason: the call that needed it never left.
#[derive(Debug, Clone)]
pub(super) enum NoToken {
    /// LINE refuses this channel's id and secret, or the token can't be sent.
    Refused { status: u16, message: String },
    /// No answer, or none that helps.
    Unavailable(Arc<CallError>),
}

impl ChannelToken {
    pub(super) fn new(platform: Platform, access: Access, clock: Clock) -> Self {
        Self(Arc::new(Inner {
            platform,
            access,
            clock,
            issuing: tokio::sync::Mutex::default(),
            held: Mutex::default(),
        }))
    }

    /// Returns the token to use now. However many callers ask at once, one issues it; those that waited for
    /// one that failed don't issue another.
    pub(super) async fn current(&self) -> Result<Bearer, NoToken> {
        let (messaging_channel_id, secret) = match &self.0.access {
            Access::LongLived(token) => return bearer(token.expose_secret(), 0),
            Access::Stateless { messaging_channel_id, channel_secret } => (messaging_channel_id, channel_secret),
        };
        let seen = match self.0.held.lock().fresh(self.0.clock.uptime()) {
            Ok(bearer) => return Ok(bearer),
            Err(calls) => calls,
        };
        let _turn = self.0.issuing.lock().await;
        if let Some(outcome) = self.0.held.lock().since(seen, self.0.clock.uptime()) {
            return outcome;
        }
        let asked_at = self.0.clock.uptime();
        let issued = self.issue(messaging_channel_id, secret).await;
        self.0.held.lock().keep(issued, asked_at)
    }

    /// Returns whether a refused token can be replaced by another.
    pub(super) fn renews(&self) -> bool {
        matches!(self.0.access, Access::Stateless { .. })
    }

    /// Forgets the token.
    pub(super) fn forget(&self) {
        self.0.held.lock().issued = None;
    }

    /// Forgets this token, if it is still the one in use: a hundred refusals of one token forget it once.
    pub(super) fn forget_refused(&self, refused: &Bearer) {
        self.0.held.lock().issued.take_if(|issued| issued.bearer.serial == refused.serial);
    }

    async fn issue(&self, client_id: &str, secret: &SecretString) -> Result<Map<String, Value>, CallError> {
        let form =
            [("grant_type", "client_credentials"), ("client_id", client_id), ("client_secret", secret.expose_secret())];
        Answer::to(self.0.platform.post(ISSUE).form(&form)).await?.success().await
    }
}

impl Held {
    /// Returns the token if it is still good, else the number of calls that have ended.
    fn fresh(&self, now: Duration) -> Result<Bearer, u64> {
        let fresh = self.issued.as_ref().filter(|issued| now < issued.until);
        fresh.map(|issued| issued.bearer.clone()).ok_or(self.calls)
    }

    /// Returns what a call brought that ended after `seen`; `None`: make one.
    fn since(&self, seen: u64, now: Duration) -> Option<Result<Bearer, NoToken>> {
        match self.fresh(now) {
            Ok(bearer) => Some(Ok(bearer)),
            Err(calls) if calls == seen => None,
            Err(_) => self.failure.clone().map(Err),
        }
    }

    fn keep(&mut self, issued: Result<Map<String, Value>, CallError>, asked_at: Duration) -> Result<Bearer, NoToken> {
        self.calls += 1;
        let read = issued.map_err(NoToken::from).and_then(|issued| token(&issued, self.calls));
        self.failure = read.as_ref().err().cloned();
        let (bearer, lifetime) = read?;
        self.issued = Some(Issued { bearer: bearer.clone(), until: asked_at + lifetime });
        Ok(bearer)
    }
}

/// Returns the token and how long to use it: a minute less than it lives, or half of a very short life.
fn token(issued: &Map<String, Value>, serial: u64) -> Result<(Bearer, Duration), NoToken> {
    let Some(token) = issued.get("access_token").and_then(Value::as_str).filter(|token| !token.is_empty()) else {
        return Err(CallError::Form("no access_token").into());
    };
    let lives_s = issued.get("expires_in").and_then(Value::as_u64).unwrap_or(LIFETIME_S);
    // A day is far more than LINE gives; it keeps the sum of times within bounds.
    let used_s = lives_s.saturating_sub(60).max(lives_s / 2).min(86_400);
    Ok((bearer(token, serial)?, Duration::from_secs(used_s)))
}

fn bearer(token: &str, serial: u64) -> Result<Bearer, NoToken> {
    let Ok(mut header) = HeaderValue::try_from(format!("Bearer {token}")) else {
        let message = "the channel access token holds characters that can't be sent".to_owned();
        return Err(NoToken::Refused { status: 0, message });
    };
    header.set_sensitive(true);
    Ok(Bearer { header, serial })
}

impl From<CallError> for NoToken {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Status { status, said, .. }
                if (400..500).contains(&status) && status != 408 && status != 429 =>
            {
                Self::Refused { status, message: said }
            }
            error => Self::Unavailable(Arc::new(error)),
        }
    }
}

impl fmt::Debug for ChannelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelToken").field("platform", &self.0.platform).finish_non_exhaustive()
    }
}

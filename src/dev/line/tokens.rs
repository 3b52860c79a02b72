//! Channel access tokens: stateless ones (signed, 15 minutes) and the long-lived one of the settings.

use actix_web::http::header::{AUTHORIZATION, HeaderMap};
use aws_lc_rs::hmac;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use super::{
    answer::Answer,
    chance,
    platform::{Channel, Platform},
    switches::Wording,
};

/// Lifetime of a stateless token in seconds (channel access token v3).
pub(super) const LIFETIME: i64 = 900;

const MISSING: &str = "Authorization header required. Must follow the scheme, 'Authorization: Bearer <ACCESS TOKEN>'";
const INVALID: &str = "Authentication failed. Confirm that the access token in the authorization header is valid.";
const INVALID_AS_DOCUMENTED: &str = "Authentication failed due to the following reason: invalid token. Confirm that the access token in the authorization header is valid.";

/// Returns a token for a client that proved to be this channel (Messaging or Login channel id).
pub(super) fn issue(platform: &Platform, client_id: &str, epoch: i64) -> String {
    let expires_at = platform.clock.now_ms() + LIFETIME * 1000;
    let content = format!("{client_id}.{expires_at}.{epoch}.{}", chance::opaque(12));
    let tag = hmac::sign(&platform.token_key, content.as_bytes());
    format!("{}.{}", URL_SAFE_NO_PAD.encode(&content), URL_SAFE_NO_PAD.encode(tag.as_ref()))
}

/// Returns the channel that a request acts for, and its place among the channels; LINE's 401 or 403 otherwise.
pub(super) fn authorise<'a>(platform: &'a Platform, headers: &HeaderMap) -> Result<(usize, &'a Channel), Answer> {
    let token = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "))
        .filter(|token| !token.is_empty())
        .ok_or_else(|| Answer::message(401, MISSING))?;
    if let Some(found) =
        platform.channels.iter().enumerate().find(|(_, channel)| channel.now().access_token.as_deref() == Some(token))
    {
        return Ok(found);
    }
    match stateless_owner(platform, token) {
        Some(Owner::Messaging(place, channel)) => Ok((place, channel)),
        Some(Owner::Login) => Err(Answer::message(403, "Access to this API is not available for your account")),
        None => Err(invalid(platform)),
    }
}

/// Returns the 401 for a token that isn't good.
pub(super) fn invalid(platform: &Platform) -> Answer {
    match platform.switches().settings.wording {
        Wording::Current => Answer::message(401, INVALID),
        Wording::Documented => Answer::message(401, INVALID_AS_DOCUMENTED),
    }
}

enum Owner<'a> {
    Login,
    Messaging(usize, &'a Channel),
}

/// Returns whose stateless token this is, if it is one that is neither forged nor expired.
fn stateless_owner<'a>(platform: &'a Platform, token: &str) -> Option<Owner<'a>> {
    let (content, tag) = token.split_once('.')?;
    let content = URL_SAFE_NO_PAD.decode(content).ok()?;
    hmac::verify(&platform.token_key, &content, &URL_SAFE_NO_PAD.decode(tag).ok()?).ok()?;
    let content = String::from_utf8(content).ok()?;
    let mut parts = content.split('.');
    let client_id = parts.next()?;
    let expires_at: i64 = parts.next()?.parse().ok()?;
    let epoch: i64 = parts.next()?.parse().ok()?;
    if expires_at <= platform.clock.now_ms() {
        return None;
    }
    if platform.login_channel(client_id).is_some() {
        return Some(Owner::Login);
    }
    let (place, channel) =
        platform.channels.iter().enumerate().find(|(_, channel)| channel.settings.messaging_channel_id == client_id)?;
    (epoch == channel.epoch()).then_some(Owner::Messaging(place, channel))
}

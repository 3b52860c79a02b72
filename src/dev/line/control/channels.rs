//! Channels, their tokens, and the keys of ID tokens.

use serde::Deserialize;
use serde_json::{Value, json};

use super::input::{Change, listed};
use crate::dev::line::{
    answer::{Answer, Outcome},
    keys::OldKeys,
    platform::{Channel, Platform},
};

/// Changes of a channel; what is left out stays, null takes away.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct ChannelChange {
    webhook_url: Change<String>,
    quota: Change<u64>,
    /// Messages counted this month.
    used: Option<u64>,
    channel_secret: Option<String>,
    access_token: Change<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Expiry {
    /// All channels if left out.
    channel: Option<String>,
    /// The long-lived token goes too.
    long_lived: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Rotation {
    keep_old: bool,
}

impl Default for Rotation {
    fn default() -> Self {
        Self { keep_old: true }
    }
}

pub(super) fn list(platform: &Platform) -> Outcome {
    let shown: Result<Vec<_>, _> = platform.channels.iter().map(|channel| view(platform, channel)).collect();
    Ok(listed("channels", shown?))
}

/// No secrets.
fn view(platform: &Platform, channel: &Channel) -> Result<Value, Answer> {
    let used = platform.ledger().usage(channel.name(), platform.clock.now_ms())?;
    let now = channel.now();
    Ok(json!({
        "name": channel.name(),
        "botUserId": channel.bot_id(),
        "loginChannelIds": channel.settings.login_channel_ids,
        "messagingChannelId": channel.settings.messaging_channel_id,
        "webhookUrl": now.webhook_url,
        "quota": now.quota,
        "used": used,
    }))
}

pub(super) fn change(platform: &Platform, name: &str, change: ChannelChange) -> Outcome {
    let channel = platform.channel(Some(name))?;
    if let Some(used) = change.used {
        platform.ledger().set_usage(name, platform.clock.now_ms(), used)?;
    }
    let mut now = channel.now();
    change.webhook_url.apply(&mut now.webhook_url);
    change.quota.apply(&mut now.quota);
    change.access_token.apply(&mut now.access_token);
    if let Some(secret) = change.channel_secret {
        now.channel_secret = secret;
    }
    drop(now);
    Ok(Answer::json(200, &view(platform, channel)?))
}

/// Every stateless token issued until now is refused with 401 from now on.
pub(super) fn expire_tokens(platform: &Platform, order: &Expiry) -> Outcome {
    if order.channel.is_some() {
        platform.channel(order.channel.as_deref())?;
    }
    for channel in &platform.channels {
        if order.channel.as_deref().is_none_or(|name| name == channel.name()) {
            platform.expire_tokens(channel)?;
            if order.long_lived {
                channel.now().access_token = None;
            }
        }
    }
    Ok(Answer::json(200, &json!({})))
}

pub(super) fn rotate_keys(platform: &Platform, order: &Rotation) -> Outcome {
    let old = if order.keep_old { OldKeys::Keep } else { OldKeys::Withdraw };
    Ok(Answer::json(200, &json!({ "kid": platform.rotate_keys(old)? })))
}

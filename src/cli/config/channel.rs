//! `line.channels.{name}`: one LINE Official Account and the login channels beside it.

use std::collections::BTreeMap;

use secrecy::SecretString;
use serde::{Deserialize, Deserializer, de::Error};

use super::{SettingsError, layers::Layers, values};

/// One channel. Whether its parts fit together was checked at the start: see [`ChannelSettings::auth`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelSettings {
    /// LINE Login channels whose ID tokens are accepted (`aud`); at least one.
    #[serde(default, deserialize_with = "channel_ids")]
    pub login_channel_ids: Vec<String>,
    /// Only for ID tokens of web login, which are signed with it (HS256).
    #[serde(default, deserialize_with = "values::optional_secret")]
    pub login_channel_secret: Option<SecretString>,
    /// What webhooks are signed with, newest first; several while one is replaced.
    #[serde(default, deserialize_with = "values::secrets")]
    pub channel_secrets: Vec<SecretString>,
    #[serde(default, deserialize_with = "values::optional_bearer")]
    access_token: Option<SecretString>,
    #[serde(default, deserialize_with = "optional_channel_id")]
    messaging_channel_id: Option<String>,
    /// For the add-friend link, with its `@`.
    #[serde(default, deserialize_with = "basic_id")]
    pub basic_id: Option<String>,
}

/// What a channel's messages are sent with.
#[derive(Clone, Debug)]
pub enum ChannelAuth {
    /// A long-lived token from LINE's console.
    AccessToken(SecretString),
    /// Stateless tokens are issued with these.
    Stateless {
        /// The Messaging API channel.
        channel_id: String,
        /// The newest of `channel_secrets`.
        channel_secret: SecretString,
    },
}

impl ChannelSettings {
    /// What messages are sent with: `access_token` where there is one, else stateless tokens. Never `None` in
    /// settings that were loaded.
    #[must_use]
    pub fn auth(&self) -> Option<ChannelAuth> {
        if let Some(token) = &self.access_token {
            return Some(ChannelAuth::AccessToken(token.clone()));
        }
        Some(ChannelAuth::Stateless {
            channel_id: self.messaging_channel_id.clone()?,
            channel_secret: self.channel_secrets.first()?.clone(),
        })
    }
}

/// What a channel must bring.
pub(super) fn check(name: &str, channel: &ChannelSettings, layers: &Layers) -> Result<(), SettingsError> {
    let missing = |key: &str, problem: &str| layers.error(&format!("line.channels.{name}.{key}"), problem);
    if channel.login_channel_ids.is_empty() {
        return Err(missing(
            "login_channel_ids",
            "is missing: list the ids of the LINE Login channels whose ID tokens are accepted",
        ));
    }
    if channel.access_token.is_some() {
        return Ok(());
    }
    if channel.messaging_channel_id.is_none() {
        return Err(missing("access_token", "is missing: give it, or `messaging_channel_id` with `channel_secrets`"));
    }
    if channel.channel_secrets.is_empty() {
        return Err(missing(
            "channel_secrets",
            "is missing: tokens are issued with the newest channel secret; give it, or an `access_token`",
        ));
    }
    Ok(())
}

/// Channels by name; a name is `[a-z0-9][a-z0-9-]{0,31}`, for it stands in keys and paths.
pub(super) fn by_name<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, ChannelSettings>, D::Error> {
    let channels = BTreeMap::<String, ChannelSettings>::deserialize(from)?;
    match channels.keys().find(|name| !is_channel_name(name)) {
        None => Ok(channels),
        Some(name) => Err(D::Error::custom(format!(
            "`{name}` is no channel name: use 1 to 32 small letters, digits and hyphens, no hyphen first"
        ))),
    }
}

fn is_channel_name(name: &str) -> bool {
    let usable = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=32).contains(&name.len()) && !name.starts_with('-') && name.bytes().all(usable)
}

/// A channel id is digits; whatever else was pasted (a secret, say) isn't shown.
fn channel_id(text: String) -> Result<String, &'static str> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(text);
    }
    Err("must be a channel id from LINE's console: digits only")
}

fn channel_ids<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    values::texts(from)?.into_iter().map(channel_id).collect::<Result<_, _>>().map_err(D::Error::custom)
}

fn optional_channel_id<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    values::optional_text(from)?.map(channel_id).transpose().map_err(D::Error::custom)
}

fn basic_id<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text = values::optional_text(from)?;
    if text.as_deref().is_some_and(|id| !id.starts_with('@') || id.len() < 2) {
        return Err(D::Error::custom("must be the account's basic id with its @, for example \"@123abcde\""));
    }
    Ok(text)
}

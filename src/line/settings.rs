//! What is configured of the LINE platform: the section `line`, and each of its channels.

use std::{collections::BTreeMap, num::NonZeroU32, time::Duration};

use secrecy::SecretString;
use serde::{Deserialize, Deserializer, de::Error};
use url::Url;

use super::{
    Access,
    id_token::{LoginChannels, Verification, VerifierSettings},
    platform::transport,
};
use crate::domain::{
    config_value::{count, millis, parsed, seconds, text, texts, web_url},
    ids::ChannelName,
};

/// LINE's own address, the default of `line.api_base_url`.
const LINE_API: &str = "https://api.line.me/";

/// The platform and its channels (configuration section `line`).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineSettings {
    /// JWKS, verify, token and messaging all live below it. https, or loopback.
    #[serde(deserialize_with = "api_base_url")]
    pub api_base_url: Url,
    /// How ID tokens are verified.
    pub verification: Verification,
    /// An unknown key id fetches the keys at most once in this time.
    #[serde(rename = "jwks_refetch_s", deserialize_with = "seconds::<1, 3600, _>")]
    pub jwks_refetch: Duration,
    /// How far clocks may differ; at most five minutes, else expiry would mean nothing.
    #[serde(rename = "clock_leeway_s", deserialize_with = "seconds::<0, 300, _>")]
    pub clock_leeway: Duration,
    /// How long one request to LINE may take.
    #[serde(rename = "timeout_ms", deserialize_with = "millis::<100, 60_000, _>")]
    pub timeout: Duration,
    /// By the name that events use.
    #[serde(default, deserialize_with = "by_name")]
    pub channels: BTreeMap<ChannelName, ChannelSettings>,
}

impl LineSettings {
    /// Returns what concerns the verifier of ID tokens.
    #[must_use]
    pub fn verifier(&self) -> VerifierSettings {
        VerifierSettings { verification: self.verification, jwks_refetch: self.jwks_refetch, leeway: self.clock_leeway }
    }

    /// Returns what works but should be looked at, one sentence each.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        if self.api_base_url.as_str() == LINE_API {
            return Vec::new();
        }
        vec![format!(
            "`line.api_base_url` is {}, not LINE: tokens and messages go there, and its operator can say who a participant is",
            self.api_base_url
        )]
    }
}

/// One LINE Official Account and the Login channels beside it (`line.channels.{name}`).
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "ChannelKeys")]
pub struct ChannelSettings {
    /// Whose ID tokens are accepted.
    pub login: LoginChannels,
    /// What webhooks are signed with, newest first; several while one is replaced.
    pub webhook_secrets: Vec<SecretString>,
    /// What messages are sent with. Never `None` in settings that were loaded.
    pub access: Option<Access>,
    /// For the add-friend link, with its `@`.
    pub basic_id: Option<String>,
    /// How many pushes may be made in a month of Tokyo's calendar; `None` = as many as LINE allows.
    pub monthly_pushes: Option<NonZeroU32>,
}

/// The keys as they are configured.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChannelKeys {
    #[serde(default, deserialize_with = "channel_ids")]
    login_channel_ids: Vec<String>,
    #[serde(default, deserialize_with = "secret")]
    login_channel_secret: Option<SecretString>,
    #[serde(default, deserialize_with = "parsed")]
    channel_secrets: Vec<SecretString>,
    #[serde(default, deserialize_with = "bearer")]
    access_token: Option<SecretString>,
    #[serde(default, deserialize_with = "channel_id")]
    messaging_channel_id: Option<String>,
    #[serde(default, deserialize_with = "basic_id")]
    basic_id: Option<String>,
    #[serde(default, deserialize_with = "monthly_pushes")]
    monthly_pushes: Option<NonZeroU32>,
}

impl From<ChannelKeys> for ChannelSettings {
    /// A long-lived token is used where there is one, else stateless ones are issued with the newest channel secret.
    fn from(keys: ChannelKeys) -> Self {
        let newest = keys.channel_secrets.first().cloned();
        let stateless = keys
            .messaging_channel_id
            .zip(newest)
            .map(|(messaging_channel_id, channel_secret)| Access::Stateless { messaging_channel_id, channel_secret });
        Self {
            login: LoginChannels { ids: keys.login_channel_ids, hs256_secret: keys.login_channel_secret },
            webhook_secrets: keys.channel_secrets,
            access: keys.access_token.map(Access::LongLived).or(stateless),
            basic_id: keys.basic_id,
            monthly_pushes: keys.monthly_pushes,
        }
    }
}

fn api_base_url<'de, D: Deserializer<'de>>(from: D) -> Result<Url, D::Error> {
    let url = web_url(&text(from)?).map_err(D::Error::custom)?;
    let refused = format!("{url} would send tokens in the clear: use https (http only on this machine)");
    transport(&url).map(|_| url).map_err(|_| D::Error::custom(refused))
}

fn by_name<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<ChannelName, ChannelSettings>, D::Error> {
    let named = |(name, channel): (String, ChannelSettings)| {
        let parsed = name.parse().map_err(|_| {
            D::Error::custom(format!(
                "`{name}` is no channel name: use 1 to 32 small letters, digits and hyphens, no hyphen first"
            ))
        });
        parsed.map(|name| (name, channel))
    };
    BTreeMap::<String, ChannelSettings>::deserialize(from)?.into_iter().map(named).collect()
}

/// A channel id is digits; whatever else was pasted (a secret, say) isn't shown.
fn digits<E: Error>(text: String) -> Result<String, E> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(text);
    }
    Err(E::custom("must be a channel id from LINE's console: digits only"))
}

fn channel_id<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    digits(text(from)?).map(Some)
}

fn channel_ids<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    texts(from)?.into_iter().map(digits).collect()
}

fn secret<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SecretString>, D::Error> {
    Ok(Some(text(from)?.into()))
}

/// A secret that goes into a header: visible ASCII without spaces (RFC 6750, section 2.1, allows even less).
fn bearer<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SecretString>, D::Error> {
    let token = text(from)?;
    if token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(Some(token.into()));
    }
    Err(D::Error::custom("has spaces or other characters that no token has: copy it anew, whole and alone"))
}

fn monthly_pushes<'de, D: Deserializer<'de>>(from: D) -> Result<Option<NonZeroU32>, D::Error> {
    count::<1, 1_000_000_000, u32, _>(from).map(NonZeroU32::new)
}

fn basic_id<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let id = text(from)?;
    if id.starts_with('@') && id.len() > 1 {
        return Ok(Some(id));
    }
    Err(D::Error::custom("must be the account's basic id with its @, for example \"@123abcde\""))
}

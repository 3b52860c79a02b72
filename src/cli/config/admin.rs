//! `admin.tokens`: who may use the organiser's API. Only hashes are configured.

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, de::Error};
use toml::Value;

use super::{SettingsError, layers::Layers, values};

/// `admin`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdminSettings {
    /// Each with a name and a hash of its own.
    pub tokens: Vec<AdminToken>,
}

impl AdminSettings {
    /// Names go into facts (who asked for a resend), so each must mean one token.
    pub(super) fn check(&self, layers: &Layers) -> Result<(), SettingsError> {
        let (mut names, mut hashes) = (BTreeSet::new(), BTreeSet::new());
        for (number, token) in self.tokens.iter().enumerate() {
            if !names.insert(&token.name) {
                let problem = format!("`{}` is the name of another token too: give each its own", token.name);
                return Err(layers.error(&format!("admin.tokens[{number}].name"), problem));
            }
            if !hashes.insert(token.sha256) {
                let problem = format!("token `{}` has the hash of another: make a token for each", token.name);
                return Err(layers.error(&format!("admin.tokens[{number}].sha256"), problem));
            }
        }
        Ok(())
    }
}

/// One token of an organiser.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdminToken {
    /// Whose it is; stands in facts and logs.
    #[serde(deserialize_with = "name")]
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// SHA-256 of the token's text.
    #[serde(deserialize_with = "sha256")]
    pub sha256: [u8; 32],
    /// Where it may do it.
    #[serde(deserialize_with = "scope")]
    pub events: EventScope,
}

/// What a token may do; each role may do what the ones before it may.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Reads.
    Viewer,
    /// Also resends.
    Operator,
    /// Also changes settings.
    Admin,
}

/// Which events a token is for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum EventScope {
    /// Every event, also those to come (`"*"`).
    All,
    /// These `eventId`s.
    Only(BTreeSet<String>),
}

impl EventScope {
    /// Whether `event_id` is among them.
    #[must_use]
    pub fn covers(&self, event_id: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(ids) => ids.contains(event_id),
        }
    }
}

impl TryFrom<Vec<String>> for EventScope {
    type Error = String;

    fn try_from(ids: Vec<String>) -> Result<Self, String> {
        if ids.is_empty() {
            return Err("is empty: list event ids, or \"*\" for all".to_owned());
        }
        if ids.iter().any(|id| id == "*") {
            return Ok(Self::All);
        }
        match ids.iter().find(|id| !is_event_id(id)) {
            None => Ok(Self::Only(ids.into_iter().collect())),
            Some(id) => {
                Err(format!("`{id}` is no event id: use 1 to 64 letters, digits, hyphens and underscores, or \"*\""))
            }
        }
    }
}

fn is_event_id(id: &str) -> bool {
    let usable = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=64).contains(&id.len()) && !id.starts_with(['_', '-']) && id.bytes().all(usable)
}

/// The name of a token: 1 to 64 characters, none of them a control character (it stands in logs).
pub(in crate::cli) fn token_name(name: String) -> Result<String, String> {
    if name.trim().is_empty() || name.chars().count() > 64 || name.chars().any(char::is_control) {
        return Err("must be a name of 1 to 64 characters".to_owned());
    }
    Ok(name)
}

fn name<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = values::text(Value::deserialize(from)?).map_err(D::Error::custom)?;
    token_name(text).map_err(D::Error::custom)
}

/// 64 hexadecimal digits. Anything else isn't shown: it may be the token itself.
fn sha256<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; 32], D::Error> {
    let wrong = || D::Error::custom("must be the SHA-256 of the token: 64 hexadecimal digits");
    let text = values::text(Value::deserialize(from)?).map_err(|_| wrong())?;
    if text.len() != 64 || !text.is_ascii() {
        return Err(wrong());
    }
    let mut hash = [0; 32];
    for (byte, digits) in hash.iter_mut().zip(text.as_bytes().chunks(2)) {
        let digits = std::str::from_utf8(digits).map_err(|_| wrong())?;
        // `from_str_radix` would take a sign.
        if digits.starts_with('+') {
            return Err(wrong());
        }
        *byte = u8::from_str_radix(digits, 16).map_err(|_| wrong())?;
    }
    Ok(hash)
}

fn scope<'de, D: Deserializer<'de>>(from: D) -> Result<EventScope, D::Error> {
    EventScope::try_from(values::texts(from)?).map_err(D::Error::custom)
}

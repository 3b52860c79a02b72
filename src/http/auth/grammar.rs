//! How an admin token is written in the configuration (`admin.tokens`).

use std::collections::BTreeSet;

use serde::{Deserializer, de::Error};

use super::Events;
use crate::domain::{
    config_value::{text, texts},
    ids::EventId,
};

impl TryFrom<Vec<String>> for Events {
    type Error = String;

    /// Takes event ids; a `*` among them means all events.
    fn try_from(ids: Vec<String>) -> Result<Self, String> {
        if ids.is_empty() {
            return Err("is empty: list event ids, or \"*\" for all".to_owned());
        }
        if ids.iter().any(|id| id == "*") {
            return Ok(Self::All);
        }
        ids.iter().map(|id| event_id(id)).collect::<Result<BTreeSet<_>, _>>().map(Self::These)
    }
}

fn event_id(id: &str) -> Result<EventId, String> {
    id.parse()
        .map_err(|_| format!("`{id}` is no event id: use 1 to 64 letters, digits, hyphens and underscores, or \"*\""))
}

/// Returns the name if it has 1 to 64 characters, none of them a control character (it appears in facts and logs).
pub fn token_name(name: String) -> Result<String, String> {
    if name.trim().is_empty() || name.chars().count() > 64 || name.chars().any(char::is_control) {
        return Err("must be a name of 1 to 64 characters".to_owned());
    }
    Ok(name)
}

pub(super) fn name<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    token_name(text(from)?).map_err(D::Error::custom)
}

/// 64 hexadecimal digits. Anything else isn't shown: it may be the token itself.
pub(super) fn sha256<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; 32], D::Error> {
    text(from)
        .ok()
        .and_then(|text| bytes(&text))
        .ok_or_else(|| D::Error::custom("must be the SHA-256 of the token: 64 hexadecimal digits"))
}

fn bytes(text: &str) -> Option<[u8; 32]> {
    // `from_str_radix` would take a sign.
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut hash = [0; 32];
    for (byte, start) in hash.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&text[start..start + 2], 16).ok()?;
    }
    Some(hash)
}

pub(super) fn events<'de, D: Deserializer<'de>>(from: D) -> Result<Events, D::Error> {
    Events::try_from(texts(from)?).map_err(D::Error::custom)
}

//! The rules that need more than one key.

use std::collections::{BTreeMap, BTreeSet};

use super::{error::SettingsError, layers::Layers};
use crate::domain::ids::ChannelName;
use crate::http::auth::AdminToken;
use crate::line::ChannelSettings;
use crate::store::table::TableNames;

/// Refuses one table for both: progress written into the main table would feed the stream that it follows.
pub(super) fn check_tables(tables: &TableNames, layers: &Layers) -> Result<(), SettingsError> {
    if tables.main == tables.consumers {
        return Err(layers.error("store.consumer_table", "must be another table than `store.table`"));
    }
    Ok(())
}

/// Refuses a channel that accepts no ID tokens or has nothing to send with.
pub(super) fn check_channels(
    channels: &BTreeMap<ChannelName, ChannelSettings>,
    layers: &Layers,
) -> Result<(), SettingsError> {
    channels.iter().try_for_each(|(name, channel)| check_channel(&format!("line.channels.{name}"), channel, layers))
}

fn check_channel(path: &str, channel: &ChannelSettings, layers: &Layers) -> Result<(), SettingsError> {
    let (key, problem) = if channel.login.ids.is_empty() {
        ("login_channel_ids", "is missing: list the ids of the LINE Login channels whose ID tokens are accepted")
    } else if channel.access.is_some() {
        return Ok(());
    } else if layers.at(&format!("{path}.messaging_channel_id")).is_none() {
        ("access_token", "is missing: give it, or `messaging_channel_id` with `channel_secrets`")
    } else {
        (
            "channel_secrets",
            "is missing: tokens are issued with the newest channel secret; give it, or an `access_token`",
        )
    };
    Err(layers.error(&format!("{path}.{key}"), problem))
}

/// Refuses two tokens of one name or hash: names go into facts (who asked for a resend), so each must mean one token.
pub(super) fn check_tokens(tokens: &[AdminToken], layers: &Layers) -> Result<(), SettingsError> {
    let (mut names, mut hashes) = (BTreeSet::new(), BTreeSet::new());
    for (number, token) in tokens.iter().enumerate() {
        let wrong = |key: &str, problem| Err(layers.error(&format!("admin.tokens[{number}].{key}"), problem));
        if !names.insert(&token.name) {
            return wrong("name", format!("`{}` is the name of another token too: give each its own", token.name));
        }
        if !hashes.insert(token.sha256) {
            return wrong("sha256", format!("token `{}` has the hash of another: make a token for each", token.name));
        }
    }
    Ok(())
}

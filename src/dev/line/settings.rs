//! What a stand-in is started with, and why it may refuse to start.

use std::{collections::HashSet, fmt, io, path::PathBuf};

/// Where the stand-in keeps users, phones, accepted pushes, retry keys and its signing keys.
#[derive(Clone, Debug)]
pub enum Memory {
    /// An `SQLite` file, made if it isn't there. Everything is committed to it before a request is
    /// answered, so killing the process forgets nothing. One process at a time.
    File(PathBuf),
    /// Gone with the [`super::StandIn`].
    InMemory,
}

/// One Messaging API channel and the Login channels beside it, as LINE's console would show them.
#[derive(Clone, Default)]
pub struct ChannelSettings {
    /// Our name for it in the control API (`main`).
    pub name: String,
    /// Login channel ids: the `aud` values of ID tokens, at least one.
    pub login_channel_ids: Vec<String>,
    /// Login channel secret, needed for HS256 tokens only.
    pub login_channel_secret: Option<String>,
    /// Messaging channel id: the `client_id` when a stateless token is asked for.
    pub messaging_channel_id: String,
    /// Messaging channel secret: signs webhooks, and is the `client_secret` of stateless tokens.
    pub channel_secret: String,
    /// A long-lived token that is accepted beside the stateless ones.
    pub access_token: Option<String>,
    /// Where webhooks are sent; the control API can set it later.
    pub webhook_url: Option<String>,
    /// Messages a month; `None` is LINE's `{"type":"none"}`.
    pub monthly_quota: Option<u64>,
}

impl ChannelSettings {
    /// A channel with one Login channel and nothing optional.
    #[must_use]
    pub fn new(name: &str, login_channel_id: &str, messaging_channel_id: &str, channel_secret: &str) -> Self {
        Self {
            name: name.to_owned(),
            login_channel_ids: vec![login_channel_id.to_owned()],
            messaging_channel_id: messaging_channel_id.to_owned(),
            channel_secret: channel_secret.to_owned(),
            ..Self::default()
        }
    }
}

/// Shows no secret.
impl fmt::Debug for ChannelSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelSettings").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why the stand-in can't start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The channels contradict each other; the text says how.
    #[error("the stand-in's channels can't be used: {0}")]
    Channels(String),
    /// Another process has the memory file open.
    #[error("the stand-in's memory {} is in use by another process: stop it, or choose another folder by `stamp-rally dev --data DIR`", .0.display())]
    MemoryInUse(PathBuf),
    /// The memory file can't be made, opened or read.
    #[error("the stand-in's memory {} can't be used", .path.display())]
    MemoryUnusable {
        /// The file.
        path: PathBuf,
        /// What `SQLite` or the file system said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No signing key could be made.
    #[error("the stand-in can't make a signing key")]
    NoSigningKey,
    /// The listener or the server's thread failed.
    #[error("the stand-in can't serve")]
    Server(#[source] io::Error),
}

/// Names and ids must distinguish the channels, or a token would belong to two of them.
pub(super) fn check(channels: &[ChannelSettings]) -> Result<(), StartError> {
    let refuse = |text: String| Err(StartError::Channels(text));
    if channels.is_empty() {
        return refuse("there is none".to_owned());
    }
    let (mut names, mut ids, mut tokens) = (HashSet::new(), HashSet::new(), HashSet::new());
    for channel in channels {
        if channel.login_channel_ids.is_empty() {
            return refuse(format!("`{}` has no login channel id", channel.name));
        }
        if !names.insert(&channel.name) {
            return refuse(format!("`{}` is there twice", channel.name));
        }
        for id in channel.login_channel_ids.iter().chain([&channel.messaging_channel_id]) {
            if !ids.insert(id) {
                return refuse(format!("the channel id {id} is there twice"));
            }
        }
        if channel.access_token.as_ref().is_some_and(|token| !tokens.insert(token)) {
            return refuse(format!("`{}` has the access token of another channel", channel.name));
        }
    }
    Ok(())
}

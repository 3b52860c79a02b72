//! What is wrong with a setting: the key, its place, the way out.

use derive_more::Display;

/// Where a value came from.
#[derive(Clone, Debug, Display, Eq, PartialEq)]
pub(super) enum Source {
    /// `config/default.toml`, compiled in.
    #[display("the defaults")]
    Defaults,
    /// The file named by `--config` or `STAMP_RALLY_CONFIG`.
    #[display("file {_0}")]
    File(String),
    /// A variable of the environment.
    #[display("variable {_0}")]
    Variable(String),
}

/// Settings that can't be used: one line naming key, place and remedy, never a value that may be secret.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A file that can't be read.
    #[error("configuration file {path} can't be read")]
    File {
        /// The file as it was named.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file that isn't TOML. The text of the line isn't shown: it may hold a secret.
    #[error("configuration file {path}, line {line}: {problem}")]
    Syntax {
        /// The file as it was named.
        path: String,
        /// Counted from 1.
        line: usize,
        /// What the parser said.
        problem: String,
    },
    /// A key that is unknown, missing or unusable.
    #[error("`{key}` ({place}): {problem}")]
    Key {
        /// The whole path, for example `line.channels.main.channel_secrets`.
        key: String,
        /// The file or variable.
        place: String,
        /// What is wrong, and what to do.
        problem: String,
    },
}

impl SettingsError {
    pub(super) fn key(key: impl Into<String>, source: &Source, problem: impl Into<String>) -> Self {
        Self::Key { key: key.into(), place: source.to_string(), problem: problem.into() }
    }
}

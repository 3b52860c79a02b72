//! What is wrong with a setting: the key, its place, the way out.

use std::fmt;

/// Where a value came from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Source {
    /// `config/default.toml`, compiled in.
    Defaults,
    /// The file named by `--config` or `STAMP_RALLY_CONFIG`.
    File(String),
    /// A variable of the environment.
    Variable(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Defaults => f.write_str("the defaults"),
            Self::File(path) => write!(f, "file {path}"),
            Self::Variable(name) => write!(f, "variable {name}"),
        }
    }
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

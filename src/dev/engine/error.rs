//! Why the embedded engine doesn't run.

use std::{io, path::PathBuf, time::Duration};

/// How long [`Engine::stop`](super::Engine::stop) waits for the thread in all.
pub(super) const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Why the engine doesn't run.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The file can't be used as a database: damaged, from a newer version, or our index on it was refused.
    #[error("{path} can't be opened as the data of the embedded DynamoDB engine")]
    Data {
        /// The file, or where the memory is.
        path: String,
        /// What the engine or `SQLite` says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Another process (or another engine of this one) has the file open.
    #[error("{} is in use by another stamp-rally: stop it, or choose another folder by `stamp-rally dev --data DIR`", .0.display())]
    InUse(PathBuf),
    /// The machine refused a file, a socket or a thread.
    #[error("the embedded DynamoDB engine got no {what}")]
    Machine {
        /// What was asked for.
        what: String,
        /// What the machine says.
        source: io::Error,
    },
    /// The thread has ended by itself.
    #[error("the embedded DynamoDB engine has ended")]
    Stopped,
    /// The engine did not stop in time and is left behind; its file stays locked until the process ends.
    #[error("the embedded DynamoDB engine did not stop within {} s", STOP_TIMEOUT.as_secs())]
    StillRunning,
}

/// Returns the error for what the machine refused.
pub(super) fn no(what: &str, source: io::Error) -> EngineError {
    EngineError::Machine { what: what.to_owned(), source }
}

//! What can be done about a call to LINE that failed.

use std::error::Error;

use super::answer::CallError;

/// Why something failed, kept for the log. Never holds a token, a secret or a message.
pub type Cause = Box<dyn Error + Send + Sync>;

/// What a caller can do about a call to LINE that did not do as asked.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// An operator has to look: an address that can't be used, an answer that isn't what LINE documents.
    #[error("LINE can't be used: {what}")]
    Broken {
        /// What was wanted of it.
        what: &'static str,
        /// Why it failed.
        #[source]
        source: Cause,
    },
    /// An operator has to look: LINE says no, to our credentials (401, 403) or to what we ask.
    #[error("LINE refused: {status} {message}")]
    Refused {
        /// The HTTP status; 0 where the request could not even be made.
        status: u16,
        /// LINE's own words, at most 500 characters.
        message: String,
    },
    /// Wait and ask again: unreachable, timed out, failing, throttled.
    #[error("LINE can't answer now: {what}")]
    Unavailable {
        /// What was asked of it.
        what: &'static str,
        /// Why it failed.
        #[source]
        source: Cause,
    },
}

impl LineError {
    /// Returns what a call to LINE for `what` failed with.
    pub(super) fn from_call(what: &'static str, error: CallError) -> Self {
        match error {
            CallError::Status { status, said, .. }
                if (400..500).contains(&status) && status != 408 && status != 429 =>
            {
                Self::Refused { status, message: said }
            }
            error @ (CallError::Form(_) | CallError::TooLong) => Self::Broken { what, source: error.into() },
            error @ (CallError::GivenUp
            | CallError::NotLine { .. }
            | CallError::Status { .. }
            | CallError::Transport(_)) => Self::Unavailable { what, source: error.into() },
        }
    }
}

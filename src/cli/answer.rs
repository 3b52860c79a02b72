//! Questions whose answer is no.

/// A command was carried out, and its answer is no (exit code 3). Says what the answer is about.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct AnswerIsNo(pub(super) String);

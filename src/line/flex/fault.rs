//! What is wrong with a message, and where.

use serde::Serialize;

use super::length::Length;

/// One thing in a message that LINE would refuse.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Fault {
    /// Where: a JSON pointer (RFC 6901) into the message, for example `/contents/body/contents/0/text`.
    pub path: String,
    /// Which limit is broken, and what to do.
    pub limit: String,
    /// The length that a text could be cut to.
    #[serde(skip)]
    pub(super) cut: Option<Length>,
}

impl Fault {
    /// Returns the same fault for a message that is a part of something else, at the pointer `place`.
    #[must_use]
    pub fn below(self, place: &str) -> Self {
        Self { path: format!("{place}{}", self.path), ..self }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = if self.path.is_empty() { "/" } else { &self.path };
        write!(f, "{path}: {}", self.limit)
    }
}

//! Flex Messages: LINE's limits, and templates with placeholders.
//!
//! One bad member makes LINE refuse the whole request with 400, so a message is checked before it is stored
//! and again after its placeholders are filled. Limits are those of LINE's Messaging API reference, "Flex
//! Message" and "Action objects" (state of August 2026). Where the reference leaves open what LINE does
//! (unknown members, null), we are strict: a template that we take is one that LINE takes.

mod action;
mod component;
mod container;
mod placeholder;
mod rule;
mod template;
mod walk;

#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::Value;

pub use template::{Template, Values};
use walk::Walk;

/// One thing in a message that LINE would refuse.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Fault {
    /// Where: a JSON pointer (RFC 6901) into the message, for example `/contents/body/contents/0/text`.
    pub path: String,
    /// Which limit is broken, and what to do.
    pub limit: String,
    /// The length that a text could be cut to.
    #[serde(skip)]
    cut: Option<rule::Length>,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = if self.path.is_empty() { "/" } else { &self.path };
        write!(f, "{path}: {}", self.limit)
    }
}

/// What is wrong with a whole Flex message as it is written in a template: LINE's limits, and placeholders
/// that nobody fills. Empty: LINE takes it. At most 50 faults are told.
#[must_use]
pub fn check(message: &Value) -> Vec<Fault> {
    let mut walk = Walk::default();
    container::message(&mut walk, message);
    // One that has to be wrapped first is told just that: all paths are others then.
    if container::bare(message).is_none() {
        placeholder::unknown(&mut walk, message);
    }
    walk.faults()
}

/// What is wrong with a finished message: the limits alone, for `{{…}}` in a finished text is just text.
#[must_use]
pub fn check_finished(message: &Value) -> Vec<Fault> {
    let mut walk = Walk::default();
    container::message(&mut walk, message);
    walk.faults()
}

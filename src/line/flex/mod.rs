//! Flex Messages: LINE's limits, and templates with placeholders.
//!
//! One bad member makes LINE refuse the whole request with 400, so a message is checked before it is stored
//! and again after its placeholders are filled. Limits are those of LINE's Messaging API reference, "Flex
//! Message" and "Action objects" (state of August 2026). Where the reference leaves open what LINE does
//! (unknown members, null), we are strict: a template that we take is one that LINE takes.

mod action;
mod address;
mod component;
mod container;
pub mod names;
mod placeholder;
mod rule;
mod template;
mod walk;
mod wrapping;

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod verdicts;

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

impl Fault {
    /// The same fault, where the message is a part of something else: `place` is the pointer to the message.
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

/// What is wrong with a whole Flex message as it is written in a template: LINE's limits, and unknown placeholders.
/// Empty: LINE takes it. At most 50 faults.
///
/// Placeholders count as the shortest values they can have, so that what is refused here is refused whatever the names
/// are; [`names`] has the rule for the names of an event and its stamps.
#[must_use]
pub fn check(message: &Value) -> Vec<Fault> {
    let mut walk = Walk::default();
    if !wrapping::check(&mut walk, message) {
        container::message(&mut walk, &template::sample(message));
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

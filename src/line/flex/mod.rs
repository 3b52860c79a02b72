//! Flex Messages: LINE's limits, and templates with placeholders.
//!
//! One bad member makes LINE refuse the whole request with 400, so a message is checked before it is stored
//! and again after its placeholders are filled. Limits are those of LINE's Messaging API reference, "Flex
//! Message" and "Action objects" (state of August 2026). Where the reference leaves open what LINE does
//! (unknown members, null), we are strict: a template that we take is one that LINE takes.

mod action;
mod address;
mod check;
mod component;
mod container;
mod fill;
mod length;
pub mod names;
mod placeholder;
mod rule;
mod template;
mod walk;

#[cfg(test)]
pub(crate) mod tests;

pub use check::{check, check_finished};
pub use fill::Values;
pub use template::Template;
pub use walk::Fault;

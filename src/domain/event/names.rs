//! What goes from an event into messages.

use serde_json::Value;

use super::{Event, EventRemains, Name};

/// What the messages of an event take from it, as far as it can be read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EventNames<'e> {
    /// `name`, if it can be read.
    pub name: Option<&'e Name>,
    /// `completionMessageContent`, if there is one that can be read.
    pub completion_message: Option<&'e Value>,
}

impl<'e> From<&'e Event> for EventNames<'e> {
    fn from(event: &'e Event) -> Self {
        Self { name: Some(&event.name), completion_message: event.completion_message_content.as_ref() }
    }
}

impl<'e> From<&'e EventRemains> for EventNames<'e> {
    fn from(EventRemains { readable, .. }: &'e EventRemains) -> Self {
        let completion_message = readable.completion_message_content.as_ref().and_then(Option::as_ref);
        Self { name: readable.name.as_ref(), completion_message }
    }
}

//! Checks a whole message.

use serde_json::{Map, Value};

use super::{
    container, fill, placeholder,
    walk::{Fault, Walk},
};

/// Returns what is wrong with a whole Flex message as it is written in a template: LINE's limits, and unknown
/// placeholders. Empty: LINE takes it. At most 50 faults.
///
/// Placeholders count as the shortest values they can have, so that what is refused here is refused whatever the names
/// are; [`names`](super::names) has the rule for the names of an event and its stamps.
#[must_use]
pub fn check(message: &Value) -> Vec<Fault> {
    let mut walk = Walk::default();
    if !is_wrapped_wrongly(&mut walk, message) {
        container::message(&mut walk, &fill::sample(message));
        placeholder::unknown(&mut walk, message);
    }
    walk.faults()
}

/// Returns what is wrong with a finished message: the limits alone, for `{{…}}` in a finished text is just text.
#[must_use]
pub fn check_finished(message: &Value) -> Vec<Fault> {
    let mut walk = Walk::default();
    container::message(&mut walk, message);
    walk.faults()
}

/// Returns whether `value` holds a message or belongs into one. That is its only fault then: every other path would
/// change with it.
fn is_wrapped_wrongly(walk: &mut Walk, value: &Value) -> bool {
    match value {
        Value::Object(object) if object.contains_key("messages") && !object.contains_key("contents") => {
            let rule = format!("is the body of a {} request, not a message: take messages[0] of it", request(object));
            walk.fault_at("messages", rule);
        }
        Value::Array(list) if list.iter().any(Value::is_object) => {
            walk.fault("is a list of messages, not a message: take the first of it");
        }
        _ => match bare(value) {
            Some(what) => walk.fault_at(
                "type",
                format!(
                    "is a bare {what}, as LINE's simulator makes it: wrap it as \
                     {{\"type\":\"flex\",\"altText\":\"…\",\"contents\":<this>}}"
                ),
            ),
            None => return false,
        },
    }
    true
}

/// Which of LINE's requests has such a body (reference, "Message").
fn request(body: &Map<String, Value>) -> &'static str {
    match body.get("to") {
        _ if body.contains_key("replyToken") => "reply",
        Some(Value::Array(_)) => "multicast",
        Some(_) => "push",
        None if body.contains_key("recipient") || body.contains_key("filter") => "narrowcast",
        None => "broadcast",
    }
}

/// What LINE's Flex Message Simulator exports: the contents of a message without the message around them.
fn bare(value: &Value) -> Option<&str> {
    let what = value.get("type").and_then(Value::as_str).filter(|what| matches!(*what, "bubble" | "carousel"));
    what.filter(|_| value.get("altText").is_none())
}

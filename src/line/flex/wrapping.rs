//! What isn't a message at all, but holds one or belongs into one.

use serde_json::{Map, Value};

use super::walk::Walk;

/// Whether `value` has to be taken apart or wrapped before anything in it can be judged: then just that is a fault, for
/// every other path would change with it.
pub(super) fn check(walk: &mut Walk, value: &Value) -> bool {
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

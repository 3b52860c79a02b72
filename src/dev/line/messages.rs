//! The messages of a request: how many, which types, their texts. One bad message rejects them all.
//!
//! A Flex Message is checked as far as a phone needs it: a bubble or a carousel with an alternative text. LINE's rules
//! for what is inside are those of `line::flex`, held against a table of verdicts that LINE documents. A second copy of
//! them here, read from the same page, would prove nothing.

use serde_json::{Value, json};

use super::answer::Answer;

/// One entry of `details`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) property: String,
}

impl Fault {
    pub(super) fn new(message: impl Into<String>, property: impl Into<String>) -> Self {
        Self { message: message.into(), property: property.into() }
    }
}

const TYPES: [&str; 11] =
    ["text", "textV2", "sticker", "image", "video", "audio", "location", "imagemap", "template", "flex", "coupon"];

/// Checks the number of messages, then all of them in general, then the container of each Flex Message.
pub(super) fn check(messages: &[Value]) -> Result<(), Answer> {
    if messages.is_empty() || messages.len() > 5 {
        return Err(general(&[Fault::new("Size must be between 1 and 5", "messages")]));
    }
    let mut faults = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        check_one(message, &format!("messages[{number}]"), &mut faults);
    }
    if !faults.is_empty() {
        return Err(general(&faults));
    }
    match messages.iter().position(|message| message["type"] == "flex" && !has_container(message)) {
        Some(number) => {
            let text = format!("A message (messages[{number}]) in the request body is invalid");
            Err(refusal(&text, &[Fault::new("invalid property", "/type")]))
        }
        None => Ok(()),
    }
}

fn has_container(flex: &Value) -> bool {
    matches!(flex["contents"]["type"].as_str(), Some("bubble" | "carousel"))
}

/// `The request body has X error(s)` with its details.
pub(super) fn general(faults: &[Fault]) -> Answer {
    refusal(&format!("The request body has {} error(s)", faults.len()), faults)
}

fn refusal(message: &str, faults: &[Fault]) -> Answer {
    let details: Vec<_> =
        faults.iter().map(|fault| json!({ "message": fault.message, "property": fault.property })).collect();
    Answer::json(400, &json!({ "message": message, "details": details }))
}

fn check_one(message: &Value, path: &str, faults: &mut Vec<Fault>) {
    let kind = message.get("type").and_then(Value::as_str).unwrap_or_default();
    if !TYPES.contains(&kind) {
        let text = format!("Must be one of the following values: [{}]", TYPES.join(", "));
        faults.push(Fault::new(text, format!("{path}.type")));
        return;
    }
    match kind {
        "text" | "textV2" => text(message, "text", 5000, path, faults),
        "sticker" => {
            present(message, "packageId", path, faults);
            present(message, "stickerId", path, faults);
        }
        "image" | "video" => {
            text(message, "originalContentUrl", 2000, path, faults);
            text(message, "previewImageUrl", 2000, path, faults);
        }
        "audio" => {
            text(message, "originalContentUrl", 2000, path, faults);
            present(message, "duration", path, faults);
        }
        "location" => {
            for name in ["title", "address", "latitude", "longitude"] {
                present(message, name, path, faults);
            }
        }
        "template" => {
            text(message, "altText", 1500, path, faults);
            present(message, "template", path, faults);
        }
        "flex" => {
            text(message, "altText", 1500, path, faults);
            present(message, "contents", path, faults);
        }
        _ => {}
    }
}

/// A text of 1 to `most` UTF-16 code units.
fn text(message: &Value, name: &str, most: usize, path: &str, faults: &mut Vec<Fault>) {
    let property = format!("{path}.{name}");
    match message.get(name) {
        None | Some(Value::Null) => faults.push(Fault::new("May not be empty", property)),
        Some(Value::String(found)) if found.is_empty() => faults.push(Fault::new("May not be empty", property)),
        Some(Value::String(found)) if found.encode_utf16().count() > most => {
            faults.push(Fault::new(format!("Length must be between 0 and {most}"), property));
        }
        Some(Value::String(_)) => {}
        Some(_) => faults.push(Fault::new("Must be a string", property)),
    }
}

fn present(message: &Value, name: &str, path: &str, faults: &mut Vec<Fault>) {
    if message.get(name).is_none_or(Value::is_null) {
        faults.push(Fault::new("May not be empty", format!("{path}.{name}")));
    }
}

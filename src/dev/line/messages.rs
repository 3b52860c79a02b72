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
    let (texts, others) = members(kind);
    let wrong = texts.iter().map(|(name, most)| (name, wrong_text(message.get(name), *most)));
    let wrong = wrong.chain(others.iter().map(|name| (name, missing(message.get(name)))));
    faults.extend(wrong.filter_map(|(name, rule)| Some(Fault::new(rule?, format!("{path}.{name}")))));
}

/// The members that a message of this type must have: texts with the most UTF-16 code units of each, and others.
fn members(kind: &str) -> (&'static [(&'static str, usize)], &'static [&'static str]) {
    match kind {
        "text" | "textV2" => (&[("text", 5000)], &[]),
        "sticker" => (&[], &["packageId", "stickerId"]),
        "image" | "video" => (&[("originalContentUrl", 2000), ("previewImageUrl", 2000)], &[]),
        "audio" => (&[("originalContentUrl", 2000)], &["duration"]),
        "location" => (&[], &["title", "address", "latitude", "longitude"]),
        "template" => (&[("altText", 1500)], &["template"]),
        "flex" => (&[("altText", 1500)], &["contents"]),
        _ => (&[], &[]),
    }
}

fn wrong_text(found: Option<&Value>, most: usize) -> Option<String> {
    match found {
        Some(Value::String(text)) if text.encode_utf16().count() > most => {
            Some(format!("Length must be between 0 and {most}"))
        }
        Some(Value::String(text)) if !text.is_empty() => None,
        None | Some(Value::Null | Value::String(_)) => Some("May not be empty".to_owned()),
        Some(_) => Some("Must be a string".to_owned()),
    }
}

fn missing(found: Option<&Value>) -> Option<String> {
    found.is_none_or(Value::is_null).then(|| "May not be empty".to_owned())
}

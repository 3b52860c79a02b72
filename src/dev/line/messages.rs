//! The messages of a request: how many, which types, their texts. One bad message rejects them all.

use serde_json::{Value, json};

use super::{answer::Answer, flex, switches::UnknownMembers};

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

/// General faults of all messages first, then the content of the first bad Flex Message.
pub(super) fn check(messages: &[Value], unknown_members: UnknownMembers) -> Result<(), Answer> {
    if messages.is_empty() || messages.len() > 5 {
        return Err(general(&[Fault::new("Size must be between 1 and 5", "messages")]));
    }
    let mut faults = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        check_one(message, &format!("messages[{number}]"), unknown_members, &mut faults);
    }
    if !faults.is_empty() {
        return Err(general(&faults));
    }
    for (number, message) in messages.iter().enumerate() {
        if message.get("type").and_then(Value::as_str) == Some("flex") {
            let faults = flex::check(message.get("contents").unwrap_or(&Value::Null), unknown_members);
            if !faults.is_empty() {
                let text = format!("A message (messages[{number}]) in the request body is invalid");
                return Err(refusal(&text, &faults));
            }
        }
    }
    Ok(())
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

fn check_one(message: &Value, path: &str, unknown_members: UnknownMembers, faults: &mut Vec<Fault>) {
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
    around(message, path, unknown_members, faults);
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

/// `sender` and `quickReply`, which every type may have; their faults by properties as `messages[0].sender.name`.
fn around(message: &Value, path: &str, unknown_members: UnknownMembers, faults: &mut Vec<Fault>) {
    let Some(message) = message.as_object() else { return };
    let found = flex::check_around(message, unknown_members).into_iter();
    faults.extend(found.map(|fault| Fault::new(fault.message, format!("{path}{}", fault.property.replace('/', ".")))));
}

//! What every message may have around its content: `quickReply` and `sender` (reference, "Common properties for
//! messages"), and nothing unknown beside a Flex Message.

use serde_json::{Map, Value};

use super::{
    Findings,
    actions::{Place, check_action},
    members::{Rule, check_members},
};

const FLEX: &[(&str, Rule)] = &[
    ("altText", Rule::Elsewhere),
    ("contents", Rule::Elsewhere),
    ("quickReply", Rule::Elsewhere),
    ("sender", Rule::Elsewhere),
];
const QUICK_REPLY: &[(&str, Rule)] = &[("items", Rule::Elsewhere)];
const ITEM: &[(&str, Rule)] = &[("imageUrl", Rule::SecureUrl), ("action", Rule::Elsewhere)];
const SENDER: &[(&str, Rule)] = &[("name", Rule::Letters), ("iconUrl", Rule::SecureUrl)];

/// Checks what is around the content of a message.
pub(super) fn check(message: &Map<String, Value>, findings: &mut Findings) {
    if message.get("type").and_then(Value::as_str) == Some("flex") {
        check_members(message, FLEX, "", findings);
    }
    match message.get("quickReply") {
        None => {}
        Some(Value::Object(quick_reply)) => check_quick_reply(quick_reply, findings),
        Some(_) => findings.invalid("/quickReply"),
    }
    match message.get("sender") {
        None => {}
        Some(Value::Object(sender)) => check_sender(sender, findings),
        Some(_) => findings.invalid("/sender"),
    }
}

fn check_quick_reply(quick_reply: &Map<String, Value>, findings: &mut Findings) {
    check_members(quick_reply, QUICK_REPLY, "/quickReply", findings);
    let Some(items) = quick_reply.get("items").and_then(Value::as_array) else {
        return findings.invalid("/quickReply/items");
    };
    if items.is_empty() || items.len() > 13 {
        findings.add("Size must be between 0 and 13", "/quickReply/items");
    }
    for (number, item) in items.iter().enumerate() {
        let path = format!("/quickReply/items/{number}");
        let Some(item) = item.as_object() else { return findings.invalid(&path) };
        check_members(item, ITEM, &path, findings);
        if item.get("type").and_then(Value::as_str) != Some("action") {
            findings.invalid(&format!("{path}/type"));
        }
        match item.get("action") {
            Some(action) => check_action(action, &format!("{path}/action"), Place::QuickReply, findings),
            None => findings.invalid(&format!("{path}/action")),
        }
    }
}

/// The reference: "certain words such as `LINE` may not be used".
fn check_sender(sender: &Map<String, Value>, findings: &mut Findings) {
    check_members(sender, SENDER, "/sender", findings);
    let name = sender.get("name").and_then(Value::as_str).unwrap_or_default();
    if name.encode_utf16().count() > 20 {
        findings.add("Length must be between 0 and 20", "/sender/name");
    }
    let words = name.split(|letter: char| !letter.is_alphanumeric());
    if name.contains("LINE") || words.into_iter().any(|word| word.to_lowercase() == "line") {
        findings.invalid("/sender/name");
    }
}

//! Action objects inside Flex components.

use serde_json::{Map, Value};
use unicode_segmentation::UnicodeSegmentation;

use super::{
    Findings,
    members::{OneOf, Rule, check_members, check_url},
};

/// Grapheme clusters of a label.
const LABEL: usize = 40;

const URI: &[(&str, Rule)] = &[("label", Rule::Text), ("uri", Rule::Elsewhere), ("altUri", Rule::Elsewhere)];
const POSTBACK: &[(&str, Rule)] = &[
    ("label", Rule::Text),
    ("data", Rule::Text),
    ("displayText", Rule::Text),
    ("text", Rule::Text),
    ("inputOption", OneOf(&["closeRichMenu", "openRichMenu", "openKeyboard", "openVoice"])),
    ("fillInText", Rule::Text),
];
const MESSAGE: &[(&str, Rule)] = &[("label", Rule::Text), ("text", Rule::Text)];
const DATETIME: &[(&str, Rule)] = &[
    ("label", Rule::Text),
    ("data", Rule::Text),
    ("mode", OneOf(&["date", "time", "datetime"])),
    ("initial", Rule::Text),
    ("max", Rule::Text),
    ("min", Rule::Text),
];
const CLIPBOARD: &[(&str, Rule)] = &[("label", Rule::Text), ("clipboardText", Rule::Text)];

/// An action; its label is optional, but never too long.
pub(super) fn check_action(action: &Value, path: &str, findings: &mut Findings) {
    let Some(action) = action.as_object() else { return findings.invalid(path) };
    longest(action, "label", LABEL, Unit::Graphemes, path, findings);
    match action.get("type").and_then(Value::as_str) {
        Some("uri") => check_uri(action, path, findings),
        Some("postback") => {
            check_members(action, POSTBACK, path, findings);
            required(action, "data", path, findings);
            longest(action, "data", 300, Unit::Utf16, path, findings);
            for name in ["displayText", "text", "fillInText"] {
                longest(action, name, 300, Unit::Graphemes, path, findings);
            }
            if action.contains_key("displayText") && action.contains_key("text") {
                findings.invalid(&format!("{path}/displayText"));
            }
        }
        Some("message") => {
            check_members(action, MESSAGE, path, findings);
            required(action, "text", path, findings);
            longest(action, "text", 300, Unit::Graphemes, path, findings);
        }
        Some("datetimepicker") => {
            check_members(action, DATETIME, path, findings);
            required(action, "data", path, findings);
            required(action, "mode", path, findings);
            longest(action, "data", 300, Unit::Utf16, path, findings);
        }
        Some("clipboard") => {
            check_members(action, CLIPBOARD, path, findings);
            required(action, "clipboardText", path, findings);
            longest(action, "clipboardText", 1000, Unit::Utf16, path, findings);
        }
        // Camera, camera roll and location are for quick replies, richmenuswitch for rich menus.
        _ => findings.invalid(&format!("{path}/type")),
    }
}

/// The action of a button, whose label is what it shows.
pub(super) fn check_button_action(button: &Map<String, Value>, path: &str, findings: &mut Findings) {
    let path = format!("{path}/action");
    match button.get("action").and_then(Value::as_object) {
        Some(action) => required(action, "label", &path, findings),
        None => findings.invalid(&path),
    }
}

fn check_uri(action: &Map<String, Value>, path: &str, findings: &mut Findings) {
    const SCHEMES: &[&str] = &["http", "https", "line", "tel"];
    check_members(action, URI, path, findings);
    let uri = action.get("uri").and_then(Value::as_str);
    check_url(uri, SCHEMES, 1000, &format!("{path}/uri"), findings);
    if let Some(alternative) = action.get("altUri") {
        let desktop = alternative.get("desktop").and_then(Value::as_str);
        check_url(desktop, SCHEMES, 1000, &format!("{path}/altUri/desktop"), findings);
    }
}

fn required(object: &Map<String, Value>, name: &str, path: &str, findings: &mut Findings) {
    if object.get(name).and_then(Value::as_str).is_none_or(str::is_empty) {
        findings.add("must be non-empty text", &format!("{path}/{name}"));
    }
}

#[derive(Clone, Copy)]
enum Unit {
    Graphemes,
    Utf16,
}

fn longest(object: &Map<String, Value>, name: &str, most: usize, unit: Unit, path: &str, findings: &mut Findings) {
    let text = object.get(name).and_then(Value::as_str).unwrap_or_default();
    let length = match unit {
        Unit::Graphemes => text.graphemes(true).count(),
        Unit::Utf16 => text.encode_utf16().count(),
    };
    if length > most {
        findings.add(&format!("Length must be between 0 and {most}"), &format!("{path}/{name}"));
    }
}

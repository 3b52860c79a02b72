//! Action objects inside Flex components.

use serde_json::{Map, Value};
use unicode_segmentation::UnicodeSegmentation;

use super::{
    Findings,
    members::{OneOf, Rule, check_members, check_url},
};

/// Whose action it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    Component,
    QuickReply,
    Video,
}

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

/// An action; only a quick reply's must have a label (a button's see [`check_button_action`]).
pub(super) fn check_action(action: &Value, path: &str, place: Place, findings: &mut Findings) {
    let Some(action) = action.as_object() else { return findings.invalid(path) };
    // Grapheme clusters.
    let most = if place == Place::QuickReply { 20 } else { 40 };
    longest(action, "label", most, Unit::Graphemes, path, findings);
    if place == Place::QuickReply || action.contains_key("label") {
        required(action, "label", path, findings);
    }
    let kind = action.get("type").and_then(Value::as_str).unwrap_or_default();
    match (kind, place) {
        ("uri", _) => check_uri(action, path, findings),
        ("postback", Place::Component | Place::QuickReply) => check_postback(action, path, findings),
        ("message", Place::Component | Place::QuickReply) => {
            check_members(action, MESSAGE, path, findings);
            required(action, "text", path, findings);
            longest(action, "text", 300, Unit::Graphemes, path, findings);
        }
        ("datetimepicker", Place::Component | Place::QuickReply) => check_picker(action, path, findings),
        ("clipboard", Place::Component | Place::QuickReply) => {
            check_members(action, CLIPBOARD, path, findings);
            required(action, "clipboardText", path, findings);
            longest(action, "clipboardText", 1000, Unit::Utf16, path, findings);
        }
        ("camera" | "cameraRoll" | "location", Place::QuickReply) => {
            check_members(action, &[("label", Rule::Text)], path, findings);
        }
        // Richmenuswitch is for rich menus, a video only opens addresses.
        _ => findings.invalid(&format!("{path}/type")),
    }
}

fn check_postback(action: &Map<String, Value>, path: &str, findings: &mut Findings) {
    check_members(action, POSTBACK, path, findings);
    // Its least length is 0 in LINE's `OpenAPI` file.
    if !action.contains_key("data") {
        findings.invalid(&format!("{path}/data"));
    }
    longest(action, "data", 300, Unit::Utf16, path, findings);
    for name in ["displayText", "text", "fillInText"] {
        longest(action, name, 300, Unit::Graphemes, path, findings);
        if action.contains_key(name) {
            required(action, name, path, findings);
        }
    }
    if action.contains_key("displayText") && action.contains_key("text") {
        findings.invalid(&format!("{path}/displayText"));
    }
    let opens_keyboard = action.get("inputOption").is_some_and(|option| option == "openKeyboard");
    if action.contains_key("fillInText") && !opens_keyboard {
        findings.invalid(&format!("{path}/fillInText"));
    }
}

fn check_picker(action: &Map<String, Value>, path: &str, findings: &mut Findings) {
    check_members(action, DATETIME, path, findings);
    for name in ["data", "mode"] {
        if !action.contains_key(name) {
            findings.invalid(&format!("{path}/{name}"));
        }
    }
    longest(action, "data", 300, Unit::Utf16, path, findings);
    let mode = action.get("mode").and_then(Value::as_str).unwrap_or_default();
    let text = |name: &str| action.get(name).and_then(Value::as_str);
    for name in ["initial", "max", "min"] {
        if text(name).is_some_and(|text| !is_moment(mode, text)) {
            findings.invalid(&format!("{path}/{name}"));
        }
    }
    // All of one form, so their order as text is that in time.
    if let (Some(min), Some(max)) = (text("min"), text("max"))
        && min.to_lowercase() >= max.to_lowercase()
    {
        findings.invalid(&format!("{path}/min"));
    }
}

/// A date, a time, or both with a T between them; in the order that they have as text.
fn is_moment(mode: &str, text: &str) -> bool {
    let digits = |text: &str, length: usize| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = |text: &str| text.parse::<u32>().unwrap_or(u32::MAX);
    let is_date = |text: &str| {
        let parts: Vec<&str> = text.split('-').collect();
        let [year, month, day] = parts.as_slice() else { return false };
        digits(year, 4)
            && digits(month, 2)
            && digits(day, 2)
            && (1900..=2100).contains(&number(year))
            && chrono::NaiveDate::from_ymd_opt(year.parse().unwrap_or(0), number(month), number(day)).is_some()
    };
    let is_time = |text: &str| {
        text.split_once(':').is_some_and(|(hour, minute)| {
            digits(hour, 2) && digits(minute, 2) && number(hour) < 24 && number(minute) < 60
        })
    };
    match mode {
        "date" => is_date(text),
        "time" => is_time(text),
        _ => text.split_once(['T', 't']).is_some_and(|(date, time)| is_date(date) && is_time(time)),
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
    let Some(alternative) = action.get("altUri") else { return };
    let path = format!("{path}/altUri");
    let Some(alternative) = alternative.as_object() else { return findings.invalid(&path) };
    check_members(alternative, &[("desktop", Rule::Elsewhere)], &path, findings);
    if let Some(desktop) = alternative.get("desktop") {
        check_url(desktop.as_str(), SCHEMES, 1000, &format!("{path}/desktop"), findings);
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

//! Actions: what a tap does.

use serde_json::{Map, Value};

use super::{
    length::{Length, Unit},
    rule::{Member, Rule, may, must},
    walk::Walk,
};

const LABEL: Rule = Rule::Text(Length { most: 40, unit: Unit::Graphemes });
const SHORT_LABEL: Rule = Rule::Text(Length { most: 20, unit: Unit::Graphemes });
const SAID: Rule = Rule::Text(Length { most: 300, unit: Unit::Graphemes });
/// LINE's `OpenAPI` file gives it a `minLength` of 0.
const DATA: Rule = Rule::Data(0..=300);
const COPIED: Rule = Rule::Data(1..=1_000);

const TYPE: Member = must("type", Rule::Any, "name the action");
const OPTIONAL_LABEL: &[Member] = &[TYPE, may("label", LABEL)];
const BUTTON_LABEL: &[Member] = &[TYPE, must("label", LABEL, "a button shows it")];
const QUICK_LABEL: &[Member] = &[TYPE, must("label", SHORT_LABEL, "a quick reply button shows it")];

const URI: &[Member] = &[
    must("uri", Rule::TapUri, "the address that a tap opens"),
    may("altUri", Rule::Object("alternative addresses", &[may("desktop", Rule::TapUri)])),
];
const MESSAGE: &[Member] = &[must("text", SAID, "what the participant says by the tap")];
const POSTBACK: &[Member] = &[
    must("data", DATA, "what the webhook receives"),
    may("displayText", SAID),
    may("text", SAID),
    may("inputOption", Rule::Keyword(&["closeRichMenu", "openRichMenu", "openKeyboard", "openVoice"])),
    may("fillInText", SAID),
];
const PICKER: &[Member] = &[
    must("data", DATA, "what the webhook receives"),
    must("mode", Rule::Keyword(&["date", "time", "datetime"]), "date, time or datetime"),
    may("initial", Rule::Any),
    may("max", Rule::Any),
    may("min", Rule::Any),
];
const CLIPBOARD: &[Member] = &[must("clipboardText", COPIED, "the text that is copied")];

/// Of a button: the label is shown.
pub(super) fn of_button(walk: &mut Walk, value: &Value) {
    action(walk, value, BUTTON_LABEL, Place::Flex);
}

/// Of any other component: the label is read aloud at most.
pub(super) fn of_component(walk: &mut Walk, value: &Value) {
    action(walk, value, OPTIONAL_LABEL, Place::Flex);
}

/// Of a video: the reference allows a URI action alone.
pub(super) fn of_video(walk: &mut Walk, value: &Value) {
    action(walk, value, OPTIONAL_LABEL, Place::Video);
}

/// Of a quick reply button.
pub(super) fn of_quick_reply(walk: &mut Walk, value: &Value) {
    action(walk, value, QUICK_LABEL, Place::QuickReply);
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Flex,
    QuickReply,
    Video,
}

fn action(walk: &mut Walk, value: &Value, label: &[Member], place: Place) {
    let Some(object) = walk.object(value, "an action") else { return };
    let own = match object.get("type").and_then(Value::as_str) {
        Some("uri") => URI,
        Some(_) if place == Place::Video => return walk.fault_at("type", "must be uri: a video opens an address"),
        Some("message") => MESSAGE,
        Some("postback") => POSTBACK,
        Some("datetimepicker") => PICKER,
        Some("clipboard") => CLIPBOARD,
        Some("camera" | "cameraRoll" | "location") if place == Place::QuickReply => &[],
        Some("camera" | "cameraRoll" | "location") => {
            return walk.fault_at("type", "belongs to quick replies alone: take uri, message or postback here");
        }
        Some("richmenuswitch") => {
            return walk.fault_at("type", "belongs to rich menus alone: take uri, message or postback here");
        }
        _ => {
            return walk.fault_at("type", "must be one of uri, message, postback, datetimepicker, clipboard");
        }
    };
    walk.members(object, &[label, own]);
    postback_rules(walk, object);
    picker_rules(walk, object);
}

fn postback_rules(walk: &mut Walk, object: &Map<String, Value>) {
    if object.contains_key("displayText") && object.contains_key("text") {
        walk.fault_at("text", "can't stand beside displayText: remove it, it is deprecated");
    }
    let opens_keyboard = object.get("inputOption").and_then(Value::as_str) == Some("openKeyboard");
    if object.contains_key("fillInText") && !opens_keyboard {
        walk.fault_at("fillInText", "only works with inputOption openKeyboard: set that, or remove it");
    }
}

/// Written as the mode says; `min` before `max`.
fn picker_rules(walk: &mut Walk, object: &Map<String, Value>) {
    let Some(mode) = object.get("mode").and_then(Value::as_str) else { return };
    for name in ["initial", "max", "min"] {
        let text = object.get(name).filter(|value| !value.is_null());
        if text.is_some_and(|value| !value.as_str().is_some_and(|text| is_moment(mode, text))) {
            walk.fault_at(name, "must be written as the mode says: 2026-05-23, 11:30 or 2026-05-23T11:30");
        }
    }
    let of = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_ascii_uppercase);
    if let (Some(min), Some(max)) = (of("min"), of("max"))
        && min >= max
    {
        walk.fault_at("min", "must be before max");
    }
}

fn is_moment(mode: &str, text: &str) -> bool {
    let date = |text: &str| {
        chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
            && text.len() == 10
            && ("1900".."2101").contains(&&text[..4])
    };
    let time = |text: &str| chrono::NaiveTime::parse_from_str(text, "%H:%M").is_ok() && text.len() == 5;
    match mode {
        "date" => date(text),
        "time" => time(text),
        _ => text.split_once(['T', 't']).is_some_and(|(day, hour)| date(day) && time(hour)),
    }
}

//! Components: boxes and what they hold.

use serde_json::{Map, Value};

use super::{
    action,
    rule::{BORDER, EXTENT, FONT, IMAGE, Member, OFFSET, PADDING, PIXELS, Rule, SPACE, may, must},
    walk::Walk,
};

const COLOUR: Rule = Rule::Colour;
const GRAVITY: Rule = Rule::Keyword(&["top", "bottom", "center"]);
const ALIGN: Rule = Rule::Keyword(&["start", "end", "center"]);
const LAYOUTS: &[&str] = &["horizontal", "vertical", "baseline"];
const TAP: Member = may("action", Rule::Nested(action::of_component));
const TYPE: Member = must("type", Rule::Any, "name the component");

/// Where a component stands.
const PLACE: &[Member] = &[
    TYPE,
    may("margin", Rule::Measure(&SPACE)),
    may("position", Rule::Keyword(&["relative", "absolute"])),
    may("offsetTop", Rule::Measure(&OFFSET)),
    may("offsetBottom", Rule::Measure(&OFFSET)),
    may("offsetStart", Rule::Measure(&OFFSET)),
    may("offsetEnd", Rule::Measure(&OFFSET)),
];

const BOX: &[Member] = &[
    must("layout", Rule::Keyword(LAYOUTS), "horizontal, vertical or baseline"),
    must("contents", Rule::Any, "a list, which may be empty"),
    TAP,
    may("alignItems", Rule::Keyword(&["center", "flex-start", "flex-end"])),
    may("background", Rule::Object("a background", GRADIENT)),
    may("backgroundColor", COLOUR),
    may("borderColor", COLOUR),
    may("borderWidth", Rule::Measure(&BORDER)),
    may("cornerRadius", Rule::Measure(&SPACE)),
    may("flex", Rule::Whole),
    may("height", Rule::Measure(&EXTENT)),
    may(
        "justifyContent",
        Rule::Keyword(&["center", "flex-start", "flex-end", "space-between", "space-around", "space-evenly"]),
    ),
    may("maxHeight", Rule::Measure(&EXTENT)),
    may("maxWidth", Rule::Measure(&EXTENT)),
    may("paddingAll", Rule::Measure(&PADDING)),
    may("paddingBottom", Rule::Measure(&PADDING)),
    may("paddingEnd", Rule::Measure(&PADDING)),
    may("paddingStart", Rule::Measure(&PADDING)),
    may("paddingTop", Rule::Measure(&PADDING)),
    may("spacing", Rule::Measure(&SPACE)),
    may("width", Rule::Measure(&EXTENT)),
];

const GRADIENT: &[Member] = &[
    must("type", Rule::Keyword(&["linearGradient"]), "linearGradient"),
    must("angle", Rule::Angle, "for example \"90deg\""),
    must("startColor", COLOUR, "the colour at its beginning"),
    must("endColor", COLOUR, "the colour at its end"),
    may("centerColor", COLOUR),
    may("centerPosition", Rule::Percent),
];

const BUTTON: &[Member] = &[
    must("action", Rule::Nested(action::of_button), "what a tap does"),
    may("adjustMode", Rule::Keyword(&["shrink-to-fit"])),
    may("color", COLOUR),
    may("flex", Rule::Whole),
    may("gravity", GRAVITY),
    may("height", Rule::Keyword(&["sm", "md"])),
    may("scaling", Rule::Bool),
    may("style", Rule::Keyword(&["primary", "secondary", "link"])),
];

const PICTURE: &[Member] = &[
    must("url", Rule::Https, "the address of a JPEG or PNG"),
    TAP,
    may("align", ALIGN),
    may("animated", Rule::Bool),
    may("aspectMode", Rule::Keyword(&["cover", "fit"])),
    may("aspectRatio", Rule::Ratio),
    may("backgroundColor", COLOUR),
    may("flex", Rule::Whole),
    may("gravity", GRAVITY),
    may("size", Rule::Measure(&IMAGE)),
];

const ICON: &[Member] = &[
    must("url", Rule::Https, "the address of a JPEG or PNG"),
    may("aspectRatio", Rule::Ratio),
    may("scaling", Rule::Bool),
    may("size", Rule::Measure(&FONT)),
];

const TEXT: &[Member] = &[
    TAP,
    may("adjustMode", Rule::Keyword(&["shrink-to-fit"])),
    may("align", ALIGN),
    may("contents", Rule::Any),
    may("flex", Rule::Whole),
    may("gravity", GRAVITY),
    may("lineSpacing", Rule::Measure(&PIXELS)),
    may("maxLines", Rule::Whole),
    may("scaling", Rule::Bool),
    may("wrap", Rule::Bool),
];

/// Of texts and spans.
const LETTERS: &[Member] = &[
    may("color", COLOUR),
    may("decoration", Rule::Keyword(&["none", "underline", "line-through"])),
    may("size", Rule::Measure(&FONT)),
    may("style", Rule::Keyword(&["normal", "italic"])),
    may("text", Rule::Any),
    may("weight", Rule::Keyword(&["regular", "bold"])),
];

const SEPARATOR: &[Member] = &[TYPE, may("color", COLOUR), may("margin", Rule::Measure(&SPACE))];
const FILLER: &[Member] = &[TYPE, may("flex", Rule::Whole)];

const VIDEO: &[Member] = &[
    TYPE,
    must("url", Rule::Https, "the address of an mp4"),
    must("previewUrl", Rule::Https, "the address of a JPEG or PNG"),
    must("altContent", Rule::Nested(alternative), "a box or image for older versions of LINE"),
    may("action", Rule::Nested(action::of_video)),
    may("aspectRatio", Rule::Ratio),
];

/// LINE took spacers out with "Flex Message Update 2" (news of 8 October 2020) and names what takes their place in
/// "Component position" of its layout guide.
const SPACER: &str = "is spacer, which LINE took out of Flex Messages in 2020: give the box around it a padding \
                      (paddingTop, paddingBottom, …), or the component beside it a margin";

/// A component, one of the `allowed` types.
pub(super) fn component(walk: &mut Walk, value: &Value, allowed: &[&str]) {
    let Some(object) = walk.object(value, "a component") else { return };
    let kind = object.get("type").and_then(Value::as_str).unwrap_or_default();
    if kind == "spacer" {
        return walk.fault_at("type", SPACER);
    }
    if !allowed.contains(&kind) {
        return walk.fault_at("type", format!("must be one of {} here", allowed.join(", ")));
    }
    match kind {
        "box" => boxed(walk, object),
        "button" => walk.members(object, &[PLACE, BUTTON]),
        "filler" => walk.members(object, &[FILLER]),
        "icon" => walk.members(object, &[PLACE, ICON]),
        "image" => walk.members(object, &[PLACE, PICTURE]),
        "separator" => walk.members(object, &[SEPARATOR]),
        "span" => span(walk, object),
        "text" => text(walk, object),
        "video" => walk.members(object, &[VIDEO]),
        _ => walk.fault_at("type", "is no component that LINE knows"),
    }
}

fn boxed(walk: &mut Walk, object: &Map<String, Value>) {
    walk.members(object, &[PLACE, BOX]);
    let allowed: &[&str] = match object.get("layout").and_then(Value::as_str) {
        Some("baseline") => &["icon", "text", "filler"],
        _ => &["box", "button", "image", "text", "separator", "filler"],
    };
    list(walk, object, |walk, child| component(walk, child, allowed));
}

fn text(walk: &mut Walk, object: &Map<String, Value>) {
    walk.members(object, &[PLACE, TEXT, LETTERS]);
    let spans = object.get("contents").is_some_and(|spans| spans.as_array().is_none_or(|spans| !spans.is_empty()));
    list(walk, object, |walk, child| component(walk, child, &["span"]));
    // With spans LINE passes `text` over.
    match object.get("text") {
        Some(Value::String(text)) if !text.is_empty() || spans => {}
        Some(Value::String(_)) => walk.fault_at("text", "must not be empty: give it text, a placeholder or spans"),
        Some(Value::Null) => {}
        Some(_) => walk.fault_at("text", "must be text, in quotation marks"),
        None if spans => {}
        None => walk.fault_at("text", "is required here: give the component text, a placeholder or spans"),
    }
}

fn span(walk: &mut Walk, object: &Map<String, Value>) {
    walk.members(object, &[&[TYPE], LETTERS]);
    match object.get("text") {
        Some(Value::String(text)) if text.is_empty() => {
            walk.fault_at("text", "must not be empty: give the span text, or remove it");
        }
        // Optional in the reference ("Span"): without one it shows nothing. Null is a fault of any member.
        None | Some(Value::String(_) | Value::Null) => {}
        Some(_) => walk.fault_at("text", "must be text, in quotation marks"),
    }
}

fn list(walk: &mut Walk, object: &Map<String, Value>, inside: impl FnMut(&mut Walk, &Value)) {
    match object.get("contents") {
        None | Some(Value::Null) => {}
        Some(Value::Array(values)) => walk.at("contents", |walk| walk.each(values, inside)),
        Some(_) => walk.fault_at("contents", "must be a list of components"),
    }
}

fn alternative(walk: &mut Walk, value: &Value) {
    component(walk, value, &["box", "image"]);
}

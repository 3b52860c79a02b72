//! The components of a bubble, member by member.

use serde_json::{Map, Value};

use super::{
    Findings,
    actions::check_button_action,
    members::{OneOf, Rule, amount, check_members},
};

/// Where a component stands, and so which types may.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    /// `altContent` of a video.
    AltContent,
    /// In a baseline box.
    Baseline,
    /// `header`, `body`, `footer`.
    Block,
    /// In a horizontal or vertical box.
    Box,
    Hero,
    /// The hero of a bubble that is wide enough and in no carousel.
    HeroWithVideo,
    /// In a text.
    Text,
}

impl Place {
    fn takes(self, kind: &str) -> bool {
        let kinds: &[&str] = match self {
            Self::AltContent | Self::Hero => &["box", "image"],
            Self::Baseline => &["icon", "text", "filler"],
            Self::Block => &["box"],
            Self::Box => &["box", "button", "image", "text", "separator", "filler"],
            Self::HeroWithVideo => &["box", "image", "video"],
            Self::Text => &["span"],
        };
        kinds.contains(&kind)
    }
}

const SPACES: &[&str] = &["none", "xs", "sm", "md", "lg", "xl", "xxl"];
const BORDERS: &[&str] = &["none", "light", "normal", "medium", "semi-bold", "bold"];
const FONT_SIZES: &[&str] = &["xxs", "xs", "sm", "md", "lg", "xl", "xxl", "3xl", "4xl", "5xl"];
const IMAGE_SIZES: &[&str] = &["xxs", "xs", "sm", "md", "lg", "xl", "xxl", "3xl", "4xl", "5xl", "full"];
const WEIGHT: Rule = OneOf(&["regular", "bold"]);
const STYLE: Rule = OneOf(&["normal", "italic"]);
const DECORATION: Rule = OneOf(&["none", "underline", "line-through"]);
const ALIGN: Rule = OneOf(&["start", "center", "end"]);
const GRAVITY: Rule = OneOf(&["top", "center", "bottom"]);
const SHRINK: Rule = OneOf(&["shrink-to-fit"]);

/// Every component that can be moved has these.
const PLACED: [(&str, Rule); 6] = [
    ("margin", Rule::Length(SPACES)),
    ("position", OneOf(&["relative", "absolute"])),
    ("offsetTop", Rule::Offset(SPACES)),
    ("offsetBottom", Rule::Offset(SPACES)),
    ("offsetStart", Rule::Offset(SPACES)),
    ("offsetEnd", Rule::Offset(SPACES)),
];

const BOX: &[(&str, Rule)] = &[
    ("layout", OneOf(&["horizontal", "vertical", "baseline"])),
    ("contents", Rule::Elsewhere),
    ("flex", Rule::Whole),
    ("spacing", Rule::Length(SPACES)),
    ("backgroundColor", Rule::Colour),
    ("borderColor", Rule::Colour),
    ("borderWidth", Rule::Length(BORDERS)),
    ("cornerRadius", Rule::Length(SPACES)),
    ("width", Rule::Relative(&[])),
    ("maxWidth", Rule::Relative(&[])),
    ("height", Rule::Relative(&[])),
    ("maxHeight", Rule::Relative(&[])),
    ("paddingAll", Rule::Relative(SPACES)),
    ("paddingTop", Rule::Relative(SPACES)),
    ("paddingBottom", Rule::Relative(SPACES)),
    ("paddingStart", Rule::Relative(SPACES)),
    ("paddingEnd", Rule::Relative(SPACES)),
    ("action", Rule::Action),
    ("justifyContent", OneOf(&["center", "flex-start", "flex-end", "space-between", "space-around", "space-evenly"])),
    ("alignItems", OneOf(&["center", "flex-start", "flex-end"])),
    ("background", Rule::Elsewhere),
];

const GRADIENT: &[(&str, Rule)] = &[
    ("angle", Rule::Elsewhere),
    ("startColor", Rule::Colour),
    ("endColor", Rule::Colour),
    ("centerColor", Rule::Colour),
    ("centerPosition", Rule::Percent),
];

const BUTTON: &[(&str, Rule)] = &[
    ("action", Rule::Action),
    ("flex", Rule::Whole),
    ("color", Rule::Colour),
    ("style", OneOf(&["primary", "secondary", "link"])),
    ("gravity", GRAVITY),
    ("height", OneOf(&["sm", "md"])),
    ("adjustMode", SHRINK),
    ("scaling", Rule::Switch),
];

const IMAGE: &[(&str, Rule)] = &[
    ("url", Rule::SecureUrl),
    ("flex", Rule::Whole),
    ("align", ALIGN),
    ("gravity", GRAVITY),
    ("size", Rule::Relative(IMAGE_SIZES)),
    ("aspectRatio", Rule::Ratio),
    ("aspectMode", OneOf(&["cover", "fit"])),
    ("backgroundColor", Rule::Colour),
    ("action", Rule::Action),
    ("animated", Rule::Switch),
];

const VIDEO: &[(&str, Rule)] = &[
    ("url", Rule::SecureUrl),
    ("previewUrl", Rule::SecureUrl),
    ("altContent", Rule::Elsewhere),
    ("aspectRatio", Rule::Ratio),
    ("action", Rule::UriAction),
];

const ICON: &[(&str, Rule)] = &[
    ("url", Rule::SecureUrl),
    ("size", Rule::Length(FONT_SIZES)),
    ("aspectRatio", Rule::Ratio),
    ("scaling", Rule::Switch),
];

const TEXT: &[(&str, Rule)] = &[
    ("text", Rule::Text),
    ("contents", Rule::Elsewhere),
    ("flex", Rule::Whole),
    ("size", Rule::Length(FONT_SIZES)),
    ("align", ALIGN),
    ("gravity", GRAVITY),
    ("color", Rule::Colour),
    ("weight", WEIGHT),
    ("style", STYLE),
    ("decoration", DECORATION),
    ("wrap", Rule::Switch),
    ("lineSpacing", Rule::Pixels),
    ("action", Rule::Action),
    ("maxLines", Rule::Whole),
    ("adjustMode", SHRINK),
    ("scaling", Rule::Switch),
];

const SPAN: &[(&str, Rule)] = &[
    ("text", Rule::Letters),
    ("size", Rule::Length(FONT_SIZES)),
    ("color", Rule::Colour),
    ("weight", WEIGHT),
    ("style", STYLE),
    ("decoration", DECORATION),
];

const SEPARATOR: &[(&str, Rule)] = &[("margin", Rule::Length(SPACES)), ("color", Rule::Colour)];
const FILLER: &[(&str, Rule)] = &[("flex", Rule::Whole)];

/// A component and everything in it. One that may not stand here is refused whole, as LINE does.
pub(super) fn check_component(component: &Value, path: &str, place: Place, findings: &mut Findings) {
    let (Some(found), Some(kind)) = (component.as_object(), component.get("type").and_then(Value::as_str)) else {
        return findings.invalid(path);
    };
    if !place.takes(kind) {
        return findings.invalid(path);
    }
    match kind {
        "box" => check_box(found, path, findings),
        "button" => {
            placed(found, BUTTON, path, findings);
            check_button_action(found, path, findings);
        }
        "filler" => check_members(found, FILLER, path, findings),
        "icon" => {
            placed(found, ICON, path, findings);
            required(found, "url", path, findings);
        }
        "image" => {
            placed(found, IMAGE, path, findings);
            required(found, "url", path, findings);
        }
        "separator" => check_members(found, SEPARATOR, path, findings),
        "span" => check_members(found, SPAN, path, findings),
        "text" => check_text(found, path, findings),
        _ => check_video(found, path, findings),
    }
}

fn placed(component: &Map<String, Value>, rules: &[(&str, Rule)], path: &str, findings: &mut Findings) {
    let all: Vec<_> = rules.iter().chain(&PLACED).copied().collect();
    check_members(component, &all, path, findings);
}

fn required(component: &Map<String, Value>, name: &str, path: &str, findings: &mut Findings) {
    if !component.contains_key(name) {
        findings.invalid(&format!("{path}/{name}"));
    }
}

fn check_box(component: &Map<String, Value>, path: &str, findings: &mut Findings) {
    placed(component, BOX, path, findings);
    required(component, "layout", path, findings);
    let place = match component.get("layout").and_then(Value::as_str) {
        Some("baseline") => Place::Baseline,
        _ => Place::Box,
    };
    check_contents(component, path, place, findings);
    match component.get("background") {
        None => {}
        Some(Value::Object(background)) => check_gradient(background, &format!("{path}/background"), findings),
        Some(_) => findings.invalid(&format!("{path}/background")),
    }
}

/// `contents` must be there, and may be empty.
fn check_contents(component: &Map<String, Value>, path: &str, place: Place, findings: &mut Findings) {
    let path = format!("{path}/contents");
    let Some(contents) = component.get("contents").and_then(Value::as_array) else {
        return findings.invalid(&path);
    };
    for (number, child) in contents.iter().enumerate() {
        check_component(child, &format!("{path}/{number}"), place, findings);
    }
}

/// The only background is a linear gradient; its angle is from `0deg` to below `360deg`.
fn check_gradient(background: &Map<String, Value>, path: &str, findings: &mut Findings) {
    if background.get("type").and_then(Value::as_str) != Some("linearGradient") {
        return findings.invalid(&format!("{path}/type"));
    }
    check_members(background, GRADIENT, path, findings);
    for name in ["angle", "startColor", "endColor"] {
        required(background, name, path, findings);
    }
    let angle = background.get("angle").and_then(Value::as_str).and_then(|angle| amount(angle, "deg"));
    if angle.is_none_or(|angle| angle >= 360.0) {
        findings.invalid(&format!("{path}/angle"));
    }
}

/// A text shows something: its own words, or spans.
fn check_text(component: &Map<String, Value>, path: &str, findings: &mut Findings) {
    placed(component, TEXT, path, findings);
    let has_spans = component.get("contents").and_then(Value::as_array).is_some_and(|spans| !spans.is_empty());
    let has_text = component.get("text").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    if !has_spans && !has_text {
        findings.add("must be non-empty text", &format!("{path}/text"));
    }
    if component.contains_key("contents") {
        check_contents(component, path, Place::Text, findings);
    }
}

fn check_video(component: &Map<String, Value>, path: &str, findings: &mut Findings) {
    check_members(component, VIDEO, path, findings);
    required(component, "url", path, findings);
    required(component, "previewUrl", path, findings);
    match component.get("altContent") {
        Some(content) => check_component(content, &format!("{path}/altContent"), Place::AltContent, findings),
        None => findings.invalid(&format!("{path}/altContent")),
    }
}

//! LINE's rules for the content of a Flex Message (Messaging API reference, Flex Message; the
//! texts are the ones seen live, or in their manner). Written from the reference and LINE's
//! `OpenAPI` file, without a look at our own builder: the two are to check each other.

mod actions;
mod around;
mod components;
mod members;
mod uri;

use serde_json::{Map, Value};

use self::{
    components::{Place, check_component},
    members::{OneOf, Rule, check_members},
};
use super::{messages::Fault, switches::UnknownMembers};

/// A bubble's and a carousel's compact JSON in bytes. Whether LINE's KB are 1,000 or 1,024 is
/// unconfirmed; these are the smaller ones.
const BUBBLE_BYTES: usize = 30_000;
const CAROUSEL_BYTES: usize = 50_000;
const CAROUSEL_BUBBLES: usize = 12;
/// Of a message.
const ANIMATED_IMAGES: usize = 10;

const BLOCKS: [&str; 4] = ["header", "hero", "body", "footer"];

const BUBBLE: &[(&str, Rule)] = &[
    ("size", OneOf(&["nano", "micro", "deca", "hecto", "kilo", "mega", "giga"])),
    ("direction", OneOf(&["ltr", "rtl"])),
    ("header", Rule::Elsewhere),
    ("hero", Rule::Elsewhere),
    ("body", Rule::Elsewhere),
    ("footer", Rule::Elsewhere),
    ("styles", Rule::Elsewhere),
    ("action", Rule::Action),
];

const STYLES: &[(&str, Rule)] =
    &[("header", Rule::Elsewhere), ("hero", Rule::Elsewhere), ("body", Rule::Elsewhere), ("footer", Rule::Elsewhere)];

const BLOCK_STYLE: &[(&str, Rule)] =
    &[("backgroundColor", Rule::Colour), ("separator", Rule::Switch), ("separatorColor", Rule::Colour)];

/// Faults found so far, and how strict to be. Paths are relative to the container, as LINE's are.
struct Findings {
    faults: Vec<Fault>,
    unknown_members: UnknownMembers,
}

impl Findings {
    fn add(&mut self, message: &str, path: &str) {
        self.faults.push(Fault::new(message, if path.is_empty() { "/" } else { path }));
    }

    fn invalid(&mut self, path: &str) {
        self.add("invalid property", path);
    }
}

/// Every fault of what is around the content of a message.
pub(super) fn check_around(message: &Map<String, Value>, unknown_members: UnknownMembers) -> Vec<Fault> {
    let mut findings = Findings { faults: Vec::new(), unknown_members };
    around::check(message, &mut findings);
    findings.faults
}

/// Every fault of a container; none means that LINE would take it.
pub(super) fn check(contents: &Value, unknown_members: UnknownMembers) -> Vec<Fault> {
    let mut findings = Findings { faults: Vec::new(), unknown_members };
    match (contents.as_object(), contents.get("type").and_then(Value::as_str)) {
        (Some(bubble), Some("bubble")) => check_bubble(bubble, "", Parent::Message, &mut findings),
        (Some(carousel), Some("carousel")) => check_carousel(carousel, &mut findings),
        (Some(_), _) => findings.invalid("/type"),
        (None, _) => findings.invalid(""),
    }
    if animated(contents) > ANIMATED_IMAGES {
        findings.invalid("");
    }
    findings.faults
}

fn animated(value: &Value) -> usize {
    match value {
        Value::Array(values) => values.iter().map(animated).sum(),
        Value::Object(object) => {
            let is_animated = object.get("animated").and_then(Value::as_bool).unwrap_or(false);
            usize::from(is_animated) + object.values().map(animated).sum::<usize>()
        }
        _ => 0,
    }
}

/// Where a bubble stands: a video may not be in a carousel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Parent {
    Carousel,
    Message,
}

fn check_bubble(bubble: &Map<String, Value>, path: &str, parent: Parent, findings: &mut Findings) {
    check_members(bubble, BUBBLE, path, findings);
    if !BLOCKS.iter().any(|block| bubble.get(*block).is_some_and(|value| !value.is_null())) {
        findings.add("At least one block must be specified", path);
    }
    for block in BLOCKS {
        if let Some(value) = bubble.get(block) {
            let place = if block == "hero" { hero_place(bubble, parent) } else { Place::Block };
            check_component(value, &format!("{path}/{block}"), place, findings);
        }
    }
    if let Some(styles) = bubble.get("styles") {
        check_styles(styles, &format!("{path}/styles"), findings);
    }
    check_size(bubble, BUBBLE_BYTES, "30KB", path, findings);
}

fn hero_place(bubble: &Map<String, Value>, parent: Parent) -> Place {
    let size = bubble.get("size").and_then(Value::as_str).unwrap_or("mega");
    if parent == Parent::Message && ["kilo", "mega", "giga"].contains(&size) {
        Place::HeroWithVideo
    } else {
        Place::Hero
    }
}

fn check_styles(styles: &Value, path: &str, findings: &mut Findings) {
    let Some(styles) = styles.as_object() else { return findings.invalid(path) };
    check_members(styles, STYLES, path, findings);
    for block in BLOCKS {
        let path = format!("{path}/{block}");
        match styles.get(block) {
            None => {}
            Some(Value::Object(style)) => check_members(style, BLOCK_STYLE, &path, findings),
            Some(_) => findings.invalid(&path),
        }
    }
}

fn check_carousel(carousel: &Map<String, Value>, findings: &mut Findings) {
    check_members(carousel, &[("contents", Rule::Elsewhere)], "", findings);
    let Some(bubbles) = carousel.get("contents").and_then(Value::as_array) else {
        return findings.invalid("/contents");
    };
    if bubbles.is_empty() || bubbles.len() > CAROUSEL_BUBBLES {
        findings.add("Size must be between 1 and 12", "/contents");
    }
    for (number, bubble) in bubbles.iter().enumerate() {
        let path = format!("/contents/{number}");
        match bubble.as_object() {
            Some(found) if found.get("type").and_then(Value::as_str) == Some("bubble") => {
                check_bubble(found, &path, Parent::Carousel, findings);
            }
            _ => findings.invalid(&path),
        }
    }
    let size = |bubble: &Value| bubble.get("size").and_then(Value::as_str).unwrap_or("mega").to_owned();
    if let Some(odd) = bubbles.iter().position(|bubble| size(bubble) != size(&bubbles[0])) {
        findings.invalid(&format!("/contents/{odd}/size"));
    }
    check_size(carousel, CAROUSEL_BYTES, "50KB", "", findings);
}

fn check_size(container: &Map<String, Value>, most: usize, limit: &str, path: &str, findings: &mut Findings) {
    let bytes = serde_json::to_vec(container).map_or(0, |json| json.len());
    if bytes > most {
        findings.add(&format!("Too large flex message. The limit is {limit}"), path);
    }
}

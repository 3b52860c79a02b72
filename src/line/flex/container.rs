//! The message, its bubbles, and what is around them.

use serde_json::{Map, Value};

use super::{
    action,
    component::component,
    length::{Length, Unit},
    rule::{Member, Rule, may, must},
    walk::Walk,
};

/// LINE says 30 KB and 50 KB; whether of 1,000 or 1,024 it doesn't say, so the smaller one counts.
const BUBBLE_BYTES: usize = 30_000;
const CAROUSEL_BYTES: usize = 50_000;
const MOST_BUBBLES: usize = 12;
const MOST_ANIMATED: usize = 10;
const MOST_QUICK_REPLIES: usize = 13;
const DEFAULT_SIZE: &str = "mega";
const SIZES: &[&str] = &["nano", "micro", "deca", "hecto", "kilo", "mega", "giga"];
const BLOCKS: [&str; 4] = ["header", "hero", "body", "footer"];

const MESSAGE: &[Member] = &[
    must("type", Rule::Keyword(&["flex"]), "\"flex\""),
    must(
        "altText",
        Rule::Text(Length { most: 1_500, unit: Unit::Utf16 }),
        "the text of notifications and of the list of chats",
    ),
    must("contents", Rule::Nested(container), "a bubble or a carousel"),
    may("quickReply", Rule::Object("quick replies", QUICK_REPLY)),
    may("sender", Rule::Object("a sender", SENDER)),
];

const QUICK_REPLY: &[Member] = &[must("items", Rule::Nested(quick_replies), "a list of buttons")];
const SENDER: &[Member] = &[may("name", Rule::Nested(sender_name)), may("iconUrl", Rule::Https)];

const BUBBLE: &[Member] = &[
    must("type", Rule::Keyword(&["bubble"]), "\"bubble\""),
    may("action", Rule::Nested(action::of_component)),
    may("body", Rule::Nested(block)),
    may("direction", Rule::Keyword(&["ltr", "rtl"])),
    may("footer", Rule::Nested(block)),
    may("header", Rule::Nested(block)),
    may("hero", Rule::Any),
    may("size", Rule::Keyword(SIZES)),
    may("styles", Rule::Object("styles of blocks", STYLES)),
];

const BLOCK_STYLE: Rule = Rule::Object(
    "the style of a block",
    &[may("backgroundColor", Rule::Colour), may("separator", Rule::Bool), may("separatorColor", Rule::Colour)],
);
const STYLES: &[Member] =
    &[may("body", BLOCK_STYLE), may("footer", BLOCK_STYLE), may("header", BLOCK_STYLE), may("hero", BLOCK_STYLE)];

/// Checks a whole Flex message.
pub(super) fn message(walk: &mut Walk, value: &Value) {
    let Some(object) = walk.object(value, "a Flex message") else { return };
    walk.members(object, &[MESSAGE]);
    if animated(value) > MOST_ANIMATED {
        let limit = format!("has more than {MOST_ANIMATED} animated images: LINE refuses such a message");
        walk.fault_at("contents", limit);
    }
}

fn container(walk: &mut Walk, value: &Value) {
    let Some(object) = walk.object(value, "a bubble or a carousel") else { return };
    match object.get("type").and_then(Value::as_str) {
        Some("bubble") => bubble(walk, value, Alone::Yes),
        Some("carousel") => carousel(walk, object, value),
        _ => {
            walk.fault_at("type", "must be bubble or carousel");
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Alone {
    InCarousel,
    Yes,
}

fn bubble(walk: &mut Walk, value: &Value, alone: Alone) {
    let Some(object) = walk.object(value, "a bubble") else { return };
    walk.members(object, &[BUBBLE]);
    if !BLOCKS.iter().any(|block| object.contains_key(*block)) {
        walk.fault("has no block: give the bubble a header, hero, body or footer");
    }
    if let Some(hero) = object.get("hero").filter(|hero| !hero.is_null()) {
        walk.at("hero", |walk| check_hero(walk, hero, size(object), alone));
    }
    too_large(walk, value, "bubble", BUBBLE_BYTES);
}

fn check_hero(walk: &mut Walk, hero: &Value, size: &str, alone: Alone) {
    if hero.get("type").and_then(Value::as_str) == Some("video") {
        if alone == Alone::InCarousel {
            walk.fault("is a video, which a carousel can't hold: take an image");
        } else if !matches!(size, "kilo" | "mega" | "giga") {
            walk.fault("is a video, which only bubbles of size kilo, mega or giga show: take one, or an image");
        }
    }
    component(walk, hero, &["box", "image", "video"]);
}

fn size(bubble: &Map<String, Value>) -> &str {
    bubble.get("size").and_then(Value::as_str).unwrap_or(DEFAULT_SIZE)
}

fn carousel(walk: &mut Walk, object: &Map<String, Value>, value: &Value) {
    const CAROUSEL: &[Member] =
        &[must("type", Rule::Any, "\"carousel\""), must("contents", Rule::Nested(bubbles), "a list of bubbles")];
    walk.members(object, &[CAROUSEL]);
    too_large(walk, value, "carousel", CAROUSEL_BYTES);
}

fn bubbles(walk: &mut Walk, value: &Value) {
    let Some(list) = value.as_array() else { return walk.fault("must be a list of bubbles") };
    if list.is_empty() || list.len() > MOST_BUBBLES {
        walk.fault(format!("holds {} bubbles: a carousel has 1 to {MOST_BUBBLES}", list.len()));
    }
    let first = list.first().and_then(Value::as_object).map_or(DEFAULT_SIZE, size);
    walk.each(list, |walk, one| {
        bubble(walk, one, Alone::InCarousel);
        if one.as_object().is_some_and(|object| size(object) != first) {
            walk.fault_at(
                "size",
                format!("differs from the first bubble's ({first}): all of a carousel have one size"),
            );
        }
    });
}

fn too_large(walk: &mut Walk, value: &Value, what: &str, most: usize) {
    let bytes = value.to_string().len();
    if bytes > most {
        walk.fault(format!("is {bytes} bytes of JSON, a {what} has {most} at most: shorten or split it"));
    }
}

fn block(walk: &mut Walk, value: &Value) {
    component(walk, value, &["box"]);
}

fn quick_replies(walk: &mut Walk, value: &Value) {
    const BUTTON: Rule = Rule::Object(
        "a quick reply button",
        &[
            must("type", Rule::Keyword(&["action"]), "\"action\""),
            must("action", Rule::Nested(action::of_quick_reply), "what a tap does"),
            may("imageUrl", Rule::Https),
        ],
    );
    let Some(list) = value.as_array() else { return walk.fault("must be a list of buttons") };
    if list.is_empty() || list.len() > MOST_QUICK_REPLIES {
        walk.fault(format!("holds {} buttons: 1 to {MOST_QUICK_REPLIES} are allowed", list.len()));
    }
    walk.each(list, |walk, one| BUTTON.check(walk, one));
}

/// "Certain words such as `LINE` may not be used" (reference, "Customize icon and display name"; its Japanese page:
/// words that could be mistaken for LINE's own services). As the reference writes it, it counts inside of other words
/// too; in small letters only as a word of its own, so that `Online` is a name.
fn sender_name(walk: &mut Walk, value: &Value) {
    Rule::Text(Length { most: 20, unit: Unit::Utf16 }).check(walk, value);
    let name = value.as_str().unwrap_or_default();
    let mut words = name.split(|letter: char| !letter.is_alphanumeric());
    if name.contains("LINE") || words.any(|word| word.eq_ignore_ascii_case("line")) {
        walk.fault("has the word LINE, which LINE keeps for itself: give the sender another name");
    }
}

fn animated(value: &Value) -> usize {
    match value {
        Value::Array(values) => values.iter().map(animated).sum(),
        Value::Object(object) => {
            let own = object.get("animated").and_then(Value::as_bool) == Some(true);
            usize::from(own) + object.values().map(animated).sum::<usize>()
        }
        _ => 0,
    }
}

//! Fills the placeholders of a message.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    length::{Length, Unit},
    placeholder::{Part, Placeholder, parts},
};

/// A value longer than this is cut if the filled message is too large as a whole.
const CLIPPED: Length = Length { most: 100, unit: Unit::Utf16 };

/// The shortest name.
pub(super) const SHORTEST: &str = "a";

/// As long as `{{acquired.at}}` always is.
pub(super) const ACQUIRED_AT: &str = "2026/05/23 20:30";

/// Members that hold addresses: what is filled in there is percent-encoded.
const ADDRESSES: [&str; 6] = ["desktop", "iconUrl", "imageUrl", "previewUrl", "uri", "url"];

/// The values of the placeholders.
///
/// A notice of a stamp is filled from that stamp; the notice of a completed card from the stamp that completed
/// it (`byStampId`), so all of them are always there. An empty or blank text falls back to a plain word: an empty
/// text would make LINE refuse the message.
#[derive(Clone, Copy, Debug)]
pub struct Values<'v> {
    /// `{{event.name}}`.
    pub event_name: &'v str,
    /// `{{stamp.name}}`.
    pub stamp_name: &'v str,
    /// `{{stamp.order}}`, 1 to 999.
    pub stamp_order: u16,
    /// `{{acquired.at}}`: `2026/05/23 20:30`, in the event's zone.
    pub acquired_at: &'v str,
    /// `{{card.acquired}}`: acquired stamps.
    pub card_acquired: usize,
    /// `{{card.total}}`: stamps to collect.
    pub card_total: usize,
}

/// Returns a message as LINE might get it at the least: each placeholder has its shortest value.
///
/// An unknown placeholder counts as filled, too: it is a fault of its own.
pub(super) fn sample(message: &Value) -> Value {
    let shortest = Values {
        event_name: SHORTEST,
        stamp_name: SHORTEST,
        stamp_order: 1,
        acquired_at: ACQUIRED_AT,
        card_acquired: 1,
        card_total: 1,
    };
    let mut message = message.clone();
    fill(&mut message, "", &Words::of(&shortest), Fit::Whole);
    message
}

/// How much of a long value is filled in where a text stands.
#[derive(Clone, Copy)]
pub(super) enum Fit {
    Clipped,
    Whole,
}

/// The values as texts, none of them empty.
pub(super) struct Words<'v> {
    acquired_at: Cow<'v, str>,
    card_acquired: String,
    card_total: String,
    event_name: Cow<'v, str>,
    stamp_name: Cow<'v, str>,
    stamp_order: String,
}

impl<'v> Words<'v> {
    pub(super) fn of(values: &Values<'v>) -> Self {
        Self {
            acquired_at: one_line(values.acquired_at, "—"),
            card_acquired: values.card_acquired.to_string(),
            card_total: values.card_total.to_string(),
            event_name: one_line(values.event_name, "スタンプラリー"),
            stamp_name: one_line(values.stamp_name, "スタンプ"),
            stamp_order: values.stamp_order.to_string(),
        }
    }

    fn word(&self, placeholder: Placeholder) -> &str {
        match placeholder {
            Placeholder::AcquiredAt => &self.acquired_at,
            Placeholder::CardAcquired => &self.card_acquired,
            Placeholder::CardTotal => &self.card_total,
            Placeholder::EventName => &self.event_name,
            Placeholder::StampName => &self.stamp_name,
            Placeholder::StampOrder => &self.stamp_order,
        }
    }
}

/// Returns a name without control characters; `fallback` where nothing of it can be seen.
fn one_line<'v>(text: &'v str, fallback: &'static str) -> Cow<'v, str> {
    let text = text.trim();
    if text.chars().all(|c| c.is_control() || c.is_whitespace()) {
        return Cow::Borrowed(fallback);
    }
    if text.chars().any(char::is_control) {
        return Cow::Owned(text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect());
    }
    Cow::Borrowed(text)
}

/// Fills the texts of a value; `name` is the member that holds it.
pub(super) fn fill(value: &mut Value, name: &str, words: &Words<'_>, fit: Fit) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| fill(value, name, words, fit)),
        Value::Object(object) => object.iter_mut().for_each(|(name, value)| fill(value, name, words, fit)),
        Value::String(text) if text.contains("{{") => *text = filled(text, name, words, fit),
        _ => {}
    }
}

/// One pass from left to right: a name that looks like a placeholder stays what it is.
fn filled(text: &str, name: &str, words: &Words<'_>, fit: Fit) -> String {
    let is_address = ADDRESSES.contains(&name);
    let mut filled = String::with_capacity(text.len());
    for part in parts(text) {
        match (part, fit) {
            (Part::Plain(stretch), _) => filled.push_str(stretch),
            (Part::Unknown(_), _) => filled.push('a'),
            (Part::Known(placeholder), _) if is_address => filled.extend(percent_encoded(words.word(placeholder))),
            (Part::Known(placeholder), Fit::Whole) => filled.push_str(words.word(placeholder)),
            (Part::Known(placeholder), Fit::Clipped) => filled.push_str(&CLIPPED.cut(words.word(placeholder))),
        }
    }
    filled
}

/// Returns UTF-8, everything but RFC 3986's unreserved characters escaped.
fn percent_encoded(text: &str) -> impl Iterator<Item = char> + '_ {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    text.bytes().flat_map(|byte| {
        let plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let escaped = ['%', char::from(DIGITS[usize::from(byte >> 4)]), char::from(DIGITS[usize::from(byte & 15)])];
        let shown = if plain { vec![char::from(byte)] } else { escaped.to_vec() };
        shown.into_iter()
    })
}

//! `{{event.name}}` and its like inside texts.

use serde_json::Value;

use super::walk::Walk;

/// What a template can ask for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Placeholder {
    AcquiredAt,
    CardAcquired,
    CardTotal,
    EventName,
    StampName,
    StampOrder,
}

impl Placeholder {
    const ALL: [(&'static str, Self); 6] = [
        ("event.name", Self::EventName),
        ("stamp.name", Self::StampName),
        ("stamp.order", Self::StampOrder),
        ("acquired.at", Self::AcquiredAt),
        ("card.acquired", Self::CardAcquired),
        ("card.total", Self::CardTotal),
    ];

    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, placeholder)| *placeholder)
    }
}

/// A stretch of a text.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Part<'t> {
    /// As it is.
    Plain(&'t str),
    /// Filled.
    Known(Placeholder),
    /// `{{…}}` that has no value; the whole stretch.
    Unknown(&'t str),
}

/// Takes a text apart, from left to right. `{{` without `}}` is plain text.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let Some(length) = rest[start + 2..].find("}}") else { break };
        let end = start + 2 + length;
        if start > 0 {
            parts.push(Part::Plain(&rest[..start]));
        }
        parts.push(match Placeholder::named(&rest[start + 2..end]) {
            Some(placeholder) => Part::Known(placeholder),
            None => Part::Unknown(&rest[start..end + 2]),
        });
        rest = &rest[end + 2..];
    }
    if !rest.is_empty() {
        parts.push(Part::Plain(rest));
    }
    parts
}

/// Returns whether a text of the message has a placeholder.
pub(super) fn mentions_any(value: &Value) -> bool {
    match value {
        Value::Array(values) => values.iter().any(mentions_any),
        Value::Object(object) => object.values().any(mentions_any),
        Value::String(text) => parts(text).iter().any(|part| !matches!(part, Part::Plain(_))),
        _ => false,
    }
}

/// Adds a fault for every placeholder that has no value.
pub(super) fn unknown(walk: &mut Walk, value: &Value) {
    match value {
        Value::Array(values) => walk.each(values, unknown),
        Value::Object(object) => {
            for (name, value) in object {
                walk.at(name, |walk| unknown(walk, value));
            }
        }
        Value::String(text) => {
            for part in parts(text) {
                if let Part::Unknown(stretch) = part {
                    walk.fault(refusal(stretch));
                }
            }
        }
        _ => {}
    }
}

fn refusal(stretch: &str) -> String {
    let known: Vec<String> = Placeholder::ALL.iter().map(|(name, _)| format!("{{{{{name}}}}}")).collect();
    let shown: String = stretch.chars().take(40).collect();
    format!("has the unknown placeholder {shown}: the known ones are {}", known.join(", "))
}

//! What a member of an object may be.

use serde_json::{Map, Value};

pub(super) use Rule::OneOf;

use super::{
    Findings, UnknownMembers,
    actions::{Place, check_action},
    uri::is_uri,
};

/// The rule of one member.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule {
    /// An action object; the label is optional here.
    Action,
    /// `#RRGGBB` or `#RRGGBBAA`.
    Colour,
    /// Checked by the code that knows the object.
    Elsewhere,
    /// Pixels (`10px`) or one of these words.
    Length(&'static [&'static str]),
    /// Non-empty.
    Letters,
    /// Pixels, percent or one of these words; negative ones, too.
    Offset(&'static [&'static str]),
    /// One of these words, exactly.
    OneOf(&'static [&'static str]),
    /// `0%` to `100%`.
    Percent,
    /// More than `0px`.
    Pixels,
    /// Pixels, percent (`50%`) or one of these words.
    Relative(&'static [&'static str]),
    /// `width:height`, each 1 to 100000, height at most three times width.
    Ratio,
    /// An HTTPS URL of at most 2,000 characters.
    SecureUrl,
    /// true or false.
    Switch,
    /// Any string.
    Text,
    /// An action that opens an address.
    UriAction,
    /// 0, 1, 2, … as a 32-bit integer; `1.0` is one.
    Whole,
}

/// Checks all members of an object; `type` is the caller's.
pub(super) fn check_members(object: &Map<String, Value>, rules: &[(&str, Rule)], path: &str, findings: &mut Findings) {
    for (name, value) in object.iter().filter(|(name, _)| *name != "type") {
        let path = format!("{path}/{name}");
        let rule = rules.iter().find(|(known, _)| known == name).map(|(_, rule)| *rule);
        match (rule, findings.unknown_members) {
            (_, UnknownMembers::Ignore) if value.is_null() => {}
            (None, UnknownMembers::Ignore) => {}
            (None, UnknownMembers::Reject) => findings.invalid(&path),
            (Some(rule), _) => check_member(value, rule, &path, findings),
        }
    }
}

fn check_member(value: &Value, rule: Rule, path: &str, findings: &mut Findings) {
    let text = value.as_str();
    let fits = match rule {
        Rule::Action => return check_action(value, path, Place::Component, findings),
        Rule::Colour => text.is_some_and(is_colour),
        Rule::Elsewhere => !value.is_null(),
        Rule::Length(words) => text.is_some_and(|text| words.contains(&text) || amount(text, "px").is_some()),
        Rule::Letters => text.is_some_and(|text| !text.is_empty()),
        Rule::Offset(words) => {
            text.is_some_and(|text| words.contains(&text) || is_relative(text.strip_prefix('-').unwrap_or(text)))
        }
        OneOf(words) => text.is_some_and(|text| words.contains(&text)),
        Rule::Percent => text.and_then(|text| amount(text, "%")).is_some_and(|part| part <= 100.0),
        Rule::Pixels => text.and_then(|text| amount(text, "px")).is_some_and(|pixels| pixels > 0.0),
        Rule::Relative(words) => text.is_some_and(|text| words.contains(&text) || is_relative(text)),
        Rule::Ratio => text.is_some_and(is_ratio),
        Rule::SecureUrl => return check_url(text, &["https"], 2000, path, findings),
        Rule::Switch => value.is_boolean(),
        Rule::Text => value.is_string(),
        Rule::UriAction => return check_action(value, path, Place::Video, findings),
        Rule::Whole => is_whole(value),
    };
    if !fits {
        findings.invalid(path);
    }
}

/// A URL with one of these schemes, percent-encoded, not too long.
pub(super) fn check_url(text: Option<&str>, schemes: &[&str], most: usize, path: &str, findings: &mut Findings) {
    let Some(text) = text else { return findings.invalid(path) };
    let scheme = text.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    if !scheme.is_some_and(|scheme| schemes.contains(&scheme.as_str())) {
        findings.add("invalid uri scheme", path);
    } else if !is_uri(text) {
        findings.add("invalid uri", path);
    } else if text.len() > most {
        findings.add(&format!("Length must be between 0 and {most}"), path);
    }
}

fn is_colour(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|hex| matches!(hex.len(), 6 | 8) && hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn is_relative(text: &str) -> bool {
    amount(text, "px").is_some() || amount(text, "%").is_some()
}

/// `10px`, `0.5px`: digits, with a point between two of them at the most.
pub(super) fn amount(text: &str, unit: &str) -> Option<f64> {
    let number = text.strip_suffix(unit)?;
    let mut parts = number.split('.');
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    (parts.clone().count() <= 2 && parts.all(is_digits)).then(|| number.parse().ok()).flatten()
}

/// Sides may have a point: the reference's own example is `1.91:1`.
fn is_ratio(text: &str) -> bool {
    let side = |text: &str| amount(text, "").filter(|side| (1.0..=100_000.0).contains(side));
    text.split_once(':')
        .and_then(|(width, height)| Some((side(width)?, side(height)?)))
        .is_some_and(|(width, height)| height <= 3.0 * width)
}

fn is_whole(value: &Value) -> bool {
    let number = value.as_f64().filter(|number| number.is_sign_positive());
    number.is_some_and(|number| number.fract() == 0.0 && number <= f64::from(i32::MAX))
}

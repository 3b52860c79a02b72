//! What a member of an object may be.

use serde_json::{Map, Value};

pub(super) use Rule::OneOf;

use super::{Findings, UnknownMembers, actions::check_action};

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
    /// One of these words, exactly.
    OneOf(&'static [&'static str]),
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
    /// 0, 1, 2, …
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
        Rule::Action => return check_action(value, path, findings),
        Rule::Colour => text.is_some_and(is_colour),
        Rule::Elsewhere => !value.is_null(),
        Rule::Length(words) => text.is_some_and(|text| words.contains(&text) || is_amount(text, "px")),
        OneOf(words) => text.is_some_and(|text| words.contains(&text)),
        Rule::Relative(words) => {
            text.is_some_and(|text| words.contains(&text) || is_amount(text, "px") || is_amount(text, "%"))
        }
        Rule::Ratio => text.is_some_and(is_ratio),
        Rule::SecureUrl => return check_url(text, &["https"], 2000, path, findings),
        Rule::Switch => value.is_boolean(),
        Rule::Text => value.is_string(),
        Rule::Whole => value.as_u64().is_some(),
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
    } else if text.chars().any(|c| !c.is_ascii_graphic()) || has_no_host(text) {
        findings.add("invalid uri", path);
    } else if text.len() > most {
        findings.add(&format!("Length must be between 0 and {most}"), path);
    }
}

fn has_no_host(url: &str) -> bool {
    let rest = url.strip_prefix("https:").or_else(|| url.strip_prefix("http:"));
    rest.is_some_and(|rest| rest.strip_prefix("//").is_none_or(|host| host.is_empty() || host.starts_with('/')))
}

fn is_colour(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|hex| matches!(hex.len(), 6 | 8) && hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// `10px`, `0.5px`, `-3px`.
fn is_amount(text: &str, unit: &str) -> bool {
    text.strip_suffix(unit).is_some_and(|number| {
        let digits = number.strip_prefix('-').unwrap_or(number);
        !digits.is_empty()
            && digits.starts_with(|c: char| c.is_ascii_digit())
            && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
            && digits.parse::<f64>().is_ok()
    })
}

fn is_ratio(text: &str) -> bool {
    let side = |text: &str| text.parse::<u32>().ok().filter(|side| (1..=100_000).contains(side));
    text.split_once(':')
        .and_then(|(width, height)| Some((side(width)?, side(height)?)))
        .is_some_and(|(width, height)| height <= 3 * width)
}

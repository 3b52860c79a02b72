//! The grammar that all settings share: numbers within bounds, times, texts, web addresses.
//!
//! The rooms' own types deserialise with these functions, so that a value is read once and in one way.

use std::{fmt::Display, time::Duration};

use serde::{Deserialize, Deserializer, de::Error};
use toml::Value;
use url::Url;

/// Reads a whole number between `MIN` and `MAX`, both inclusive.
fn within<'de, const MIN: u64, const MAX: u64, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let wrong = |shown: String| D::Error::custom(format!("must be a whole number from {MIN} to {MAX}, not {shown}"));
    match Value::deserialize(from)? {
        Value::Integer(number) => u64::try_from(number)
            .ok()
            .filter(|number| (MIN..=MAX).contains(number))
            .ok_or_else(|| wrong(number.to_string())),
        other => Err(wrong(format!("a {}", other.type_str()))),
    }
}

/// Reads a whole number between `MIN` and `MAX`, both inclusive, of any type that holds them.
pub fn count<'de, const MIN: u64, const MAX: u64, N, D>(from: D) -> Result<N, D::Error>
where
    N: TryFrom<u64, Error: Display>,
    D: Deserializer<'de>,
{
    N::try_from(within::<MIN, MAX, D>(from)?).map_err(D::Error::custom)
}

/// Reads a time in milliseconds between `MIN` and `MAX`, both inclusive.
pub fn millis<'de, const MIN: u64, const MAX: u64, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    within::<MIN, MAX, D>(from).map(Duration::from_millis)
}

/// Reads a time in seconds between `MIN` and `MAX`, both inclusive.
pub fn seconds<'de, const MIN: u64, const MAX: u64, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    within::<MIN, MAX, D>(from).map(Duration::from_secs)
}

/// Reads text that isn't empty; the space around it is dropped. Anything else is refused without being shown.
pub fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    filled(Value::deserialize(from)?).map_err(D::Error::custom)
}

fn filled(value: Value) -> Result<String, &'static str> {
    match value {
        Value::String(text) if text.trim().is_empty() => Err("is empty: give it a value or leave the key out"),
        Value::String(text) => Ok(text.trim().to_owned()),
        _ => Err("must be text in quotation marks"),
    }
}

/// Reads a list of texts; one text alone (as a variable gives it) is a list of one.
pub fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    match Value::deserialize(from)? {
        Value::Array(values) => values.into_iter().map(filled).collect::<Result<_, _>>().map_err(D::Error::custom),
        single @ Value::String(_) => filled(single).map(|text| vec![text]).map_err(D::Error::custom),
        _ => Err(D::Error::custom("must be a list of texts")),
    }
}

/// Reads a list like [`texts`], and parses each of them.
pub fn parsed<'de, T, D>(from: D) -> Result<Vec<T>, D::Error>
where
    T: TryFrom<String, Error: Display>,
    D: Deserializer<'de>,
{
    texts(from)?.into_iter().map(T::try_from).collect::<Result<_, _>>().map_err(D::Error::custom)
}

/// Reads an http or https URL with a host and without user, query and fragment.
pub fn web_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("`{text}` is no URL: {error}"))?;
    let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() || !plain || url.fragment().is_some() {
        // A password in it must not reach the log.
        return Err("must be an http or https URL without user, query and fragment".to_owned());
    }
    Ok(url)
}

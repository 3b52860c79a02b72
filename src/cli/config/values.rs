//! Single values, parsed: durations, origins, addresses, secrets.

use std::{fmt, time::Duration};

use secrecy::SecretString;
use serde::{Deserialize, Deserializer, de::Error};
use toml::Value;
use url::Url;

/// A whole number between `MIN` and `MAX`, both inclusive.
pub(super) fn within<'de, const MIN: u64, const MAX: u64, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let wrong = |shown: String| D::Error::custom(format!("must be a whole number from {MIN} to {MAX}, not {shown}"));
    match Value::deserialize(from)? {
        Value::Integer(number) => u64::try_from(number)
            .ok()
            .filter(|number| (MIN..=MAX).contains(number))
            .ok_or_else(|| wrong(number.to_string())),
        other => Err(wrong(format!("a {}", other.type_str()))),
    }
}

/// Like [`within`], for what is counted.
pub(super) fn count<'de, const MIN: u64, const MAX: u64, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    u32::try_from(within::<MIN, MAX, D>(from)?).map_err(D::Error::custom)
}

/// Like [`within`], in milliseconds.
pub(super) fn millis<'de, const MIN: u64, const MAX: u64, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    within::<MIN, MAX, D>(from).map(Duration::from_millis)
}

/// Like [`within`], in seconds.
pub(super) fn seconds<'de, const MIN: u64, const MAX: u64, D: Deserializer<'de>>(
    from: D,
) -> Result<Duration, D::Error> {
    within::<MIN, MAX, D>(from).map(Duration::from_secs)
}

/// Text that isn't empty. Whatever else is given is refused without being shown.
pub(super) fn text(value: Value) -> Result<String, &'static str> {
    match value {
        Value::String(text) if text.trim().is_empty() => Err("is empty: give it a value or leave the key out"),
        Value::String(text) => Ok(text.trim().to_owned()),
        _ => Err("must be text in quotation marks"),
    }
}

/// Optional non-empty text.
pub(super) fn optional_text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    text(Value::deserialize(from)?).map(Some).map_err(D::Error::custom)
}

/// An optional secret; its value is never shown.
pub(super) fn optional_secret<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SecretString>, D::Error> {
    Ok(optional_text(from)?.map(SecretString::from))
}

/// An optional secret that goes into a header: visible ASCII without spaces (RFC 6750, section 2.1, allows even less).
pub(super) fn optional_bearer<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SecretString>, D::Error> {
    let text = optional_text(from)?;
    if text.as_ref().is_some_and(|text| !text.bytes().all(|byte| byte.is_ascii_graphic())) {
        return Err(D::Error::custom(
            "has spaces or other characters that no token has: copy it anew, whole and alone",
        ));
    }
    Ok(text.map(SecretString::from))
}

/// A list of texts; one text alone (as a variable gives it) is a list of one.
pub(super) fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    match Value::deserialize(from)? {
        Value::Array(values) => values.into_iter().map(text).collect::<Result<_, _>>().map_err(D::Error::custom),
        single @ Value::String(_) => text(single).map(|text| vec![text]).map_err(D::Error::custom),
        _ => Err(D::Error::custom("must be a list of texts")),
    }
}

/// A list of secrets, like [`texts`].
pub(super) fn secrets<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<SecretString>, D::Error> {
    Ok(texts(from)?.into_iter().map(SecretString::from).collect())
}

/// A list whose elements are parsed from text, like [`texts`].
pub(super) fn parsed<'de, T, D>(from: D) -> Result<Vec<T>, D::Error>
where
    T: TryFrom<String, Error = String>,
    D: Deserializer<'de>,
{
    texts(from)?.into_iter().map(T::try_from).collect::<Result<_, _>>().map_err(D::Error::custom)
}

/// The origin of a page, as browsers write it (RFC 6454): scheme, host, and a port unless it is the usual one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Origin(String);

impl Origin {
    /// For example `https://rally.example.jp`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Origin {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wanted = "write scheme://host or scheme://host:port";
        if text.contains('*') {
            return Err(format!("`{text}` is a pattern: name each origin, {wanted}"));
        }
        let url = web_url(&text).map_err(|_| format!("`{text}` is no origin: {wanted}"))?;
        let origin = url.origin().ascii_serialization();
        if origin == text {
            return Ok(Self(text));
        }
        Err(format!("`{text}` is no origin as browsers send it: write `{origin}`"))
    }
}

/// An http or https URL with a host and without user, query and fragment.
pub(super) fn web_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("`{text}` is no URL: {error}"))?;
    let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() || !plain || url.fragment().is_some() {
        // A password in it must not reach the log.
        return Err("must be an http or https URL without user, query and fragment".to_owned());
    }
    Ok(url)
}

/// Whether a URL stays on this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

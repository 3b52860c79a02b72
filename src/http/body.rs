//! Bodies: read up to a limit, then as JSON into an input type.

use std::{
    borrow::Cow,
    future::{Future, Ready, ready},
    pin::Pin,
    time::Duration,
};

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    error::PayloadError,
    http::header::{self, HeaderMap},
    web::{Bytes, BytesMut},
};
use futures_util::{Stream, StreamExt as _};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};

use crate::domain::{encoding, time::Timestamp};

use super::problem::ApiError;

/// How long a body may take to arrive.
const TIMEOUT: Duration = Duration::from_secs(15);

/// How many characters of a place in a body an error names.
const MOST_OF_A_PATH: usize = 100;

/// What a body may be.
pub(super) trait Input: DeserializeOwned + 'static {
    /// At most so many bytes.
    const LIMIT: usize;

    /// Returns what no body at all means; `None` where there must be one.
    fn absent() -> Option<Self> {
        None
    }
}

/// A body of JSON. Refuses another content type (415), too much (413), and what isn't a `T` (400, naming the place).
/// Where there is no body, it doesn't matter what its declared type is: `curl -d ''` and some libraries say a form.
pub(super) struct Body<T>(pub T);

impl<T: Input> FromRequest for Body<T> {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(req: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let declared_type = MediaType::of(req.headers());
        let declared = declared_length(req.headers());
        let is_certainly_empty = declared.unwrap_or(0) == 0 && !req.headers().contains_key(header::TRANSFER_ENCODING);
        let payload = payload.take();
        Box::pin(async move {
            if declared_type == MediaType::Other && !is_certainly_empty {
                return Err(ApiError::UnsupportedMediaType);
            }
            let body = read(payload, declared, T::LIMIT).await?;
            match (body.is_empty(), declared_type) {
                (true, _) => T::absent().map_or_else(|| parse(&body), Ok).map(Self),
                (false, MediaType::Json) => parse(&body).map(Self),
                (false, _) => Err(ApiError::UnsupportedMediaType),
            }
        })
    }
}

/// No body: one that comes all the same isn't looked at, and is dropped before anything is awaited. An argument of every
/// handler of a POST or PUT that reads none (the bodies of other methods are dropped before they are routed). A chunked
/// one that stays unread while a handler waits leaves actix-http (3.20) with a connection that nothing wakes any more,
/// not even its end: it would be open, and its file descriptor taken, for ever.
#[derive(Debug)]
pub(super) struct NoBody;

impl FromRequest for NoBody {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(_: &HttpRequest, payload: &mut Payload) -> Self::Future {
        drop(payload.take());
        ready(Ok(Self))
    }
}

/// What a request declares its body to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MediaType {
    Json,
    Missing,
    Other,
}

impl MediaType {
    fn of(headers: &HeaderMap) -> Self {
        let is_plain = headers.get(header::CONTENT_ENCODING).is_none_or(|coding| coding == "identity");
        let mut types = headers.get_all(header::CONTENT_TYPE);
        match (types.next(), types.next()) {
            _ if !is_plain => Self::Other,
            (None, _) => Self::Missing,
            (Some(value), None) if value.to_str().is_ok_and(is_json) => Self::Json,
            (Some(_), _) => Self::Other,
        }
    }
}

/// Returns whether a type is `application/json`, with no other charset than UTF-8 (RFC 8259 knows none).
fn is_json(content_type: &str) -> bool {
    let mut parts = content_type.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    is_json
        && parts.all(|parameter| {
            let charset = parameter.to_ascii_lowercase();
            charset.strip_prefix("charset=").is_none_or(|charset| charset.trim_matches('"') == "utf-8")
        })
}

/// Returns the body's length by `Content-Length`.
pub(super) fn declared_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads a whole body of at most `limit` bytes.
pub(super) async fn read(
    payload: impl Stream<Item = Result<Bytes, PayloadError>> + Unpin,
    declared: Option<usize>,
    limit: usize,
) -> Result<Bytes, ApiError> {
    if declared.is_some_and(|length| length > limit) {
        return Err(ApiError::PayloadTooLarge { limit });
    }
    let reading = tokio::time::timeout(TIMEOUT, collect(payload, limit)).await;
    reading.unwrap_or_else(|_| Err(ApiError::InvalidRequest("the body took too long to arrive".to_owned())))
}

async fn collect(
    mut payload: impl Stream<Item = Result<Bytes, PayloadError>> + Unpin,
    limit: usize,
) -> Result<Bytes, ApiError> {
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| ApiError::InvalidRequest("the body broke off".to_owned()))?;
        if body.len() + chunk.len() > limit {
            return Err(ApiError::PayloadTooLarge { limit });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// Reads a body of UTF-8; another encoding is named, whatever it made of the JSON.
fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    let named = |other| ApiError::InvalidRequest(format!("the body {other}: send JSON as UTF-8"));
    parse_text(encoding::utf_8(body).map_err(named)?)
}

/// Reads an input, which is an object; serde would fill one from an array, too.
fn parse_text<T: DeserializeOwned>(body: &str) -> Result<T, ApiError> {
    if !body.trim_ascii_start().starts_with('{') {
        return Err(ApiError::InvalidRequest("the body must be a JSON object".to_owned()));
    }
    let mut json = serde_json::Deserializer::from_str(body);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        // Where the text isn't JSON the last step may be a name that was never read.
        let path = path.trim_end_matches(['.', '?']);
        let rule = error.into_inner().to_string();
        ApiError::InvalidRequest(if rule.starts_with(path) { rule } else { format!("{}: {rule}", shortened(path)) })
    })?;
    json.end().map_err(|error| ApiError::InvalidRequest(error.to_string()))?;
    Ok(value)
}

/// Returns a place as deep as a reader needs it; the body may hold one as long as itself.
fn shortened(path: &str) -> Cow<'_, str> {
    match path.char_indices().nth(MOST_OF_A_PATH) {
        None => Cow::Borrowed(path),
        Some((end, _)) => Cow::Owned(format!("{}…", &path[..end])),
    }
}

/// Reads a member that is there: `null` is a value like any other, and must fit the member's type.
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(json: D) -> Result<Option<T>, D::Error> {
    T::deserialize(json).map(Some)
}

/// An instant with any offset.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instant(pub Timestamp);

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        let text = String::deserialize(json)?;
        let at = Timestamp::parse_instant("instant", &text);
        at.map(Self).map_err(|error| serde::de::Error::custom(error.rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Small {
        name: String,
    }

    impl Input for Small {
        const LIMIT: usize = 64;
    }

    async fn body(content_type: &str, text: &str) -> Result<Small, String> {
        let req = TestRequest::post().insert_header(("content-type", content_type)).set_payload(text.to_owned());
        let (req, mut payload) = req.to_http_parts();
        Body::<Small>::from_request(&req, &mut payload).await.map(|body| body.0).map_err(|error| error.to_string())
    }

    #[actix_web::test]
    async fn a_body_is_json_in_utf8_of_a_declared_type() {
        let good = Ok(Small { name: "花子".to_owned() });
        for said in ["application/json", "Application/JSON; charset=\"utf-8\"", "application/json;charset=UTF-8"] {
            assert_eq!(body(said, r#"{"name":"花子"}"#).await, good, "{said}");
        }
        for said in ["text/plain", "application/jsonp", "application/json; charset=shift_jis", ""] {
            assert!(body(said, r#"{"name":"花子"}"#).await.unwrap_err().contains("Content-Type"), "{said}");
        }
    }

    #[actix_web::test]
    async fn no_body_is_none_whatever_its_declared_type() {
        for (said, rule) in [("application/x-www-form-urlencoded", "JSON object"), ("text/plain", "JSON object")] {
            let refused = body(said, "").await.unwrap_err();
            assert!(refused.contains(rule), "{said}: {refused}");
        }
    }

    #[derive(Debug, Deserialize)]
    struct Large {
        #[serde(rename = "message")]
        _message: serde_json::Value,
    }

    #[test]
    fn a_broken_body_is_refused_with_its_place_in_one_readable_line() {
        let refused = |text: &str| parse::<Large>(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(refused("{"), "EOF while parsing an object at line 1 column 1");
        assert_eq!(refused(r#"{"message":{"#), "message: EOF while parsing an object at line 1 column 12");
        assert_eq!(refused(r#"{"message":[{"a":{"#), "message[0].a: EOF while parsing an object at line 1 column 18");
        let deep = refused(&format!(r#"{{"message":{}"#, r#"{"花":"#.repeat(90)));
        let (path, _) = deep.split_once("…: EOF while parsing").unwrap();
        assert!(path.starts_with("message.花.花") && path.chars().count() == 100, "{deep}");
    }

    #[actix_web::test]
    async fn a_refusal_names_the_member_and_the_rule() {
        for (text, rule) in [
            (r#"{"name":1}"#, "name: invalid type: integer `1`, expected a string"),
            (r#"{"nam":"a"}"#, "unknown field `nam`"),
            (r#"{"name":"a","name":"b"}"#, "duplicate field `name`"),
            (r#"{"name":"a"} x"#, "trailing characters"),
            (r#"{"name":"\ud800"}"#, "hex escape"),
            ("", "JSON object"),
            ("[]", "JSON object"),
            ("{", "EOF"),
            (&format!(r#"{{"name":"{}"}}"#, "a".repeat(60)), "64 bytes"),
        ] {
            let refused = body("application/json", text).await.unwrap_err();
            assert!(refused.contains(rule), "{text}: {refused}");
        }
    }
}

//! Pages of other origins that may call us (CORS, WHATWG Fetch).

use actix_cors::Cors;
use actix_web::http::header;

use crate::domain::config_value::web_url;

/// Pages of exactly these origins may call us and read every answer, failures too.
pub(super) fn cors(origins: &[Origin]) -> Cors {
    let cors = Cors::default()
        .allowed_methods(["GET", "POST", "PUT"])
        .allowed_headers([header::AUTHORIZATION, header::CONTENT_TYPE, header::IF_MATCH, header::IF_NONE_MATCH])
        .allowed_header("idempotency-key")
        .expose_headers(["etag", "retry-after", "x-request-id"])
        .max_age(600);
    origins.iter().fold(cors, |cors, origin| cors.allowed_origin(origin.as_str()))
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

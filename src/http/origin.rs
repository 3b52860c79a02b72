//! Origins of pages that may call us (CORS), exactly.

use std::{fmt, str::FromStr};

use actix_cors::Cors;
use actix_web::http::{Uri, header};
use serde::Deserialize;

use crate::domain::Malformed;

/// A web origin (RFC 6454): scheme and host, a port where it isn't the scheme's own. `https://rally.example`.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Origin(String);

impl Origin {
    /// The origin as a browser's `Origin` header has it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Origin {
    type Err = Malformed;

    /// Takes the one form that a browser sends, and no other: anything else would never match.
    fn from_str(text: &str) -> Result<Self, Malformed> {
        let rule = "must be like https://rally.example, in small letters, without a path or the scheme's own port";
        if is_origin(text) { Ok(Self(text.to_owned())) } else { Err(Malformed::new("origin", rule)) }
    }
}

fn is_origin(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let own_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return false,
    };
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    let has_host = rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[');
    has_host && rest.chars().all(plain) && !rest.ends_with(own_port) && text.parse::<Uri>().is_ok()
}

impl TryFrom<String> for Origin {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        text.parse()
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Pages of these origins may call us and read every answer, failures too.
pub(super) fn cors(origins: &[Origin]) -> Cors {
    let cors = Cors::default()
        .allowed_methods(["GET", "POST", "PUT"])
        .allowed_headers([header::AUTHORIZATION, header::CONTENT_TYPE, header::IF_MATCH, header::IF_NONE_MATCH])
        .allowed_header("idempotency-key")
        .expose_headers(["etag", "retry-after", "x-request-id"])
        .max_age(600);
    origins.iter().fold(cors, |cors, origin| cors.allowed_origin(origin.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_what_a_browser_sends() {
        for good in ["https://rally.example", "http://localhost:8080", "http://127.0.0.1:3000", "https://[::1]:8443"] {
            assert!(good.parse::<Origin>().is_ok(), "{good}");
        }
        for bad in [
            "*",
            "null",
            "",
            "rally.example",
            "https://",
            "https://Rally.example",
            "https://rally.example/",
            "https://rally.example:443",
            "http://rally.example:80",
            "https://user@rally.example",
            "https://*.example",
            "ftp://rally.example",
        ] {
            assert!(bad.parse::<Origin>().is_err(), "{bad}");
        }
    }
}

//! Pages of our own: static HTML, an ES module and a style sheet each, embedded in the program. What a page shows it asks
//! the API for.
//!
//! | file | holds |
//! | --- | --- |
//! | `pages/assets.rs` | modules and style sheets, by the digest of what is in them |
//! | `pages/spot.rs` | the page of a screen at a spot, and the codes that it shows |

pub(super) mod assets;
pub(super) mod spot;

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{self, HeaderName},
};

/// What a page may load and do (CSP level 3): nothing from elsewhere, and no markup that a script makes of a text.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types 'none'";

/// What every page has.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CACHE_CONTROL, "no-cache"),
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::REFERRER_POLICY, "strict-origin-when-cross-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (header::PERMISSIONS_POLICY, "camera=(self), geolocation=(self)"),
];

/// For a year, on https (RFC 6797).
const SECURE_ALONE: (HeaderName, &str) = (header::STRICT_TRANSPORT_SECURITY, "max-age=31536000");

/// Answers with a page.
fn page(req: &HttpRequest, html: &'static str) -> HttpResponse {
    let mut answer = HttpResponse::Ok();
    answer.content_type("text/html; charset=utf-8");
    for header in HEADERS {
        answer.insert_header(header);
    }
    if req.connection_info().scheme() == "https" {
        answer.insert_header(SECURE_ALONE);
    }
    answer.body(html)
}

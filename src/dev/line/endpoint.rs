//! A request to the stand-in, and which of LINE's endpoints it means.

use actix_web::{
    http::{Method, header::HeaderMap},
    web::Bytes,
};

/// The endpoints the product calls; everything else is [`Endpoint::Unknown`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) enum Endpoint {
    Certs,
    Consumption,
    Info,
    Profile,
    Push,
    Quota,
    Reply,
    Token,
    Unknown,
    Validate,
    Verify,
}

const PROFILE: &str = "/v2/bot/profile/";

/// Name in the control API, method, path.
const TABLE: [(Endpoint, &str, &str, &str); 10] = [
    (Endpoint::Push, "push", "POST", "/v2/bot/message/push"),
    (Endpoint::Certs, "certs", "GET", "/oauth2/v2.1/certs"),
    (Endpoint::Verify, "verify", "POST", "/oauth2/v2.1/verify"),
    (Endpoint::Token, "token", "POST", "/oauth2/v3/token"),
    (Endpoint::Reply, "reply", "POST", "/v2/bot/message/reply"),
    (Endpoint::Validate, "validate", "POST", "/v2/bot/message/validate/push"),
    (Endpoint::Quota, "quota", "GET", "/v2/bot/message/quota"),
    (Endpoint::Consumption, "consumption", "GET", "/v2/bot/message/quota/consumption"),
    (Endpoint::Profile, "profile", "GET", PROFILE),
    (Endpoint::Info, "info", "GET", "/v2/bot/info"),
];

impl Endpoint {
    /// The endpoint of a path, and whether the method is the right one for it.
    pub(super) fn find(method: &Method, path: &str) -> (Self, bool) {
        let is_meant = |known: &str| path == known || (known == PROFILE && path.starts_with(PROFILE));
        TABLE
            .iter()
            .find(|(_, _, _, known)| is_meant(known))
            .map_or((Self::Unknown, true), |(endpoint, _, known, _)| (*endpoint, method.as_str() == *known))
    }

    /// Its name in the control API (`push`).
    pub(super) fn name(self) -> &'static str {
        TABLE.iter().find(|(endpoint, ..)| *endpoint == self).map_or("unknown", |(_, name, ..)| *name)
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "unknown" => Some(Self::Unknown),
            _ => TABLE.iter().find(|(_, known, ..)| *known == name).map(|(endpoint, ..)| *endpoint),
        }
    }

    /// Every name, for error texts.
    pub(super) fn names() -> String {
        TABLE.map(|(_, name, ..)| name).join(", ")
    }
}

/// The user id at the end of a profile path.
pub(super) fn profile_user(path: &str) -> &str {
    path.strip_prefix(PROFILE).unwrap_or_default()
}

/// One request, read whole.
pub(super) struct Call {
    pub(super) endpoint: Endpoint,
    /// Whether the endpoint has this method.
    pub(super) has_right_method: bool,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) query: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) request_id: String,
}

impl Call {
    /// Returns the content type; empty without one.
    pub(super) fn content_type(&self) -> &str {
        self.header("content-type")
    }

    /// Returns a header that is text; empty without one.
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

//! One request to the stand-in.

use actix_web::{
    http::{Method, header::HeaderMap},
    web::Bytes,
};

use super::endpoint::Endpoint;

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

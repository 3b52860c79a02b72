//! The id of a request: the id that a fact is written under.

use std::future::{Ready, ready};

use actix_web::{FromRequest, HttpMessage, HttpRequest, dev::Payload, http::header::HeaderMap};

use crate::domain::ids::RequestId;

use super::problem::ApiError;

impl FromRequest for RequestId {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    /// Takes the client's `Idempotency-Key`, or else our own id of the request.
    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(client_key(req.headers()).map(|key| key.unwrap_or_else(|| own_id(req))))
    }
}

/// Returns the client's `Idempotency-Key`, if it sent one.
pub(super) fn client_key(headers: &HeaderMap) -> Result<Option<RequestId>, ApiError> {
    let mut keys = headers.get_all("idempotency-key");
    match (keys.next(), keys.next()) {
        (None, _) => Ok(None),
        (Some(key), None) => Ok(Some(key.to_str().unwrap_or_default().parse()?)),
        (Some(_), Some(_)) => Err(ApiError::InvalidRequest("Idempotency-Key: send one".to_owned())),
    }
}

/// Returns our own id of a request: the `x-request-id` of its answer, whatever its client calls it.
pub(super) fn own_id(req: &HttpRequest) -> RequestId {
    req.extensions().get().cloned().unwrap_or_else(RequestId::generate)
}

//! Which request asks: the name that a fact is written under.

use actix_web::{FromRequest, HttpMessage, HttpRequest, dev::Payload};
use std::future::{Ready, ready};

use crate::domain::ids::RequestId;

use super::problem::ApiError;

/// The client's `Idempotency-Key`, or our own name of the request (the `x-request-id` of its answer).
pub(super) struct AskedBy(pub RequestId);

impl FromRequest for AskedBy {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(name_of(req).map(Self))
    }
}

/// Our own name of a request: the `x-request-id` of its answer, whatever its client calls it.
pub(super) fn own_name(req: &HttpRequest) -> RequestId {
    req.extensions().get().cloned().unwrap_or_else(RequestId::made)
}

fn name_of(req: &HttpRequest) -> Result<RequestId, ApiError> {
    let mut keys = req.headers().get_all("idempotency-key");
    match (keys.next(), keys.next()) {
        (None, _) => Ok(own_name(req)),
        (Some(key), None) => Ok(key.to_str().unwrap_or_default().parse()?),
        (Some(_), Some(_)) => Err(ApiError::InvalidRequest("Idempotency-Key: send one".to_owned())),
    }
}

//! Answers that succeed.

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use serde::Serialize;

use crate::domain::time::Timestamp;
use crate::store::participants::Recorded;

/// 201 for what this request wrote, 200 for what stood before.
pub(super) fn status<T>(recorded: &Recorded<T>) -> StatusCode {
    match recorded {
        Recorded::Before(_) => StatusCode::OK,
        Recorded::Now(_) => StatusCode::CREATED,
    }
}

/// A view as JSON.
pub(super) fn json(status: StatusCode, view: &impl Serialize) -> HttpResponse {
    HttpResponse::build(status).json(view)
}

/// A setting as JSON, with its version as `ETag`.
pub(super) fn setting(status: StatusCode, view: &impl Serialize, version: Timestamp) -> HttpResponse {
    HttpResponse::build(status).insert_header((header::ETAG, format!("\"{version}\""))).json(view)
}

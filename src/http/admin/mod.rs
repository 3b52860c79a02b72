//! The organisers' API. Who may call comes first (401, 403), then the shape of ids, query and body (400, 413, 415),
//! then what is asked for (404 and the rest).

pub(super) mod codes;
pub mod cursor;
pub(super) mod deliveries;
pub(super) mod events;
pub(super) mod holders;
mod list;
mod notice_view;
mod precondition;
pub(super) mod refusals;
mod replace;
pub(super) mod staff;
pub(super) mod stamps;
pub(super) mod stats;
pub(super) mod users;
mod view;

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use serde::Serialize;
use serde_json::Value;

use crate::domain::time::Timestamp;
use crate::line::flex::{Fault, Template};
use crate::store::items;

use super::problem::ApiError;

/// Answers with a setting as JSON, and its version as `ETag`.
fn setting(status: StatusCode, view: &impl Serialize, version: Timestamp) -> HttpResponse {
    HttpResponse::build(status).insert_header((header::ETAG, format!("\"{version}\""))).json(view)
}

/// Returns the message as it is stored: one that LINE takes, whatever the names are, and that the table keeps.
fn checked_message(attribute: &'static str, message: Value) -> Result<Value, ApiError> {
    let message = Template::parse(message).map_err(ApiError::FlexInvalid)?.into_message();
    items::storable(attribute, &message)?;
    Ok(message)
}

/// Refuses faults of filled-in names; those of another setting's message begin with the place of that setting.
fn refuse_names(place: &str, faults: Vec<Fault>) -> Result<(), ApiError> {
    if faults.is_empty() {
        return Ok(());
    }
    Err(ApiError::FlexInvalid(faults.into_iter().map(|fault| fault.below(place)).collect()))
}

/// Bodies of settings hold whole Flex messages.
const BODY_LIMIT: usize = 256 * 1024;

//! The organisers' API. Who may call comes first (401, 403), then the shape of ids, query and body (400, 413, 415),
//! then what is asked for (404 and the rest).

mod csv;
mod cursor;
pub(super) mod deliveries;
pub(super) mod events;
mod list;
mod notice_view;
mod precondition;
mod replace;
pub(super) mod stamps;
pub(super) mod stats;
pub(super) mod users;
mod view;

use serde_json::Value;

use crate::line::flex;
use crate::store::items;

use super::problem::ApiError;

/// A message has to be one that LINE takes, and that the table keeps, before it is stored.
fn check_message(attribute: &'static str, message: &Value) -> Result<(), ApiError> {
    let faults = flex::check(message);
    if !faults.is_empty() {
        return Err(ApiError::FlexInvalid(faults));
    }
    Ok(items::storable(attribute, message)?)
}

/// Bodies of settings hold whole Flex messages.
const BODY_LIMIT: usize = 256 * 1024;

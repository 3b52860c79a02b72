//! What became of a write on condition: done, or refused with the item that is there.

use std::collections::HashMap;

use aws_sdk_dynamodb::{
    config::http::HttpResponse,
    error::{ProvideErrorMetadata, SdkError},
    operation::{delete_item::DeleteItemError, put_item::PutItemError, update_item::UpdateItemError},
    types::error::ConditionalCheckFailedException,
};

use super::{StoreError, items::Item};

/// The end of a guarded write.
pub(super) enum Guarded {
    /// The condition held, and it is written.
    Done,
    /// The condition did not hold. `None` = there is no item.
    Refused(Option<Item>),
}

/// Sorts the answer to a write that asked for `ReturnValuesOnConditionCheckFailure = ALL_OLD`.
pub(super) fn guarded<T, E>(answer: Result<T, SdkError<E, HttpResponse>>) -> Result<Guarded, StoreError>
where
    E: MayLose + ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    let Err(failure) = answer else { return Ok(Guarded::Done) };
    match failure.as_service_error().and_then(MayLose::lost) {
        Some(lost) => Ok(Guarded::Refused(lost.item.clone())),
        None => Err(failure.into()),
    }
}

/// Sorts the answer to a guarded Delete: an item that is gone, or is another one now, is as good as deleted.
pub(super) fn gone<T>(answer: Result<T, SdkError<DeleteItemError, HttpResponse>>) -> Result<(), StoreError> {
    guarded(answer).map(drop)
}

/// An error of an operation that takes a condition.
pub(super) trait MayLose {
    /// Returns the failed condition, if that is what it is.
    fn lost(&self) -> Option<&ConditionalCheckFailedException>;
}

macro_rules! may_lose {
    ($($error:ty),*) => {$(
        impl MayLose for $error {
            fn lost(&self) -> Option<&ConditionalCheckFailedException> {
                if let Self::ConditionalCheckFailedException(lost) = self { Some(lost) } else { None }
            }
        }
    )*};
}

may_lose!(DeleteItemError, PutItemError, UpdateItemError);

/// A condition that an item still is what was seen, as far as these attributes say; with its names and its values.
pub(super) struct StillAs {
    pub(super) condition: String,
    pub(super) names: HashMap<String, String>,
    pub(super) values: Option<Item>,
}

impl StillAs {
    pub(super) fn seen(seen: &Item, attributes: &[&str]) -> Self {
        let (mut conditions, mut names, mut values) = (Vec::new(), HashMap::new(), Item::new());
        for (n, name) in attributes.iter().enumerate() {
            names.insert(format!("#a{n}"), (*name).to_owned());
            conditions.push(match seen.get(*name) {
                None => format!("attribute_not_exists(#a{n})"),
                Some(value) => {
                    values.insert(format!(":a{n}"), value.clone());
                    format!("#a{n} = :a{n}")
                }
            });
        }
        // No values at all must not be sent as an empty map.
        let values = Some(values).filter(|values| !values.is_empty());
        Self { condition: conditions.join(" AND "), names, values }
    }
}

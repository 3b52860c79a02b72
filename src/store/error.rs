//! What can go wrong with the store, sorted by what the caller can do about it.

use std::error::Error;

use super::unreadable::Unreadable;
use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_dynamodb::{
    config::http::HttpResponse,
    error::{BoxError, ProvideErrorMetadata, SdkError},
};

/// Why the store did not do what it was asked.
///
/// What an operation expects to happen is not an error: "not there" is `Ok(None)`, a stamp acquired before is an
/// outcome of `acquire`. The source is kept for the log.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Something is wrong that no repetition mends: a table is missing, access is denied, a request is refused as
    /// invalid. A person has to look.
    #[error("the store can't be used as it is")]
    Broken(#[source] BoxError),
    /// An item is not what its key or its `entityType` promises. A person has to mend that item; nothing else is concerned.
    #[error("an item can't be read")]
    Unreadable(#[source] Box<Unreadable>),
    /// What was read has been changed by another writer meanwhile. Read again, decide again.
    #[error("the store was changed by another writer meanwhile")]
    Conflict(#[source] BoxError),
    /// The store can't answer now: throttled, too slow, out of reach, or ill itself. Try again later. A write may have
    /// been carried out although its answer was lost; every write of ours is safe to repeat.
    #[error("the store can't answer now")]
    Unavailable(#[source] BoxError),
}

impl StoreError {
    /// [`StoreError::Broken`] from an error or from a sentence that says what is wrong.
    pub fn broken(source: impl Into<BoxError>) -> Self {
        Self::Broken(source.into())
    }
}

impl From<Unreadable> for StoreError {
    fn from(unreadable: Unreadable) -> Self {
        Self::Unreadable(Box::new(unreadable))
    }
}

/// Sorts any failure of either SDK crate (both share this type), so that `?` is enough at a call.
///
/// Errors that an operation expects (a lost condition that returns its item, an expired iterator) are matched at the
/// call, before this.
impl<E> From<SdkError<E, HttpResponse>> for StoreError
where
    E: ProvideErrorMetadata + Error + Send + Sync + 'static,
{
    fn from(failure: SdkError<E, HttpResponse>) -> Self {
        let sorted = variant_of(&failure);
        sorted(failure.into())
    }
}

/// A variant with its source to come.
type Variant = fn(BoxError) -> StoreError;

fn variant_of<E: ProvideErrorMetadata + Error + Send + Sync + 'static>(failure: &SdkError<E, HttpResponse>) -> Variant {
    match failure {
        SdkError::DispatchFailure(dispatch) if dispatch.is_user() || lacks_credentials(failure) => StoreError::Broken,
        SdkError::DispatchFailure(_) | SdkError::ResponseError(_) | SdkError::TimeoutError(_) => {
            StoreError::Unavailable
        }
        SdkError::ServiceError(answer) => variant_of_answer(answer.err().code(), answer.raw().status().as_u16()),
        // No region, no endpoint, a value the SDK can't send; and whatever a later SDK adds.
        _ => StoreError::Broken,
    }
}

/// This machine was given no credentials, which the SDK reports like a lost connection. A credentials server that is
/// slow or ill is something else, and passes.
fn lacks_credentials(failure: &(dyn Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(failure), |&cause| cause.source());
    causes.any(|cause| {
        matches!(
            cause.downcast_ref(),
            Some(CredentialsError::CredentialsNotLoaded(_) | CredentialsError::InvalidConfiguration(_))
        )
    })
}

/// Errors that an operation doesn't declare reach us without a type, so the code decides. The list: "Error handling
/// with DynamoDB" in AWS's developer guide, and the quotas of the control plane and the streams.
fn variant_of_answer(code: Option<&str>, status: u16) -> Variant {
    match code {
        Some("ConditionalCheckFailedException") => StoreError::Conflict,
        Some(
            "InternalFailure"
            | "InternalServerError"
            | "LimitExceededException"
            | "ProvisionedThroughputExceededException"
            | "ReplicatedWriteConflictException"
            | "RequestLimitExceeded"
            | "ServiceUnavailable"
            | "Throttling"
            | "ThrottlingException"
            | "TransactionConflictException"
            | "TransactionInProgressException",
        ) => StoreError::Unavailable,
        // Below 400: an answer that no client can read, from something between us and DynamoDB.
        _ if status >= 500 || status == 429 || status < 400 => StoreError::Unavailable,
        _ => StoreError::Broken,
    }
}

#[cfg(test)]
mod tests {
    use aws_credential_types::credential_fn::provide_credentials_fn;

    use super::*;
    use crate::store::client::{Clients, Timeouts};
    use crate::stub::{self, Stub};

    /// What becomes of a failure: one word, so that a table of them can be read.
    fn word(error: &StoreError) -> &'static str {
        match error {
            StoreError::Broken(_) => "broken",
            StoreError::Unreadable(_) => "unreadable",
            StoreError::Conflict(_) => "conflict",
            StoreError::Unavailable(_) => "unavailable",
        }
    }

    fn clients(stub: &Stub) -> Clients {
        Clients::at(stub.url(), &Timeouts { attempts: 1, ..Timeouts::request() })
    }

    fn body(code: &str) -> String {
        format!(r#"{{"__type":"com.amazonaws.dynamodb.v20120810#{code}","message":"no"}}"#)
    }

    #[tokio::test]
    async fn every_answer_of_the_table_is_sorted_by_what_one_can_do() {
        for (status, code, expected) in [
            (400, "ProvisionedThroughputExceededException", "unavailable"),
            (400, "ThrottlingException", "unavailable"),
            (400, "RequestLimitExceeded", "unavailable"),
            (400, "LimitExceededException", "unavailable"),
            (400, "TransactionConflictException", "unavailable"),
            (500, "InternalServerError", "unavailable"),
            (503, "SomethingNew", "unavailable"),
            (400, "ConditionalCheckFailedException", "conflict"),
            (400, "ResourceNotFoundException", "broken"),
            (400, "AccessDeniedException", "broken"),
            (400, "ValidationException", "broken"),
            (400, "UnrecognizedClientException", "broken"),
            (400, "SomethingNew", "broken"),
        ] {
            let stub = Stub::in_order(&[(status, &body(code))]);
            let failure = clients(&stub).table.delete_item().table_name("line-event").send().await.unwrap_err();
            let error = StoreError::from(failure);
            assert_eq!(word(&error), expected, "{status} {code}");
            let causes: Vec<_> = std::iter::successors(error.source(), |&cause| cause.source()).collect();
            assert!(causes.iter().any(|cause| cause.to_string().contains(code)), "the log names {code}: {causes:?}");
        }
    }

    #[tokio::test]
    async fn the_streams_answers_are_sorted_the_same_way() {
        for (code, expected) in [
            ("LimitExceededException", "unavailable"),
            ("ThrottlingException", "unavailable"),
            ("ResourceNotFoundException", "broken"),
        ] {
            let stub = Stub::in_order(&[(400, &body(code))]);
            let failure = clients(&stub).streams.get_records().shard_iterator("here").send().await.unwrap_err();
            assert_eq!(word(&failure.into()), expected, "{code}");
        }
    }

    #[tokio::test]
    async fn a_page_of_a_proxy_in_between_is_not_an_answer() {
        let stub = Stub::in_order(&[(502, "<html>Bad Gateway</html>")]);
        let failure = clients(&stub).table.list_tables().send().await.unwrap_err();
        assert_eq!(word(&failure.into()), "unavailable");
        let stub = Stub::in_order(&[(200, "<html>Welcome to the hotel's wireless network</html>")]);
        let failure = clients(&stub).table.list_tables().send().await.unwrap_err();
        assert_eq!(word(&failure.into()), "unavailable");
    }

    #[tokio::test]
    async fn without_credentials_a_person_has_to_look() {
        let stub = Stub::in_order(&[(200, "{}")]);
        let config = clients(&stub).table.config().to_builder();
        let absent = provide_credentials_fn(|| async { Err(CredentialsError::not_loaded("none were given")) });
        let table = aws_sdk_dynamodb::Client::from_conf(config.credentials_provider(absent).build());
        let failure = table.list_tables().send().await.unwrap_err();
        assert_eq!(word(&failure.into()), "broken");
    }

    #[tokio::test]
    async fn a_store_out_of_reach_is_unavailable() {
        let clients = Clients::at(&stub::unreachable_url(), &Timeouts { attempts: 1, ..Timeouts::request() });
        let failure = clients.table.list_tables().send().await.unwrap_err();
        assert_eq!(word(&failure.into()), "unavailable");
    }
}

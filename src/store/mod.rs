//! The one table, its stream and the consumer's progress; knows the domain alone.
//!
//! One fact is one item is one conditional Put. Every access pattern is one request.

pub mod client;
mod guard;
pub mod items;
pub mod keys;
pub mod listing;
pub mod masters;
pub mod notices;
pub mod participants;
pub mod progress;
pub mod rallies;
pub mod stream;
pub mod table;

/// What a caller can do about a store that did not do as asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Call a person: an item that can't be read, a missing table, no permission, a request the store calls wrong.
    #[error("the store is not as it should be: {what}")]
    Broken {
        /// What was asked of it.
        what: String,
        /// Why it failed.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Wait and ask again: throttled, timed out, unreachable, failing. A write may have happened.
    #[error("the store can't answer now: {what}")]
    Unavailable {
        /// What was asked of it.
        what: String,
        /// Why it failed.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl StoreError {
    /// Something a person has to look at.
    pub fn broken(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Broken { what: "the table".to_owned(), source: source.into() }
    }

    /// Something that passes.
    pub fn unavailable(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unavailable { what: "the table".to_owned(), source: source.into() }
    }
}

impl From<items::Unreadable> for StoreError {
    fn from(unreadable: items::Unreadable) -> Self {
        Self::broken(unreadable)
    }
}

// Stands in until the client's own sorting of failures is here.
impl<E> From<aws_sdk_dynamodb::error::SdkError<E, aws_sdk_dynamodb::config::http::HttpResponse>> for StoreError
where
    E: aws_sdk_dynamodb::error::ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    fn from(failure: aws_sdk_dynamodb::error::SdkError<E, aws_sdk_dynamodb::config::http::HttpResponse>) -> Self {
        use aws_sdk_dynamodb::error::SdkError;
        let code = failure.as_service_error().and_then(|error| error.code()).unwrap_or_default();
        let passes = match &failure {
            SdkError::ServiceError(answer) => {
                answer.raw().status().as_u16() >= 500
                    || code.contains("Throttl")
                    || code.contains("Exceeded")
                    || code.contains("TransactionConflict")
            }
            SdkError::ConstructionFailure(_) => false,
            _ => true,
        };
        if passes { Self::unavailable(failure) } else { Self::broken(failure) }
    }
}

/// The names of the two tables.
#[derive(Debug, Clone)]
pub struct TableNames {
    /// Facts and settings: `line-event`.
    pub main: String,
    /// The consumers' progress: `line-event-consumers`.
    pub consumers: String,
}

/// The one table as the domain sees it. Clones share one client.
#[derive(Debug, Clone)]
pub struct Store {
    client: aws_sdk_dynamodb::Client,
    tables: std::sync::Arc<TableNames>,
}

impl Store {
    /// The store behind a client.
    #[must_use]
    pub fn new(client: aws_sdk_dynamodb::Client, tables: TableNames) -> Self {
        Self { client, tables: std::sync::Arc::new(tables) }
    }
}

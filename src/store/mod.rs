//! The one table, its stream and the consumer's progress; knows the domain alone.
//!
//! One fact is one item is one conditional Put. Every access pattern is one request.

pub mod client;
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

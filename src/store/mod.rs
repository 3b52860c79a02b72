//! The one table, its stream and the consumer's progress; knows the domain alone.
//!
//! One fact is one item is one conditional Put. Every access pattern is one request.
//!
//! | file | holds |
//! | --- | --- |
//! | [`client`] | the SDK's clients: where DynamoDB is, how long one waits for it |
//! | [`table`] | the definition of the two tables; `create`, `status` |
//! | [`keys`] | every key, both directions |
//! | [`items`] | domain values as items and back; the only decoder |
//! | [`participants`] | register, acquire, read one participant |
//! | [`masters`], [`rallies`] | events and stamp masters: read, replace; cached |
//! | [`listing`] | lists by index |
//! | [`notices`] | what became of a notice |
//! | [`stream`], [`progress`] | records of the table's stream; who reads which shard, and how far |

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

#[cfg(test)]
mod canned;
mod error;

use std::sync::Arc;

pub use error::StoreError;
use table::TableNames;

/// The one table as the domain sees it. Clones share one client.
#[derive(Debug, Clone)]
pub struct Store {
    client: aws_sdk_dynamodb::Client,
    tables: Arc<TableNames>,
}

impl Store {
    /// The store behind a client.
    #[must_use]
    pub fn new(client: aws_sdk_dynamodb::Client, tables: TableNames) -> Self {
        Self { client, tables: Arc::new(tables) }
    }
}

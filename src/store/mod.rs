//! The one table, its stream, and how far the consumer has read; knows the domain alone.
//!
//! One fact is one item is one conditional Put. Every access pattern is one request.
//!
//! | file | holds |
//! | --- | --- |
//! | [`keys`] | every key, in both directions |
//! | [`items`] | domain values as items and back |
//! | [`participants`] | register, acquire, read one participant |
//! | [`masters`] | events and stamp masters: read, list, replace |
//! | [`rallies`] | the same, cached |
//! | [`listing`] | lists by index, page by page and as one |
//! | [`notices`], [`waiting`] | the delivery's marks; which of many notices wait |
//! | [`completions`] | cards of which it can't be said yet whether they are complete |
//! | [`counts`] | counts by event and hour |
//! | [`stream`], [`progress`] | the table's stream, and how far it was read |
//! | [`client`] | the SDK's clients: where DynamoDB is, how long one waits for it |
//! | [`table`] | the definition of the two tables; `create`, `status` |
//! | [`unreadable`] | items that can't be read: reported, and passed over |
//! | [`check`] | lists every item that can't be read or contradicts another |
//! | [`backfill`] | `GSI2` keys for the stamps of a table that was made from the article |

pub mod backfill;
pub mod check;
pub mod client;
pub mod completions;
pub mod counts;
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
pub mod unreadable;
pub mod waiting;

mod error;
mod fields;
mod guard;
mod reach;

pub use error::StoreError;
pub use table::TableNames;

/// The one table as the domain sees it. Clones share one client.
#[derive(Debug, Clone)]
pub struct Store {
    client: aws_sdk_dynamodb::Client,
    tables: std::sync::Arc<TableNames>,
    reported: unreadable::Reported,
}

impl Store {
    /// The store behind a client.
    #[must_use]
    pub fn new(client: aws_sdk_dynamodb::Client, tables: TableNames) -> Self {
        Self { client, tables: std::sync::Arc::new(tables), reported: unreadable::Reported::default() }
    }

    /// Remembers together with others which items were logged as unreadable: one memory for a process.
    #[must_use]
    pub fn reporting_with(self, reported: unreadable::Reported) -> Self {
        Self { reported, ..self }
    }

    /// The same store over connections of its own.
    #[must_use]
    pub fn apart(&self) -> Self {
        Self { client: client::apart(&self.client), ..self.clone() }
    }
}

impl From<items::Unreadable> for StoreError {
    fn from(unreadable: items::Unreadable) -> Self {
        Self::Unreadable(Box::new(unreadable))
    }
}

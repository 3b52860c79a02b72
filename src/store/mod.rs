//! The one table, its stream, and how far the consumer has read.
//!
//! | file | holds |
//! | --- | --- |
//! | [`client`] | the SDK's clients: where DynamoDB is, how long one waits for it |
//! | [`table`] | the definition of the two tables; `create`, `status` |

pub mod client;
pub mod table;

#[cfg(test)]
mod canned;
mod error;

pub use error::StoreError;

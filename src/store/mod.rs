//! The one table, its stream, and how far the consumer has read; knows the domain alone.
//!
//! One fact is one item is one conditional Put. Every access pattern is one request.
//!
//! | file | holds |
//! | --- | --- |
//! | [`keys`] | every key, in both directions |
//! | [`items`] | domain values as items and back |
//! | [`participants`] | register, acquire, read one participant |
//! | [`claims`] | what a claim under rules reads and writes beside its one Put |
//! | [`staff`] | staff and screens: add, list, revoke |
//! | [`masters`] | events and stamp masters: read, list, replace |
//! | [`rallies`] | the same, cached |
//! | [`refusals`] | refused claims by hour |
//! | [`listing`] | lists by index, page by page and as one |
//! | [`notices`], [`waiting`] | the delivery's marks; which of many notices wait |
//! | [`completions`] | cards of which it can't be said yet whether they are complete |
//! | [`counts`] | counts by event and hour |
//! | [`stream`], [`progress`] | the table's stream, and how far it was read |
//! | [`pushes`] | reserved pushes of a channel's month |
//! | [`paging`] | lists of several pages, followed to the last one |
//! | [`client`] | the SDK's clients: where DynamoDB is, how long one waits for it |
//! | [`table`] | the definition of the two tables; `create`, `status` |
//! | [`unreadable`] | items that can't be read: reported, and passed over |
//! | [`check`] | lists every item that can't be read or contradicts another |
//! | [`backfill`] | `GSI2` keys for the stamps of a table that was made from the article |

pub mod backfill;
pub mod check;
pub mod claims;
pub mod client;
pub mod completions;
pub mod counts;
pub mod items;
pub mod keys;
pub mod listing;
pub mod masters;
pub mod notices;
pub mod paging;
pub mod participants;
pub mod progress;
pub mod pushes;
pub mod rallies;
pub mod refusals;
pub mod staff;
pub mod stream;
pub mod table;
pub mod unreadable;
pub mod waiting;

mod batch;
mod error;
mod guard;
mod ids;
mod requests;
mod state;

pub use error::StoreError;
pub use requests::Store;
pub use table::TableNames;

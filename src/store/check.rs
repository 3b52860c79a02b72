//! Every item of both tables that can't be read, or that contradicts its key, its index keys or another item.
//!
//! Both tables are scanned page by page, the main one first. The items of one participant are judged together: they lie
//! in one partition, which a Scan reads in one piece. What an item lacks of its neighbours is asked for once more by a
//! consistent Query before it is reported, so what is written meanwhile is no finding. Nothing is changed.
//!
//! | file | holds |
//! | --- | --- |
//! | `check/pass.rs` | the pass over both tables |
//! | `check/item.rs` | judges one item of the main table: its attributes, its key, its index keys |
//! | `check/facts.rs` | judges the facts of one participant, beside each other and beside the event's settings |
//! | `check/consumers.rs` | judges one item of the consumers' table |
//! | `check/counts.rs` | judges the counts of an event beside its facts |
//! | `check/finding.rs` | what is wrong, and what to do about it |

mod consumers;
mod counts;
mod facts;
mod finding;
mod item;
mod pass;

pub use finding::Finding;
pub use pass::{Check, Looked};

//! Domain values as items and back: the only encoder, and the only decoder, for what requests read, what
//! the stream brings and what a Lambda is handed alike.
//!
//! The stored form is pinned by the golden tests beside these files. The source article's items read back:
//! they know no `requestId`, no `GSI2…`, and no `updatedAt` on a `STAMP_MASTER`.
//!
//! | file | items |
//! | --- | --- |
//! | `items/entity.rs` | which entity an item of the main table is |
//! | `items/facts.rs`, `items/notice.rs` | facts, and the state of their notices |
//! | `items/refusals.rs` | refused claims of an hour |
//! | `items/settings.rs` | events and stamp masters |
//! | `items/staff.rs` | staff and screens |
//! | `items/shard.rs` | lease and checkpoint of a shard, and what can be salvaged of them |
//! | `items/handed_out.rs` | batches of functions, runs of `reconcile`: what may have been handed to LINE |
//! | `items/consumer.rs` | the other items of a consumer, pending completions too, and which of all an item is |
//! | `items/counts.rs`, `items/backfill.rs` | counts by hour, the backfill |
//! | `items/pushes.rs` | reserved pushes |
//! | `items/attributes.rs`, `items/fields.rs`, `items/json.rs` | attributes, one by one |

mod attributes;
pub(super) mod backfill;
mod consumer;
mod counts;
mod entity;
mod facts;
mod fields;
mod handed_out;
mod json;
mod notice;
pub(super) mod pushes;
mod refusals;
mod settings;
mod shard;
mod staff;

#[cfg(test)]
mod tests;

pub(super) use attributes::entity_type;
pub use consumer::PendingCompletion;
pub(super) use consumer::{OnBoard, check, followed, followed_arn, function, on_board};
pub(super) use counts::{counts, read_counts};
pub(super) use entity::{Entity, decode_as, listed_in};
pub use entity::{Stored, decode};
pub(super) use facts::{completed, friendship, holder_key, pace, resend, resend_completed, user, user_key, user_stamp};
pub use fields::Item;
pub(super) use fields::{Fields, key_of, number, primary_key, progress_key, text};
pub(super) use handed_out::{all_handed_out, batch, batch_facts, run};
pub use json::storable;
pub(super) use notice::{is_waiting, refusal};
pub(super) use refusals::{read_refusals, refusals};
pub(super) use settings::{Setting, event, event_remains, is_listed, master, master_remains, time_zone, unknown};
pub(super) use shard::{checkpoint, new_shard, parent_of, restarted, shard};
pub(super) use staff::staff;

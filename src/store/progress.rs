//! How far each shard was read, and by whom (table `line-event-consumers`).
//!
//! One item per consumer, stream and shard; every write of it is conditional. The **fencing token** (`fence`) grows with
//! each take-over, so a worker that lost its lease can't write any more, however late it wakes up. The **heartbeat**
//! (`beat`) grows with each write of the owner: observers see that it moves, and need no clock but their own.
//!
//! | file | holds |
//! | --- | --- |
//! | `progress/consumers.rs` | all of it: the board; the items of shards; workers without a shard |
//! | `progress/leases.rs` | taking a lease; the checkpoint, which renews it |
//! | `progress/damaged.rs` | shards whose items can't be read |
//! | `progress/handed_out.rs` | batches of functions, runs of `reconcile`: what may have been handed to LINE |
//! | `progress/followed.rs` | the stream that a consumer follows |
//!
//! The keys: `keys/progress.rs`. The stored forms: `items/shard.rs`, `items/handed_out.rs`, `items/consumer.rs`.

mod consumers;
mod damaged;
mod followed;
mod handed_out;
mod leases;

pub use super::ids::WorkerId;
pub use super::state::{
    AfterWrite, BatchFacts, By, Candidate, CandidateRole, EventFacts, FactSpan, HandedOut, Lease, Run, Saved,
    ShardProgress, ShardState,
};
pub use consumers::{Board, Consumers};
pub use damaged::DamagedShard;
pub use followed::Followed;
pub use handed_out::{BatchNote, NotedBatch};
pub use leases::Save;

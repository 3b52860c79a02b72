//! Following the table's stream: who reads which shard, in which order, how far. Knows no effect: it is given a list.
//!
//! | file | holds | I/O |
//! | --- | --- | --- |
//! | [`effect`] | what an effect is, and its jobs, writes and work for all | none |
//! | [`lease`], [`place`], [`shards`] | who reads what: state machines | none |
//! | [`lanes`], [`window`], [`coverage`] | in which order, how far, what may have been handed out: state machines | none |
//! | [`lease_status`], [`liveness`], [`stream_state`], [`catch_up`] | what others see of it | none |
//! | `jobs.rs` | jobs in lanes and window, of a shard or a batch | none |
//! | `shard/` | the loop around one shard: pages in, jobs out, checkpoints | stream, progress |
//! | [`worker`] | the loop around all: leases, discovery, work of the leader | stream, progress |
//! | [`batch`], [`limits`] | records that AWS Lambda has read, in limited time | progress, time |
//!
//! [`lease`] decides which leases to take and to hand over. That one is lost shows in `shard/writing.rs`: its write is
//! refused, or fails until the lease has run out by our own clock. The checkpoint is written there too. Every record may
//! come twice.

pub mod batch;
pub mod catch_up;
pub mod coverage;
pub mod effect;
mod jobs;
pub mod lanes;
pub mod lease;
pub mod lease_status;
pub mod limits;
pub mod liveness;
pub mod place;
mod settings;
mod shard;
pub mod shards;
pub mod stream_state;
pub mod window;
pub mod worker;

#[cfg(test)]
mod simulation;

pub use lease_status::LeaseStatus;
pub use settings::{CONSUMER, ConsumerSettings, WorkerParts};
pub use worker::Worker;

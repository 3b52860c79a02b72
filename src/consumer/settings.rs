//! What a consumer is called, what its workers are made of, and how fast they are.

use std::time::Duration;

use crate::domain::time::Clock;
use crate::store::{Store, progress::WorkerId};

use super::effect::Effects;

/// The name of the consumer, in the table of progress.
pub const CONSUMER: &str = "delivery";

/// How a consumer works.
#[derive(Debug, Clone)]
pub struct ConsumerSettings {
    /// Within this time the shards of a dead worker move to another one.
    pub lease: Duration,
    /// How long to wait between two reads of a shard while records come.
    pub poll_interval: Duration,
    /// How many workers share the shards at most.
    pub most_workers: usize,
}

/// What a worker is made of.
#[derive(Clone)]
pub struct WorkerParts {
    /// What follows from the records.
    pub effects: Effects,
    /// The tables.
    pub store: Store,
    /// The stream.
    pub streams: aws_sdk_dynamodbstreams::Client,
    /// Time.
    pub clock: Clock,
    /// Its name: a new one for each worker.
    pub me: WorkerId,
    /// How it works.
    pub settings: ConsumerSettings,
}

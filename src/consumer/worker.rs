//! One worker: it takes its share of the shards, reads them, hands them over.
//!
//! Several workers need nothing of each other but the table of progress. The one that owns the first shard also does
//! what one should do for all: it lists the stream's shards, and does the leader's work of the effects.
//!
//! A worker is one future, apart from the jobs under way: a worker that isn't polled is one that sleeps.

mod at_work;
mod discover;
mod leader;
mod readers;
mod round;

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::domain::causes::Causes;
use crate::store::{StoreError, progress::Followed, stream::StreamReader};

use super::{
    catch_up::{CatchUp, Part},
    lease::Times,
    liveness::Liveness,
    settings::{CONSUMER, WorkerParts},
    shard::Context,
    stream_state::{StreamState, StreamWatch, replaced},
};
use at_work::AtWork;

/// How long a table without a stream is waited for before it is asked again.
const NO_STREAM: Duration = Duration::from_secs(5);

/// The same for a store that can't answer now.
const NO_ANSWER: Duration = Duration::from_millis(500);

/// One worker. It owns every task that it starts.
pub struct Worker {
    parts: WorkerParts,
    liveness: Liveness,
    watch: StreamWatch,
    catch_up: CatchUp,
    part: Part,
}

impl Worker {
    /// Creates a worker for the table's stream.
    #[must_use]
    pub fn new(parts: WorkerParts) -> Self {
        let (liveness, catch_up) = (Liveness::of(parts.settings.lease), CatchUp::default());
        replaced().increment(0);
        Self { parts, liveness, watch: StreamWatch::default(), part: catch_up.reading.part(), catch_up }
    }

    /// Returns the sign that it is at work, for others to look at while it runs.
    #[must_use]
    pub fn liveness(&self) -> Liveness {
        self.liveness.clone()
    }

    /// Returns how the stream that it reads relates to the table's, while it runs.
    #[must_use]
    pub fn watch(&self) -> StreamWatch {
        self.watch.clone()
    }

    /// Returns the way to wait until nothing is left to do, while it runs.
    #[must_use]
    pub fn catch_up(&self) -> CatchUp {
        self.catch_up.clone()
    }

    /// Works until `shutdown`, then lets the jobs under way finish, writes its progress, and hands its shards over. A
    /// store that can't answer is waited for.
    pub async fn run(&mut self, shutdown: CancellationToken) {
        // In the table of progress this name is at the shards that it owns.
        tracing::info!(worker.id = %self.parts.me, "consuming the table's stream");
        while !shutdown.is_cancelled() {
            let began = Instant::now();
            let pause = match self.begin().await {
                Ok(Some(mut at_work)) => {
                    at_work.run(&mut self.part, &shutdown).await;
                    continue;
                }
                Ok(None) => {
                    self.part.reached(Some(began));
                    NO_STREAM
                }
                Err(error @ StoreError::Unavailable(_)) => {
                    tracing::warn!(error = %Causes(&error), "the store can't answer: the table's stream is looked for again soon");
                    NO_ANSWER
                }
                Err(error) => {
                    tracing::error!(error = %Causes(&error), "the table's stream can't be found");
                    NO_STREAM
                }
            };
            tokio::select! {
                () = shutdown.cancelled() => {}
                () = self.part.asked() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Finds the table's stream; `None` if it has none.
    async fn begin(&mut self) -> Result<Option<AtWork>, StoreError> {
        let Some(arn) = self.parts.store.stream_arn().await? else {
            self.watch.set(StreamState::Missing);
            return Ok(None);
        };
        self.follow(&arn).await?;
        let WorkerParts { effects, store, streams, clock, settings, .. } = &self.parts;
        let context = Context {
            effects: effects.clone(),
            reader: StreamReader::new(streams.clone(), arn.clone()),
            consumers: store.consumers(CONSUMER, &arn),
            clock: clock.clone(),
            times: Times::of(settings.lease),
            poll_interval: settings.poll_interval,
            watch: self.watch.clone(),
        };
        Ok(Some(AtWork::new(&self.parts, context, self.liveness.clone(), self.catch_up.clone())))
    }

    /// Notes that this stream is followed from now on, and reports it if it is another one than before.
    async fn follow(&self, arn: &str) -> Result<(), StoreError> {
        let WorkerParts { store, clock, .. } = &self.parts;
        if let Followed::Other { arn: former } = store.follow(CONSUMER, arn, clock.now()).await? {
            replaced().increment(1);
            tracing::error!(
                stream.arn = arn,
                stream.former_arn = former,
                "the table has another stream than the one that was followed: what was acquired between the two is in \
                 neither, run `stamp-rally reconcile`"
            );
        }
        self.watch.set(StreamState::Present);
        Ok(())
    }
}

//! One worker: it takes its share of the shards, reads them, hands them over, and drains what is held.
//!
//! Several workers need nothing of each other but the table of progress. The one that holds the first shard also does
//! what one should do for all: it lists the stream's shards and drains held notices.

mod census;
mod discover;
mod pulse;
mod round;
mod stream_state;
mod tasks;

pub use pulse::Pulse;
pub use stream_state::{StreamState, StreamWatch};

use std::{collections::HashMap, time::Duration};

use futures_util::future;
use tokio::{sync::watch, task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::domain::time::Clock;
use crate::store::{
    Store, StoreError,
    progress::{Board, Followed, WorkerId},
    stream::{ShardId, StreamReader},
};

use super::{
    Delivery, Tally,
    lease::{Lead, Leases, Times},
    retry::stopped_during,
    shard::{Context, Goal, Shard},
};
use discover::Discoverer;
use tasks::Tasks;

/// The name of this consumer of the stream, in the table of progress.
pub const CONSUMER: &str = "delivery";

/// How long a table without a stream is waited for before it is asked again.
const NO_STREAM: Duration = Duration::from_secs(5);

/// The same for a store that can't answer now.
const NO_ANSWER: Duration = Duration::from_millis(500);

/// One worker. It owns every task that it starts.
pub struct Worker {
    delivery: Delivery,
    store: Store,
    streams: aws_sdk_dynamodbstreams::Client,
    clock: Clock,
    me: WorkerId,
    pulse: Pulse,
    watch: StreamWatch,
    at_work: Option<AtWork>,
}

/// A worker that knows its stream.
struct AtWork {
    context: Context,
    me: WorkerId,
    pulse: Pulse,
    leases: Leases,
    discoverer: Discoverer,
    /// Shards that rest between two calls of [`Worker::run_until_idle`].
    shards: HashMap<ShardId, Shard>,
    board: Board,
    holds: bool,
    stands_by: bool,
}

impl Worker {
    /// A worker for the table's stream; `me` must be a new name.
    #[must_use]
    pub fn new(
        delivery: Delivery,
        store: Store,
        streams: aws_sdk_dynamodbstreams::Client,
        clock: Clock,
        me: WorkerId,
    ) -> Self {
        let (pulse, watch) = (Pulse::of(delivery.settings().lease), StreamWatch::default());
        stream_state::replaced().increment(0);
        Self { delivery, store, streams, clock, me, pulse, watch, at_work: None }
    }

    /// Whether it is at work, for whoever asks while it runs.
    #[must_use]
    pub fn pulse(&self) -> Pulse {
        self.pulse.clone()
    }

    /// How the stream that it reads relates to the table's, while it runs.
    #[must_use]
    pub fn watch(&self) -> StreamWatch {
        self.watch.clone()
    }

    /// Works until `shutdown`, then finishes what runs (LINE's time-out bounds that), writes its progress, and hands its
    /// shards over. A store that can't answer is waited for.
    pub async fn run(&mut self, shutdown: CancellationToken) {
        // In the table of progress this name stands at the shards that it holds.
        tracing::info!(worker.id = %self.me, "consuming the table's stream");
        while !shutdown.is_cancelled() {
            match self.begin().await {
                Ok(true) => {
                    if let Some(mut at_work) = self.at_work.take() {
                        at_work.run(&self.store, &shutdown).await;
                    }
                }
                Ok(false) => drop(stopped_during(NO_STREAM, &shutdown).await),
                Err(error @ StoreError::Unavailable(_)) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "the store can't answer: the table's stream is looked for again soon");
                    stopped_during(NO_ANSWER, &shutdown).await;
                }
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(error, "the table's stream can't be found");
                    stopped_during(NO_STREAM, &shutdown).await;
                }
            }
        }
    }

    /// Delivers all that is due, and returns; nothing waits for time to pass, except repetitions for LINE. Leases are
    /// kept for the next call. For tests, and for whoever wants to empty a queue once.
    pub async fn run_until_idle(&mut self) -> Result<Tally, StoreError> {
        let mut tally = Tally::default();
        if self.at_work.is_none() {
            self.begin().await?;
        }
        if let Some(at_work) = &mut self.at_work {
            while at_work.one_time(&mut tally).await? {}
        }
        Ok(tally)
    }

    /// Hands the shards over that [`Worker::run_until_idle`] kept.
    pub async fn stop(&mut self) {
        let Some(mut at_work) = self.at_work.take() else { return };
        let stop = CancellationToken::new();
        stop.cancel();
        let context = at_work.context.clone();
        future::join_all(at_work.shards.values_mut().map(|shard| shard.run(&context, Goal::Forever, &stop))).await;
    }

    /// Finds the table's stream; false if it has none.
    async fn begin(&mut self) -> Result<bool, StoreError> {
        let Some(arn) = self.store.stream_arn().await? else {
            self.watch.set(StreamState::Missing);
            return Ok(false);
        };
        self.follow(&arn).await?;
        let times = Times::of(self.delivery.settings().lease);
        let context = Context {
            delivery: self.delivery.clone(),
            reader: StreamReader::new(self.streams.clone(), arn.clone()),
            consumers: self.store.consumers(CONSUMER, &arn),
            clock: self.clock.clone(),
            times,
            watch: self.watch.clone(),
        };
        self.at_work = Some(AtWork {
            discoverer: Discoverer::new(context.reader.clone(), context.consumers.clone(), self.clock.clone()),
            context,
            me: self.me.clone(),
            pulse: self.pulse.clone(),
            leases: Leases::new(self.me.clone(), times),
            shards: HashMap::new(),
            board: Board::default(),
            holds: false,
            stands_by: false,
        });
        Ok(true)
    }

    /// Notes that this stream is followed from now on, and reports it if it is another one than before.
    async fn follow(&self, arn: &str) -> Result<(), StoreError> {
        if let Followed::Another { arn: former } = self.store.follow(CONSUMER, arn, self.clock.now()).await? {
            stream_state::replaced().increment(1);
            tracing::error!(
                stream.arn = arn,
                stream.former = former,
                "the table has another stream than the one that was followed: what was acquired between the two is in \
                 neither, run `stamp-rally reconcile`"
            );
        }
        self.watch.set(StreamState::Present);
        Ok(())
    }
}

impl AtWork {
    /// Rounds until `shutdown`, or until the stream has ended and the table has another.
    async fn run(&mut self, store: &Store, shutdown: &CancellationToken) {
        let (mut tasks, mut of_leader) = (Tasks::default(), JoinSet::new());
        let (lead, leading) = watch::channel(Lead::default());
        of_leader.spawn(drain_while(self.context.delivery.clone(), leading.clone(), shutdown.clone()));
        let round = self.context.times.round;
        of_leader.spawn(census::report_while(self.context.delivery.clone(), leading, round, shutdown.clone()));
        let (mut next_round, look_every) = (Instant::now(), self.context.delivery.settings().lease);
        let mut next_look = Instant::now() + look_every;
        while !shutdown.is_cancelled() {
            let list_at = self.discoverer.next_at();
            tokio::select! {
                () = shutdown.cancelled() => {}
                Some(ended) = tasks.shards.join_next_with_id() => {
                    if let Some(shard) = tasks.ended(ended) {
                        self.discoverer.children_of(&shard).await;
                        next_round = Instant::now();
                    }
                }
                () = tokio::time::sleep_until(list_at), if lead.borrow().leads() => {
                    if self.discoverer.step(&self.board).await {
                        next_round = Instant::now();
                    }
                }
                () = tokio::time::sleep_until(next_look) => {
                    self.look_at_the_stream(store).await;
                    next_look = Instant::now() + look_every;
                }
                () = tokio::time::sleep_until(next_round) => {
                    next_round = Instant::now() + self.context.times.round;
                    match self.round(&mut tasks, shutdown).await {
                        Ok(plan) => {
                            self.pulse.beats(self.context.clock.uptime(), self.context.clock.now());
                            lead.send_if_modified(|lead| std::mem::replace(lead, plan.lead) != plan.lead);
                        }
                        Err(error) => {
                            let error = &error as &dyn std::error::Error;
                            tracing::warn!(error, "the workers' progress can't be read or written now");
                        }
                    }
                    if self.is_over(&tasks) && self.look_at_the_stream(store).await == StreamState::Replaced {
                        break;
                    }
                }
            }
        }
        tasks.end().await;
        // A drain under way ends at its next pause; without us (another stream) there is nothing to wait for.
        if shutdown.is_cancelled() {
            while of_leader.join_next().await.is_some() {}
        }
        if self.stands_by {
            // Whoever misses it finds out by its silence.
            let _gone = self.context.consumers.forget_worker(&self.me).await;
        }
    }
}

/// Drains what is held, every probe and as soon as a channel goes on, while this worker leads.
async fn drain_while(delivery: Delivery, mut leading: watch::Receiver<Lead>, shutdown: CancellationToken) {
    loop {
        let leads = leading.borrow_and_update().leads();
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = delivery.parts.resumed.notified() => {}
            changed = leading.wait_for(|lead| lead.leads() != leads) => if changed.is_err() { return },
            () = tokio::time::sleep(delivery.settings().hold_probe) => {}
        }
        if !leading.borrow().leads() {
            continue;
        }
        match delivery.drain(&shutdown).await {
            Ok(tally) if tally.total() > 0 => tracing::info!(notices = tally.total(), "drained what was held"),
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "what is held can't be listed now");
            }
        }
    }
}

//! One worker: it takes its share of the shards, reads them, hands them over, and drains what is held.
//!
//! Several workers need nothing of each other but the table of progress. The one that holds the first shard also does
//! what one should do for all: it lists the stream's shards and drains held notices.

mod census;
mod discover;
mod pulse;
mod round;

pub use pulse::Pulse;

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use futures_util::future;
use tokio::{
    sync::watch,
    task::{Id, JoinError, JoinSet},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::domain::time::Clock;
use crate::store::{
    Store, StoreError,
    progress::{Board, WorkerId},
    stream::{ShardId, StreamReader},
};

use super::{
    Delivery, Tally,
    lease::{Lead, Leases, Times},
    retry::stopped_during,
    shard::{self, Context, End, Goal, Shard},
};
use discover::Discoverer;

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
        let pulse = Pulse::of(delivery.settings().lease);
        Self { delivery, store, streams, clock, me, pulse, at_work: None }
    }

    /// Whether it is at work, for whoever asks while it runs.
    #[must_use]
    pub fn pulse(&self) -> Pulse {
        self.pulse.clone()
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
                Ok(false) => {
                    tracing::error!("the table has no stream: run `stamp-rally table create`");
                    stopped_during(NO_STREAM, &shutdown).await;
                }
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
        let Some(arn) = self.store.stream_arn().await? else { return Ok(false) };
        let times = Times::of(self.delivery.settings().lease);
        let context = Context {
            delivery: self.delivery.clone(),
            reader: StreamReader::new(self.streams.clone(), arn.clone()),
            consumers: self.store.consumers(CONSUMER, &arn),
            clock: self.clock.clone(),
            times,
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
}

/// The tasks of a running worker.
#[derive(Default)]
struct Tasks {
    shards: JoinSet<End>,
    /// How to stop each of them.
    stops: HashMap<ShardId, CancellationToken>,
    ids: HashMap<Id, ShardId>,
}

impl Tasks {
    fn held(&self) -> BTreeSet<ShardId> {
        self.stops.keys().cloned().collect()
    }

    fn start(&mut self, mut shard: Shard, context: &Context, shutdown: &CancellationToken) {
        let (id, stop, context) = (shard.id().clone(), shutdown.child_token(), context.clone());
        tracing::info!(shard = %id, "reading a shard");
        self.stops.insert(id.clone(), stop.clone());
        let task = self.shards.spawn(async move { shard.run(&context, Goal::Forever, &stop).await });
        self.ids.insert(task.id(), id);
    }

    /// Takes note of a shard's end; its name if it was read to its end.
    fn ended(&mut self, ended: Result<(Id, End), JoinError>) -> Option<ShardId> {
        let (task, end) = match ended {
            Ok((task, end)) => (task, end),
            Err(error) => {
                let task = error.id();
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "reading a shard broke off: it is begun anew"
                );
                (task, End::Lost)
            }
        };
        let shard = self.ids.remove(&task)?;
        self.stops.remove(&shard);
        tracing::info!(shard = %shard, end = ?end, "stopped reading a shard");
        shard::tell_over(&shard);
        Some(shard).filter(|_| end == End::Finished)
    }

    /// Lets each finish what runs, write its progress and hand its shard over.
    async fn end(&mut self) {
        self.stops.values().for_each(CancellationToken::cancel);
        while let Some(ended) = self.shards.join_next_with_id().await {
            self.ended(ended);
        }
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
        let mut next_round = Instant::now();
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
                    if self.is_over(&tasks) && self.has_another_stream(store).await {
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
            () = delivery.parts.goes_on.notified() => {}
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

//! A worker that knows its stream.

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::domain::causes::Causes;
use crate::store::{
    Store,
    progress::{Board, WorkerId},
};

use super::{
    discover::Discoverer,
    leader::Leading,
    readers::{Ended, Readers, readers},
};
use crate::consumer::{
    catch_up::{CatchUp, Part},
    effect::LeaderWork,
    lease::{Lead, Leases},
    liveness::Liveness,
    settings::WorkerParts,
    shard::{Context, End},
    stream_state::StreamState,
};

/// A look at the board that failed is repeated after this, if a caller waits for it.
const NO_ANSWER: Duration = Duration::from_millis(500);

pub(super) struct AtWork {
    pub context: Context,
    pub store: Store,
    pub me: WorkerId,
    pub leases: Leases,
    pub discoverer: Discoverer,
    pub board: Board,
    pub catch_up: CatchUp,
    /// How many shards it owned after the last round.
    pub owned: usize,
    /// Whether its item shows the others a worker without a shard.
    pub is_candidate: bool,
    pub most_workers: usize,
    /// When the last round began, if it found nothing to change.
    pub settled: Option<Instant>,
    liveness: Liveness,
    lease: Duration,
    next_round: Instant,
    retry_at: Instant,
    /// When it looks again which stream the table has.
    next_look: Instant,
}

impl AtWork {
    /// Creates a worker that has not looked at the board yet.
    pub fn new(parts: &WorkerParts, context: Context, liveness: Liveness, catch_up: CatchUp) -> Self {
        let (reader, consumers, clock) = (context.reader.clone(), context.consumers.clone(), context.clock.clone());
        Self {
            discoverer: Discoverer::new(reader, consumers, clock),
            store: parts.store.clone(),
            me: parts.me.clone(),
            leases: Leases::new(parts.me.clone(), context.times),
            board: Board::default(),
            owned: 0,
            is_candidate: false,
            most_workers: parts.settings.most_workers,
            settled: None,
            lease: parts.settings.lease,
            next_round: Instant::now(),
            retry_at: Instant::now(),
            next_look: Instant::now() + parts.settings.lease,
            context,
            liveness,
            catch_up,
        }
    }

    /// Works until `shutdown`, or until the stream has ended and the table has another.
    pub async fn run(&mut self, part: &mut Part, shutdown: &CancellationToken) {
        let (context, (mut readers, reading)) = (self.context.clone(), readers());
        let (lead, leading) = watch::channel(Lead::default());
        let mut for_all = self.work_for_all(&leading, shutdown);
        tokio::select! {
            () = self.rounds(part, &mut readers, &lead, shutdown) => {}
            never = reading.run(&context) => match never {},
            () = async { while for_all.next().await.is_some() {} std::future::pending().await } => {}
        }
        // A run under way ends at its next pause; without us (another stream) there is nothing to wait for.
        if shutdown.is_cancelled() {
            while for_all.next().await.is_some() {}
        }
        if self.is_candidate {
            // If that fails, the others find out by its silence.
            let _gone = self.context.consumers.forget_worker(&self.me).await;
        }
    }

    /// Begins the loops of the leader's work of all effects.
    fn work_for_all(
        &self,
        leading: &watch::Receiver<Lead>,
        shutdown: &CancellationToken,
    ) -> FuturesUnordered<impl Future<Output = ()> + use<>> {
        let all = self.context.effects.iter().flat_map(|effect| effect.leader_work());
        let begin = |work: Arc<dyn LeaderWork>| {
            let part = (!work.only_looks()).then(|| self.catch_up.leading.part());
            Leading { work, lead: leading.clone(), part, round: self.context.times.round }.run(shutdown.clone())
        };
        all.map(begin).collect()
    }

    /// Looks at the board in rounds, lists the shards if it leads, and follows the ends of its shards.
    async fn rounds(
        &mut self,
        part: &mut Part,
        readers: &mut Readers,
        lead: &watch::Sender<Lead>,
        shutdown: &CancellationToken,
    ) {
        while !shutdown.is_cancelled() {
            let leads = lead.borrow().leads();
            part.reached(self.settled.min(if leads { self.discoverer.listed() } else { self.settled }));
            let is_asked = part.is_asked_after(self.settled);
            let round_at = if is_asked { self.next_round.min(self.retry_at) } else { self.next_round };
            tokio::select! {
                biased;
                () = shutdown.cancelled() => {}
                Some(ended) = readers.ended() => self.ended(ended).await,
                () = part.asked() => self.discoverer.begin_anew(),
                () = tokio::time::sleep_until(round_at) => {
                    if self.look_around(readers, lead, shutdown).await == StreamState::Replaced {
                        break;
                    }
                }
                () = tokio::time::sleep_until(self.discoverer.next_at()), if leads => self.discover().await,
                () = tokio::time::sleep_until(self.next_look) => {
                    self.look_at_the_stream().await;
                    self.next_look = Instant::now() + self.lease;
                }
            }
        }
        readers.end().await;
    }

    async fn discover(&mut self) {
        if self.discoverer.step(&self.board).await {
            self.look_again();
        }
    }

    /// One round; [`StreamState::Replaced`] if nothing is left to read of a stream that the table has no more.
    async fn look_around(
        &mut self,
        readers: &mut Readers,
        lead: &watch::Sender<Lead>,
        shutdown: &CancellationToken,
    ) -> StreamState {
        (self.next_round, self.retry_at) = (Instant::now() + self.context.times.round, Instant::now());
        match self.round(readers, shutdown).await {
            Ok(leads) => {
                self.liveness.set(self.context.clock.uptime(), self.context.clock.now());
                lead.send_if_modified(|lead| std::mem::replace(lead, leads) != leads);
            }
            Err(error) => {
                tracing::warn!(error = %Causes(&error), "the workers' progress can't be read or written now");
                self.retry_at = Instant::now() + NO_ANSWER;
            }
        }
        if self.is_over(readers) { self.look_at_the_stream().await } else { StreamState::Present }
    }

    async fn ended(&mut self, Ended { shard, end, .. }: Ended) {
        self.settled = None;
        if end == End::Finished {
            self.discoverer.children_of(&shard).await;
            self.look_again();
        }
    }

    fn look_again(&mut self) {
        (self.settled, self.next_round) = (None, Instant::now());
    }
}

//! A batch of records that AWS Lambda has read, with a time by which it must be answered.
//!
//! AWS Lambda's event source mapping reads the shards and keeps the checkpoints; it hands over the records of one shard
//! in order, one batch after the other. The answer is the first record that isn't finished, and everything from there on
//! is handed over again; what was finished after it then has nothing left to do.
//!
//! The effects are the same as those of a worker, with two differences: a batch names no shard and there is no checkpoint
//! of ours, so nothing can be written together with one (counts don't run here); and no worker leads, so the leader's work
//! runs when a schedule asks for it.
//!
//! Nothing waits beyond the time: first comes backpressure, then no job is begun any more, at last whatever still runs is
//! dropped. A dropped job comes again.

mod notes;

use std::{collections::BTreeMap, future::Future, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::domain::{
    causes::Causes,
    time::{Clock, Timestamp},
};
use crate::store::{
    Store, StoreError,
    progress::{BatchFacts, BatchNote, By, Consumers, EventFacts, HandedOut},
    stream::{Record, SequenceNumber},
};

use super::{
    effect::{Effects, FactRef, Handling, Job, Progress, Work, jobs},
    handled::{Handled, handle},
    lanes::{Lane, Lanes, Waiting},
    lease_status::LeaseStatus,
    limits::Limits,
    settings::CONSUMER,
    window::{Ticket, Window},
};
use notes::{LeftNote, LeftNotes};

/// What an earlier reader may have handed out is asked for only if a record is so old: it costs a Scan, and matters to an
/// effect only when its receiver may have forgotten the first attempt (LINE forgets a retry key after 24 hours).
const OLD: Duration = Duration::from_hours(22);

/// What logs call the shard of a batch, which names none.
const BATCH: &str = "batch";

/// Handles batches.
pub struct BatchConsumer {
    effects: Effects,
    store: Store,
    clock: Clock,
    notes: LeftNotes,
}

/// The records of a batch, and how far they are.
struct Batch {
    window: Window,
    /// The jobs in their order, and when their records were made.
    jobs: Vec<(Waiting<Arc<dyn Work>>, Timestamp)>,
    /// The facts of those that aren't finished.
    facts: BTreeMap<Ticket, FactRef>,
    lanes: Lanes<Arc<dyn Work>>,
    status: LeaseStatus,
}

impl BatchConsumer {
    /// Creates a consumer of batches.
    #[must_use]
    pub fn new(effects: Effects, store: Store, clock: Clock) -> Self {
        Self { effects, store, clock, notes: LeftNotes::default() }
    }

    /// Works on a batch until it is finished or the time is over: in order per lane, lanes side by side. Returns the first
    /// record that isn't finished. `stream`: the ARN of the stream that the records come from.
    pub async fn handle(&self, records: Vec<Record>, stream: &str, limits: Limits) -> Option<SequenceNumber> {
        let began = Instant::now();
        let mut batch =
            Batch::of(records, &self.effects, LeaseStatus::until(self.clock.uptime() + limits.last_attempt));
        let first = batch.window.first_unfinished()?.clone();
        let (facts, consumers) = (batch.unfinished_facts(), self.store.consumers(CONSUMER, stream));
        let written = async {
            let handed_out = self.handed_out_before(&batch).await?;
            Ok((handed_out, consumers.hand_out(&first, &facts, self.clock.now()).await?))
        };
        let written = in_time(began + limits.last_attempt, written).await.inspect_err(|error| {
            tracing::warn!(error = %Causes(error), "nothing is handed out: it can't be written down now");
        });
        if let Ok((handed_out, note)) = written {
            self.notes.written(&consumers, &note);
            batch.hand_out(&handed_out);
            batch.work(began, limits).await;
            self.write_down_the_rest(&batch, &consumers, (note, facts), began + limits.answer).await;
            self.forget_notes(began + limits.answer).await;
        }
        batch.window.first_unfinished().cloned()
    }

    /// Deletes the notes of finished batches that could not be deleted before, for as long as there is time.
    pub async fn forget_notes(&self, until: Instant) {
        self.notes.forget(until).await;
    }

    /// Returns what a reader of the stream may have handed out and not finished. Only asked for jobs so old that it
    /// matters.
    async fn handed_out_before(&self, batch: &Batch) -> Result<Vec<HandedOut>, StoreError> {
        let now = self.clock.now();
        if !batch.jobs.iter().any(|(_, made)| now.since(*made) > OLD) {
            return Ok(Vec::new());
        }
        let handed_out = self.store.handed_out(CONSUMER).await?;
        Ok(handed_out.into_iter().filter(|out| !matches!(out.by, By::Run(_))).collect())
    }

    /// Leaves written down what is not finished, under the record that the next batch begins with. If that fails, what
    /// is written says too much, never too little, until this process can delete it.
    async fn write_down_the_rest(
        &self,
        batch: &Batch,
        consumers: &Consumers,
        (note, handed_out): (BatchNote, BatchFacts),
        until: Instant,
    ) {
        let rest = batch.window.first_unfinished().map(|next| (next, batch.unfinished_facts()));
        let stays = rest.as_ref().is_some_and(|(next, _)| **next == note.first);
        let mut is_written_down = rest.is_none();
        let written = async {
            if let Some((next, facts)) = rest.as_ref().filter(|(_, facts)| !stays || *facts != handed_out) {
                consumers.hand_out(next, facts, self.clock.now()).await?;
                is_written_down = true;
            }
            if stays { Ok(()) } else { consumers.forget_batch(&note).await }
        };
        let written = in_time(until, written).await.inspect_err(|error| {
            tracing::warn!(error = %Causes(error), "what is finished can't be written down now: it counts as handed out");
        });
        if written.is_err() && !stays {
            let until = rest.filter(|_| !is_written_down).map(|(next, _)| next.clone());
            self.notes.add(LeftNote { consumers: consumers.clone(), note, until });
        }
    }
}

impl Batch {
    /// Takes in records in the order of the shard, each once.
    fn of(mut records: Vec<Record>, effects: &Effects, status: LeaseStatus) -> Self {
        let (window, lanes) = (Window::default(), Lanes::default());
        let mut batch = Self { window, jobs: Vec::new(), facts: BTreeMap::new(), lanes, status };
        records.sort_by(|one, other| one.sequence.cmp(&other.sequence));
        for record in records {
            batch.take_record(effects, &record);
        }
        batch
    }

    fn take_record(&mut self, effects: &Effects, record: &Record) {
        let jobs = jobs(effects, record, BATCH);
        let facts = jobs.iter().map(|(_, job)| job.fact.at).collect();
        let Some(tickets) = self.window.read(record.sequence.clone(), record.at, facts) else { return };
        for (ticket, (effect, Job { order, fact, work })) in tickets.into_iter().zip(jobs) {
            let (at, sequence, lane) = (fact.at, record.sequence.clone(), Lane { effect, order });
            // The older of both: clocks differ, and the stream need not say.
            let made = if record.at == Timestamp::EPOCH { at } else { record.at.min(at) };
            self.facts.insert(ticket, fact);
            self.jobs.push((Waiting { ticket, sequence, lane, at, maybe_sent: false, work }, made));
        }
    }

    /// Returns the facts that aren't finished, by event.
    fn unfinished_facts(&self) -> BatchFacts {
        let mut all = BatchFacts::new();
        for FactRef { event_id, participant, at } in self.facts.values() {
            let one = EventFacts::one(participant.clone(), *at);
            match all.get_mut(event_id) {
                Some(facts) => facts.add(one),
                None => drop(all.insert(event_id.clone(), one)),
            }
        }
        all
    }

    /// Puts each job in its lane.
    fn hand_out(&mut self, handed_out: &[HandedOut]) {
        for (job, _) in self.jobs.drain(..) {
            let covers =
                |fact: &FactRef| handed_out.iter().any(|out| out.covers(&fact.event_id, &fact.participant, fact.at));
            let maybe_sent = self.facts.get(&job.ticket).is_some_and(covers);
            self.lanes.push(Waiting { maybe_sent, ..job });
        }
    }

    async fn work(&mut self, began: Instant, limits: Limits) {
        let (stop, mut running) = (CancellationToken::new(), FuturesUnordered::new());
        loop {
            while let Some(job) = self.lanes.next(|_| !stop.is_cancelled()) {
                let (lease, stop) = (self.status.clone(), stop.clone());
                let under = Handling { lease, maybe_sent: job.maybe_sent, stop };
                running.push(handle(job, under, BATCH));
            }
            if running.is_empty() {
                return;
            }
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(began + limits.end) => return,
                () = tokio::time::sleep_until(began + limits.last_attempt), if !stop.is_cancelled() => stop.cancel(),
                () = tokio::time::sleep_until(began + limits.hurry), if !self.status.has_backpressure() => {
                    self.status.raise_backpressure();
                }
                Some(handled) = running.next() => self.handled(handled),
            }
        }
    }

    fn handled(&mut self, Handled { job, progress }: Handled) {
        match progress {
            Progress::Finished => {
                self.facts.remove(&job.ticket);
                self.window.finish(job.ticket);
                self.lanes.finished(job.lane);
            }
            Progress::Unfinished => self.lanes.unfinished(job),
        }
    }
}

/// Returns what the store answers; one that doesn't answer in time is unavailable.
async fn in_time<T>(until: Instant, work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    timeout_at(until, work).await.map_err(|late| StoreError::Unavailable(late.into()))?
}

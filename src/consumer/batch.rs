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

use std::{collections::BTreeMap, time::Duration};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use parking_lot::Mutex;
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
    effect::{Effects, FactRef, Handling, Progress},
    jobs::{Handled, Jobs, handle},
    lease_status::LeaseStatus,
    limits::Limits,
    settings::CONSUMER,
    window::Ticket,
};

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
    jobs: Jobs,
    /// The facts of the jobs that aren't finished.
    facts: BTreeMap<Ticket, FactRef>,
    /// When the oldest record with a job was made.
    oldest: Option<Timestamp>,
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
        let first = batch.jobs.window.first_unfinished()?.clone();
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
            batch.handed_out_before(&handed_out);
            batch.work(began, limits).await;
            self.write_down_the_rest(&batch, &consumers, (note, facts), began + limits.answer).await;
            self.forget_notes(began + limits.answer).await;
        }
        batch.jobs.window.first_unfinished().cloned()
    }

    /// Deletes the notes of finished batches that could not be deleted before, for as long as there is time.
    pub async fn forget_notes(&self, until: Instant) {
        self.notes.forget(until).await;
    }

    /// Returns what a reader of the stream may have handed out and not finished. Only asked for jobs so old that it
    /// matters.
    async fn handed_out_before(&self, batch: &Batch) -> Result<Vec<HandedOut>, StoreError> {
        let now = self.clock.now();
        if batch.oldest.is_none_or(|made| now.since(made) <= OLD) {
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
        let rest = batch.jobs.window.first_unfinished().map(|next| (next, batch.unfinished_facts()));
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
            self.notes.0.lock().push(LeftNote { consumers: consumers.clone(), note, until });
        }
    }
}

impl Batch {
    /// Takes in records in the order of the shard, each once.
    fn of(mut records: Vec<Record>, effects: &Effects, status: LeaseStatus) -> Self {
        let mut batch = Self { jobs: Jobs::default(), facts: BTreeMap::new(), oldest: None, status };
        records.sort_by(|one, other| one.sequence.cmp(&other.sequence));
        for record in records {
            let taken = batch.jobs.take_in(&record, effects, BATCH, |_| false);
            for (ticket, fact) in taken.into_iter().flatten() {
                // The older of both: clocks differ, and the stream need not say.
                let made = if record.at == Timestamp::EPOCH { fact.at } else { record.at.min(fact.at) };
                batch.oldest = Some(batch.oldest.map_or(made, |oldest| oldest.min(made)));
                batch.facts.insert(ticket, fact);
            }
        }
        batch
    }

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

    /// Takes note of what may have been handed out before.
    fn handed_out_before(&mut self, handed_out: &[HandedOut]) {
        for job in self.jobs.lanes.waiting_mut() {
            let covers = |FactRef { event_id, participant, at }: &FactRef| {
                handed_out.iter().any(|out| out.covers(event_id, participant, *at))
            };
            job.maybe_handed_out = self.facts.get(&job.ticket).is_some_and(covers);
        }
    }

    async fn work(&mut self, began: Instant, limits: Limits) {
        let (stop, mut running) = (CancellationToken::new(), FuturesUnordered::new());
        loop {
            while let Some(job) = self.jobs.lanes.next(|_| !stop.is_cancelled()) {
                let (lease, stop, maybe_handed_out) = (self.status.clone(), stop.clone(), job.maybe_handed_out);
                running.push(handle(job, Handling { lease, maybe_handed_out, stop }, BATCH));
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

    fn handled(&mut self, handled: Handled) {
        if handled.progress == Progress::Finished {
            self.facts.remove(&handled.job.ticket);
        }
        self.jobs.handled(handled);
    }
}

/// Returns what the store answers; one that doesn't answer in time is unavailable.
async fn in_time<T>(until: Instant, work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    timeout_at(until, work).await.map_err(|late| StoreError::Unavailable(late.into()))?
}

/// A note of a finished batch that could not be deleted: the next batch of this process deletes it.
#[derive(Debug, Clone)]
struct LeftNote {
    consumers: Consumers,
    note: BatchNote,
    /// The batch wasn't finished, and the note is the only one of what is left until the batch that begins with this
    /// record is written down.
    until: Option<SequenceNumber>,
}

/// All such notes of this process.
#[derive(Debug, Default)]
struct LeftNotes(Mutex<Vec<LeftNote>>);

impl LeftNotes {
    /// Notes that the batch that begins with this record is written down (anew): its older note is gone, and what waited
    /// for it waits no more.
    fn written(&self, consumers: &Consumers, note: &BatchNote) {
        let mut all = self.0.lock();
        all.retain(|old| !(old.consumers.is_of_the_same_stream(consumers) && old.note.first == note.first));
        let same = |old: &&mut LeftNote| old.consumers.is_of_the_same_stream(consumers);
        for old in all.iter_mut().filter(same).filter(|old| old.until.as_ref() == Some(&note.first)) {
            old.until = None;
        }
    }

    /// Deletes those that can be, for as long as there is time; the others are kept.
    async fn forget(&self, until: Instant) {
        let due: Vec<LeftNote> = {
            let mut all = self.0.lock();
            let (due, rest) = std::mem::take(&mut *all).into_iter().partition(|old| old.until.is_none());
            *all = rest;
            due
        };
        for old in due {
            if !matches!(timeout_at(until, old.consumers.forget_batch(&old.note)).await, Ok(Ok(()))) {
                self.0.lock().push(old);
            }
        }
    }
}

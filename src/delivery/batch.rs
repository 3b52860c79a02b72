//! A batch of records from somebody else who reads the stream, with a time by which it must be answered.
//!
//! AWS Lambda's event source mapping reads the shards and keeps the checkpoints; it hands over the records of one shard
//! in order, one batch after the other. It is told the first record that isn't finished, and hands over everything from
//! there on again; what was finished after it is then met as sent.
//!
//! Nothing waits beyond the time: first notices that have waited for LINE are parked sooner, then no attempt is begun
//! any more, at last whatever still runs is dropped. A dropped push is repeated with the same retry key.

mod unforgotten;

use std::{collections::BTreeMap, future::Future, time::Duration};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::domain::{
    ids::{EventId, LineUserId},
    time::Timestamp,
};
use crate::store::{
    StoreError,
    progress::{BatchFacts, BatchNote, By, Consumers, EventFacts, HandedOut},
    stream::{Record, SequenceNumber},
};

use super::{
    Delivery, Tally,
    called::Called,
    handler::Standing,
    lanes::{Finished, Job, Lanes},
    limits::Limits,
    pending::PendingNotice,
    retry::RETRY_LIMIT,
    window::{Ticket, Window},
    worker::CONSUMER,
};
pub(super) use unforgotten::AllUnforgotten;
use unforgotten::Unforgotten;

/// An hour before it matters whether somebody may have tried a notice: it must not begin to matter while one works.
const OLD: Duration = RETRY_LIMIT.saturating_sub(Duration::from_hours(1));

/// What became of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Handled {
    /// The first record that isn't finished; `None`: all are.
    pub unfinished: Option<SequenceNumber>,
    /// What its notices came to; those that aren't finished are not told.
    pub tally: Tally,
}

/// The records of a batch, and how far they are.
struct Batch {
    window: Window,
    /// What they call for, in their order.
    called: Vec<(Ticket, Called)>,
    /// The facts of those that aren't finished.
    facts: BTreeMap<Ticket, (EventId, LineUserId, Timestamp)>,
    lanes: Lanes,
    standing: Standing,
    tally: Tally,
}

impl Delivery {
    /// Works on a batch until it is finished or the time is over: in order per participant, participants side by side.
    /// `stream`: the ARN of the stream that they come from.
    pub async fn deliver_batch(&self, records: Vec<Record>, stream: &str, limits: Limits) -> Handled {
        let began = Instant::now();
        let standing = Standing::until(self.clock().uptime() + limits.last_attempt);
        let mut batch = Batch::of(records, standing);
        let Some(first) = batch.window.first_unfinished().cloned() else { return batch.handled() };
        let (facts, consumers) = (batch.unfinished_facts(), self.parts.store.consumers(CONSUMER, stream));
        let written = async {
            let doubts = batch.doubts(self).await?;
            Ok((doubts, consumers.hand_out(&first, &facts, self.clock().now()).await?))
        };
        let failure = "nothing is handed out: it can't be written down now";
        if let Some((doubts, note)) = in_time(began + limits.last_attempt, failure, written).await {
            self.parts.unforgotten.written(&consumers, &note);
            batch.hand_out(&doubts);
            batch.work(self, began, limits).await;
            batch.write_down_the_rest(self, &consumers, (note, facts), began + limits.answer).await;
            self.parts.unforgotten.forget(began + limits.answer).await;
        }
        batch.handled()
    }
}

impl Batch {
    /// In the order of the shard, each record once.
    fn of(mut records: Vec<Record>, standing: Standing) -> Self {
        let (window, lanes, tally) = (Window::default(), Lanes::default(), Tally::default());
        let mut batch = Self { window, called: Vec::new(), facts: BTreeMap::new(), lanes, standing, tally };
        records.sort_by(|one, other| one.sequence.cmp(&other.sequence));
        for record in records {
            batch.take_record(record);
        }
        batch
    }

    /// A record that calls for nothing is finished at once.
    fn take_record(&mut self, record: Record) {
        let called = Called::by(&record, "batch");
        let fact = called.as_ref().map(|called| called.at);
        let Some(ticket) = self.window.read(record.sequence, record.at, fact) else { return };
        match called {
            Some(called) => {
                let (event_id, participant) = (called.notice.event_id.clone(), called.notice.line_user_id.clone());
                self.facts.insert(ticket, (event_id, participant, called.at));
                self.called.push((ticket, called));
            }
            None => self.window.finish(ticket),
        }
    }

    /// The facts that aren't finished, by event.
    fn unfinished_facts(&self) -> BatchFacts {
        let mut all = BatchFacts::new();
        for (event_id, participant, at) in self.facts.values() {
            let one = EventFacts::one(participant.clone(), *at);
            match all.get_mut(event_id) {
                Some(facts) => facts.add(one),
                None => drop(all.insert(event_id.clone(), one)),
            }
        }
        all
    }

    /// What a reader of the stream may have handed to LINE without leaving a mark. Only asked for notices so old that it
    /// matters.
    async fn doubts(&self, delivery: &Delivery) -> Result<Vec<HandedOut>, StoreError> {
        let now = delivery.clock().now();
        if !self.called.iter().any(|(_, called)| now.since(called.since) > OLD) {
            return Ok(Vec::new());
        }
        let handed_out = delivery.parts.store.handed_out(CONSUMER).await?;
        Ok(handed_out.into_iter().filter(|out| !matches!(out.by, By::Run(_))).collect())
    }

    /// Each notice gets in its participant's lane.
    fn hand_out(&mut self, doubts: &[HandedOut]) {
        for (ticket, Called { notice, at, since, path }) in self.called.drain(..) {
            let maybe_sent = doubts.iter().any(|out| out.covers(&notice.event_id, &notice.line_user_id, at));
            let pending = PendingNotice { notice, since, maybe_sent, path, lease: self.standing.clone() };
            self.lanes.push(Job { ticket, at, pending });
        }
    }

    async fn work(&mut self, delivery: &Delivery, began: Instant, limits: Limits) {
        let stop = CancellationToken::new();
        let mut running = FuturesUnordered::new();
        loop {
            while let Some(job) = self.lanes.next(|_| !stop.is_cancelled()) {
                running.push(work_on(delivery, job, &stop));
            }
            if running.is_empty() {
                return;
            }
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(began + limits.end) => return,
                () = tokio::time::sleep_until(began + limits.last_attempt), if !stop.is_cancelled() => stop.cancel(),
                () = tokio::time::sleep_until(began + limits.hurry), if !self.standing.is_crowded() => {
                    self.standing.tell_crowded(true);
                }
                Some(finished) = running.next() => self.finished(finished),
            }
        }
    }

    fn finished(&mut self, finished: Finished) {
        if finished.outcome.is_final() {
            self.tally.count(finished.outcome);
            self.facts.remove(&finished.job.ticket);
            self.window.finish(finished.job.ticket);
        }
        self.lanes.finished(finished);
    }

    /// Leaves written down what is not finished, under the record that the next batch begins with. If that fails, what
    /// is written says too much, never too little, until this process can delete it.
    async fn write_down_the_rest(
        &self,
        delivery: &Delivery,
        consumers: &Consumers,
        (note, handed_out): (BatchNote, BatchFacts),
        until: Instant,
    ) {
        let rest = self.window.first_unfinished().map(|next| (next, self.unfinished_facts()));
        let stays = rest.as_ref().is_some_and(|(next, _)| **next == note.first);
        let mut is_written_down = rest.is_none();
        let written = async {
            if let Some((next, facts)) = rest.as_ref().filter(|(_, facts)| !stays || *facts != handed_out) {
                consumers.hand_out(next, facts, delivery.clock().now()).await?;
                is_written_down = true;
            }
            if stays { Ok(()) } else { consumers.forget_batch(&note).await }
        };
        let failure = "what is finished stays in doubt: it can't be written down now";
        if in_time(until, failure, written).await.is_none() && !stays {
            let until = rest.filter(|_| !is_written_down).map(|(next, _)| next.clone());
            delivery.parts.unforgotten.add(Unforgotten { consumers: consumers.clone(), note, until });
        }
    }

    fn handled(self) -> Handled {
        Handled { unfinished: self.window.first_unfinished().cloned(), tally: self.tally }
    }
}

async fn work_on(delivery: &Delivery, job: Job, stop: &CancellationToken) -> Finished {
    let outcome = delivery.deliver(&job.pending, stop).await;
    Finished { job, outcome }
}

/// What the store answers, if it does as asked in time; if not, that is told.
async fn in_time<T>(
    until: Instant,
    failure: &'static str,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Option<T> {
    let error = match timeout_at(until, work).await {
        Ok(Ok(done)) => return Some(done),
        Ok(Err(error)) => Some(error),
        Err(_) => None,
    };
    tracing::warn!(error = error.as_ref().map(|error| error as &dyn std::error::Error), "{failure}");
    None
}

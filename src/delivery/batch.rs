//! A batch of records from somebody else who reads the stream, with a time by which it must be answered.
//!
//! AWS Lambda's event source mapping reads the shards and keeps the checkpoints; it hands over the records of one shard
//! in order, one batch after the other. It is told the first record that isn't finished, and hands over everything from
//! there on again; what was finished after it is then met as sent.
//!
//! Nothing waits beyond the time: first notices that have waited for LINE are parked sooner, then no attempt is begun
//! any more, at last whatever still runs is dropped. A dropped push is repeated with the same retry key.

use std::{future::Future, time::Duration};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::store::{
    StoreError,
    progress::{By, Consumers, FactSpan},
    stream::{Record, SequenceNumber},
};

use super::{
    Delivery, Tally,
    called::Called,
    handler::{Call, RETRY_LIMIT, Standing},
    lanes::{Finished, Job, Lanes},
    limits::Limits,
    window::{Ticket, Window},
    worker::CONSUMER,
};

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
        let Some(span) = batch.window.unfinished() else { return batch.handled() };
        let consumers = self.parts.store.consumers(CONSUMER, stream);
        let written = async {
            let doubts = batch.doubts(self).await?;
            consumers.hand_out(&first, span, self.clock().now()).await.map(|()| doubts)
        };
        let failure = "nothing is handed out: it can't be written down now";
        if let Some(doubts) = in_time(began + limits.last_attempt, failure, written).await {
            batch.hand_out(&doubts);
            batch.work(self, began, limits).await;
            batch.tell_the_rest(self, &consumers, (&first, span), began + limits.answer).await;
        }
        batch.handled()
    }
}

impl Batch {
    /// In the order of the shard, each record once.
    fn of(mut records: Vec<Record>, standing: Standing) -> Self {
        let (window, lanes, tally) = (Window::default(), Lanes::default(), Tally::default());
        let mut batch = Self { window, called: Vec::new(), lanes, standing, tally };
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
            Some(called) => self.called.push((ticket, called)),
            None => self.window.finish(ticket),
        }
    }

    /// What a reader of the stream may have handed to LINE without leaving a mark. Only asked for notices so old that it
    /// matters.
    async fn doubts(&self, delivery: &Delivery) -> Result<Vec<FactSpan>, StoreError> {
        let now = delivery.clock().now();
        if !self.called.iter().any(|(_, called)| now.since(called.since) > OLD) {
            return Ok(Vec::new());
        }
        let handed_out = delivery.parts.store.handed_out(CONSUMER).await?;
        Ok(handed_out.into_iter().filter(|out| out.by == By::Stream).map(|out| out.span).collect())
    }

    /// Each notice gets in its participant's lane.
    fn hand_out(&mut self, doubts: &[FactSpan]) {
        for (ticket, Called { notice, at, since, path }) in self.called.drain(..) {
            let doubtful = doubts.iter().any(|span| span.contains(at));
            let call = Call { notice, since, doubtful, path, standing: self.standing.clone() };
            self.lanes.push(Job { ticket, at, call });
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
            self.window.finish(finished.job.ticket);
        }
        self.lanes.finished(finished);
    }

    /// Leaves written down what is not finished, under the record that the next batch begins with. If that fails, what
    /// stands there tells of too much, never of too little.
    async fn tell_the_rest(
        &self,
        delivery: &Delivery,
        consumers: &Consumers,
        (first, handed_out): (&SequenceNumber, FactSpan),
        until: Instant,
    ) {
        let rest = self.window.first_unfinished().zip(self.window.unfinished());
        let told = async {
            if let Some((next, span)) = rest.filter(|rest| *rest != (first, handed_out)) {
                consumers.hand_out(next, span, delivery.clock().now()).await?;
            }
            if rest.is_some_and(|(next, _)| next == first) {
                return Ok(());
            }
            consumers.forget_batch(first).await
        };
        in_time(until, "what is finished stays in doubt: it can't be written down now", told).await;
    }

    fn handled(self) -> Handled {
        Handled { unfinished: self.window.first_unfinished().cloned(), tally: self.tally }
    }
}

async fn work_on(delivery: &Delivery, job: Job, stop: &CancellationToken) -> Finished {
    let outcome = delivery.deliver(&job.call, stop).await;
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

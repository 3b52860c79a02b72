//! Reading one leased shard: pages in, notices out in order per participant, progress written.

mod progress;
mod reading;

pub(super) use progress::tell_over;

use std::{collections::BTreeMap, time::Duration};

use futures_util::future::BoxFuture;
use tokio::{
    task::{JoinError, JoinSet},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::domain::{counts::Counts, time::Clock};
use crate::store::{
    counts::HourOfEvent,
    progress::{Consumers, Hold, Lease, Reached, ShardProgress},
    stream::{ShardId, StreamReader},
};

use super::{
    Delivery, Tally,
    coverage::Coverage,
    handler::Standing,
    lanes::{Finished, Lanes},
    lease::Times,
    window::Window,
    worker::StreamWatch,
};
use progress::{Writing, Written};
use reading::{Page, Reading};

/// So many unfinished records at most, and a page: then reading waits.
const ROOM: usize = 1000;

/// What reading a shard needs.
#[derive(Clone)]
pub struct Context {
    /// Works on notices.
    pub delivery: Delivery,
    /// Reads the stream.
    pub reader: StreamReader,
    /// Writes progress.
    pub consumers: Consumers,
    /// Time.
    pub clock: Clock,
    /// The times of a lease.
    pub times: Times,
    /// Whether the stream that is read is the table's.
    pub watch: StreamWatch,
}

/// Until when a shard is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Until it ends, or we stop.
    Forever,
    /// Until it has nothing more to give for now. Nothing waits for time to pass.
    Idle,
}

/// Why reading ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Everything of it is finished, and it is closed.
    Finished,
    /// It has nothing more to give for now; the lease is kept.
    Idle,
    /// The lease is somebody else's.
    Lost,
    /// The lease was given back.
    Released,
}

/// A shard that this worker has the lease of.
pub struct Shard {
    lease: Lease,
    standing: Standing,
    window: Window,
    coverage: Coverage,
    lanes: Lanes,
    reading: Reading,
    /// The shard is closed, and its last page was read.
    ended: bool,
    reached: Reached,
    written: Written,
    /// The shard's counts of the hours that the last write told of.
    counted: Counted,
    tally: Tally,
}

/// Counts by event and hour.
type Counted = BTreeMap<HourOfEvent, Counts>;

impl Shard {
    /// Begins where the progress of the shard says, with a lease that was asked for at the uptime `asked`.
    #[must_use]
    pub fn begin(lease: Lease, found: ShardProgress, asked: Duration, context: &Context) -> Self {
        reading::lost(&lease.shard).increment(0);
        Self {
            lease,
            standing: Standing::until(asked + context.times.silence),
            window: Window::after(found.reached.checkpoint.clone()),
            coverage: Coverage::inherit(found.reached.handed_out),
            lanes: Lanes::default(),
            reading: Reading::begin(context.clock.now()),
            ended: false,
            written: Written::begin(found.reached.checkpoint.clone()),
            reached: found.reached,
            counted: Counted::new(),
            tally: Tally::default(),
        }
    }

    /// The shard's name.
    #[must_use]
    pub fn id(&self) -> &ShardId {
        &self.lease.shard
    }

    /// What became of its notices since it was last asked.
    pub fn take_tally(&mut self) -> Tally {
        std::mem::take(&mut self.tally)
    }

    /// Reads, hands out, writes progress, until the goal is reached, the shard ends, or `stop`. When it is lost, all
    /// work on it is dropped at once: the new holder does it, with the same keys.
    pub async fn run(&mut self, context: &Context, goal: Goal, stop: &CancellationToken) -> End {
        let mut work = UnderWay::default();
        self.reading.again();
        loop {
            let wake = self.begin_what_is_due(context, goal, stop, &mut work);
            if goal == Goal::Idle && work.is_over() && self.is_idle() {
                return End::Idle;
            }
            match work.next(stop, wake).await {
                Step::Handled(Ok(finished)) => self.finished(finished),
                Step::Handled(Err(broken)) => {
                    let error = &broken as &dyn std::error::Error;
                    tracing::error!(shard = %self.id(), error, "work on a notice broke off: the shard is begun anew");
                    return End::Lost;
                }
                Step::Read(page) => self.take_in(context, page),
                Step::Stop => work.read = None,
                Step::Time => {}
                Step::Wrote(writing) => {
                    if let Some(end) = self.wrote(context, writing) {
                        return end;
                    }
                }
            }
        }
    }

    /// Begins to read and to write if it is time for it; tells when it will be.
    fn begin_what_is_due(
        &mut self,
        context: &Context,
        goal: Goal,
        stop: &CancellationToken,
        work: &mut UnderWay,
    ) -> Instant {
        let (stopping, now) = (stop.is_cancelled(), Instant::now());
        if !stopping {
            self.hand_out(context, &mut work.running, stop);
        }
        let read_at = self.reads_at(goal).filter(|_| !stopping && work.read.is_none());
        if read_at.is_some_and(|at| at <= now) {
            work.read = Some(self.read(context));
        }
        let last = stopping && work.running.is_empty();
        let write_at = Some(self.writes_at(context, goal)).filter(|_| work.write.is_none());
        if work.write.is_none() && (last || write_at.is_some_and(|at| at <= now)) {
            work.write = Some(self.write(context, if last { Hold::Release } else { Hold::Keep }));
        }
        // What is due is under way now, so only what is still to come needs waking up for.
        let next = [read_at, write_at].into_iter().flatten().filter(|at| *at > now).min();
        next.unwrap_or(now + context.times.round)
    }

    /// Gives everything out that may be tried: the first of each participant, if the progress covers it.
    fn hand_out(&mut self, context: &Context, running: &mut JoinSet<Finished>, stop: &CancellationToken) {
        if !self.standing.is_good(context.clock.uptime()) {
            return;
        }
        while let Some(job) = self.lanes.next(|at| self.coverage.covers(at)) {
            let (delivery, stop) = (context.delivery.clone(), stop.clone());
            running.spawn(async move {
                let outcome = delivery.deliver(&job.pending, &stop).await;
                Finished { job, outcome }
            });
        }
    }

    fn finished(&mut self, finished: Finished) {
        if finished.outcome.is_final() {
            self.tally.count(finished.outcome);
            self.window.finish(finished.job.ticket);
        }
        self.lanes.finished(finished);
    }

    /// Everything read is finished and written down, and the last page was empty.
    fn is_idle(&self) -> bool {
        let written = self.written.reached_all(&self.window);
        self.window.is_empty() && written && self.reading.is_at_the_tip() && !self.ended
    }
}

/// What one shard has under way.
#[derive(Default)]
struct UnderWay {
    /// Notices that are worked on. Dropped, they break off.
    running: JoinSet<Finished>,
    read: Option<BoxFuture<'static, Page>>,
    write: Option<BoxFuture<'static, Writing>>,
}

enum Step {
    Handled(Result<Finished, JoinError>),
    Read(Page),
    Stop,
    Time,
    Wrote(Writing),
}

impl UnderWay {
    fn is_over(&self) -> bool {
        self.running.is_empty() && self.read.is_none() && self.write.is_none()
    }

    /// Waits for the next thing to happen.
    async fn next(&mut self, stop: &CancellationToken, wake: Instant) -> Step {
        let known = stop.is_cancelled();
        tokio::select! {
            biased;
            () = stop.cancelled(), if !known => Step::Stop,
            Some(done) = self.running.join_next() => Step::Handled(done),
            writing = over(&mut self.write) => Step::Wrote(writing),
            page = over(&mut self.read) => Step::Read(page),
            () = tokio::time::sleep_until(wake) => Step::Time,
        }
    }
}

/// What becomes of something that is under way; if nothing is, nothing ever.
async fn over<T>(future: &mut Option<BoxFuture<'static, T>>) -> T {
    let Some(under_way) = future else { return std::future::pending().await };
    let done = under_way.await;
    *future = None;
    done
}

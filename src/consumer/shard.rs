//! Reading one leased shard: pages in, jobs out in order per lane, progress written.
//!
//! | file | holds |
//! | --- | --- |
//! | `pages.rs` | reading a page, taking in its records |
//! | `reading.rs` | where a shard is read, and when next |
//! | `writing.rs` | writing the checkpoint with the renewal of the lease |
//! | `written.rs` | what was written, and when next |

mod pages;
mod reading;
mod writing;
mod written;

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use tokio::{
    task::{JoinError, JoinSet},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::domain::{causes::Causes, time::Clock};
use crate::store::{
    progress::{AfterWrite, Consumers, Lease, ShardState},
    stream::{ShardId, StreamReader},
};

use super::{
    catch_up::Part,
    coverage::Coverage,
    effect::{CheckpointWrites, Effects, Handling},
    jobs::{Handled, Jobs, handle},
    lease::Times,
    lease_status::LeaseStatus,
    stream_state::StreamWatch,
    window::Window,
};
use reading::{Page, Reading};
use written::{Writing, Written};

pub(super) use written::report_over;

/// So many unfinished records at most, and a page: then reading waits.
const ROOM: usize = 1000;

#[derive(Clone)]
pub(super) struct Context {
    /// What follows from the records.
    pub effects: Effects,
    pub reader: StreamReader,
    pub consumers: Consumers,
    pub clock: Clock,
    pub times: Times,
    /// The time between two reads of a shard while records come.
    pub poll_interval: Duration,
    /// Whether the stream that is read is the table's.
    pub watch: StreamWatch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Everything of it is finished, and it is closed.
    Finished,
    /// The lease is another worker's, or may be; or a job or the reading panicked and the shard is begun anew.
    Lost,
    /// The lease was given back.
    Released,
}

pub(super) struct Taken {
    pub lease: Lease,
    /// What its shard had come to.
    pub reached: ShardState,
    /// The uptime before it was asked for.
    pub asked: Duration,
}

/// A shard that this worker has the lease of.
pub(super) struct Shard {
    lease: Lease,
    status: LeaseStatus,
    jobs: Jobs,
    coverage: Coverage,
    reading: Reading,
    /// The shard is closed, and its last page was read.
    ended: bool,
    reached: ShardState,
    written: Written,
    /// What effects write together with the checkpoint.
    writes: Arc<[Arc<dyn CheckpointWrites>]>,
    part: Part,
}

impl Shard {
    /// Begins where the progress of the shard says.
    pub fn begin(Taken { lease, reached, asked }: Taken, context: &Context, part: Part) -> Self {
        reading::lost_records(&lease.shard).increment(0);
        Self {
            status: LeaseStatus::until(asked + context.times.silence),
            jobs: Jobs { window: Window::after(reached.checkpoint.clone()), ..Jobs::default() },
            coverage: Coverage::inherit(reached.handed_out),
            reading: Reading::begin(context.clock.now()),
            ended: false,
            written: Written::begin(reached.checkpoint.clone()),
            reached,
            writes: context.checkpoint_writes(&lease.shard),
            lease,
            part,
        }
    }

    pub fn id(&self) -> &ShardId {
        &self.lease.shard
    }

    /// Reads, hands out, writes progress, until the shard ends, is lost, or `stop`. When it is lost, all work on it is
    /// dropped at once: the new owner does it.
    pub async fn run(mut self, context: &Context, stop: &CancellationToken) -> (End, Part) {
        let mut work = UnderWay::default();
        loop {
            let wake = self.begin_what_is_due(context, stop, &mut work);
            self.catch_up(&work);
            match work.next(stop, wake, &mut self.part).await {
                Step::Handled(Ok(handled)) => self.jobs.handled(handled),
                Step::Handled(Err(broken)) => {
                    tracing::error!(shard.id = %self.id(), error = %Causes(&broken), "work on a job broke off: the shard is begun anew");
                    return (End::Lost, self.part);
                }
                Step::Read(page) => self.take_in(context, page),
                Step::Stop => work.read = None,
                Step::Asked | Step::Time => {}
                Step::Wrote(writing) => {
                    if let Some(end) = self.wrote(context, writing) {
                        return (end, self.part);
                    }
                }
            }
        }
    }

    /// Begins to read and to write if it is time for it; returns when it will be.
    fn begin_what_is_due(&mut self, context: &Context, stop: &CancellationToken, work: &mut UnderWay) -> Instant {
        let (stopping, now) = (stop.is_cancelled(), Instant::now());
        if !stopping {
            self.hand_out(context, &mut work.running, stop);
        }
        let read_at = self.reads_at(now).filter(|_| !stopping && work.read.is_none());
        if read_at.is_some_and(|at| at <= now) {
            work.read = Some(self.read(context));
        }
        let last = stopping && work.running.is_empty();
        let write_at = Some(self.writes_at(context)).filter(|_| work.write.is_none());
        if work.write.is_none() && (last || write_at.is_some_and(|at| at <= now)) {
            work.write = Some(self.write(context, if last { AfterWrite::Release } else { AfterWrite::Keep }));
        }
        // What is due is under way now, so only what is still to come needs waking up for.
        let next = [read_at, write_at].into_iter().flatten().filter(|at| *at > now).min();
        next.unwrap_or(now + context.times.round)
    }

    /// Gives everything out that may be begun: the first of each lane, if the progress covers it.
    fn hand_out(&mut self, context: &Context, running: &mut JoinSet<Handled>, stop: &CancellationToken) {
        if !self.status.is_valid(context.clock.uptime()) {
            return;
        }
        while let Some(job) = self.jobs.lanes.next(|at| self.coverage.covers(at)) {
            let handling =
                Handling { lease: self.status.clone(), maybe_handed_out: job.maybe_handed_out, stop: stop.clone() };
            let source = self.id().clone();
            running.spawn(async move { handle(job, handling, source.as_str()).await });
        }
    }

    /// Notes up to which moment everything is finished and written down.
    fn catch_up(&self, work: &UnderWay) {
        let is_written = work.write.is_none() && self.written.reached_all(&self.jobs.window);
        if is_written && self.jobs.window.is_empty() && !self.ended {
            self.part.reached(self.reading.caught_up());
        }
    }
}

impl Context {
    fn checkpoint_writes(&self, shard: &ShardId) -> Arc<[Arc<dyn CheckpointWrites>]> {
        self.effects.iter().filter_map(|effect| effect.checkpoint_writes(self.reader.arn(), shard)).collect()
    }
}

/// What one shard has under way.
#[derive(Default)]
struct UnderWay {
    /// Jobs that are worked on. Dropped, they break off.
    running: JoinSet<Handled>,
    read: Option<BoxFuture<'static, Page>>,
    write: Option<BoxFuture<'static, Writing>>,
}

enum Step {
    Asked,
    Handled(Result<Handled, JoinError>),
    Read(Page),
    Stop,
    Time,
    Wrote(Writing),
}

impl UnderWay {
    /// Waits for the next thing to happen.
    async fn next(&mut self, stop: &CancellationToken, wake: Instant, part: &mut Part) -> Step {
        let known = stop.is_cancelled();
        tokio::select! {
            biased;
            () = stop.cancelled(), if !known => Step::Stop,
            Some(done) = self.running.join_next() => Step::Handled(done),
            writing = over(&mut self.write) => Step::Wrote(writing),
            page = over(&mut self.read) => Step::Read(page),
            () = part.asked() => Step::Asked,
            () = tokio::time::sleep_until(wake) => Step::Time,
        }
    }
}

/// Waits for the end of something that is under way; for ever, if nothing is.
async fn over<T>(future: &mut Option<BoxFuture<'static, T>>) -> T {
    let Some(under_way) = future else { return std::future::pending().await };
    let done = under_way.await;
    *future = None;
    done
}

//! Pages of a shard, and what to do when there is none.

use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::Instant;

use crate::domain::{counts::Tick, time::Timestamp};
use crate::store::stream::{Change, Iterator, Record, RecordsPage, ShardId, Start, StreamError};

use super::{Context, Goal, ROOM, Shard};
use crate::delivery::{called::Called, lanes::Job, pending::PendingNotice, window::Window, worker::StreamState};

/// Records a page (the stream's own limit, and 1 MB).
const PAGE: u16 = 1000;

/// A page of so many records was not the last one: the next is read at once.
const FULL: usize = 100;

/// Without records for so long, a shard is read more slowly: every read of DynamoDB Streams is paid for.
const QUIET: Duration = Duration::from_secs(30);

/// How often a quiet shard is read.
const SLOW: Duration = Duration::from_secs(1);

/// Reading that failed is tried again after this, doubled each time up to [`LONGEST`].
const FIRST: Duration = Duration::from_millis(500);

/// See [`FIRST`].
const LONGEST: Duration = Duration::from_secs(10);

/// A stream that was turned off gets no records any more, and its shards are closed. An engine that never closes a shard
/// (the embedded one) has nothing more to give after so many empty pages in a row.
const EMPTY_PAGES: u32 = 40;

/// A record made so long after we took the shard can't have been handed out by the holder before (clocks differ, and the
/// stream tells seconds).
const AFTERWARDS_MS: i64 = 60_000;

/// An iterator if there is a good one, and the page.
pub(super) type Page = (Option<Iterator>, Result<RecordsPage, StreamError>);

/// How often a shard lost records before they were read.
pub(super) fn lost(shard: &ShardId) -> metrics::Counter {
    metrics::counter!("stamp_rally_stream_lost_total", "shard" => shard.to_string())
}

/// Where a shard is read, and when next.
pub(super) struct Reading {
    iterator: Option<Iterator>,
    from_the_horizon: bool,
    next_at: Instant,
    records_at: Instant,
    failures: u32,
    empty_pages: u32,
    tip: bool,
    taken_at: Timestamp,
    /// Since when every page failed.
    failing_since: Option<Timestamp>,
}

impl Reading {
    pub fn begin(now: Timestamp) -> Self {
        Self {
            iterator: None,
            from_the_horizon: false,
            next_at: Instant::now(),
            records_at: Instant::now(),
            failures: 0,
            empty_pages: 0,
            tip: false,
            taken_at: now,
            failing_since: None,
        }
    }

    /// Asks again whether there is something.
    pub fn again(&mut self) {
        (self.tip, self.next_at) = (false, Instant::now());
    }

    /// Whether the last page was empty.
    pub fn is_at_the_tip(&self) -> bool {
        self.tip
    }

    /// How long nothing could be read.
    pub fn failing_for(&self, now: Timestamp) -> Duration {
        self.failing_since.map_or(Duration::ZERO, |since| now.since(since))
    }

    /// When the next page is due; who waits for idleness waits for nothing but failures.
    pub fn next_at(&self, goal: Goal) -> Option<Instant> {
        (goal == Goal::Forever || !self.tip).then_some(self.next_at)
    }

    fn came(&mut self, records: usize, poll_interval: Duration) {
        let now = Instant::now();
        (self.tip, self.failures, self.failing_since) = (records == 0, 0, None);
        self.empty_pages = self.empty_pages.saturating_add(1);
        if records > 0 {
            (self.records_at, self.empty_pages) = (now, 0);
        }
        let quiet = now - self.records_at >= QUIET;
        let pause = if quiet { poll_interval.max(SLOW) } else { poll_interval };
        self.next_at = if records >= FULL { now } else { now + pause };
    }

    fn failed(&mut self, now: Timestamp) {
        self.failing_since.get_or_insert(now);
        let pause = FIRST.saturating_mul(1 << self.failures.min(8)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        self.next_at = Instant::now() + pause;
    }
}

impl Shard {
    fn has_room(&self) -> bool {
        !self.ended && self.window.len() < ROOM
    }

    /// When the next page is to be read, if one is.
    pub(super) fn reads_at(&self, goal: Goal) -> Option<Instant> {
        self.reading.next_at(goal).filter(|_| self.has_room())
    }

    /// Reads a page, first making an iterator if there is none: after the last record read, which may be beyond the
    /// checkpoint.
    pub(super) fn read(&self, context: &Context) -> BoxFuture<'static, Page> {
        let (reader, shard, iterator) = (context.reader.clone(), self.id().clone(), self.reading.iterator.clone());
        let after = self.window.last_read().filter(|_| !self.reading.from_the_horizon);
        let start = after.map_or(Start::TrimHorizon, |last| Start::After(last.clone()));
        Box::pin(async move {
            let iterator = match iterator {
                Some(iterator) => iterator,
                None => match reader.iterator(&shard, &start).await {
                    Ok(iterator) => iterator,
                    Err(error) => return (None, Err(error)),
                },
            };
            let page = reader.records(&iterator, PAGE).await;
            (Some(iterator), page)
        })
    }

    /// Takes in a page, or does what its failure asks for.
    pub(super) fn take_in(&mut self, context: &Context, (iterator, page): Page) {
        match page {
            Ok(page) => {
                (self.reading.iterator, self.reading.from_the_horizon) = (page.next, false);
                self.reading.came(page.records.len(), context.delivery.settings().poll_interval);
                self.ended = self.reading.iterator.is_none() || self.is_abandoned(context);
                let afterwards = self.reading.taken_at.plus_millis(AFTERWARDS_MS);
                let newer = page.records.iter().any(|record| record.at > afterwards);
                let caught_up = page.records.is_empty() || self.ended || newer;
                page.records.into_iter().for_each(|record| self.take_record(record));
                if caught_up {
                    self.reached.doubtful.extend(self.coverage.caught_up(context.clock.now()));
                }
            }
            Err(StreamError::Expired) => self.reading.iterator = None,
            Err(StreamError::Misplaced(_)) if self.has_read_nothing() => {
                tracing::error!(
                    shard = %self.id(),
                    "the shard's checkpoint is none of its records': it is read from the trim horizon, and what it \
                     counted may count again (`stamp-rally stats rebuild` corrects that)"
                );
                self.cut_off();
                self.window = Window::after(None);
                self.written.forget_checkpoint();
                self.reading.from_the_horizon = true;
                self.reading.failed(context.clock.now());
            }
            Err(StreamError::ShardGone) => {
                tracing::error!(shard = %self.id(), "the shard is gone: what of it was unread is lost to the stream");
                self.cut_off();
                self.ended = true;
            }
            Err(StreamError::Misplaced(error) | StreamError::Store(error)) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(shard = %self.id(), error, "the shard can't be read now");
                self.reading.iterator = iterator;
                self.reading.failed(context.clock.now());
            }
            Err(StreamError::Trimmed) => {
                tracing::error!(shard = %self.id(), "records were trimmed unread: run `stamp-rally reconcile`");
                self.cut_off();
                (self.reading.iterator, self.reading.from_the_horizon) = (None, true);
                self.reading.failed(context.clock.now());
            }
        }
        self.standing.tell_crowded(!self.ended && !self.has_room());
    }

    /// Whether reading begins at a checkpoint that it hasn't proved yet.
    fn has_read_nothing(&self) -> bool {
        self.reading.iterator.is_none() && !self.reading.from_the_horizon && self.window.is_empty()
    }

    /// Whether it gets no records any more, and has given all that it had.
    fn is_abandoned(&self, context: &Context) -> bool {
        self.reading.empty_pages >= EMPTY_PAGES && context.watch.state() == StreamState::Replaced
    }

    /// What the holder before may have tried can't be read again: `reconcile` must know.
    fn cut_off(&mut self) {
        lost(self.id()).increment(1);
        self.reached.doubtful.extend(self.coverage.cut_off());
    }

    /// A notice gets in its lane; everything else is finished as soon as it is read.
    fn take_record(&mut self, record: Record) {
        let called = Called::by(&record, self.id().as_str());
        let fact = called.as_ref().map(|called| called.at);
        let tick = match &record.change {
            Change::Damaged(fact) => Tick::taken_back(fact),
            Change::Inserted(fact) => Tick::of(fact),
            Change::Passed | Change::Unreadable(_) => None,
        };
        let Some(ticket) = self.window.read(record.sequence, record.at, fact) else { return };
        if let Some(tick) = tick {
            self.window.counts(ticket, tick);
        }
        let Some(Called { notice, at, since, path }) = called else { return self.window.finish(ticket) };
        let maybe_sent = self.coverage.is_doubtful(at);
        let pending = PendingNotice { notice, since, maybe_sent, path, lease: self.standing.clone() };
        self.lanes.push(Job { ticket, at, pending });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_time_without_a_page_counts_from_the_first_failure_until_a_page_comes() {
        let at = |seconds: i64| Timestamp::EPOCH.plus_millis(seconds * 1_000);
        let mut reading = Reading::begin(at(0));
        assert_eq!(reading.failing_for(at(60)), Duration::ZERO);
        reading.failed(at(100));
        reading.failed(at(130));
        assert_eq!(reading.failing_for(at(400)), Duration::from_mins(5));
        reading.came(0, Duration::from_millis(250));
        assert_eq!(reading.failing_for(at(500)), Duration::ZERO);
    }
}

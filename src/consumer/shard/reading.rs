//! Where a shard is read, and when next: pure, but for the clock of intervals.

use std::time::Duration;

use tokio::time::Instant;

use crate::domain::time::Timestamp;
use crate::store::stream::{Iterator, RecordsPage, ShardId, StreamError};

/// A page of so many records was not the last one: the next is read at once.
const FULL: usize = 100;

/// Without records for so long, a shard is read more slowly: every read of DynamoDB Streams is paid for.
const QUIET: Duration = Duration::from_secs(30);

/// How often a quiet shard is read.
const SLOW: Duration = Duration::from_secs(1);

/// Reading that failed is repeated after this, doubled each time up to [`LONGEST`].
const FIRST: Duration = Duration::from_millis(500);

/// See [`FIRST`].
const LONGEST: Duration = Duration::from_secs(10);

/// A stream that was turned off gets no records any more, and its shards are closed. An engine that never closes a shard
/// (the embedded one) has nothing more to give after so many empty pages in a row.
const EMPTY_PAGES: u32 = 40;

/// A record made so long after we took the shard can't have been handed out by the owner before (clocks differ, and the
/// stream says seconds).
const AFTERWARDS_MS: i64 = 60_000;

pub(super) struct Page {
    /// Where to go on, if there is a good iterator.
    pub iterator: Option<Iterator>,
    /// What came.
    pub records: Result<RecordsPage, StreamError>,
    /// When it was asked for, if everything read before was finished then.
    pub clean: Option<Instant>,
}

/// Counts how often a shard lost records before they were read.
pub(super) fn lost_records(shard: &ShardId) -> metrics::Counter {
    metrics::counter!("stamp_rally_stream_lost_total", "shard" => shard.to_string())
}

pub(super) struct Reading {
    pub iterator: Option<Iterator>,
    pub from_the_horizon: bool,
    next_at: Instant,
    records_at: Instant,
    failures: u32,
    empty_pages: u32,
    /// When the last page was asked for, if it was empty and everything before it was finished.
    caught_up: Option<Instant>,
    taken_at: Timestamp,
    /// Since when every page failed.
    failing_since: Option<Timestamp>,
}

impl Reading {
    /// Begins at the wall time `now`.
    pub fn begin(now: Timestamp) -> Self {
        Self {
            iterator: None,
            from_the_horizon: false,
            next_at: Instant::now(),
            records_at: Instant::now(),
            failures: 0,
            empty_pages: 0,
            caught_up: None,
            taken_at: now,
            failing_since: None,
        }
    }

    /// Returns up to which moment nothing is left to read.
    pub fn caught_up(&self) -> Option<Instant> {
        self.caught_up
    }

    /// Returns how long nothing could be read.
    pub fn failing_for(&self, now: Timestamp) -> Duration {
        self.failing_since.map_or(Duration::ZERO, |since| now.since(since))
    }

    /// Returns whether the last page failed.
    pub fn is_failing(&self) -> bool {
        self.failures > 0
    }

    /// Returns when the next page is due.
    pub fn next_at(&self) -> Instant {
        self.next_at
    }

    /// Returns whether nothing came for so long that an abandoned shard has given all that it had.
    pub fn is_exhausted(&self) -> bool {
        self.empty_pages >= EMPTY_PAGES
    }

    /// Returns whether a record was certainly made after the owner before has stopped.
    pub fn is_afterwards(&self, made: Timestamp) -> bool {
        made > self.taken_at.plus_millis(AFTERWARDS_MS)
    }

    /// Notes that a page came. `clean` is when it was asked for, if everything before it was finished then.
    pub fn came(&mut self, records: usize, clean: Option<Instant>, poll_interval: Duration) {
        let now = Instant::now();
        (self.failures, self.failing_since) = (0, None);
        self.caught_up = clean.filter(|_| records == 0);
        self.empty_pages = self.empty_pages.saturating_add(1);
        if records > 0 {
            (self.records_at, self.empty_pages) = (now, 0);
        }
        let quiet = now - self.records_at >= QUIET;
        let pause = if quiet { poll_interval.max(SLOW) } else { poll_interval };
        self.next_at = if records >= FULL { now } else { now + pause };
    }

    /// Notes that a page failed.
    pub fn failed(&mut self, now: Timestamp) {
        self.failing_since.get_or_insert(now);
        let pause = FIRST.saturating_mul(1 << self.failures.min(8)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        self.next_at = Instant::now() + pause;
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
        reading.came(0, None, Duration::from_millis(250));
        assert_eq!(reading.failing_for(at(500)), Duration::ZERO);
    }
}

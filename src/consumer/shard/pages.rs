//! Pages of a shard, and what to do when there is none.

use futures_util::future::BoxFuture;
use tokio::time::Instant;
use tracing::Instrument as _;

use crate::domain::causes::Causes;
use crate::store::stream::{Iterator, Record, Start, StreamError};

use super::{
    Context, ROOM, Shard,
    reading::{self, Page},
};
use crate::consumer::{stream_state::StreamState, window::Window};

/// Records a page (the stream's own limit, and 1 MB).
const PAGE: u16 = 1000;

impl Shard {
    fn has_room(&self) -> bool {
        !self.ended && self.jobs.window.len() < ROOM
    }

    /// Returns when the next page is to be read, if one is: at once if it can show that nothing is left, and that is
    /// asked.
    pub(super) fn reads_at(&self, now: Instant) -> Option<Instant> {
        let is_done = self.jobs.window.is_empty() && self.written.reached_all(&self.jobs.window);
        let can_show = is_done && !self.reading.is_failing();
        let is_asked = can_show && self.part.is_asked_after(self.reading.caught_up());
        Some(if is_asked { now } else { self.reading.next_at() }).filter(|_| self.has_room())
    }

    /// Reads a page, first making an iterator if there is none: after the last record read, which may be beyond the
    /// checkpoint.
    pub(super) fn read(&self, context: &Context) -> BoxFuture<'static, Page> {
        let (reader, shard, iterator) = (context.reader.clone(), self.id().clone(), self.reading.iterator.clone());
        let after = self.jobs.window.last_read().filter(|_| !self.reading.from_the_horizon);
        let start = after.map_or(Start::TrimHorizon, |last| Start::After(last.clone()));
        let clean = self.jobs.window.is_empty().then(Instant::now);
        let span = tracing::debug_span!("consumer.shard.read", shard.id = %shard);
        let read = async move {
            let iterator = match iterator {
                Some(iterator) => iterator,
                None => match reader.iterator(&shard, &start).await {
                    Ok(iterator) => iterator,
                    Err(error) => return Page { iterator: None, records: Err(error), clean },
                },
            };
            let records = reader.records(&iterator, PAGE).await;
            Page { iterator: Some(iterator), records, clean }
        };
        Box::pin(read.instrument(span))
    }

    /// Takes in a page, or does what its failure asks for.
    pub(super) fn take_in(&mut self, context: &Context, Page { iterator, records, clean }: Page) {
        match records {
            Ok(page) => {
                (self.reading.iterator, self.reading.from_the_horizon) = (page.next, false);
                self.reading.came(page.records.len(), clean, context.poll_interval);
                self.ended = self.reading.iterator.is_none() || self.is_abandoned(context);
                self.take_records(context, &page.records);
            }
            Err(error) => self.failed(context, error, iterator),
        }
        if self.ended || self.has_room() {
            self.status.lift_backpressure();
        } else {
            self.status.raise_backpressure();
        }
    }

    /// Does what a failure asks for that a page was read with, or an iterator made.
    fn failed(&mut self, context: &Context, error: StreamError, iterator: Option<Iterator>) {
        match error {
            StreamError::Expired => return self.reading.iterator = None,
            StreamError::Misplaced(_) if self.has_read_nothing() => self.begin_at_the_horizon(context),
            StreamError::ShardGone => {
                tracing::error!(shard.id = %self.id(), "the shard is gone: what of it was unread is lost to the stream");
                self.cut_off();
                self.ended = true;
                return;
            }
            StreamError::Misplaced(error) | StreamError::Store(error) => {
                tracing::warn!(shard.id = %self.id(), error = %Causes(&error), "the shard can't be read now");
                self.reading.iterator = iterator;
            }
            StreamError::Trimmed => {
                tracing::error!(shard.id = %self.id(), "records were trimmed unread: run `stamp-rally reconcile`");
                self.cut_off();
                (self.reading.iterator, self.reading.from_the_horizon) = (None, true);
            }
        }
        self.reading.failed(context.clock.now());
    }

    fn begin_at_the_horizon(&mut self, context: &Context) {
        tracing::error!(
            shard.id = %self.id(),
            "the shard's checkpoint is none of its records': it is read from the trim horizon, and what it counted may \
             count again (`stamp-rally stats rebuild` corrects that)"
        );
        self.cut_off();
        self.jobs.window = Window::after(None);
        self.writes = context.checkpoint_writes(self.id());
        self.written.checkpoint = None;
        self.reading.from_the_horizon = true;
    }

    /// Returns whether reading begins at a checkpoint that it hasn't proved yet.
    fn has_read_nothing(&self) -> bool {
        self.reading.iterator.is_none() && !self.reading.from_the_horizon && self.jobs.window.is_empty()
    }

    /// Returns whether it gets no records any more, and has given all that it had.
    fn is_abandoned(&self, context: &Context) -> bool {
        self.reading.is_exhausted() && context.watch.state() == StreamState::Replaced
    }

    /// Notes that what the owner before may have handed out can't be read again: `reconcile` must know.
    fn cut_off(&mut self) {
        reading::lost_records(self.id()).increment(1);
        self.reached.maybe_sent.extend(self.coverage.cut_off());
    }

    fn take_records(&mut self, context: &Context, records: &[Record]) {
        let newer = records.iter().any(|record| self.reading.is_afterwards(record.at));
        let caught_up = records.is_empty() || self.ended || newer;
        for record in records {
            let is_maybe_handed_out = |at| self.coverage.is_maybe_handed_out(at);
            if self.jobs.take_in(record, &context.effects, self.lease.shard.as_str(), is_maybe_handed_out).is_some() {
                self.writes.iter().for_each(|writes| writes.note(record));
            }
        }
        if caught_up {
            self.reached.maybe_sent.extend(self.coverage.caught_up(context.clock.now()));
        }
    }
}

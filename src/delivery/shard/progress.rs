//! Writing how far a shard was read: one write renews the lease, moves the checkpoint and covers what comes next.

use std::{collections::BTreeMap, time::Duration};

use futures_util::future::BoxFuture;
use tokio::time::Instant;

use crate::domain::{counts::Tick, ids::EventId, time::TimeZone};
use crate::store::{
    StoreError,
    counts::{self, ShardCounts},
    progress::{FactSpan, Hold, Reached, Saved},
    stream::{SequenceNumber, ShardId},
};

use super::{Context, Counted, End, Goal, Shard};
use crate::delivery::{Delivery, window::Window};

/// The least time between two writes.
const INTERVAL: Duration = Duration::from_secs(1);

/// A write that is over.
pub(super) struct Writing {
    reached: Reached,
    /// What may be handed out when it is stored; nothing if the shard was given back.
    span: Option<FactSpan>,
    hold: Hold,
    /// The uptime before it was sent: from then on the lease is ours for some time.
    began: Duration,
    /// How many ticks it told, and the shard's counts with them.
    ticks: usize,
    result: Result<(Saved, Counted), StoreError>,
}

/// What was written, and when.
pub(super) struct Written {
    at: Option<Instant>,
    failed: bool,
    checkpoint: Option<SequenceNumber>,
    began: Instant,
}

impl Written {
    pub fn begin(checkpoint: Option<SequenceNumber>) -> Self {
        Self { at: None, failed: false, checkpoint, began: Instant::now() }
    }

    /// What was written is none of the shard's records.
    pub fn forget_checkpoint(&mut self) {
        self.checkpoint = None;
    }

    /// Whether the whole window's progress is written.
    pub fn reached_all(&self, window: &Window) -> bool {
        window.checkpoint().is_none() || self.checkpoint.as_ref() == window.checkpoint()
    }

    /// When the next write is due: soon if there are news, else to renew the lease.
    pub fn due_at(&self, has_news: bool, round: Duration, goal: Goal) -> Instant {
        let Some(at) = self.at else {
            return if has_news { self.began } else { self.began + round };
        };
        match (has_news, goal) {
            (true, Goal::Idle) if !self.failed => at,
            (true, _) => at + INTERVAL.min(round.max(Duration::from_millis(50))),
            (false, _) => at + round,
        }
    }
}

impl Shard {
    /// Whether there is something that should be written soon.
    fn has_news(&self) -> bool {
        let ends = self.ended && self.window.is_empty() && !self.reached.finished;
        ends || self.lanes.is_waiting() || !self.written.reached_all(&self.window)
    }

    /// When progress is to be written.
    pub(super) fn writes_at(&self, context: &Context, goal: Goal) -> Instant {
        self.written.due_at(self.has_news(), context.times.round, goal)
    }

    /// Writes progress as it is now.
    pub(super) fn write(&mut self, context: &Context, hold: Hold) -> BoxFuture<'static, Writing> {
        let passed = self.window.passed();
        let finished = self.ended && self.window.is_empty() && passed.whole;
        let wanted = if finished { Hold::Release } else { hold };
        let span = match wanted {
            Hold::Keep => Some(self.coverage.next(self.window.unfinished(), context.clock.now())),
            Hold::Release => None,
        };
        let reached = Reached {
            checkpoint: passed.checkpoint.or_else(|| self.written.checkpoint.clone()),
            finished,
            handed_out: span.or_else(|| self.coverage.at_rest(self.lanes.doubtful())),
            doubtful: self.reached.doubtful.clone(),
        };
        self.written.at = Some(Instant::now());
        self.tell_lag(context);
        let (context, lease, known) = (context.clone(), self.lease.clone(), self.counted.clone());
        Box::pin(async move {
            let (began, ticks) = (context.clock.uptime(), passed.ticks.len());
            let shard = context.consumers.counts_of(&lease.shard);
            let result = async {
                let now = context.clock.now();
                if ticks == 0 {
                    return Ok((context.consumers.save(&lease, &reached, wanted, now).await?, known));
                }
                let counts = count(&context.delivery, &shard, &known, &passed.ticks).await?;
                let saved = context.consumers.save_counting(&lease, &reached, wanted, now, (&shard, &counts)).await?;
                Ok((saved, counts))
            };
            let result = result.await;
            Writing { reached, span, hold, began, ticks, result }
        })
    }

    /// Draws the conclusions of a write; the end, if it is one.
    pub(super) fn wrote(&mut self, context: &Context, writing: Writing) -> Option<End> {
        let Writing { reached, span, hold, began, ticks, result } = writing;
        let failed_before = std::mem::replace(&mut self.written.failed, result.is_err());
        match result {
            Ok((Saved::Yes, counted)) => {
                self.counted = counted;
                self.window.written(ticks);
                self.standing.extend(began + context.times.silence);
                self.written.checkpoint.clone_from(&reached.checkpoint);
                self.reached = Reached { doubtful: std::mem::take(&mut self.reached.doubtful), ..reached };
                if let Some(span) = span {
                    self.coverage.stored(span);
                }
                self.lanes.covered();
                match (self.reached.finished, hold) {
                    (true, _) => Some(End::Finished),
                    (false, Hold::Release) => Some(End::Released),
                    (false, Hold::Keep) => None,
                }
            }
            Ok((Saved::Lost, _)) => {
                tracing::warn!(shard = %self.id(), "the shard's lease is somebody else's now: its work is dropped");
                Some(End::Lost)
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(shard = %self.id(), error, "the shard's progress could not be written");
                // Whoever stops tries once more, and doesn't wait for a store that can't answer: the lease ends by itself.
                let gives_up = hold == Hold::Release && failed_before;
                let over = gives_up || !self.standing.is_good(context.clock.uptime());
                over.then_some(End::Lost)
            }
        }
    }

    fn tell_lag(&self, context: &Context) {
        let now = context.clock.now();
        let unfinished = self.window.oldest().map_or(Duration::ZERO, |at| now.since(at));
        // What can't be read may be as old as the last page is.
        let lag = unfinished.max(self.reading.failing_for(now));
        let shard = self.id().to_string();
        metrics::gauge!("stamp_rally_shard_lag_seconds", "shard" => shard.clone()).set(lag.as_secs_f64());
        metrics::gauge!("stamp_rally_shard_unfinished", "shard" => shard.clone())
            .set(u32::try_from(self.window.len()).unwrap_or(u32::MAX));
        if !self.written.reached_all(&self.window) {
            metrics::gauge!("stamp_rally_shard_progress_timestamp_seconds", "shard" => shard).set(now.as_seconds());
        }
    }
}

/// This process reads the shard no more: what its gauges said last must not stand there for ever.
pub(in crate::delivery) fn tell_over(shard: &ShardId) {
    for gauge in ["stamp_rally_shard_lag_seconds", "stamp_rally_shard_unfinished"] {
        metrics::gauge!(gauge, "shard" => shard.to_string()).set(0);
    }
}

/// The shard's counts, absolute, with these ticks: what is known of the hours they touch, or else what is stored.
async fn count(
    delivery: &Delivery,
    shard: &ShardCounts,
    known: &Counted,
    ticks: &[Tick],
) -> Result<Counted, StoreError> {
    let (mut counted, mut zones) = (Counted::new(), BTreeMap::new());
    for tick in ticks {
        let zone = match zones.get(&tick.event_id) {
            Some(known) => *known,
            None => zone_of(delivery, &tick.event_id).await?,
        };
        zones.insert(&tick.event_id, zone);
        let hour = counts::hour_of(tick, zone);
        if !counted.contains_key(&hour) {
            let so_far = match known.get(&hour) {
                Some(counts) => counts.clone(),
                None => shard.of(&hour).await?,
            };
            counted.insert(hour.clone(), so_far);
        }
        counted.entry(hour).or_default().count(tick);
    }
    Ok(counted)
}

/// The zone in whose hours an event's facts are counted. That an event or one of its stamps can't be read must not keep
/// the progress of a shard from being written: the zone is read alone then, or taken for Tokyo.
async fn zone_of(delivery: &Delivery, event_id: &EventId) -> Result<TimeZone, StoreError> {
    match delivery.parts.rallies.rally(event_id).await {
        Ok(rally) => Ok(rally.map_or(TimeZone::TOKYO, |rally| rally.event.time_zone)),
        Err(StoreError::Unreadable(_)) => {
            let zone = delivery.parts.store.time_zone(event_id).await?;
            if zone.is_none() {
                tracing::warn!(
                    event.id = %event_id,
                    "the event's time zone can't be read: its facts are counted in hours of Asia/Tokyo, and \
                     `stamp-rally stats rebuild EVENT` corrects that once the event is mended"
                );
            }
            Ok(zone.unwrap_or(TimeZone::TOKYO))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::lease::Times;

    fn written_at(at: Instant) -> Written {
        Written { at: Some(at), ..Written::begin(None) }
    }

    #[test]
    fn a_shard_with_news_is_written_once_a_second_at_most() {
        let (now, round) = (Instant::now(), Times::of(Duration::from_secs(15)).round);
        let written = written_at(now);
        assert_eq!(written.due_at(true, round, Goal::Forever), now + Duration::from_secs(1));
        assert_eq!(written.due_at(false, round, Goal::Forever), now + round, "else to renew its lease");
        let failed = Written { failed: true, ..written_at(now) };
        assert_eq!(failed.due_at(true, round, Goal::Forever), now + Duration::from_secs(1));
    }

    #[test]
    fn a_lease_of_a_second_is_renewed_in_time_all_the_same() {
        let (now, round) = (Instant::now(), Times::of(Duration::from_secs(1)).round);
        assert_eq!(written_at(now).due_at(true, round, Goal::Forever), now + round);
    }
}

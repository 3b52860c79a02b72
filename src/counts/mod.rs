//! The effect that counts: registrations, stamps and completed cards by event and hour, in the transaction that moves the
//! checkpoint, so that a record which is read again doesn't count again.
//!
//! It has no jobs, and does nothing where there are no checkpoints of ours (AWS Lambda): there `stats rebuild` counts.

use std::{
    collections::{BTreeMap, HashSet, VecDeque},
    sync::Arc,
};

use aws_sdk_dynamodb::types::TransactWriteItem;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;

use crate::consumer::effect::{CheckpointWrites, Effect, Job};
use crate::domain::{
    counts::{Counts, Tick},
    ids::EventId,
    time::TimeZone,
};
use crate::store::{
    Store, StoreError,
    counts::{HourOfEvent, ShardCounts, hour_of},
    rallies::Rallies,
    stream::{Change, Record, SequenceNumber, ShardId},
};

/// So many different quarters of an hour go into one write at most: each is one count, or less.
const QUARTERS: usize = 90;
const QUARTER_MS: i64 = 15 * 60 * 1000;

/// Counts by event and hour.
type Counted = BTreeMap<HourOfEvent, Counts>;

/// Counts what the stream brings.
pub struct Counting {
    store: Store,
    rallies: Rallies,
}

impl Counting {
    /// Creates the effect; `rallies` know the time zones.
    #[must_use]
    pub fn new(store: Store, rallies: Rallies) -> Self {
        Self { store, rallies }
    }
}

impl Effect for Counting {
    fn name(&self) -> &'static str {
        "counts"
    }

    fn job(&self, _record: &Record, _source: &str) -> Option<Job> {
        None
    }

    fn checkpoint_writes(&self, stream_arn: &str, shard: &ShardId) -> Option<Arc<dyn CheckpointWrites>> {
        let (stored, state) = (self.store.shard_counts(stream_arn, shard), Mutex::default());
        Some(Arc::new(CountsOfShard { stored, store: self.store.clone(), rallies: self.rallies.clone(), state }))
    }
}

/// What of one shard is to be counted.
struct CountsOfShard {
    stored: ShardCounts,
    store: Store,
    rallies: Rallies,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    ticks: Ticks,
    /// The shard's counts of the hours that the last write named.
    known: Counted,
    /// The same of the write that is under way.
    coming: Counted,
}

/// What counts and isn't written yet, in the order of its records.
#[derive(Debug, Clone, Default)]
struct Ticks(VecDeque<(SequenceNumber, Tick)>);

impl Ticks {
    fn note(&mut self, record: &Record) {
        let tick = match &record.change {
            Change::Damaged(fact) => Tick::taken_back(fact),
            Change::Inserted(fact) => Tick::of(fact),
            Change::Passed | Change::Unreadable(_) => None,
        };
        self.0.extend(tick.map(|tick| (record.sequence.clone(), tick)));
    }

    /// Returns how far a checkpoint can move that may count so many quarters of an hour.
    fn limit(&self, checkpoint: SequenceNumber, quarters: usize) -> SequenceNumber {
        let (mut seen, mut last) = (HashSet::new(), None);
        for (sequence, tick) in self.0.iter().take_while(|(sequence, _)| *sequence <= checkpoint) {
            seen.insert((&tick.event_id, tick.at.as_millis().div_euclid(QUARTER_MS)));
            if seen.len() > quarters {
                return last.unwrap_or(checkpoint);
            }
            last = Some(sequence.clone());
        }
        checkpoint
    }

    fn up_to(&self, checkpoint: &SequenceNumber) -> Vec<Tick> {
        let passed = self.0.iter().take_while(|(sequence, _)| sequence <= checkpoint);
        passed.map(|(_, tick)| tick.clone()).collect()
    }

    fn written(&mut self, checkpoint: &SequenceNumber) {
        while self.0.pop_front_if(|(sequence, _)| *sequence <= *checkpoint).is_some() {}
    }
}

impl CheckpointWrites for CountsOfShard {
    fn note(&self, record: &Record) {
        self.state.lock().ticks.note(record);
    }

    fn limit(&self, checkpoint: SequenceNumber, room: usize) -> SequenceNumber {
        self.state.lock().ticks.limit(checkpoint, QUARTERS.min(room))
    }

    fn writes<'a>(
        &'a self,
        checkpoint: &'a SequenceNumber,
    ) -> BoxFuture<'a, Result<Vec<TransactWriteItem>, StoreError>> {
        Box::pin(async move {
            let ticks = self.state.lock().ticks.up_to(checkpoint);
            let coming = self.count(&ticks).await?;
            let writes = self.stored.writes(&coming)?;
            self.state.lock().coming = coming;
            Ok(writes)
        })
    }

    fn written(&self, checkpoint: &SequenceNumber) {
        let mut state = self.state.lock();
        state.ticks.written(checkpoint);
        // A write that counted nothing says nothing new.
        if !state.coming.is_empty() {
            state.known = std::mem::take(&mut state.coming);
        }
    }
}

impl CountsOfShard {
    /// Returns the shard's counts, absolute, with these ticks: what is known of the hours they touch, or else what is
    /// stored.
    async fn count(&self, ticks: &[Tick]) -> Result<Counted, StoreError> {
        let (mut counted, mut zones) = (Counted::new(), BTreeMap::new());
        for tick in ticks {
            let zone = match zones.get(&tick.event_id) {
                Some(known) => *known,
                None => self.zone_of(&tick.event_id).await?,
            };
            zones.insert(&tick.event_id, zone);
            let hour = hour_of(tick, zone);
            if !counted.contains_key(&hour) {
                let known = self.state.lock().known.get(&hour).cloned();
                let so_far = match known {
                    Some(counts) => counts,
                    None => self.stored.of(&hour).await?,
                };
                counted.insert(hour.clone(), so_far);
            }
            counted.entry(hour).or_default().count(tick);
        }
        Ok(counted)
    }

    /// Returns the zone in whose hours an event's facts are counted. That an event or one of its stamps can't be read must
    /// not keep the progress of a shard from being written: the zone is read alone then, or taken for Tokyo.
    async fn zone_of(&self, event_id: &EventId) -> Result<TimeZone, StoreError> {
        match self.rallies.rally(event_id).await {
            Ok(rally) => Ok(rally.map_or(TimeZone::TOKYO, |rally| rally.event.time_zone)),
            Err(StoreError::Unreadable(_)) => {
                let zone = self.store.time_zone(event_id).await?;
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{counts::Counted::Registration, time::Timestamp};

    fn sequence(n: i64) -> SequenceNumber {
        (100 + n).to_string().parse().unwrap()
    }

    /// A registration in each of so many quarters of an hour.
    fn registrations(quarters: i64) -> Ticks {
        let tick = |quarter: i64| Tick {
            event_id: "e".parse().unwrap(),
            at: Timestamp::EPOCH.plus_millis(quarter * QUARTER_MS),
            what: Registration,
            times: 1,
        };
        Ticks((0..quarters).map(|n| (sequence(n), tick(n))).collect())
    }

    #[test]
    fn a_record_counts_when_the_checkpoint_passes_it_and_until_that_is_written() {
        let mut ticks = registrations(2);
        assert_eq!(ticks.up_to(&sequence(-1)), []);
        let both = ticks.up_to(&sequence(1));
        assert_eq!((both.len(), ticks.up_to(&sequence(1))), (2, both));
        ticks.written(&sequence(1));
        assert_eq!(ticks.up_to(&sequence(1)), []);
    }

    #[test]
    fn more_hours_than_a_transaction_holds_are_written_in_parts_and_the_checkpoint_waits_for_its_part() {
        let mut ticks = registrations(100);
        let part = ticks.limit(sequence(99), QUARTERS);
        assert_eq!((ticks.up_to(&part).len(), &part), (90, &sequence(89)));
        ticks.written(&part);
        let rest = ticks.limit(sequence(99), QUARTERS);
        assert_eq!((ticks.up_to(&rest).len(), rest), (10, sequence(99)));
    }
}

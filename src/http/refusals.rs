//! Refused claims, counted by hour, stamp and reason, until they are written.

use std::{collections::BTreeMap, mem, time::Duration};

use parking_lot::Mutex;

use crate::domain::{
    causes::Causes,
    claim::Refusal,
    counts::Hour,
    event::Event,
    ids::{EventId, StampId},
    refusals::{RefusalCounts, RefusedFor},
    time::Clock,
};
use crate::store::{Store, refusals::ProcessId};

/// How often they are written.
const INTERVAL: Duration = Duration::from_secs(10);

/// How often it is looked whether it is time.
const LOOK: Duration = Duration::from_secs(1);

/// An event's hour.
type HourOfEvent = (EventId, Hour);

/// What this process refused.
pub struct Refusals {
    process: ProcessId,
    counted: Mutex<BTreeMap<HourOfEvent, (RefusalCounts, Written)>>,
}

/// Whether counts are written as they are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    No,
    Yes,
}

impl Refusals {
    pub fn new() -> Self {
        Self { process: ProcessId::generate(), counted: Mutex::default() }
    }

    /// Counts a refused claim for a stamp.
    pub fn count(&self, event: &Event, stamp_id: &StampId, refusal: &Refusal, clock: &Clock) {
        let reason = refusal.counted_as();
        metrics::counter!("claims_refused_total", "reason" => reason).increment(1);
        let hour = Hour::of(clock.now(), event.time_zone);
        let mut counted = self.counted.lock();
        let (counts, written) =
            counted.entry((event.event_id.clone(), hour)).or_insert_with(|| (RefusalCounts::default(), Written::No));
        counts.count(RefusedFor { stamp_id: stamp_id.clone(), reason: reason.to_owned() });
        *written = Written::No;
    }

    /// Writes every ten seconds what was counted since; never ends.
    pub async fn keep(&self, store: &Store, clock: &Clock) {
        let (mut looks, mut last) = (tokio::time::interval(LOOK), clock.uptime());
        loop {
            looks.tick().await;
            if clock.uptime().saturating_sub(last) >= INTERVAL {
                last = clock.uptime();
                self.write(store, clock).await;
            }
        }
    }

    /// Writes what isn't written yet, absolute values. What fails is written the next time; an hour that is over and
    /// written is forgotten.
    pub async fn write(&self, store: &Store, clock: &Clock) {
        for (hour, counts) in self.unwritten(clock) {
            let written = store.put_refusals((&hour.0, &hour.1), &self.process, &counts, clock.now()).await;
            if let Err(error) = written {
                tracing::warn!(event.id = %hour.0, error = %Causes(&error), "the counts of refused claims can't be written now");
                if let Some((_, written)) = self.counted.lock().get_mut(&hour) {
                    *written = Written::No;
                }
            }
        }
    }

    /// Takes what isn't written, as written.
    fn unwritten(&self, clock: &Clock) -> Vec<(HourOfEvent, RefusalCounts)> {
        let now = clock.now();
        let mut counted = self.counted.lock();
        let is_over = |hour: &Hour| hour.start().is_none_or(|start| start.plus_millis(7_200_000) < now);
        counted.retain(|(_, hour), (_, written)| *written == Written::No || !is_over(hour));
        let open = counted.iter_mut().filter_map(|(hour, (counts, written))| {
            (mem::replace(written, Written::Yes) == Written::No).then(|| (hour.clone(), counts.clone()))
        });
        open.collect()
    }
}

/// Sets the counter of every reason to zero, so that its first increase can be seen.
pub fn count_from_nothing() {
    for reason in Refusal::REASONS {
        metrics::counter!("claims_refused_total", "reason" => reason).increment(0);
    }
}

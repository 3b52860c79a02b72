//! The counts of an event beside its facts.
//!
//! An hour that is counted must count what the facts say, once it is over. Hours that are not counted at all (delivery on AWS
//! Lambda) are no finding, and nothing is compared of an event of which something else is wrong: that may be the reason.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::domain::{
    counts::{Counts, Hour, Hours, Tick},
    event::Event,
    fact::Fact,
    ids::EventId,
    time::Timestamp,
};
use crate::store::items::{self, Item};

use super::{consumers, finding::Fault, item};

/// A fact may be counted so long after it happened (the same bound as in `stats rebuild`).
const IN_MOTION_MS: i64 = 2 * 3600 * 1000;

/// What the facts say, and what was counted.
#[derive(Default)]
pub(super) struct Tally {
    facts: HashMap<EventId, Hours>,
    /// With one of the items that count the hour.
    counted: BTreeMap<(EventId, Hour), (Counts, Item)>,
    /// Events of which something is wrong.
    wrong: HashSet<EventId>,
}

impl Tally {
    pub(super) fn fact(&mut self, fact: &Fact, event: &Event) {
        let Some(tick) = Tick::of(fact) else { return };
        let hours = self.facts.entry(tick.event_id.clone()).or_default();
        hours.entry(Hour::of(tick.at, event.time_zone)).or_default().count(&tick);
    }

    pub(super) fn counted(&mut self, item: &Item) {
        let (Some(event_id), Ok((hour, counts))) = (consumers::event_of(item), items::read_counts(item)) else {
            return;
        };
        let hour = self.counted.entry((event_id, hour)).or_insert_with(|| (Counts::default(), item.clone()));
        hour.0.add(&counts);
    }

    pub(super) fn found(&mut self, item: &Item) {
        self.wrong.extend(item::event_of(item).or_else(|| consumers::event_of(item)));
    }

    /// The hours that were over at a time and count something else than the facts say, each by an item that counts it.
    pub(super) fn faults(self, now: Timestamp) -> Vec<(Fault, Item)> {
        let over = Some(now.plus_millis(-IN_MOTION_MS - 3_600_000));
        let Self { facts, counted, wrong } = self;
        let fault = |((event_id, hour), (counts, item)): ((EventId, Hour), (Counts, Item))| {
            let said = facts.get(&event_id).and_then(|hours| hours.get(&hour)).cloned().unwrap_or_default();
            let is_sound = counts.minus(&said).is_zero() || hour.start() > over || wrong.contains(&event_id);
            (!is_sound).then(|| (disagreement(&event_id, &hour), item))
        };
        counted.into_iter().filter_map(fault).collect()
    }
}

fn disagreement(event_id: &EventId, hour: &Hour) -> Fault {
    Fault::new(
        "hour",
        format!("{} counts something else, with the other items of this hour, than the facts say", hour.as_str()),
        format!("run `stats rebuild {event_id}` once the consumers have caught up"),
    )
}

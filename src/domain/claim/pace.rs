//! How fast a participant may acquire stamps: the interval between two, and the speed from one place to the next.

use std::time::Duration;

use super::Refusal;
use crate::domain::{
    event::{ClaimLimits, Event},
    fact::{Facts, UserStamp},
    stamp::{StampMaster, StampMasters},
    time::Timestamp,
};

impl ClaimLimits {
    /// Returns whether the stamps that a participant has bear on their next claim.
    #[must_use]
    pub fn limit_pace(&self) -> bool {
        self.min_interval_seconds.is_some() || self.max_speed_kmh.is_some()
    }
}

/// Refuses a stamp that comes too soon after the last one, or too far from the last one with a place.
pub(super) fn check(
    event: &Event,
    (master, masters): (&StampMaster, &StampMasters),
    facts: &Facts,
    now: Timestamp,
) -> Result<(), Refusal> {
    if let Some(wait) = interval(event, facts, now) {
        return Err(Refusal::Interval { retry_after: wait });
    }
    match travel(event, (master, masters), facts, now) {
        Some(wait) => Err(Refusal::Travel { retry_after: wait }),
        None => Ok(()),
    }
}

/// Returns how long to wait for the interval to be over.
fn interval(event: &Event, facts: &Facts, now: Timestamp) -> Option<Duration> {
    let interval = i64::from(event.limits.min_interval_seconds?.get()) * 1000;
    let newest = facts.stamps.iter().map(|stamp| stamp.acquired_at).max()?;
    remaining(newest.plus_millis(interval), now)
}

/// Returns how long to wait until this place could be reached at the greatest speed.
fn travel(
    event: &Event,
    (master, masters): (&StampMaster, &StampMasters),
    facts: &Facts,
    now: Timestamp,
) -> Option<Duration> {
    let speed = f64::from(event.limits.max_speed_kmh?.get()) / 3_600_000.0;
    let here = master.rules.settings.location?.circle();
    let place = |stamp: &UserStamp| Some(masters.find(&stamp.stamp_id)?.rules.settings.location?.circle());
    let placed = facts.stamps.iter().filter_map(|stamp| Some((stamp.acquired_at, place(stamp)?)));
    let (newest, there) = placed.max_by_key(|(acquired_at, _)| *acquired_at)?;
    let kilometres = here.gap(&there) / 1000.0;
    #[expect(clippy::cast_possible_truncation, reason = "half the earth's circumference at 1 km/h is 3 years")]
    let millis = (kilometres / speed).ceil() as i64;
    remaining(newest.plus_millis(millis), now)
}

fn remaining(until: Timestamp, now: Timestamp) -> Option<Duration> {
    (now < until).then(|| until.since(now))
}

//! Counts of a rally: registrations, stamps, completed cards, by hour of the event's zone.

use std::collections::BTreeMap;

use super::{
    fact::Fact,
    ids::{EventId, StampId},
    time::{TimeZone, Timestamp},
};

/// What a fact counts as.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Counted {
    /// A completed card.
    Completion,
    /// A registration.
    Registration,
    /// An acquired stamp.
    Stamp(StampId),
}

/// One fact that counts, or doesn't any more: of which event, when, as what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tick {
    /// The event.
    pub event_id: EventId,
    /// When the fact happened.
    pub at: Timestamp,
    /// What it counts as.
    pub what: Counted,
    /// How often: 1, or -1 where it was counted and can't be read any more.
    pub times: i64,
}

impl Tick {
    /// Returns what a fact counts as; a resend counts as nothing.
    #[must_use]
    pub fn of(fact: &Fact) -> Option<Self> {
        let what = match fact {
            Fact::Completed(_) => Counted::Completion,
            Fact::Resend(_) | Fact::ResendCompleted(_) => return None,
            Fact::User(_) => Counted::Registration,
            Fact::UserStamp(stamp) => Counted::Stamp(stamp.stamp_id.clone()),
        };
        Some(Self { event_id: fact.event_id().clone(), at: fact.at(), what, times: 1 })
    }

    /// Takes back what a fact counted as, so that counts are always what the readable facts say.
    #[must_use]
    pub fn taken_back(fact: &Fact) -> Option<Self> {
        Self::of(fact).map(|tick| Self { times: -1, ..tick })
    }
}

/// An hour of an event's zone, as [`TimeZone::hour_of`] writes it: `2026-05-23T10:00+09:00`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hour(String);

impl Hour {
    /// The hour in which an instant lies.
    #[must_use]
    pub fn of(at: Timestamp, zone: TimeZone) -> Self {
        Self(zone.hour_of(at))
    }

    /// Reads what [`Hour::as_str`] wrote.
    #[must_use]
    pub fn stored(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// When it begins.
    #[must_use]
    pub fn start(&self) -> Option<Timestamp> {
        TimeZone::start_of_hour(&self.0)
    }

    /// Returns whether this is how a zone writes its hour. Another zone's hours stay from before the event's zone was changed.
    #[must_use]
    pub fn is_of(&self, zone: TimeZone) -> bool {
        self.start().is_some_and(|start| Self::of(start, zone) == *self)
    }

    /// As text; within one zone's offset, text order is time order.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// How many of each. Signed, because a correction may take away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Completed cards.
    pub completions: i64,
    /// Registrations.
    pub registrations: i64,
    /// Acquired stamps, by stamp.
    pub stamps: BTreeMap<StampId, i64>,
}

impl Counts {
    /// One more, or one less.
    pub fn count(&mut self, tick: &Tick) {
        let counted = match &tick.what {
            Counted::Completion => &mut self.completions,
            Counted::Registration => &mut self.registrations,
            Counted::Stamp(stamp_id) => self.stamps.entry(stamp_id.clone()).or_default(),
        };
        *counted += tick.times;
    }

    /// All of `other` too.
    pub fn add(&mut self, other: &Self) {
        self.merge(other, 1);
    }

    /// Returns what must be added to `other` to get this.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        let mut difference = self.clone();
        difference.merge(other, -1);
        difference.stamps.retain(|_, count| *count != 0);
        difference
    }

    /// Returns whether there is nothing in it.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.completions == 0 && self.registrations == 0 && self.stamps.values().all(|count| *count == 0)
    }

    fn merge(&mut self, other: &Self, sign: i64) {
        self.completions += sign * other.completions;
        self.registrations += sign * other.registrations;
        for (stamp_id, count) in &other.stamps {
            *self.stamps.entry(stamp_id.clone()).or_default() += sign * count;
        }
    }
}

/// Counts by hour.
pub type Hours = BTreeMap<Hour, Counts>;

/// The sum over all hours.
#[must_use]
pub fn total(hours: &Hours) -> Counts {
    let mut sum = Counts::default();
    for counts in hours.values() {
        sum.add(counts);
    }
    sum
}

/// Returns what must be added to `counted` to get `facts`, hour by hour; hours that agree are left out.
#[must_use]
pub fn differences(facts: &Hours, counted: &Hours) -> Hours {
    let hours = facts.keys().chain(counted.keys()).cloned().collect::<std::collections::BTreeSet<_>>();
    let nothing = Counts::default();
    let difference = |hour: &Hour| facts.get(hour).unwrap_or(&nothing).minus(counted.get(hour).unwrap_or(&nothing));
    hours.into_iter().map(|hour| (hour.clone(), difference(&hour))).filter(|(_, counts)| !counts.is_zero()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hour(text: &str) -> Hour {
        Hour::stored(text)
    }

    #[test]
    fn an_hour_knows_when_it_begins_and_in_which_zone() {
        let (kolkata, tokyo) = ("Asia/Kolkata".parse().unwrap(), TimeZone::TOKYO);
        let at: Timestamp = "2026-05-23T16:45:00.000Z".parse().unwrap();
        let (here, there) = (Hour::of(at, tokyo), Hour::of(at, kolkata));
        assert_eq!((here.as_str(), there.as_str()), ("2026-05-24T01:00+09:00", "2026-05-23T22:00+05:30"));
        assert_eq!(here.start(), Some("2026-05-23T16:00:00.000Z".parse().unwrap()));
        assert_eq!(there.start(), Some("2026-05-23T16:30:00.000Z".parse().unwrap()));
        assert!(here.is_of(tokyo) && there.is_of(kolkata) && !here.is_of(kolkata) && !there.is_of(tokyo));
        assert_eq!(hour("an hour").start(), None);
    }

    fn counts(ticks: &[Counted]) -> Counts {
        let mut counts = Counts::default();
        for what in ticks {
            counts.count(&tick(what, 1));
        }
        counts
    }

    fn tick(what: &Counted, times: i64) -> Tick {
        Tick { event_id: "rally".parse().unwrap(), at: Timestamp::EPOCH, what: what.clone(), times }
    }

    #[test]
    fn what_is_taken_back_counts_as_if_it_had_never_been() {
        let all = [Counted::Completion, Counted::Registration, Counted::Stamp("001".parse().unwrap())];
        let mut counts = counts(&all);
        for what in &all {
            counts.count(&tick(what, -1));
        }
        assert!(counts.is_zero(), "{counts:?}");
    }

    #[test]
    fn a_stamp_at_half_past_midnight_in_tokyo_counts_in_the_new_days_first_hour() {
        let at = "2026-05-23T15:30:00.000Z".parse().unwrap();
        assert_eq!(Hour::of(at, TimeZone::TOKYO).as_str(), "2026-05-24T00:00+09:00");
    }

    #[test]
    fn a_difference_added_to_what_was_counted_gives_the_facts() {
        let stamp = Counted::Stamp("001".parse().unwrap());
        let facts = Hours::from([
            (hour("10"), counts(&[Counted::Registration, stamp.clone(), stamp.clone()])),
            (hour("11"), counts(&[Counted::Completion])),
        ]);
        let counted = Hours::from([(hour("10"), counts(&[stamp])), (hour("12"), counts(&[Counted::Registration]))]);
        let mut sum = counted.clone();
        for (hour, difference) in differences(&facts, &counted) {
            sum.entry(hour).or_default().add(&difference);
        }
        sum.retain(|_, counts| !counts.is_zero());
        assert_eq!(sum, facts);
        assert_eq!(differences(&facts, &facts), Hours::new());
    }
}

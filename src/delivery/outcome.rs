//! What became of a notice, by name.

use std::collections::BTreeMap;

use crate::domain::notice::ParkedState;

/// What one notice came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// It was marked before.
    AlreadySent,
    /// LINE will never accept it, or there is nothing that could be sent; it is in the state `failed`.
    Failed,
    /// It left the ordinary path, now or before.
    Parked(ParkedState),
    /// It calls for no message (any more).
    PassedOver,
    /// LINE accepted it, and it is marked.
    Sent,
    /// Not finished: the process stops, or another worker has the shard now. The next reader continues.
    Wait,
}

impl Outcome {
    /// Returns its name, as metrics and logs spell it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AlreadySent => "already_sent",
            Self::Failed => "failed",
            Self::Parked(state) => state.as_str(),
            Self::PassedOver => "passed_over",
            Self::Sent => "sent",
            Self::Wait => "wait",
        }
    }

    /// Counts one more of its kind in the metrics.
    pub(super) fn count(self) {
        self.counter().increment(1);
    }

    /// Registers the metric of every kind at 0: growth shows only from a known beginning.
    pub(super) fn register() {
        let parked = ParkedState::ALL.into_iter().map(Self::Parked);
        let all = [Self::AlreadySent, Self::Failed, Self::PassedOver, Self::Sent].into_iter().chain(parked);
        all.for_each(|outcome| outcome.counter().increment(0));
    }

    fn counter(self) -> metrics::Counter {
        metrics::counter!("stamp_rally_notices_total", "outcome" => self.as_str())
    }

    /// Returns whether nothing is left to do for its record.
    #[must_use]
    pub fn is_final(self) -> bool {
        self != Self::Wait
    }
}

/// How many notices came to what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally(BTreeMap<Outcome, usize>);

impl Tally {
    /// Counts one more.
    pub fn count(&mut self, outcome: Outcome) {
        *self.0.entry(outcome).or_default() += 1;
    }

    /// Adds another tally.
    pub fn add(&mut self, other: &Self) {
        for (outcome, count) in &other.0 {
            *self.0.entry(*outcome).or_default() += count;
        }
    }

    /// Returns how many came to this.
    #[must_use]
    pub fn of(&self, outcome: Outcome) -> usize {
        self.0.get(&outcome).copied().unwrap_or_default()
    }

    /// Returns how many there were.
    #[must_use]
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }
}

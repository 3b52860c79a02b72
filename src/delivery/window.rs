//! The records of one shard that were read and are not behind the checkpoint yet: pure.
//!
//! The checkpoint is the highest sequence number such that every record up to it is finished (sent, failed, parked or
//! passed over). It never steps over one that isn't, however many after it are.

use std::collections::{HashSet, VecDeque};

use crate::domain::{counts::Tick, time::Timestamp};
use crate::store::{progress::FactSpan, stream::SequenceNumber};

/// So many different quarters of an hour go into one write at most: each is one count, or less, and a transaction has room
/// for 99.
const QUARTERS: usize = 90;
const QUARTER_MS: i64 = 15 * 60 * 1000;

/// A record in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(u64);

/// What was read of a shard and how much of it is finished.
#[derive(Debug, Clone, Default)]
pub struct Window {
    entries: VecDeque<Entry>,
    first: u64,
    checkpoint: Option<SequenceNumber>,
    last_read: Option<SequenceNumber>,
    /// What the checkpoint has passed and what counts, until it is written.
    passed: VecDeque<(SequenceNumber, Tick)>,
}

/// What one write can move the checkpoint to, and what it must count for that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    /// The checkpoint.
    pub checkpoint: Option<SequenceNumber>,
    /// What counts, of the records it passes.
    pub ticks: Vec<Tick>,
    /// Whether that is all.
    pub whole: bool,
}

#[derive(Debug, Clone)]
struct Entry {
    sequence: SequenceNumber,
    at: Timestamp,
    fact: Option<Timestamp>,
    tick: Option<Tick>,
    finished: bool,
}

impl Window {
    /// Begins after a checkpoint, or at the beginning.
    #[must_use]
    pub fn after(checkpoint: Option<SequenceNumber>) -> Self {
        Self { last_read: checkpoint.clone(), checkpoint, ..Self::default() }
    }

    /// Takes in the next record, made `at`, with the time of the fact it brings, if it brings one. `None`: it was read
    /// before (the stream repeats itself after a new iterator), and needs nothing more.
    pub fn read(&mut self, sequence: SequenceNumber, at: Timestamp, fact: Option<Timestamp>) -> Option<Ticket> {
        if self.last_read.as_ref().is_some_and(|last| sequence <= *last) {
            return None;
        }
        self.last_read = Some(sequence.clone());
        self.entries.push_back(Entry { sequence, at, fact, tick: None, finished: false });
        Some(Ticket(self.first + self.entries.len() as u64 - 1))
    }

    /// A record that isn't finished counts as this, once the checkpoint has passed it.
    pub fn counts(&mut self, ticket: Ticket, tick: Tick) {
        if let Some(entry) = self.entry(ticket) {
            entry.tick = Some(tick);
        }
    }

    /// A record is finished. Again is once.
    pub fn finish(&mut self, ticket: Ticket) {
        if let Some(entry) = self.entry(ticket) {
            entry.finished = true;
        }
        while let Some(entry) = self.entries.pop_front_if(|entry| entry.finished) {
            self.passed.extend(entry.tick.map(|tick| (entry.sequence.clone(), tick)));
            self.checkpoint = Some(entry.sequence);
            self.first += 1;
        }
    }

    /// What the next write can tell. The same records are told again until [`Window::written`].
    #[must_use]
    pub fn passed(&self) -> Passed {
        let mut quarters = HashSet::new();
        let mut ticks = Vec::new();
        for (_, tick) in &self.passed {
            quarters.insert((&tick.event_id, tick.at.as_millis().div_euclid(QUARTER_MS)));
            if quarters.len() > QUARTERS {
                break;
            }
            ticks.push(tick.clone());
        }
        let whole = ticks.len() == self.passed.len();
        let last = ticks.len().checked_sub(1).and_then(|last| self.passed.get(last)).map(|(sequence, _)| sequence);
        Passed { checkpoint: if whole { self.checkpoint.clone() } else { last.cloned() }, ticks, whole }
    }

    /// So many of the ticks are written.
    pub fn written(&mut self, ticks: usize) {
        self.passed.drain(..ticks.min(self.passed.len()));
    }

    fn entry(&mut self, ticket: Ticket) -> Option<&mut Entry> {
        let place = ticket.0.checked_sub(self.first).and_then(|place| usize::try_from(place).ok())?;
        self.entries.get_mut(place)
    }

    /// Everything up to here is finished; `None`: nothing is.
    #[must_use]
    pub fn checkpoint(&self) -> Option<&SequenceNumber> {
        self.checkpoint.as_ref()
    }

    /// The last record read: where reading goes on.
    #[must_use]
    pub fn last_read(&self) -> Option<&SequenceNumber> {
        self.last_read.as_ref()
    }

    /// The first record that isn't finished.
    #[must_use]
    pub fn first_unfinished(&self) -> Option<&SequenceNumber> {
        self.entries.front().map(|entry| &entry.sequence)
    }

    /// How many records are between checkpoint and the last one read.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether everything read is finished.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// When the oldest unfinished record was made: how far the shard lags behind.
    #[must_use]
    pub fn oldest(&self) -> Option<Timestamp> {
        self.entries.front().map(|entry| entry.at)
    }

    /// The oldest and the newest fact among the unfinished records.
    #[must_use]
    pub fn unfinished(&self) -> Option<FactSpan> {
        FactSpan::around(self.entries.iter().filter(|entry| !entry.finished).filter_map(|entry| entry.fact))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sequence(n: u64) -> SequenceNumber {
        (100 + n).to_string().parse().unwrap()
    }

    #[test]
    fn a_record_that_waits_pins_the_checkpoint_and_lets_it_go_when_it_is_finished() {
        let mut window = Window::after(None);
        let tickets: Vec<Ticket> = (0..3).map(|n| window.read(sequence(n), Timestamp::EPOCH, None).unwrap()).collect();
        window.finish(tickets[1]);
        window.finish(tickets[2]);
        assert_eq!(window.checkpoint(), None);
        window.finish(tickets[0]);
        assert_eq!((window.checkpoint(), window.len()), (Some(&sequence(2)), 0));
    }

    fn registration(quarter: i64) -> Tick {
        let at = Timestamp::EPOCH.plus_millis(quarter * QUARTER_MS);
        Tick { event_id: "e".parse().unwrap(), at, what: crate::domain::counts::Counted::Registration, times: 1 }
    }

    #[test]
    fn a_record_counts_when_the_checkpoint_passes_it_and_until_that_is_written() {
        let mut window = Window::after(None);
        let [first, second] = [0, 1].map(|n| window.read(sequence(n), Timestamp::EPOCH, None).unwrap());
        window.counts(first, registration(0));
        window.counts(second, registration(1));
        window.finish(second);
        assert_eq!(window.passed(), Passed { checkpoint: None, ticks: vec![], whole: true });
        window.finish(first);
        let both = Passed { checkpoint: Some(sequence(1)), ticks: vec![registration(0), registration(1)], whole: true };
        assert_eq!((window.passed(), window.passed()), (both.clone(), both));
        window.written(2);
        assert_eq!(window.passed().ticks, []);
    }

    #[test]
    fn more_hours_than_a_transaction_holds_are_written_in_parts_and_the_checkpoint_waits_for_its_part() {
        let mut window = Window::after(None);
        for n in 0..100 {
            let ticket = window.read(sequence(n), Timestamp::EPOCH, None).unwrap();
            window.counts(ticket, registration(i64::try_from(n).unwrap()));
            window.finish(ticket);
        }
        let part = window.passed();
        assert_eq!((part.ticks.len(), part.whole, part.checkpoint), (90, false, Some(sequence(89))));
        window.written(90);
        let rest = window.passed();
        assert_eq!((rest.ticks.len(), rest.whole, rest.checkpoint), (10, true, Some(sequence(99))));
    }

    #[test]
    fn what_was_read_before_is_not_read_again() {
        let mut window = Window::after(Some(sequence(4)));
        assert_eq!(window.read(sequence(4), Timestamp::EPOCH, None), None);
        assert!(window.read(sequence(5), Timestamp::EPOCH, None).is_some());
        assert_eq!(window.read(sequence(5), Timestamp::EPOCH, None), None);
    }

    proptest! {
        #[test]
        fn the_checkpoint_is_the_end_of_the_finished_prefix(order in Just((0..40u64).collect::<Vec<_>>()).prop_shuffle(), many in 0usize..40) {
            let mut window = Window::after(None);
            let tickets: Vec<Ticket> = (0..40).map(|n| window.read(sequence(n), Timestamp::EPOCH, None).unwrap()).collect();
            let mut finished = std::collections::BTreeSet::new();
            for n in order.into_iter().take(many) {
                window.finish(tickets[usize::try_from(n).unwrap()]);
                window.finish(tickets[usize::try_from(n).unwrap()]);
                finished.insert(n);
            }
            let prefix = (0..40).take_while(|n| finished.contains(n)).last();
            prop_assert_eq!(window.checkpoint().cloned(), prefix.map(sequence));
        }
    }
}

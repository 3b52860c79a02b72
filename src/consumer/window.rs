//! The records of one shard that were read and are not behind the checkpoint yet: pure.
//!
//! The checkpoint is the highest sequence number such that every record up to it is finished. It never steps over one
//! that isn't, however many after it are.

use std::collections::VecDeque;

use crate::domain::time::Timestamp;
use crate::store::{progress::FactSpan, stream::SequenceNumber};

/// One job of a record in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket {
    record: u64,
    job: usize,
}

/// What was read of a shard and how much of it is finished.
#[derive(Debug, Clone, Default)]
pub struct Window {
    entries: VecDeque<Entry>,
    first: u64,
    checkpoint: Option<SequenceNumber>,
    last_read: Option<SequenceNumber>,
}

#[derive(Debug, Clone)]
struct Entry {
    sequence: SequenceNumber,
    at: Timestamp,
    /// The times of the facts of its jobs; `None`: the job is finished.
    jobs: Vec<Option<Timestamp>>,
}

impl Entry {
    fn is_finished(&self) -> bool {
        self.jobs.iter().all(Option::is_none)
    }
}

impl Window {
    /// Creates a window that begins after a checkpoint, or at the beginning.
    #[must_use]
    pub fn after(checkpoint: Option<SequenceNumber>) -> Self {
        Self { last_read: checkpoint.clone(), checkpoint, ..Self::default() }
    }

    /// Takes in the next record, made `at`, and returns a ticket for each of its jobs, given by the times of their facts.
    /// `None`: it was read before (the stream repeats itself after a new iterator), and needs nothing more.
    pub fn read(&mut self, sequence: SequenceNumber, at: Timestamp, facts: Vec<Timestamp>) -> Option<Vec<Ticket>> {
        if self.last_read.as_ref().is_some_and(|last| sequence <= *last) {
            return None;
        }
        self.last_read = Some(sequence.clone());
        let record = self.first + self.entries.len() as u64;
        let tickets = (0..facts.len()).map(|job| Ticket { record, job }).collect();
        self.entries.push_back(Entry { sequence, at, jobs: facts.into_iter().map(Some).collect() });
        self.advance();
        Some(tickets)
    }

    /// Finishes a job. Again is once.
    pub fn finish(&mut self, ticket: Ticket) {
        let place = ticket.record.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
        let entry = place.and_then(|place| self.entries.get_mut(place));
        if let Some(job) = entry.and_then(|entry| entry.jobs.get_mut(ticket.job)) {
            *job = None;
        }
        self.advance();
    }

    fn advance(&mut self) {
        while let Some(entry) = self.entries.pop_front_if(|entry| entry.is_finished()) {
            self.checkpoint = Some(entry.sequence);
            self.first += 1;
        }
    }

    /// Returns the record up to which everything is finished; `None`: nothing is.
    #[must_use]
    pub fn checkpoint(&self) -> Option<&SequenceNumber> {
        self.checkpoint.as_ref()
    }

    /// Returns the last record read: where reading continues.
    #[must_use]
    pub fn last_read(&self) -> Option<&SequenceNumber> {
        self.last_read.as_ref()
    }

    /// Returns the first record that isn't finished.
    #[must_use]
    pub fn first_unfinished(&self) -> Option<&SequenceNumber> {
        self.entries.front().map(|entry| &entry.sequence)
    }

    /// Returns how many records are between checkpoint and the last one read.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether everything read is finished.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns when the oldest unfinished record was made: how far the shard lags behind.
    #[must_use]
    pub fn oldest(&self) -> Option<Timestamp> {
        self.entries.front().map(|entry| entry.at)
    }

    /// Returns the oldest and the newest fact among the unfinished jobs.
    #[must_use]
    pub fn unfinished(&self) -> Option<FactSpan> {
        FactSpan::around(self.entries.iter().flat_map(|entry| &entry.jobs).copied().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads a record with one job.
    fn read(window: &mut Window, n: u64) -> Option<Ticket> {
        window.read(sequence(n), Timestamp::EPOCH, vec![Timestamp::EPOCH]).map(|tickets| tickets[0])
    }

    fn sequence(n: u64) -> SequenceNumber {
        (100 + n).to_string().parse().unwrap()
    }

    #[test]
    fn a_record_that_waits_pins_the_checkpoint_until_it_is_finished() {
        let mut window = Window::after(None);
        let tickets: Vec<Ticket> = (0..3).map(|n| read(&mut window, n).unwrap()).collect();
        window.finish(tickets[1]);
        window.finish(tickets[2]);
        assert_eq!(window.checkpoint(), None);
        window.finish(tickets[0]);
        assert_eq!((window.checkpoint(), window.len()), (Some(&sequence(2)), 0));
    }

    #[test]
    fn a_record_is_finished_when_all_its_jobs_are() {
        let (mut window, at) = (Window::after(None), Timestamp::EPOCH);
        let jobs = window.read(sequence(0), at, vec![at, at]).unwrap();
        window.finish(jobs[1]);
        window.finish(jobs[1]);
        assert_eq!((window.checkpoint(), window.unfinished()), (None, FactSpan::around([at])));
        window.finish(jobs[0]);
        assert_eq!(window.checkpoint(), Some(&sequence(0)));
        assert_eq!(window.read(sequence(1), at, Vec::new()), Some(Vec::new()));
        assert_eq!(window.checkpoint(), Some(&sequence(1)), "one without a job is finished as soon as it is read");
    }

    #[test]
    fn what_was_read_before_is_not_read_again() {
        let mut window = Window::after(Some(sequence(4)));
        assert_eq!(read(&mut window, 4), None);
        assert!(read(&mut window, 5).is_some());
        assert_eq!(read(&mut window, 5), None);
    }

    proptest! {
        #[test]
        fn the_checkpoint_is_the_end_of_the_finished_prefix(order in Just((0..40u64).collect::<Vec<_>>()).prop_shuffle(), many in 0usize..40) {
            let mut window = Window::after(None);
            let tickets: Vec<Ticket> = (0..40).map(|n| read(&mut window, n).unwrap()).collect();
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

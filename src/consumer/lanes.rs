//! The jobs of one shard that wait: a lane for each order key of an effect, of which the first is worked on. Pure.

use std::collections::{HashMap, VecDeque};

use crate::domain::time::Timestamp;
use crate::store::{progress::FactSpan, stream::SequenceNumber};

use super::window::Ticket;

/// A job that waits.
#[derive(Debug)]
pub struct Waiting<W> {
    /// Its place among the jobs of its record.
    pub ticket: Ticket,
    /// Its record.
    pub sequence: SequenceNumber,
    /// Where it waits.
    pub lane: Lane,
    /// When its fact happened.
    pub at: Timestamp,
    /// Whether it may have been handed out before.
    pub maybe_handed_out: bool,
    /// What is to be done.
    pub work: W,
}

/// Names a lane.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lane {
    /// The name of the effect.
    pub effect: &'static str,
    /// The effect's order key.
    pub order_key: String,
}

/// All lanes of a shard.
#[derive(Debug)]
pub struct Lanes<W> {
    /// What waits in each lane, in order; the job that is worked on is not in it.
    waiting: HashMap<Lane, VecDeque<Waiting<W>>>,
    /// Lanes whose first is not worked on.
    ready: VecDeque<Lane>,
    /// The same, but it must not be until progress is written.
    uncovered: Vec<Lane>,
}

impl<W> Default for Lanes<W> {
    fn default() -> Self {
        Self { waiting: HashMap::new(), ready: VecDeque::new(), uncovered: Vec::new() }
    }
}

impl<W> Lanes<W> {
    /// Puts a job at the end of its lane.
    pub fn push(&mut self, job: Waiting<W>) {
        if let Some(lane) = self.waiting.get_mut(&job.lane) {
            lane.push_back(job);
        } else {
            self.ready.push_back(job.lane.clone());
            self.waiting.insert(job.lane.clone(), VecDeque::from([job]));
        }
    }

    /// Takes out the next job to be worked on, if its fact is covered; those that aren't wait for [`Lanes::covered`].
    pub fn next(&mut self, is_covered: impl Fn(Timestamp) -> bool) -> Option<Waiting<W>> {
        while let Some(name) = self.ready.pop_front() {
            let Some(lane) = self.waiting.get_mut(&name) else { continue };
            match lane.front() {
                Some(job) if is_covered(job.at) => return lane.pop_front(),
                Some(_) => self.uncovered.push(name),
                None => {}
            }
        }
        None
    }

    /// Continues a lane whose first job is finished.
    pub fn finished(&mut self, name: Lane) {
        match self.waiting.get(&name) {
            Some(lane) if !lane.is_empty() => self.ready.push_back(name),
            _ => drop(self.waiting.remove(&name)),
        }
    }

    /// Puts a job that isn't finished in front of its lane: it comes first again, later, and may have been handed out
    /// before.
    pub fn unfinished(&mut self, job: Waiting<W>) {
        self.uncovered.push(job.lane.clone());
        let lane = self.waiting.entry(job.lane.clone()).or_default();
        lane.push_front(Waiting { maybe_handed_out: true, ..job });
    }

    /// Makes everything ready that waited for progress to be written.
    pub fn covered(&mut self) {
        self.ready.extend(self.uncovered.drain(..));
    }

    /// Returns the facts of the jobs that wait and may have been handed out: by the owner before, or by us until we were
    /// stopped.
    #[must_use]
    pub fn maybe_handed_out(&self) -> Option<FactSpan> {
        FactSpan::around(self.waiting.values().flatten().filter(|job| job.maybe_handed_out).map(|job| job.at))
    }

    pub(super) fn waiting_mut(&mut self) -> impl Iterator<Item = &mut Waiting<W>> {
        self.waiting.values_mut().flatten()
    }

    /// Returns whether something waits for progress to be written.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        !self.uncovered.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consumer::window::Window;

    fn job(window: &mut Window, n: u32, user: char) -> Waiting<u32> {
        let (at, sequence) = (Timestamp::EPOCH, (100 + n).to_string().parse::<SequenceNumber>().unwrap());
        let ticket = window.read(sequence.clone(), at, vec![at]).unwrap().remove(0);
        let lane = Lane { effect: "notices", order_key: user.to_string() };
        Waiting { ticket, sequence, lane, at, maybe_handed_out: false, work: n }
    }

    #[test]
    fn order_is_kept_per_participant_and_participants_do_not_wait_for_each_other() {
        let (mut lanes, mut window) = (Lanes::default(), Window::default());
        for (n, user) in [(1, 'a'), (2, 'a'), (3, 'b')] {
            lanes.push(job(&mut window, n, user));
        }
        let first = lanes.next(|_| true).unwrap();
        let other = lanes.next(|_| true).unwrap();
        assert_eq!((first.work, other.work), (1, 3));
        assert!(lanes.next(|_| true).is_none(), "the second of a participant waits for the first");
        lanes.finished(first.lane);
        assert_eq!(lanes.next(|_| true).unwrap().work, 2);
    }

    #[test]
    fn effects_do_not_wait_for_each_other() {
        let (mut lanes, mut window) = (Lanes::default(), Window::default());
        lanes.push(job(&mut window, 1, 'a'));
        let second = job(&mut window, 2, 'a');
        lanes.push(Waiting { lane: Lane { effect: "bells", ..second.lane.clone() }, ..second });
        assert_eq!([lanes.next(|_| true), lanes.next(|_| true)].map(|job| job.unwrap().work), [1, 2]);
    }

    #[test]
    fn what_is_not_finished_comes_first_again_when_progress_is_written() {
        let (mut lanes, mut window) = (Lanes::default(), Window::default());
        lanes.push(job(&mut window, 1, 'a'));
        lanes.push(job(&mut window, 2, 'a'));
        let first = lanes.next(|_| true).unwrap();
        lanes.unfinished(first);
        assert!(lanes.next(|_| true).is_none() && lanes.is_waiting());
        lanes.covered();
        assert_eq!(lanes.maybe_handed_out(), FactSpan::around([Timestamp::EPOCH]), "it may have been pushed");
        assert_eq!(lanes.next(|_| true).unwrap().work, 1);
        assert_eq!(lanes.maybe_handed_out(), None, "the second was never begun");
    }

    #[test]
    fn what_is_not_covered_waits() {
        let (mut lanes, mut window) = (Lanes::default(), Window::default());
        lanes.push(job(&mut window, 1, 'a'));
        assert!(lanes.next(|_| false).is_none() && lanes.is_waiting());
        lanes.covered();
        assert!(lanes.next(|_| true).is_some());
    }
}

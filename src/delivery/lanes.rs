//! The notices of one shard that wait: a lane for each participant, of which the first is worked on. Pure.

use std::collections::{HashMap, VecDeque};

use crate::domain::{
    ids::{EventId, LineUserId},
    time::Timestamp,
};
use crate::store::progress::FactSpan;

use super::{Outcome, pending::PendingNotice, window::Ticket};

/// A notice that waits, and its record.
#[derive(Debug)]
pub struct Job {
    /// Its record.
    pub ticket: Ticket,
    /// When its fact happened.
    pub at: Timestamp,
    /// The notice.
    pub pending: PendingNotice,
}

/// A notice that was worked on.
#[derive(Debug)]
pub struct Finished {
    /// Which.
    pub job: Job,
    /// What it came to.
    pub outcome: Outcome,
}

type Participant = (EventId, LineUserId);

/// All lanes of a shard.
#[derive(Debug, Default)]
pub struct Lanes {
    /// What waits of each participant that has a lane, in order; the one that is worked on is not in it.
    by_participant: HashMap<Participant, VecDeque<Job>>,
    /// Participants whose first is not worked on.
    ready: VecDeque<Participant>,
    /// The same, but it must not be until progress is written.
    waiting: Vec<Participant>,
}

impl Lanes {
    /// Puts a notice at the end of its participant's lane.
    pub fn push(&mut self, job: Job) {
        let participant = job.pending.participant();
        if let Some(lane) = self.by_participant.get_mut(&participant) {
            lane.push_back(job);
        } else {
            self.ready.push_back(participant.clone());
            self.by_participant.insert(participant, VecDeque::from([job]));
        }
    }

    /// The next one to be worked on, if its fact is covered; those that aren't wait for [`Lanes::covered`].
    pub fn next(&mut self, is_covered: impl Fn(Timestamp) -> bool) -> Option<Job> {
        while let Some(participant) = self.ready.pop_front() {
            let Some(lane) = self.by_participant.get_mut(&participant) else { continue };
            match lane.front() {
                Some(job) if is_covered(job.at) => return lane.pop_front(),
                Some(_) => self.waiting.push(participant),
                None => {}
            }
        }
        None
    }

    /// Goes on with the participant of a notice; one that isn't finished comes first again, later.
    pub fn finished(&mut self, finished: Finished) {
        let participant = finished.job.pending.participant();
        let Some(lane) = self.by_participant.get_mut(&participant) else { return };
        if !finished.outcome.is_final() {
            // It may have been pushed before it was given up.
            let pending = PendingNotice { maybe_sent: true, ..finished.job.pending };
            lane.push_front(Job { pending, ..finished.job });
            self.waiting.push(participant);
        } else if lane.is_empty() {
            self.by_participant.remove(&participant);
        } else {
            self.ready.push_back(participant);
        }
    }

    /// Progress is written: what waited for it may be tried.
    pub fn covered(&mut self) {
        self.ready.extend(self.waiting.drain(..));
    }

    /// The facts of those that wait and may have been tried: by the holder before, or by us until we were stopped.
    #[must_use]
    pub fn doubtful(&self) -> Option<FactSpan> {
        FactSpan::around(self.by_participant.values().flatten().filter(|job| job.pending.maybe_sent).map(|job| job.at))
    }

    /// Whether something waits for progress to be written.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::{handler::Standing, pending::Path, window::Window};
    use crate::domain::notice::{NoticeId, NoticeKey};

    fn job(window: &mut Window, n: u32, user: char) -> Job {
        let at = Timestamp::EPOCH;
        let notice = NoticeId {
            event_id: "e".parse().unwrap(),
            line_user_id: format!("U{}", user.to_string().repeat(32)).parse().unwrap(),
            key: NoticeKey::Stamp(n.to_string().parse().unwrap()),
        };
        let ticket = window.read((100 + n).to_string().parse().unwrap(), at, Some(at)).unwrap();
        let pending =
            PendingNotice { notice, since: at, maybe_sent: false, path: Path::Ordinary, lease: Standing::always() };
        Job { ticket, at, pending }
    }

    fn stamp(job: &Job) -> String {
        match &job.pending.notice.key {
            NoticeKey::Stamp(id) => id.to_string(),
            _ => String::new(),
        }
    }

    #[test]
    fn order_is_kept_per_participant_and_participants_do_not_wait_for_each_other() {
        let (mut lanes, mut window) = (Lanes::default(), Window::default());
        for (n, user) in [(1, 'a'), (2, 'a'), (3, 'b')] {
            lanes.push(job(&mut window, n, user));
        }
        let first = lanes.next(|_| true).unwrap();
        let other = lanes.next(|_| true).unwrap();
        assert_eq!((stamp(&first), stamp(&other)), ("1".to_owned(), "3".to_owned()));
        assert!(lanes.next(|_| true).is_none(), "the second of a participant waits for the first");
        lanes.finished(Finished { job: first, outcome: Outcome::Sent });
        assert_eq!(stamp(&lanes.next(|_| true).unwrap()), "2");
    }

    #[test]
    fn what_is_not_finished_comes_first_again_when_progress_is_written() {
        let (mut lanes, mut window) = (Lanes::default(), Window::default());
        lanes.push(job(&mut window, 1, 'a'));
        lanes.push(job(&mut window, 2, 'a'));
        let first = lanes.next(|_| true).unwrap();
        lanes.finished(Finished { job: first, outcome: Outcome::Wait });
        assert!(lanes.next(|_| true).is_none() && lanes.is_waiting());
        lanes.covered();
        assert_eq!(lanes.doubtful(), FactSpan::around([Timestamp::EPOCH]), "it may have been pushed");
        assert_eq!(stamp(&lanes.next(|_| true).unwrap()), "1");
        assert_eq!(lanes.doubtful(), None, "the second was never tried");
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

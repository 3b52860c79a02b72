//! What a run came to, in numbers.

use crate::delivery::Tally;
use crate::domain::{ids::EventId, time::Timestamp};

use super::horizon::Readers;

/// What became of one event's notices, or would become.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Participants looked at.
    pub participants: usize,
    /// Forgotten notices by what they came to. In a dry run those to be sent count as sent.
    pub tally: Tally,
    /// Notices that the stream's readers may still bring.
    pub left: Option<Left>,
    /// Notices that were maybe sent, and may be worked on just now (messages for full cards): decided a day later.
    pub undecided: usize,
    /// Participants of whom something can't be read, and entries of the indexes that name no participant: nothing is done
    /// about them. The log names the items.
    pub unreadable: usize,
}

impl Counts {
    /// Adds those of another event or batch.
    pub fn add(&mut self, other: &Self) {
        self.participants += other.participants;
        self.tally.add(&other.tally);
        self.left = other.left.map_or(self.left, |left| Some(left.and(self.left)));
        self.undecided += other.undecided;
        self.unreadable += other.unreadable;
    }
}

/// What a run came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reconciled {
    /// Each event that it came to, by start.
    pub events: Vec<(EventId, Counts)>,
    /// The readers that may still bring what was left; `None`: the table has no stream.
    pub readers: Option<Readers>,
    /// Events that can't be read, and so weren't looked at.
    pub unreadable_events: usize,
    /// It was stopped before it was through.
    pub interrupted: bool,
}

/// Notices that are left to the readers of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// How many.
    pub notices: usize,
    /// From then on a run takes the first of them.
    pub first: Timestamp,
    /// From then on a run takes the last of them.
    pub last: Timestamp,
}

impl Left {
    /// Returns one that is left until then.
    #[must_use]
    pub fn one(until: Timestamp) -> Self {
        Self { notices: 1, first: until, last: until }
    }

    /// Adds others.
    #[must_use]
    pub fn and(self, others: Option<Self>) -> Self {
        others.map_or(self, |others| Self {
            notices: self.notices + others.notices,
            first: self.first.min(others.first),
            last: self.last.max(others.last),
        })
    }
}

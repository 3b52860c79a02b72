//! All facts of one participant.

use super::{Completed, Fact, Pace, Resend, ResendCompleted, User, UserStamp};
use crate::domain::{
    ids::{RequestId, StampId},
    notice::{NoticeKey, NoticeStatus},
};

/// All facts of one participant of one event, as one consistent read found them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// The registration, if there is one.
    pub user: Option<User>,
    /// The acquired stamps, by id.
    pub stamps: Vec<UserStamp>,
    /// The resends, by stamp and number.
    pub resends: Vec<Resend>,
    /// The resends of the completed card's notice, by number.
    pub completed_resends: Vec<ResendCompleted>,
    /// The completed card, if it was completed.
    pub completed: Option<Completed>,
    /// Which stamp was acquired last, where the event limits their pace.
    pub pace: Option<Pace>,
    /// Facts that are there, as their keys say, and that can't be read.
    pub unreadable: Vec<FactKey>,
}

/// Whether a participant has a stamp.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Acquisition<'a> {
    /// They don't.
    None,
    /// They do.
    Read(&'a UserStamp),
    /// They do, as the item's key says; nothing else of it can be read.
    Unreadable,
}

impl<'a> Acquisition<'a> {
    /// Returns the fact, if there is one that can be read.
    #[must_use]
    pub fn stamp(self) -> Option<&'a UserStamp> {
        if let Self::Read(stamp) = self { Some(stamp) } else { None }
    }
}

/// Names one fact among those of a participant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactKey {
    /// A fact from which a notice may follow.
    Notice(NoticeKey),
    /// The registration.
    User,
}

impl FromIterator<Fact> for Facts {
    fn from_iter<I: IntoIterator<Item = Fact>>(facts: I) -> Self {
        let mut all = Self::default();
        for fact in facts {
            match fact {
                Fact::Completed(fact) => all.completed = Some(fact),
                Fact::Resend(fact) => all.resends.push(fact),
                Fact::ResendCompleted(fact) => all.completed_resends.push(fact),
                Fact::User(fact) => all.user = Some(fact),
                Fact::UserStamp(fact) => all.stamps.push(fact),
            }
        }
        all
    }
}

impl Facts {
    /// Returns whether nothing is known of this participant.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the stamp, if they have it.
    #[must_use]
    pub fn stamp(&self, stamp_id: &StampId) -> Option<&UserStamp> {
        self.stamps.iter().find(|stamp| stamp.stamp_id == *stamp_id)
    }

    /// Returns whether they have a stamp, also where the fact that says so can't be read.
    #[must_use]
    pub fn has_stamp(&self, stamp_id: &StampId) -> bool {
        self.acquisition(stamp_id) != Acquisition::None
    }

    /// Returns their acquisition of a stamp.
    #[must_use]
    pub fn acquisition(&self, stamp_id: &StampId) -> Acquisition<'_> {
        let is_it = |key: &FactKey| matches!(key, FactKey::Notice(NoticeKey::Stamp(id)) if id == stamp_id);
        match self.stamp(stamp_id) {
            Some(stamp) => Acquisition::Read(stamp),
            None if self.unreadable.iter().any(is_it) => Acquisition::Unreadable,
            None => Acquisition::None,
        }
    }

    /// Returns the stamp whose message a notice carries; for a completed card that of the stamp that completed it.
    #[must_use]
    pub fn stamp_of<'a>(&'a self, key: &'a NoticeKey) -> Option<&'a StampId> {
        match key {
            NoticeKey::Completed | NoticeKey::ResendCompleted { .. } => {
                self.completed.as_ref().map(|completed| &completed.by_stamp_id)
            }
            NoticeKey::Resend { stamp_id, .. } | NoticeKey::Stamp(stamp_id) => Some(stamp_id),
        }
    }

    /// Returns the request that a notice goes back to: that of the stamp which it is about.
    #[must_use]
    pub fn request_of(&self, key: &NoticeKey) -> Option<&RequestId> {
        self.stamp(self.stamp_of(key)?)?.request_id.as_ref()
    }

    /// The facts in the order in which they happened.
    #[must_use]
    pub fn in_order(&self) -> Vec<Fact> {
        let mut all: Vec<Fact> = self.user.iter().cloned().map(Fact::User).collect();
        all.extend(self.stamps.iter().cloned().map(Fact::UserStamp));
        all.extend(self.resends.iter().cloned().map(Fact::Resend));
        all.extend(self.completed.iter().cloned().map(Fact::Completed));
        all.extend(self.completed_resends.iter().cloned().map(Fact::ResendCompleted));
        all.sort_by_key(Fact::at);
        all
    }

    /// Returns every notice that may follow from the facts, and what became of it.
    pub fn notices(&self) -> impl Iterator<Item = (NoticeKey, &NoticeStatus)> {
        let Self { stamps, resends, completed, completed_resends, .. } = self;
        let stamps = stamps.iter().map(|fact| (NoticeKey::Stamp(fact.stamp_id.clone()), &fact.notice));
        let of_resend = |fact: &Resend| NoticeKey::Resend { stamp_id: fact.stamp_id.clone(), number: fact.number };
        let resends = resends.iter().map(move |fact| (of_resend(fact), &fact.notice));
        let completed = completed.iter().map(|fact| (NoticeKey::Completed, &fact.notice));
        let of_card = |fact: &ResendCompleted| NoticeKey::ResendCompleted { number: fact.number };
        let completed_resends = completed_resends.iter().map(move |fact| (of_card(fact), &fact.notice));
        stamps.chain(resends).chain(completed).chain(completed_resends)
    }

    /// Returns what became of one notice; `None` if there is no such fact.
    #[must_use]
    pub fn notice(&self, key: &NoticeKey) -> Option<&NoticeStatus> {
        self.notices().find(|(found, _)| found == key).map(|(_, status)| status)
    }
}

//! Facts: what happened, written once and never changed.

use super::{
    ids::{ChannelName, EventId, LineUserId, RequestId, StampId, WebhookEventId},
    notice::{NoticeKey, NoticeStatus},
    proof::AcceptedProof,
    time::Timestamp,
};

/// One fact of one participant of one event.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// The card became complete.
    Completed(Completed),
    /// An operator asked for a notice to be sent again.
    Resend(Resend),
    /// Registered.
    User(User),
    /// Acquired a stamp.
    UserStamp(UserStamp),
}

/// A registration (entity `USER`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// For this event.
    pub event_id: EventId,
    /// Who.
    pub line_user_id: LineUserId,
    /// When.
    pub created_at: Timestamp,
    /// The same as `created_at` today; the attribute is the source article's.
    pub updated_at: Timestamp,
    /// Which request wrote it. The source article's items have none.
    pub request_id: Option<RequestId>,
}

impl User {
    /// Makes a registration of now.
    #[must_use]
    pub fn registers(event_id: EventId, line_user_id: LineUserId, request_id: RequestId, now: Timestamp) -> Self {
        Self { event_id, line_user_id, created_at: now, updated_at: now, request_id: Some(request_id) }
    }
}

/// An acquired stamp (entity `USER_STAMP`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserStamp {
    /// In this event.
    pub event_id: EventId,
    /// Whose it is.
    pub line_user_id: LineUserId,
    /// Which stamp.
    pub stamp_id: StampId,
    /// When.
    pub acquired_at: Timestamp,
    /// Which request wrote it. The source article's items have none.
    pub request_id: Option<RequestId>,
    /// How it was proved; `None` where the stamp asked for no proof.
    pub proof: Option<AcceptedProof>,
    /// What became of its notice.
    pub notice: NoticeStatus,
}

/// A notice to be sent again (entity `RESEND`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resend {
    /// In this event.
    pub event_id: EventId,
    /// To whom.
    pub line_user_id: LineUserId,
    /// The notice of which stamp.
    pub stamp_id: StampId,
    /// Which resend of it, from 1.
    pub number: u16,
    /// The name of the admin token that asked.
    pub requested_by: String,
    /// When.
    pub requested_at: Timestamp,
    /// What became of it.
    pub notice: NoticeStatus,
}

/// A completed card (entity `COMPLETED`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completed {
    /// In this event.
    pub event_id: EventId,
    /// Whose card.
    pub line_user_id: LineUserId,
    /// When the last stamp of it was acquired.
    pub completed_at: Timestamp,
    /// Which stamp that was.
    pub by_stamp_id: StampId,
    /// What became of its notice; `None` where the event had no completion message.
    pub notice: NoticeStatus,
}

/// Which stamp a participant acquired last (entity `PACE`), where an event limits their pace: of claims that come at once
/// one is decided on what the others wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pace {
    /// In this event.
    pub event_id: EventId,
    /// Who.
    pub line_user_id: LineUserId,
    /// Which stamp.
    pub stamp_id: StampId,
    /// When.
    pub acquired_at: Timestamp,
}

/// A follow or unfollow (entity `FRIENDSHIP`); the newest counts, whatever order they arrive in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Friendship {
    /// Of this channel's Official Account.
    pub channel: ChannelName,
    /// Who.
    pub line_user_id: LineUserId,
    /// Whether they follow it since then.
    pub following: bool,
    /// The webhook event's own time.
    pub occurred_at: Timestamp,
    /// LINE's name of the webhook event.
    pub webhook_event_id: WebhookEventId,
}

impl From<&UserStamp> for Pace {
    fn from(stamp: &UserStamp) -> Self {
        Self {
            event_id: stamp.event_id.clone(),
            line_user_id: stamp.line_user_id.clone(),
            stamp_id: stamp.stamp_id.clone(),
            acquired_at: stamp.acquired_at,
        }
    }
}

impl Fact {
    /// Returns when it happened.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Completed(fact) => fact.completed_at,
            Self::Resend(fact) => fact.requested_at,
            Self::User(fact) => fact.created_at,
            Self::UserStamp(fact) => fact.acquired_at,
        }
    }

    /// Returns the event it belongs to.
    #[must_use]
    pub fn event_id(&self) -> &EventId {
        match self {
            Self::Completed(fact) => &fact.event_id,
            Self::Resend(fact) => &fact.event_id,
            Self::User(fact) => &fact.event_id,
            Self::UserStamp(fact) => &fact.event_id,
        }
    }

    /// Returns the participant it belongs to.
    #[must_use]
    pub fn line_user_id(&self) -> &LineUserId {
        match self {
            Self::Completed(fact) => &fact.line_user_id,
            Self::Resend(fact) => &fact.line_user_id,
            Self::User(fact) => &fact.line_user_id,
            Self::UserStamp(fact) => &fact.line_user_id,
        }
    }

    /// Returns the request that wrote it, if it names one.
    #[must_use]
    pub fn request_id(&self) -> Option<&RequestId> {
        match self {
            Self::Completed(_) | Self::Resend(_) => None,
            Self::User(fact) => fact.request_id.as_ref(),
            Self::UserStamp(fact) => fact.request_id.as_ref(),
        }
    }

    /// Returns the key and the state of the notice that follows from it; from a registration none does.
    #[must_use]
    pub fn notice(&self) -> Option<(NoticeKey, &NoticeStatus)> {
        match self {
            Self::Completed(fact) => Some((NoticeKey::Completed, &fact.notice)),
            Self::Resend(fact) => {
                Some((NoticeKey::Resend { stamp_id: fact.stamp_id.clone(), number: fact.number }, &fact.notice))
            }
            Self::User(_) => None,
            Self::UserStamp(fact) => Some((NoticeKey::Stamp(fact.stamp_id.clone()), &fact.notice)),
        }
    }
}

/// All facts of one participant of one event, as one consistent read found them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// The registration, if there is one.
    pub user: Option<User>,
    /// The acquired stamps, by id.
    pub stamps: Vec<UserStamp>,
    /// The resends, by stamp and number.
    pub resends: Vec<Resend>,
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
            NoticeKey::Completed => self.completed.as_ref().map(|completed| &completed.by_stamp_id),
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
        all.sort_by_key(Fact::at);
        all
    }

    /// Returns what became of one notice; `None` if there is no such fact.
    #[must_use]
    pub fn notice(&self, key: &NoticeKey) -> Option<&NoticeStatus> {
        match key {
            NoticeKey::Completed => self.completed.as_ref().map(|fact| &fact.notice),
            NoticeKey::Resend { stamp_id, number } => {
                let found = self.resends.iter().find(|fact| fact.stamp_id == *stamp_id && fact.number == *number);
                found.map(|fact| &fact.notice)
            }
            NoticeKey::Stamp(stamp_id) => self.stamp(stamp_id).map(|fact| &fact.notice),
        }
    }
}

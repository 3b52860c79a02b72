//! Facts: what happened, written once and never changed.

mod facts;

use super::{
    ids::{ChannelName, EventId, LineUserId, RequestId, StampId, WebhookEventId},
    notice::{NoticeKey, NoticeStatus},
    proof::AcceptedProof,
    time::Timestamp,
};

pub use facts::{Acquisition, FactKey, Facts};

/// One fact of one participant of one event.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// The card became complete.
    Completed(Completed),
    /// An operator asked for a notice to be sent again.
    Resend(Resend),
    /// An operator asked for the notice of a completed card to be sent again.
    ResendCompleted(ResendCompleted),
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

/// A completed card's notice to be sent again (entity `RESEND_COMPLETED`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResendCompleted {
    /// In this event.
    pub event_id: EventId,
    /// To whom.
    pub line_user_id: LineUserId,
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
            Self::ResendCompleted(fact) => fact.requested_at,
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
            Self::ResendCompleted(fact) => &fact.event_id,
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
            Self::ResendCompleted(fact) => &fact.line_user_id,
            Self::User(fact) => &fact.line_user_id,
            Self::UserStamp(fact) => &fact.line_user_id,
        }
    }

    /// Returns the request that wrote it, if it names one.
    #[must_use]
    pub fn request_id(&self) -> Option<&RequestId> {
        match self {
            Self::Completed(_) | Self::Resend(_) | Self::ResendCompleted(_) => None,
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
            Self::ResendCompleted(fact) => Some((NoticeKey::ResendCompleted { number: fact.number }, &fact.notice)),
            Self::User(_) => None,
            Self::UserStamp(fact) => Some((NoticeKey::Stamp(fact.stamp_id.clone()), &fact.notice)),
        }
    }
}

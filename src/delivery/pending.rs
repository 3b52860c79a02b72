//! A notice to be brought to LINE, and where it comes from.

use crate::consumer::LeaseStatus;
use crate::domain::{
    fact::Fact,
    ids::RequestId,
    notice::{NoticeId, NoticeStatus, ParkedState},
    time::Timestamp,
};

/// Where a notice comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// It is taken ahead of the stream, whose readers may be at it too, now or later: its item notes the attempt before a
    /// push.
    AheadOfStream,
    /// It is parked as held, and its channel may have been resumed.
    Held,
    /// Its record came.
    Ordinary,
    /// Its record came and can't be read: it can only be parked, until its item is mended.
    Unreadable,
}

impl Path {
    /// Returns the state that a notice on this path is in.
    pub(super) fn state(self) -> Option<ParkedState> {
        match self {
            Self::Held => Some(ParkedState::Held),
            Self::AheadOfStream | Self::Ordinary | Self::Unreadable => None,
        }
    }
}

/// A notice to be brought to LINE.
#[derive(Debug, Clone)]
pub struct PendingNotice {
    /// Which notice.
    pub notice: NoticeId,
    /// The request that it goes back to, where that is known before the participant's facts are read.
    pub request_id: Option<RequestId>,
    /// When its record was made.
    pub since: Timestamp,
    /// Whether an earlier reader of its shard may have pushed it without leaving a mark.
    pub maybe_sent: bool,
    /// Where it comes from.
    pub path: Path,
    /// The lease of its shard.
    pub lease: LeaseStatus,
}

impl PendingNotice {
    /// Returns the notice that a fact calls for as it is written, if that notice waits: any other is passed over.
    #[must_use]
    pub fn named_by(fact: &Fact) -> Option<NoticeId> {
        let (key, status) = fact.notice()?;
        let waits = matches!(status, NoticeStatus::Pending { .. });
        waits.then(|| NoticeId { event_id: fact.event_id().clone(), line_user_id: fact.line_user_id().clone(), key })
    }
}

//! The delivery's bookkeeping on the items that call for notices: each one guarded Update.

use crate::domain::{
    notice::{NoticeId, Parked, ParkedState},
    time::Timestamp,
};

use super::{Store, StoreError};

/// What a guarded Update found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marked {
    /// It was so already (or moved on meanwhile): nothing was changed, and that is success.
    Before,
    /// The item is gone (the person was erased).
    Gone,
    /// It is written.
    Now,
}

impl Store {
    /// Access pattern 5: marks a notice sent, on condition that the item exists and is unsent; takes it out of a
    /// special state (`noticeState`, `noticeSince`, `noticeReason`, `GSI1PK`, `GSI1SK` go).
    /// `request_id` is LINE's `x-line-request-id` (`flexMessageRequestId`).
    pub async fn mark_sent(
        &self,
        notice: &NoticeId,
        at: Timestamp,
        request_id: Option<&str>,
    ) -> Result<Marked, StoreError> {
        todo!()
    }

    /// Parks a notice, on condition that the item exists, is unsent and is in the state `from`
    /// (`None` = on the ordinary path). Sets `noticeState`, `noticeSince`, `noticeReason`, `noticeTriedAt`,
    /// `flexMessageError` and the index keys.
    pub async fn park(
        &self,
        notice: &NoticeId,
        from: Option<ParkedState>,
        parked: &Parked,
    ) -> Result<Marked, StoreError> {
        todo!()
    }

    /// Records that an attempt ended without a clear answer (`noticeTriedAt`, the first one stays), before the next one.
    pub async fn note_attempt(&self, notice: &NoticeId, at: Timestamp) -> Result<Marked, StoreError> {
        todo!()
    }
}

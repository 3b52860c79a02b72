//! Which of many stamps still wait for their notice: the index that lists them doesn't say.

use crate::domain::{
    ids::{EventId, LineUserId, StampId},
    notice::{NoticeId, NoticeKey},
};

use super::{
    Store, StoreError,
    items::{self, Fields, Item},
    keys::ItemKey,
};

pub use super::batch::AT_A_TIME;

impl Store {
    /// Returns whose stamp waits for its notice: unsent and not parked. At most [`AT_A_TIME`] participants; one
    /// consistent `BatchGetItem`, and more for what DynamoDB left undone.
    #[tracing::instrument(name = "store.waiting", level = "debug", skip_all)]
    pub async fn waiting(
        &self,
        event_id: &EventId,
        stamp_id: &StampId,
        participants: &[LineUserId],
    ) -> Result<Vec<LineUserId>, StoreError> {
        let keys = participants.iter().map(|user| key(event_id, stamp_id, user)).collect();
        let found = self.batch(keys, Some("PK, SK, flexMessageSent, noticeState")).await?;
        Ok(found.iter().filter(|item| items::is_waiting(item)).filter_map(holder).collect())
    }
}

/// Returns the key of a participant's stamp.
pub(super) fn key(event_id: &EventId, stamp_id: &StampId, user: &LineUserId) -> Item {
    let key = NoticeKey::Stamp(stamp_id.clone());
    items::primary_key(&ItemKey::Notice(NoticeId { event_id: event_id.clone(), line_user_id: user.clone(), key }))
}

fn holder(item: &Item) -> Option<LineUserId> {
    let fields = Fields::of(item);
    match ItemKey::parse(fields.pk(), fields.sk())? {
        ItemKey::Notice(notice) => Some(notice.line_user_id),
        _ => None,
    }
}

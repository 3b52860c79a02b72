//! Which of many stamps still wait for their notice: the index that lists them doesn't say.

use std::time::Duration;

use aws_sdk_dynamodb::types::KeysAndAttributes;

use crate::domain::{
    ids::{EventId, LineUserId, StampId},
    notice::{NoticeId, NoticeKey},
};

use super::{
    Store, StoreError,
    items::{self, Fields, Item},
    keys::ItemKey,
};

/// Keys of one `BatchGetItem` at most (API reference).
pub const AT_A_TIME: usize = 100;

/// How often what DynamoDB left undone is asked for again before it counts as unavailable.
const ROUNDS: u32 = 8;

/// The pause before the first repetition; doubled each time.
const PAUSE: Duration = Duration::from_millis(50);

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
        let mut keys: Vec<Item> = participants.iter().map(|user| key(event_id, stamp_id, user)).collect();
        let mut waiting = Vec::new();
        for round in 0..ROUNDS {
            if keys.is_empty() {
                return Ok(waiting);
            }
            if round > 0 {
                tokio::time::sleep(PAUSE * 2_u32.pow(round - 1)).await;
            }
            let wanted = KeysAndAttributes::builder()
                .set_keys(Some(keys))
                .consistent_read(true)
                .projection_expression("PK, SK, flexMessageSent, noticeState")
                .build()
                .map_err(StoreError::broken)?;
            let main = &self.tables.main;
            let mut answer = self.client.batch_get_item().request_items(main, wanted).send().await?;
            let found = answer.responses.as_mut().and_then(|tables| tables.remove(main)).unwrap_or_default();
            waiting.extend(found.iter().filter(|item| items::is_waiting(item)).filter_map(holder));
            keys =
                answer.unprocessed_keys.and_then(|mut left| left.remove(main)).map_or_else(Vec::new, |left| left.keys);
        }
        Err(StoreError::Unavailable("a BatchGetItem was left undone again and again".into()))
    }
}

fn key(event_id: &EventId, stamp_id: &StampId, user: &LineUserId) -> Item {
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

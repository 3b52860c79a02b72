//! Cards of which it can't be said yet whether they are complete, because a stamp of their event can't be read (table
//! `line-event-consumers`).
//!
//! Delivery puts one when it handles a stamp that may have been the last, and deletes it when the card is completed or
//! certainly isn't. So a completed card is never recorded too early, and none is forgotten.

use crate::domain::{
    ids::{EventId, LineUserId},
    time::Timestamp,
};

use super::{
    Store, StoreError,
    guard::gone,
    items::{self, Item, text},
    keys,
    listing::Page,
    paging::{Items as _, Paged as _},
};

pub use super::items::PendingCompletion;

/// How many are read at a time.
const PAGE: i32 = 200;

impl Store {
    /// Notes that a card may be complete: 1 Put.
    #[tracing::instrument(name = "store.put_pending_completion", level = "debug", skip_all)]
    pub async fn put_pending_completion(
        &self,
        event_id: &EventId,
        line_user_id: &LineUserId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let pending = PendingCompletion::new(event_id, line_user_id, uuid::Uuid::new_v4().to_string());
        self.put_progress(pending.item(now)).await
    }

    /// Returns cards of which it can't be said yet whether they are complete, some at a time: 1 Query. A note that
    /// can't be read is reported and passed over.
    #[tracing::instrument(name = "store.pending_completions", level = "debug", skip_all)]
    pub async fn pending_completions(&self, after: Option<Item>) -> Result<Page<PendingCompletion, Item>, StoreError> {
        let query = self.partition(&self.tables.consumers, keys::PENDING_COMPLETIONS).limit(PAGE);
        let page = query.set_exclusive_start_key(after).send().await?;
        let (next, found) = (page.cursor(), page.found());
        let read = |item: &Item| PendingCompletion::read(item).inspect_err(|unreadable| self.report(unreadable)).ok();
        let rows: Vec<PendingCompletion> = found.iter().filter_map(read).collect();
        Ok(Page { unreadable: found.len() - rows.len(), rows, next })
    }

    /// Deletes a note, unless it was written again meanwhile.
    #[tracing::instrument(name = "store.remove_pending_completion", level = "debug", skip_all)]
    pub async fn remove_pending_completion(&self, pending: &PendingCompletion) -> Result<(), StoreError> {
        let delete = self.client.delete_item().table_name(&self.tables.consumers);
        let delete = delete.set_key(Some(items::progress_key(pending.key())));
        let delete = delete.condition_expression("id = :id").expression_attribute_values(":id", text(&pending.id));
        gone(delete.send().await)
    }
}

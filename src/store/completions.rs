//! Cards of which it can't be said yet whether they are complete, because a stamp of their event can't be read (table
//! `line-event-consumers`).
//!
//! | PK | SK | holds |
//! | --- | --- | --- |
//! | `PENDING_COMPLETIONS` | `{eventId}#{lineUserId}` | a participant who has every stamp that can be read |
//!
//! Delivery puts one when it handles a stamp that may have been the last, and takes it away when the card is completed or
//! certainly isn't. So a completed card is never recorded too early, and none is forgotten.

use aws_sdk_dynamodb::{operation::delete_item::DeleteItemError, types::AttributeValue};

use crate::domain::{
    ids::{EventId, LineUserId},
    time::Timestamp,
};

use super::{
    Store, StoreError,
    fields::Fields,
    items::{Item, Unreadable},
    participants::text,
};

pub(super) const PARTITION: &str = "PENDING_COMPLETIONS";

/// How many are read at a time.
const PAGE: i32 = 200;

/// A card of which it can't be said yet whether it is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingCompletion {
    /// Of which event.
    pub event_id: EventId,
    /// Whose.
    pub line_user_id: LineUserId,
    /// Made anew by each write, so that what is written meanwhile isn't taken away.
    id: String,
}

impl PendingCompletion {
    fn sk(event_id: &EventId, line_user_id: &LineUserId) -> String {
        format!("{event_id}#{line_user_id}")
    }

    pub(super) fn read(item: &Item) -> Result<Self, Unreadable> {
        let fields = Fields::of(item);
        let (event_id, line_user_id) =
            card_of(fields.sk()).ok_or_else(|| fields.unreadable("SK", "names no event and participant"))?;
        Ok(Self { event_id, line_user_id, id: fields.text("id")?.to_owned() })
    }
}

/// A part of the list.
#[derive(Debug, Default)]
pub struct PendingPage {
    /// Those that can be read.
    pub rows: Vec<PendingCompletion>,
    /// Where the list goes on.
    pub next: Option<Item>,
}

impl Store {
    /// Notes that a card may be complete: 1 Put.
    pub async fn put_pending_completion(
        &self,
        event_id: &EventId,
        line_user_id: &LineUserId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let item = pending(event_id, line_user_id, uuid::Uuid::new_v4().to_string(), now);
        let put = self.client.put_item().table_name(&self.tables.consumers).set_item(Some(item));
        put.send().await.map(drop).map_err(StoreError::from)
    }

    /// Cards of which it can't be said yet whether they are complete, some at a time: 1 Query. A note that can't be read
    /// is reported and passed over.
    pub async fn pending_completions(&self, after: Option<Item>) -> Result<PendingPage, StoreError> {
        let query = self.client.query().table_name(&self.tables.consumers).consistent_read(true).limit(PAGE);
        let query = query.key_condition_expression("PK = :pk").expression_attribute_values(":pk", text(PARTITION));
        let page = query.set_exclusive_start_key(after).send().await?;
        let read = |item| PendingCompletion::read(item).inspect_err(|unreadable| self.report(unreadable)).ok();
        let rows = page.items.unwrap_or_default().iter().filter_map(read).collect();
        Ok(PendingPage { rows, next: page.last_evaluated_key })
    }

    /// Takes a note away, unless it was written again meanwhile.
    pub async fn remove_pending_completion(&self, pending: &PendingCompletion) -> Result<(), StoreError> {
        let sk = PendingCompletion::sk(&pending.event_id, &pending.line_user_id);
        let delete = self.client.delete_item().table_name(&self.tables.consumers);
        let delete = delete.key("PK", text(PARTITION)).key("SK", text(sk));
        let delete = delete.condition_expression("id = :id").expression_attribute_values(":id", text(&pending.id));
        match delete.send().await {
            Ok(_) => Ok(()),
            Err(failure)
                if failure.as_service_error().is_some_and(DeleteItemError::is_conditional_check_failed_exception) =>
            {
                Ok(())
            }
            Err(failure) => Err(failure.into()),
        }
    }
}

/// Whose card a sort key names.
fn card_of(sk: &str) -> Option<(EventId, LineUserId)> {
    let (event_id, user) = sk.split_once('#')?;
    Some((event_id.parse().ok()?, LineUserId::stored(user).ok()?))
}

fn pending(event_id: &EventId, line_user_id: &LineUserId, id: String, now: Timestamp) -> Item {
    let attributes: [(&str, AttributeValue); 5] = [
        ("PK", text(PARTITION)),
        ("SK", text(PendingCompletion::sk(event_id, line_user_id))),
        ("entityType", text("PENDING_COMPLETION")),
        ("id", text(id)),
        ("updatedAt", text(now.to_string())),
    ];
    attributes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_form_is_pinned_and_read_back() {
        let user = LineUserId::stored("U1234567890abcdef").unwrap();
        let rally: EventId = "rally".parse().unwrap();
        let at: Timestamp = "2026-05-23T10:00:00.000Z".parse().unwrap();
        let item = pending(&rally, &user, "x-1".to_owned(), at);
        let expected = Item::from([
            ("PK".to_owned(), text("PENDING_COMPLETIONS")),
            ("SK".to_owned(), text("rally#U1234567890abcdef")),
            ("entityType".to_owned(), text("PENDING_COMPLETION")),
            ("id".to_owned(), text("x-1")),
            ("updatedAt".to_owned(), text("2026-05-23T10:00:00.000Z")),
        ]);
        assert_eq!(item, expected);
        let read = PendingCompletion { event_id: rally, line_user_id: user, id: "x-1".to_owned() };
        assert_eq!(PendingCompletion::read(&item), Ok(read));
        let foreign = Item::from([("SK".to_owned(), text("x"))]);
        assert_eq!(PendingCompletion::read(&foreign).unwrap_err().attribute, "SK");
    }
}

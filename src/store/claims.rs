//! What a claim under rules reads and writes beside its one Put: the try of a passcode, and a stamp together with the
//! participant's pace.

use aws_sdk_dynamodb::{
    operation::transact_write_items::TransactWriteItemsError,
    types::{
        CancellationReason, Put, ReturnValue::UpdatedNew, ReturnValuesOnConditionCheckFailure::AllOld,
        TransactWriteItem, builders::PutBuilder,
    },
};

use crate::domain::{
    claim::{TRIES, TRIES_SECONDS},
    event::IndexShards,
    fact::{Pace, User, UserStamp},
    ids::{EventId, LineUserId, StampId},
    time::Timestamp,
};

use super::{
    Store, StoreError,
    guard::{Guarded, guarded},
    items::{self, Item, number, text},
    keys::ItemKey,
    participants::{Recorded, recorded},
};

/// How long counted tries are kept, in seconds: longer than they count.
const TRIES_KEPT: i64 = 3600;

/// What a claim under a limited pace came to.
#[derive(Debug)]
pub enum Paced {
    /// Another claim of the participant was recorded meanwhile: decide again.
    Changed,
    /// The stamp is recorded, now or before.
    Recorded(Box<Recorded<UserStamp>>),
}

impl Store {
    /// Counts a try of a passcode before it is judged: returns which one of its stretch of time it is. After the last one
    /// that is allowed nothing is written any more. One `UpdateItem`.
    #[tracing::instrument(name = "store.count_try", level = "debug", skip_all)]
    pub async fn count_try(
        &self,
        (event_id, line_user_id): (&EventId, &LineUserId),
        stamp_id: &StampId,
        now: Timestamp,
    ) -> Result<u32, StoreError> {
        let seconds = now.as_millis().div_euclid(1000);
        let (event_id, line_user_id, stamp_id) = (event_id.clone(), line_user_id.clone(), stamp_id.clone());
        let stretch = seconds.div_euclid(i64::from(TRIES_SECONDS));
        let key = ItemKey::Tries { event_id, line_user_id, stamp_id, stretch };
        let update = self.client.update_item().table_name(&self.tables.main).set_key(Some(items::primary_key(&key)));
        let update = update
            .update_expression("SET entityType = :type, #ttl = :ttl ADD tries :one")
            .condition_expression("attribute_not_exists(tries) OR tries < :most")
            .expression_attribute_names("#ttl", "ttl")
            .expression_attribute_values(":type", text("TRIES"))
            .expression_attribute_values(":ttl", number(seconds + TRIES_KEPT))
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":most", number(TRIES))
            .return_values(UpdatedNew);
        let answer = update.send().await;
        let counted =
            answer.as_ref().ok().and_then(|answer| answer.attributes()?.get("tries")?.as_n().ok()?.parse().ok());
        match (guarded(answer)?, counted) {
            (Guarded::Refused(_), _) => Ok(TRIES + 1),
            (Guarded::Done, Some(tries)) => Ok(tries),
            (Guarded::Done, None) => Err(StoreError::broken("the count of tries came back as no number")),
        }
    }

    /// Acquires a stamp of an event that limits the pace, never twice, on condition that the participant's pace is as it
    /// was read. One `TransactWriteItems`.
    #[tracing::instrument(name = "store.acquire_paced", level = "debug", skip_all)]
    pub async fn acquire_paced(
        &self,
        stamp: &UserStamp,
        shards: IndexShards,
        seen: Option<&Pace>,
    ) -> Result<Paced, StoreError> {
        let fact = self.put(items::user_stamp(stamp, shards)).condition_expression("attribute_not_exists(PK)");
        let fact = fact.return_values_on_condition_check_failure(AllOld);
        let puts = [fact, unless_changed(self.put(items::pace(&Pace::from(stamp))), seen)];
        let action = |put: PutBuilder| put.build().map(|put| TransactWriteItem::builder().put(put).build());
        let actions: Result<Vec<_>, _> = puts.into_iter().map(action).collect();
        let actions = actions.map_err(StoreError::broken)?;
        let Err(failure) = self.client.transact_write_items().set_transact_items(Some(actions)).send().await else {
            return Ok(Paced::Recorded(Box::new(Recorded::Written(stamp.clone()))));
        };
        let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) = failure.as_service_error() else {
            return Err(failure.into());
        };
        match Cancelled::of(cancelled.cancellation_reasons()) {
            Cancelled::ThereAlready(item) => {
                let stored = self.read(item)?;
                let found = recorded(stamp, Some(stored), |stamp: &UserStamp| stamp.request_id.as_ref());
                Ok(Paced::Recorded(Box::new(found)))
            }
            Cancelled::Changed => Ok(Paced::Changed),
            Cancelled::Other => Err(StoreError::Unavailable(failure.into())),
        }
    }

    /// Returns whether a participant is registered. One `GetItem`, consistent.
    #[tracing::instrument(name = "store.is_registered", level = "debug", skip_all)]
    pub async fn is_registered(&self, event_id: &EventId, line_user_id: &LineUserId) -> Result<bool, StoreError> {
        let key = ItemKey::Profile { event_id: event_id.clone(), line_user_id: line_user_id.clone() };
        match self.item::<User>(&key).await {
            Ok(user) => Ok(user.is_some()),
            // A USER that can't be read exists: that is all a stamp needs.
            Err(StoreError::Unreadable(_)) => Ok(true),
            Err(error) => Err(error),
        }
    }

    fn put(&self, item: Item) -> PutBuilder {
        Put::builder().table_name(&self.tables.main).set_item(Some(item))
    }
}

fn unless_changed(put: PutBuilder, seen: Option<&Pace>) -> PutBuilder {
    match seen {
        None => put.condition_expression("attribute_not_exists(PK)"),
        Some(seen) => put
            .condition_expression("stampId = :stamp AND acquiredAt = :at")
            .expression_attribute_values(":stamp", text(seen.stamp_id.as_str()))
            .expression_attribute_values(":at", text(seen.acquired_at.to_string())),
    }
}

/// Why a transaction of fact and pace was cancelled.
enum Cancelled {
    /// Another writer wrote one of the two, or is just writing it.
    Changed,
    /// A throttle, or something new: nothing was written, and it may be repeated.
    Other,
    /// The fact is there already.
    ThereAlready(Item),
}

impl Cancelled {
    fn of(reasons: &[CancellationReason]) -> Self {
        let failed = |reason: &CancellationReason| reason.code() == Some("ConditionalCheckFailed");
        match reasons.first().filter(|reason| failed(reason)).and_then(CancellationReason::item) {
            Some(item) => Self::ThereAlready(item.clone()),
            None if reasons.iter().any(|reason| failed(reason) || reason.code() == Some("TransactionConflict")) => {
                Self::Changed
            }
            None => Self::Other,
        }
    }
}

//! Staff and screens of an event: added, listed, revoked; never changed otherwise.

use aws_sdk_dynamodb::types::{ReturnValue::AllNew, ReturnValuesOnConditionCheckFailure::AllOld};

use crate::domain::{
    Malformed,
    ids::{EventId, StampId},
    staff::{Staff, StaffId, StaffOrder, StaffStamps, StaffToken},
    time::Timestamp,
};

use super::{
    Store, StoreError,
    guard::{Guarded, guarded},
    items::{self, text},
    keys::{self, ItemKey},
    paging,
};

impl Store {
    /// Carries the order of a new member of the staff, or of a new screen, out: one Query (the event's stamps, where it
    /// names some), one `PutItem`. Returns the token, which is stored nowhere, with what was stored.
    ///
    /// Refuses an order for a stamp that the event doesn't have.
    #[tracing::instrument(name = "store.hire", level = "debug", skip_all)]
    pub async fn hire(
        &self,
        event_id: &EventId,
        order: StaffOrder,
        now: Timestamp,
    ) -> Result<Result<(Staff, StaffToken), Malformed>, StoreError> {
        if let Some((path, stamp_id)) = self.unknown_stamp(event_id, &order.stamps).await? {
            return Ok(Err(Malformed::new(path, format!("the event has no stamp {stamp_id}: make it first"))));
        }
        let mut chance = [0; 38];
        getrandom::fill(&mut chance).map_err(StoreError::broken)?;
        let made = order.make(event_id.clone(), now, chance.into());
        if let Ok((staff, _)) = &made {
            self.add_staff(staff).await?;
        }
        Ok(made)
    }

    /// Returns the first stamp that the event doesn't have, with its path. What the list doesn't show yet is looked up.
    async fn unknown_stamp<'s>(
        &self,
        event_id: &EventId,
        stamps: &'s StaffStamps,
    ) -> Result<Option<(String, &'s StampId)>, StoreError> {
        let mut named = stamps.named().peekable();
        if named.peek().is_none() {
            return Ok(None);
        }
        let masters = self.masters(event_id).await?;
        for (path, stamp_id) in named.filter(|(_, stamp_id)| !masters.ids().any(|id| id == *stamp_id)) {
            if self.master(event_id, stamp_id).await?.is_none() {
                return Ok(Some((path, stamp_id)));
            }
        }
        Ok(None)
    }

    /// Adds a member of the staff, or a screen. One `PutItem` on condition that its key is free; a repeat of our own write
    /// whose answer got lost is done.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if the `staffId` is another's: make another one.
    #[tracing::instrument(name = "store.add_staff", level = "debug", skip_all)]
    pub async fn add_staff(&self, staff: &Staff) -> Result<(), StoreError> {
        let put = self.client.put_item().table_name(&self.tables.main).set_item(Some(items::staff(staff)));
        let put = put.condition_expression("attribute_not_exists(PK)").return_values_on_condition_check_failure(AllOld);
        match guarded(put.send().await)? {
            Guarded::Done => Ok(()),
            Guarded::Refused(stored) => match stored.and_then(|stored| self.read::<Staff>(stored).ok()) {
                Some(stored) if stored == *staff => Ok(()),
                _ => Err(StoreError::Conflict("another member of the staff has this id".into())),
            },
        }
    }

    /// Returns an event's staff and screens, also those that are revoked, oldest first. One Query, consistent. One that
    /// can't be read is reported and left out: its token is no token.
    #[tracing::instrument(name = "store.staff", level = "debug", skip_all)]
    pub async fn staff(&self, event_id: &EventId) -> Result<Vec<Staff>, StoreError> {
        let query = self.partition(&self.tables.main, keys::staff_partition(event_id));
        let items = paging::all(|after| query.clone().set_exclusive_start_key(after).send()).await?;
        let mut staff: Vec<Staff> = items.into_iter().filter_map(|item| self.read(item).ok()).collect();
        staff.sort_by(|one, other| (one.created_at, &one.staff_id).cmp(&(other.created_at, &other.staff_id)));
        Ok(staff)
    }

    /// Revokes a member of the staff, or a screen; the first time counts. One `UpdateItem` on condition that the item
    /// exists. `None` if there is no such one.
    #[tracing::instrument(name = "store.revoke_staff", level = "debug", skip_all)]
    pub async fn revoke_staff(
        &self,
        event_id: &EventId,
        staff_id: &StaffId,
        now: Timestamp,
    ) -> Result<Option<Staff>, StoreError> {
        let key = ItemKey::Staff { event_id: event_id.clone(), staff_id: staff_id.clone() };
        let update = self.client.update_item().table_name(&self.tables.main).set_key(Some(items::primary_key(&key)));
        let update = update
            .update_expression("SET revokedAt = if_not_exists(revokedAt, :now)")
            .condition_expression("attribute_exists(PK)")
            .expression_attribute_values(":now", text(now.to_string()))
            .return_values(AllNew);
        let answer = update.send().await;
        let revoked = answer.as_ref().ok().and_then(|answer| answer.attributes().cloned());
        match (guarded(answer)?, revoked) {
            (Guarded::Refused(_), _) => Ok(None),
            (Guarded::Done, Some(item)) => self.read(item).map(Some),
            (Guarded::Done, None) => Err(StoreError::broken("a revoked token came back as no item")),
        }
    }
}

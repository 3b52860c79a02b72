//! Events and stamp masters: read, list, replace. Settings can't be overwritten unseen.

use aws_sdk_dynamodb::types::ReturnValuesOnConditionCheckFailure::AllOld;
use futures_util::future::try_join_all;

use crate::domain::{
    event::Event,
    ids::{EventId, StampId},
    stamp::StampMaster,
    time::Timestamp,
};

use super::{
    Store, StoreError,
    guard::{Guarded, guarded},
    items::{self, Entity, Item},
    keys::{self, ItemKey, Shard},
    participants::text,
};

/// What a conditional write of a setting came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaced {
    /// It is stored.
    Done,
    /// Somebody else wrote it meanwhile (or it exists, or it is gone): read it again and decide again.
    LostRace,
}

impl Store {
    /// One event, consistent.
    pub async fn event(&self, event_id: &EventId) -> Result<Option<Event>, StoreError> {
        self.item(&ItemKey::Event(event_id.clone())).await
    }

    /// Access pattern 7: the event's stamp masters in order, all pages.
    ///
    /// One that can't be read fails the whole list: a card without it could be complete, and stay so.
    pub async fn masters(&self, event_id: &EventId) -> Result<Vec<StampMaster>, StoreError> {
        let query = self.client.query().table_name(&self.tables.main).index_name("GSI1");
        let mut pages = query
            .key_condition_expression("GSI1PK = :pk")
            .expression_attribute_values(":pk", text(keys::masters_partition(event_id)))
            .into_paginator()
            .send();
        let mut masters: Vec<StampMaster> = Vec::new();
        while let Some(page) = pages.next().await {
            for item in page?.items.unwrap_or_default() {
                masters.push(items::decode_as(item)?);
            }
        }
        // The index sorts by order alone.
        masters.sort_by(|a, b| a.place().cmp(&b.place()));
        Ok(masters)
    }

    /// Access pattern 8: one stamp master, consistent.
    pub async fn master(&self, event_id: &EventId, stamp_id: &StampId) -> Result<Option<StampMaster>, StoreError> {
        self.item(&ItemKey::Master { event_id: event_id.clone(), stamp_id: stamp_id.clone() }).await
    }

    /// Writes an event on condition that `replaces` is still its version (`None`: that it doesn't exist).
    /// A repeat of our own write whose answer got lost is `Done`.
    pub async fn put_event(&self, event: &Event, replaces: Option<Timestamp>) -> Result<Replaced, StoreError> {
        self.replace::<Event>(items::event(event), replaces).await
    }

    /// The same for a stamp master.
    pub async fn put_master(&self, master: &StampMaster, replaces: Option<Timestamp>) -> Result<Replaced, StoreError> {
        self.replace::<StampMaster>(items::master(master), replaces).await
    }

    /// Whether anybody is registered for the event. Looks into every index partition there could be, also those
    /// that the event doesn't name: a process may have registered somebody by an older copy of it. The index
    /// follows the table a moment later, so a registration of this very moment may be missed.
    pub async fn is_anybody_registered(&self, event: &Event) -> Result<bool, StoreError> {
        let found = Shard::possible().map(|shard| self.is_anybody_in(&event.event_id, shard));
        Ok(try_join_all(found).await?.contains(&true))
    }

    async fn is_anybody_in(&self, event_id: &EventId, shard: Shard) -> Result<bool, StoreError> {
        let query = self.client.query().table_name(&self.tables.main).index_name("GSI1");
        let found = query
            .key_condition_expression("GSI1PK = :pk")
            .expression_attribute_values(":pk", text(keys::users_partition(event_id, shard)))
            .limit(1)
            .send()
            .await?;
        Ok(found.count > 0)
    }

    async fn replace<T: Entity + PartialEq>(
        &self,
        item: Item,
        replaces: Option<Timestamp>,
    ) -> Result<Replaced, StoreError> {
        let put = self.client.put_item().table_name(&self.tables.main).set_item(Some(item.clone()));
        let put = match replaces {
            None => put.condition_expression("attribute_not_exists(PK)"),
            // A setting of the source article has no version; it reads as the epoch.
            Some(version) if version == Timestamp::EPOCH => {
                put.condition_expression("attribute_exists(PK) AND attribute_not_exists(updatedAt)")
            }
            Some(version) => put
                .condition_expression("updatedAt = :version")
                .expression_attribute_values(":version", text(version.to_string())),
        };
        Ok(match guarded(put.return_values_on_condition_check_failure(AllOld).send().await)? {
            Guarded::Done => Replaced::Done,
            Guarded::Refused(stands) if is_the_same::<T>(&item, stands.as_ref()) => Replaced::Done,
            Guarded::Refused(_) => Replaced::LostRace,
        })
    }
}

/// Whether what stands there is what we wanted to write: then an attempt of ours wrote it, and its answer got
/// lost. Both are compared as they read; what can't be read isn't ours.
fn is_the_same<T: Entity + PartialEq>(wanted: &Item, stands: Option<&Item>) -> bool {
    let read = |item: &Item| items::decode_as::<T>(item.clone()).ok();
    stands.and_then(read).is_some_and(|stands| read(wanted) == Some(stands))
}

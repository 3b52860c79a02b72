//! Events and stamp masters: read, list, replace. Settings can't be overwritten unseen.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::{
    operation::put_item::builders::PutItemFluentBuilder,
    types::{AttributeValue, ReturnValuesOnConditionCheckFailure::AllOld},
};
use futures_util::future::try_join_all;

use crate::domain::{
    event::{Event, EventNames, EventRemains},
    ids::{EventId, StampId},
    stamp::{StampMaster, StampMasterRemains, StampMasters},
    time::Timestamp,
};

use super::{
    Store, StoreError,
    guard::{Guarded, guarded},
    items::{self, Entity, Item, Unreadable},
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

/// What is stored of a setting.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Stored<T, R> {
    /// Nothing.
    #[default]
    Absent,
    /// All of it.
    Readable(T),
    /// An item that can't be read whole.
    Unreadable(Remains<R>),
}

/// What can be read of an item that can't be read whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Remains<R> {
    /// Its readable attributes.
    pub parts: R,
    /// What is wrong with it.
    pub unreadable: Unreadable,
    item: Item,
}

impl<T, R> Stored<T, R> {
    /// The setting, if it can be read.
    #[must_use]
    pub fn readable(&self) -> Option<&T> {
        if let Self::Readable(setting) = self { Some(setting) } else { None }
    }

    /// What a write of its next version must find in the table.
    #[must_use]
    pub fn replaced_by(&self, version: impl FnOnce(&T) -> Timestamp) -> Expected {
        match self {
            Self::Absent => Expected::Absent,
            Self::Readable(setting) => Expected::Version(version(setting)),
            Self::Unreadable(remains) => Expected::Item(remains.item.clone()),
        }
    }
}

impl Stored<Event, EventRemains> {
    /// What its messages take from the event; `None` = there is no event.
    #[must_use]
    pub fn names(&self) -> Option<EventNames<'_>> {
        match self {
            Self::Absent => None,
            Self::Readable(event) => Some(event.into()),
            Self::Unreadable(remains) => Some((&remains.parts).into()),
        }
    }
}

/// What a conditional write of a setting must find in the table.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// No item.
    Absent,
    /// An item that can't be read, unchanged: its strings, numbers and flags are compared.
    Item(Item),
    /// The setting in this version.
    Version(Timestamp),
}

impl From<Option<Timestamp>> for Expected {
    fn from(version: Option<Timestamp>) -> Self {
        version.map_or(Self::Absent, Self::Version)
    }
}

impl Store {
    /// One event, consistent.
    pub async fn event(&self, event_id: &EventId) -> Result<Option<Event>, StoreError> {
        self.item(&ItemKey::Event(event_id.clone())).await
    }

    /// One event as a write has to find it, consistent; what can be read of one that can't be read whole.
    pub async fn stored_event(&self, event_id: &EventId) -> Result<Stored<Event, EventRemains>, StoreError> {
        self.stored(&ItemKey::Event(event_id.clone()), items::event_remains).await
    }

    /// The same for a stamp master.
    pub async fn stored_master(
        &self,
        event_id: &EventId,
        stamp_id: &StampId,
    ) -> Result<Stored<StampMaster, StampMasterRemains>, StoreError> {
        let key = ItemKey::Master { event_id: event_id.clone(), stamp_id: stamp_id.clone() };
        self.stored(&key, items::master_remains).await
    }

    async fn stored<T: Entity, R>(&self, key: &ItemKey, remains: fn(Item) -> R) -> Result<Stored<T, R>, StoreError> {
        let Some(item) = self.raw_item(key).await? else { return Ok(Stored::Absent) };
        match self.read(item.clone()) {
            Ok(setting) => Ok(Stored::Readable(setting)),
            Err(StoreError::Unreadable(unreadable)) => {
                let (parts, unreadable) = (remains(item.clone()), *unreadable);
                Ok(Stored::Unreadable(Remains { parts, unreadable, item }))
            }
            Err(error) => Err(error),
        }
    }

    /// Access pattern 7: the event's stamp masters in order, all pages.
    ///
    /// One that can't be read is reported and named in [`StampMasters::unreadable`]. An item that is no master of this
    /// event is reported and passed over.
    pub async fn masters(&self, event_id: &EventId) -> Result<StampMasters, StoreError> {
        let query = self.client.query().table_name(&self.tables.main).index_name("GSI1");
        let mut pages = query
            .key_condition_expression("GSI1PK = :pk")
            .expression_attribute_values(":pk", text(keys::masters_partition(event_id)))
            .into_paginator()
            .send();
        let (mut readable, mut unreadable) = (Vec::new(), BTreeSet::new());
        while let Some(page) = pages.next().await {
            for item in page?.items.unwrap_or_default() {
                match items::listed_in::<StampMaster>(item, |master| master.event_id == *event_id) {
                    Ok(master) => readable.push(master),
                    Err(error) => {
                        self.report(&error);
                        unreadable.extend(error.stamp_of(event_id));
                    }
                }
            }
        }
        Ok(StampMasters { unreadable, ..readable.into() })
    }

    /// Access pattern 8: one stamp master, consistent.
    pub async fn master(&self, event_id: &EventId, stamp_id: &StampId) -> Result<Option<StampMaster>, StoreError> {
        self.item(&ItemKey::Master { event_id: event_id.clone(), stamp_id: stamp_id.clone() }).await
    }

    /// Writes an event on condition that the table holds what is expected.
    /// A repeat of our own write whose answer got lost is `Done`.
    pub async fn put_event(&self, event: &Event, expected: impl Into<Expected>) -> Result<Replaced, StoreError> {
        self.replace::<Event>(items::event(event), expected.into()).await
    }

    /// The same for a stamp master.
    pub async fn put_master(
        &self,
        master: &StampMaster,
        expected: impl Into<Expected>,
    ) -> Result<Replaced, StoreError> {
        self.replace::<StampMaster>(items::master(master), expected.into()).await
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

    async fn replace<T: Entity + PartialEq>(&self, item: Item, expected: Expected) -> Result<Replaced, StoreError> {
        let put = self.client.put_item().table_name(&self.tables.main).set_item(Some(item.clone()));
        let put = match expected {
            Expected::Absent => put.condition_expression("attribute_not_exists(PK)"),
            // A setting of the source article has no version; it reads as the epoch.
            Expected::Version(version) if version == Timestamp::EPOCH => {
                put.condition_expression("attribute_exists(PK) AND attribute_not_exists(updatedAt)")
            }
            Expected::Version(version) => put
                .condition_expression("updatedAt = :version")
                .expression_attribute_values(":version", text(version.to_string())),
            Expected::Item(found) => unchanged(put, &found),
        };
        Ok(match guarded(put.return_values_on_condition_check_failure(AllOld).send().await)? {
            Guarded::Done => Replaced::Done,
            Guarded::Refused(stands) if is_the_same::<T>(&item, stands.as_ref()) => Replaced::Done,
            Guarded::Refused(_) => Replaced::LostRace,
        })
    }
}

/// Condition: every attribute of an item that isn't a collection is as it was found, at most 100 of them (an expression
/// has 4 KB).
fn unchanged(put: PutItemFluentBuilder, found: &Item) -> PutItemFluentBuilder {
    let is_plain = |value: &AttributeValue| value.is_s() || value.is_n() || value.is_bool() || value.is_null();
    let compared = found.iter().filter(|(_, value)| is_plain(value)).take(100).enumerate();
    let mut equalities = Vec::new();
    let put = compared.fold(put, |put, (number, (name, value))| {
        equalities.push(format!("#n{number} = :v{number}"));
        put.expression_attribute_names(format!("#n{number}"), name)
            .expression_attribute_values(format!(":v{number}"), value.clone())
    });
    let has_version = found.contains_key("updatedAt");
    let unversioned = (!has_version).then(|| "attribute_not_exists(updatedAt)".to_owned());
    put.condition_expression(equalities.into_iter().chain(unversioned).collect::<Vec<_>>().join(" AND "))
}

/// Whether what stands there is what we wanted to write: then an attempt of ours wrote it, and its answer got
/// lost. Both are compared as they read; what can't be read isn't ours.
fn is_the_same<T: Entity + PartialEq>(wanted: &Item, stands: Option<&Item>) -> bool {
    let read = |item: &Item| items::decode_as::<T>(item.clone()).ok();
    stands.and_then(read).is_some_and(|stands| read(wanted) == Some(stands))
}

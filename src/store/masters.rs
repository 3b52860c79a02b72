//! Events and stamp masters: read, list, replace. Settings can't be overwritten unseen.

mod change;
mod codes;
mod stored;

use std::collections::BTreeSet;

use aws_sdk_dynamodb::{
    operation::put_item::builders::PutItemFluentBuilder,
    types::{AttributeValue, ReturnValuesOnConditionCheckFailure::AllOld},
};
use futures_util::future::try_join_all;

use crate::domain::{
    event::{Event, EventRemains},
    ids::{EventId, StampId},
    stamp::{StampMaster, StampMasterRemains, StampMasters},
    time::Timestamp,
};

use super::{
    Store, StoreError,
    guard::{Guarded, guarded},
    items::{self, Item, Setting, text},
    keys::{self, ItemKey, Shard},
    paging,
};

pub use stored::{Expected, Found, Remains, Stored};

/// What a conditional write of a setting came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaced {
    /// It is stored.
    Done,
    /// Another writer wrote it meanwhile (or it exists, or it is gone): read it again and decide again.
    LostRace,
}

impl Store {
    /// Reads one event, consistent.
    #[tracing::instrument(name = "store.event", level = "debug", skip_all)]
    pub async fn event(&self, event_id: &EventId) -> Result<Option<Event>, StoreError> {
        self.item(&ItemKey::Event(event_id.clone())).await
    }

    /// Reads one event as a write has to find it, consistent; what can be read of one that can't be read whole.
    #[tracing::instrument(name = "store.stored_event", level = "debug", skip_all)]
    pub async fn stored_event(&self, event_id: &EventId) -> Result<Stored<Event, EventRemains>, StoreError> {
        self.stored(&ItemKey::Event(event_id.clone()), items::event_remains).await
    }

    /// Reads the same of a stamp master.
    #[tracing::instrument(name = "store.stored_master", level = "debug", skip_all)]
    pub async fn stored_master(
        &self,
        event_id: &EventId,
        stamp_id: &StampId,
    ) -> Result<Stored<StampMaster, StampMasterRemains>, StoreError> {
        let key = ItemKey::Master { event_id: event_id.clone(), stamp_id: stamp_id.clone() };
        self.stored(&key, items::master_remains).await
    }

    async fn stored<T: Setting, R>(&self, key: &ItemKey, remains: fn(Item) -> R) -> Result<Stored<T, R>, StoreError> {
        let Some(item) = self.raw_item(key).await? else { return Ok(Stored::Absent) };
        match self.read(item.clone()) {
            Ok(setting) => {
                let (is_listed, others) = (items::is_listed(&setting, &item), items::unknown::<T>(&item));
                Ok(Stored::Readable(Found { setting, is_listed, others }))
            }
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
    /// event is reported and counted in [`StampMasters::foreign`].
    #[tracing::instrument(name = "store.masters", level = "debug", skip_all)]
    pub async fn masters(&self, event_id: &EventId) -> Result<StampMasters, StoreError> {
        let query = self.listed(keys::masters_partition(event_id));
        let (mut readable, mut unreadable, mut foreign) = (Vec::new(), BTreeSet::new(), 0);
        for item in paging::all(|after| query.clone().set_exclusive_start_key(after).send()).await? {
            match items::listed_in::<StampMaster>(item, |master| master.event_id == *event_id) {
                Ok(master) => readable.push(master),
                Err(error) => {
                    self.report(&error);
                    match error.stamp_of(event_id) {
                        Some(stamp_id) => drop(unreadable.insert(stamp_id)),
                        None => foreign += 1,
                    }
                }
            }
        }
        Ok(StampMasters { unreadable, foreign, ..readable.into() })
    }

    /// Access pattern 8: one stamp master, consistent.
    #[tracing::instrument(name = "store.master", level = "debug", skip_all)]
    pub async fn master(&self, event_id: &EventId, stamp_id: &StampId) -> Result<Option<StampMaster>, StoreError> {
        self.item(&ItemKey::Master { event_id: event_id.clone(), stamp_id: stamp_id.clone() }).await
    }

    /// Writes an event on condition that the table holds what is expected; its attributes of a newer version of the
    /// program are carried over. One `PutItem`.
    ///
    /// A repeat of our own write whose answer got lost is `Done`.
    #[tracing::instrument(name = "store.put_event", level = "debug", skip_all)]
    pub async fn put_event(&self, event: &Event, expected: Expected) -> Result<Replaced, StoreError> {
        self.replace::<Event>(items::event(event), expected).await
    }

    /// Does the same for a stamp master.
    #[tracing::instrument(name = "store.put_master", level = "debug", skip_all)]
    pub async fn put_master(&self, master: &StampMaster, expected: Expected) -> Result<Replaced, StoreError> {
        self.replace::<StampMaster>(items::master(master), expected).await
    }

    /// Returns whether the event has a participant. Looks into every index partition there could be, also those
    /// that the event doesn't name: a process may have registered a participant by an older copy of it. The index
    /// follows the table a moment later, so a registration of this very moment may be missed.
    #[tracing::instrument(name = "store.has_participants", level = "debug", skip_all)]
    pub async fn has_participants(&self, event: &Event) -> Result<bool, StoreError> {
        let found = Shard::possible().map(|shard| self.has_participants_in(&event.event_id, shard));
        Ok(try_join_all(found).await?.contains(&true))
    }

    async fn has_participants_in(&self, event_id: &EventId, shard: Shard) -> Result<bool, StoreError> {
        let query = self.listed(keys::users_partition(event_id, shard)).limit(1);
        Ok(query.send().await?.count > 0)
    }

    async fn replace<T: Setting + PartialEq>(&self, known: Item, expected: Expected) -> Result<Replaced, StoreError> {
        let mut item = expected.carried_over::<T>();
        item.extend(known);
        let put = self.client.put_item().table_name(&self.tables.main).set_item(Some(item.clone()));
        let put = match expected {
            Expected::Absent => put.condition_expression("attribute_not_exists(PK)"),
            // A setting of the source article has no version; it reads as the epoch.
            Expected::Version { version, others } if version == Timestamp::EPOCH => {
                unchanged(put, others.iter(), "attribute_exists(PK) AND attribute_not_exists(updatedAt)")
            }
            Expected::Version { version, .. } => put
                .condition_expression("updatedAt = :version")
                .expression_attribute_values(":version", text(version.to_string())),
            Expected::Item(found) => unchanged_item::<T>(put, &found),
        };
        Ok(match guarded(put.return_values_on_condition_check_failure(AllOld).send().await)? {
            Guarded::Done => Replaced::Done,
            Guarded::Refused(stored) if is_the_same::<T>(&item, stored.as_ref()) => Replaced::Done,
            Guarded::Refused(_) => Replaced::LostRace,
        })
    }
}

/// Condition: an item that can't be read is as it was found. First what this version of the program knows of it, where
/// that is no collection, then all the rest, for it is carried over.
fn unchanged_item<T: Setting>(put: PutItemFluentBuilder, found: &Item) -> PutItemFluentBuilder {
    let is_plain = |value: &AttributeValue| value.is_s() || value.is_n() || value.is_bool() || value.is_null();
    let is_known = |name: &String| T::ATTRIBUTES.contains(&name.as_str());
    let (known, others): (Vec<_>, Vec<_>) = found.iter().partition(|(name, _)| is_known(name));
    let compared = known.into_iter().filter(|(_, value)| is_plain(value)).chain(others);
    let has_version = found.contains_key("updatedAt");
    unchanged(put, compared, if has_version { "attribute_exists(PK)" } else { "attribute_not_exists(updatedAt)" })
}

/// Condition: these attributes are as they were found, the first 100 of them (an expression has 4 KB); and what
/// `besides` says.
fn unchanged<'a>(
    put: PutItemFluentBuilder,
    found: impl Iterator<Item = (&'a String, &'a AttributeValue)>,
    besides: &str,
) -> PutItemFluentBuilder {
    let mut condition = vec![besides.to_owned()];
    let put = found.take(100).enumerate().fold(put, |put, (number, (name, value))| {
        condition.push(format!("#n{number} = :v{number}"));
        put.expression_attribute_names(format!("#n{number}"), name)
            .expression_attribute_values(format!(":v{number}"), value.clone())
    });
    put.condition_expression(condition.join(" AND "))
}

/// Returns whether what is stored is what we wanted to write: then an attempt of ours wrote it, and its answer got
/// lost. Both are compared as they read; what can't be read isn't ours.
fn is_the_same<T: Setting + PartialEq>(wanted: &Item, stored: Option<&Item>) -> bool {
    let read = |item: &Item| items::decode_as::<T>(item.clone()).ok();
    stored.and_then(read).is_some_and(|stored| read(wanted) == Some(stored))
}

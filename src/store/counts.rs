//! Counts of rallies (table `line-event-consumers`): absolute values for each event, hour and shard of a stream.
//!
//! A shard's counts are written in the transaction that moves its checkpoint, so a record that is read again can't count
//! again. What `stats rebuild` found to be missing or too much is a correction beside them. The totals are the sum of all
//! items. Counting anew: `counts/recount.rs`.

mod recount;

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::{Put, TransactWriteItem};

use crate::domain::{
    counts::{Counts, Hour, Hours, Tick},
    ids::EventId,
    time::TimeZone,
};

use super::{
    Store, StoreError,
    guard::{Guarded, StillAs, guarded},
    ids::ShardId,
    items::{self, Fields, Item, text},
    keys::{self, ProgressKey},
    paging,
    unreadable::Unreadable,
};

pub use recount::Recount;

/// An event's hour, as one shard counts it.
pub type HourOfEvent = (EventId, Hour);

/// Every attribute that is written.
const WRITTEN: [&str; 5] = ["completions", "entityType", "hour", "registrations", "stamps"];

/// What is counted of one event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tallied {
    /// By hour: the sum over all shards and corrections.
    pub hours: Hours,
    /// The corrections in it.
    pub corrections: Hours,
    /// Items that can't be read: what they count is missing. `stats rebuild` mends that.
    pub unreadable: Vec<Unreadable>,
}

impl Tallied {
    fn add(&mut self, item: &Item, event_id: &EventId) {
        match items::read_counts(item) {
            Ok((hour, counts)) => {
                self.hours.entry(hour.clone()).or_default().add(&counts);
                if Fields::of(item).sk() == (ProgressKey::Correction { event_id, hour: &hour }).sk() {
                    self.corrections.insert(hour, counts);
                }
            }
            Err(unreadable) => self.unreadable.push(unreadable),
        }
    }
}

/// Where the counts of one shard are.
#[derive(Debug, Clone)]
pub struct ShardCounts {
    store: Store,
    stream_arn: String,
    shard: ShardId,
}

impl Store {
    /// Returns where the counts of one shard of a stream are.
    #[must_use]
    pub fn shard_counts(&self, stream_arn: &str, shard: &ShardId) -> ShardCounts {
        ShardCounts { store: self.clone(), stream_arn: stream_arn.to_owned(), shard: shard.clone() }
    }

    /// Returns an event's counts by hour. Items that can't be read are reported, and left out.
    #[tracing::instrument(name = "store.counts", level = "debug", skip_all)]
    pub async fn counts(&self, event_id: &EventId) -> Result<Tallied, StoreError> {
        let query = self.partition(&self.tables.consumers, keys::counts_partition(event_id));
        let found = paging::all(|after| query.clone().set_exclusive_start_key(after).send()).await?;
        let mut tallied = Tallied::default();
        found
            .iter()
            .filter(|item| keys::is_of_an_hour(Fields::of(item).sk()))
            .for_each(|item| tallied.add(item, event_id));
        tallied.unreadable.iter().for_each(|unreadable| self.report(unreadable));
        Ok(tallied)
    }

    /// Deletes an item of counts that can't be read, if that is still so: then its hour is counted from the facts.
    /// False: it can be read now, or is gone.
    #[tracing::instrument(name = "store.forget_counts", level = "debug", skip_all)]
    pub async fn forget_counts(&self, unreadable: &Unreadable) -> Result<bool, StoreError> {
        let key = Item::from(
            [("PK", &unreadable.pk), ("SK", &unreadable.sk)].map(|(name, key)| (name.to_owned(), text(key))),
        );
        let found = self.progress_item(key.clone()).await?;
        let Some(seen) = found.filter(|item| items::read_counts(item).is_err()) else { return Ok(false) };
        let delete = self.client.delete_item().table_name(&self.tables.consumers).set_key(Some(key));
        let StillAs { condition, names, values } = StillAs::seen(&seen, &WRITTEN);
        let delete = delete.condition_expression(condition).set_expression_attribute_names(Some(names));
        let deleted = guarded(delete.set_expression_attribute_values(values).send().await)?;
        Ok(matches!(deleted, Guarded::Done))
    }

    /// Adds a difference to an hour's correction, on condition that it is still the one that was seen (so that two who
    /// rebuild at once don't both add). False: it isn't.
    #[tracing::instrument(name = "store.correct", level = "debug", skip_all)]
    pub async fn correct(
        &self,
        event_id: &EventId,
        hour: &Hour,
        seen: Option<&Counts>,
        difference: &Counts,
    ) -> Result<bool, StoreError> {
        let mut correction = seen.cloned().unwrap_or_default();
        correction.add(difference);
        let item = |counts: &Counts| items::counts(ProgressKey::Correction { event_id, hour }, hour, counts);
        let put = self.client.put_item().table_name(&self.tables.consumers).set_item(Some(item(&correction)));
        let put = match seen.map(item) {
            None => put.condition_expression("attribute_not_exists(PK)"),
            Some(old) => ["registrations", "completions", "stamps"].into_iter().fold(
                put.condition_expression(
                    "registrations = :registrations AND completions = :completions AND stamps = :stamps",
                ),
                |put, name| put.expression_attribute_values(format!(":{name}"), old[name].clone()),
            ),
        };
        Ok(matches!(guarded(put.send().await)?, Guarded::Done))
    }
}

impl ShardCounts {
    /// Returns what this shard counts in an hour so far. An item that can't be read is reported, and the shard's count of
    /// the hour begins anew: `stats rebuild` corrects it.
    pub async fn of(&self, (event_id, hour): &HourOfEvent) -> Result<Counts, StoreError> {
        let found = self.store.progress_item(items::progress_key(self.key(event_id, hour))).await?;
        match found.as_ref().map(items::read_counts).transpose() {
            Ok(found) => Ok(found.map(|(_, counts)| counts).unwrap_or_default()),
            Err(unreadable) => {
                self.store.report(&unreadable);
                tracing::error!(
                    event.id = %event_id,
                    hour = hour.as_str(),
                    "the counts of an hour begin anew: `stamp-rally stats rebuild EVENT` corrects them"
                );
                Ok(Counts::default())
            }
        }
    }

    /// Returns the writes that make these the shard's counts.
    pub fn writes(&self, counts: &BTreeMap<HourOfEvent, Counts>) -> Result<Vec<TransactWriteItem>, StoreError> {
        let put = |((event_id, hour), counts): (&HourOfEvent, &Counts)| {
            let item = items::counts(self.key(event_id, hour), hour, counts);
            let put = Put::builder().table_name(&self.store.tables.consumers).set_item(Some(item)).build();
            put.map(|put| TransactWriteItem::builder().put(put).build()).map_err(StoreError::broken)
        };
        counts.iter().map(put).collect()
    }

    fn key<'a>(&'a self, event_id: &'a EventId, hour: &'a Hour) -> ProgressKey<'a> {
        ProgressKey::Counts { event_id, hour, stream_arn: &self.stream_arn, shard: &self.shard }
    }
}

/// Returns the hour in which a tick counts.
#[must_use]
pub fn hour_of(tick: &Tick, zone: TimeZone) -> HourOfEvent {
    (tick.event_id.clone(), Hour::of(tick.at, zone))
}

//! Counts of rallies (table `line-event-consumers`): absolute values for each event, hour and shard of a stream.
//!
//! | PK | SK | holds |
//! | --- | --- | --- |
//! | `COUNTS#{eventId}` | `HOUR#{hour}#{stream arn}#{shardId}` | what one shard's records of that hour count |
//! | the same | `HOUR#{hour}#CORRECTION` | what `stats rebuild` found to be missing or too much |
//!
//! A shard's counts are written in the transaction that moves its checkpoint, so a record that is read again can't count
//! again. The totals are the sum of all items.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::{AttributeValue, Put};

use crate::domain::{
    counts::{Counts, Hour, Hours, Tick},
    event::Event,
    fact::{Completed, User, UserStamp},
    ids::{EventId, StampId},
    notice::{NoticeId, NoticeKey},
    time::TimeZone,
};

use super::{
    Store, StoreError,
    fields::{Fields, number},
    guard::{Guarded, StillAs, guarded},
    items::{self, Entity as _, Item, Stored, Unreadable},
    keys::ItemKey,
    participants::text,
    stream::ShardId,
};

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

/// What the facts of an event say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recount {
    /// By hour of the event's zone.
    pub hours: Hours,
    /// Items that may be facts of the event and can't be read; the consumer could not count them either.
    pub unreadable: usize,
}

impl Recount {
    fn count(&mut self, stored: Stored, event: &Event) {
        if let Some(tick) = counted_of(stored, event) {
            self.hours.entry(Hour::of(tick.at, event.time_zone)).or_default().count(&tick);
        }
    }
}

/// Where the counts of one shard are.
#[derive(Debug, Clone)]
pub struct ShardCounts {
    store: Store,
    source: String,
}

impl Store {
    /// The counts of one shard of a stream.
    #[must_use]
    pub fn shard_counts(&self, stream_arn: &str, shard: &ShardId) -> ShardCounts {
        ShardCounts { store: self.clone(), source: format!("{stream_arn}#{shard}") }
    }

    /// An event's counts by hour. Items that can't be read are reported, and left out.
    pub async fn counts(&self, event_id: &EventId) -> Result<Tallied, StoreError> {
        let query = self.client.query().table_name(&self.tables.consumers).consistent_read(true);
        let query = query.key_condition_expression("PK = :pk");
        let query = query.expression_attribute_values(":pk", text(partition(event_id)));
        let mut pages = query.into_paginator().send();
        let mut tallied = Tallied::default();
        while let Some(page) = pages.next().await {
            let items = page?.items.unwrap_or_default();
            items.iter().filter(|item| is_of_an_hour(item)).for_each(|item| tallied.take_in(item));
        }
        for unreadable in &tallied.unreadable {
            self.report(unreadable);
        }
        Ok(tallied)
    }

    /// Takes an item of counts away that can't be read, if that is still so: then its hour is counted from the facts.
    /// False: it can be read now, or is gone.
    pub async fn forget_counts(&self, unreadable: &Unreadable) -> Result<bool, StoreError> {
        let key = [("PK", &unreadable.pk), ("SK", &unreadable.sk)].map(|(name, key)| (name.to_owned(), text(key)));
        let get = self.client.get_item().table_name(&self.tables.consumers).consistent_read(true);
        let found = get.set_key(Some(key.clone().into())).send().await?.item;
        let Some(seen) = found.filter(|item| read(item).is_err()) else { return Ok(false) };
        let delete = self.client.delete_item().table_name(&self.tables.consumers).set_key(Some(key.into()));
        let StillAs { condition, names, values } = StillAs::seen(&seen, &WRITTEN);
        let delete = delete.condition_expression(condition).set_expression_attribute_names(Some(names));
        let deleted = guarded(delete.set_expression_attribute_values(values).send().await)?;
        Ok(matches!(deleted, Guarded::Done))
    }

    /// The time zone that an event's item names, whatever else is wrong with the item: absent, Tokyo. `None`: there is no
    /// such item, or what it names is no time zone. 1 `GetItem`.
    pub async fn time_zone(&self, event_id: &EventId) -> Result<Option<TimeZone>, StoreError> {
        let key = ItemKey::Event(event_id.clone());
        let get = self.client.get_item().table_name(&self.tables.main).key("PK", text(key.pk()));
        // The name is one of DynamoDB's reserved words.
        let get = get.projection_expression("#zone").expression_attribute_names("#zone", "timeZone");
        let found = get.key("SK", text(key.sk())).send().await?.item;
        Ok(found.and_then(|item| match item.get("timeZone") {
            None => Some(TimeZone::TOKYO),
            Some(zone) => zone.as_s().ok()?.parse().ok(),
        }))
    }

    /// Counts the facts of one event anew, by a consistent Scan of the whole table; tells after each page how many
    /// items were read.
    pub async fn count_facts(&self, event: &Event, mut read_so_far: impl FnMut(usize)) -> Result<Recount, StoreError> {
        let scan = self.client.scan().table_name(&self.tables.main).consistent_read(true);
        let mut pages = scan.into_paginator().send();
        let (mut recount, mut read) = (Recount::default(), 0);
        while let Some(page) = pages.next().await {
            for item in page?.items.unwrap_or_default() {
                read += 1;
                let may_count = may_count(&item, &event.event_id);
                match items::decode(item) {
                    Ok(stored) => recount.count(stored, event),
                    Err(unreadable) => {
                        self.report(&unreadable);
                        recount.unreadable += usize::from(may_count);
                    }
                }
            }
            read_so_far(read);
        }
        Ok(recount)
    }

    /// Adds a difference to an hour's correction, on condition that it is still the one that was seen (so that two who
    /// rebuild at once don't both add). False: it isn't.
    pub async fn correct(
        &self,
        event_id: &EventId,
        hour: &Hour,
        seen: Option<&Counts>,
        difference: &Counts,
    ) -> Result<bool, StoreError> {
        let mut correction = seen.cloned().unwrap_or_default();
        correction.add(difference);
        let stored = item(event_id, correction_key(hour), hour, &correction);
        let put = self.client.put_item().table_name(&self.tables.consumers).set_item(Some(stored));
        let put = match seen.map(|seen| item(event_id, correction_key(hour), hour, seen)) {
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
    /// What this shard counts in an hour so far. An item that can't be read is reported, and the shard's count of the
    /// hour begins anew: `stats rebuild` corrects it.
    pub async fn of(&self, (event_id, hour): &HourOfEvent) -> Result<Counts, StoreError> {
        let get = self.store.client.get_item().table_name(&self.store.tables.consumers).consistent_read(true);
        let found = get.key("PK", text(partition(event_id))).key("SK", text(self.key(hour))).send().await?.item;
        match found.as_ref().map(read).transpose() {
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

    /// The writes that make these the shard's counts.
    pub(super) fn puts(&self, counts: &BTreeMap<HourOfEvent, Counts>) -> Result<Vec<Put>, StoreError> {
        let put = |((event_id, hour), counts): (&HourOfEvent, &Counts)| {
            let item = item(event_id, self.key(hour), hour, counts);
            Put::builder().table_name(&self.store.tables.consumers).set_item(Some(item)).build()
        };
        counts.iter().map(|one| put(one).map_err(StoreError::broken)).collect()
    }

    fn key(&self, hour: &Hour) -> String {
        format!("HOUR#{}#{}", hour.as_str(), self.source)
    }
}

/// The hour in which a tick counts.
#[must_use]
pub fn hour_of(tick: &Tick, zone: TimeZone) -> HourOfEvent {
    (tick.event_id.clone(), Hour::of(tick.at, zone))
}

fn counted_of(stored: Stored, event: &Event) -> Option<Tick> {
    match stored {
        Stored::Fact(fact) => Tick::of(&fact).filter(|tick: &Tick| tick.event_id == event.event_id),
        _ => None,
    }
}

/// Whether an item is, as its key or else its attributes say, a fact that counts for an event, readable or not.
fn may_count(item: &Item, event_id: &EventId) -> bool {
    let fields = Fields::of(item);
    let by_key = match ItemKey::parse(fields.pk(), fields.sk()) {
        Some(
            ItemKey::Profile { event_id: found, .. }
            | ItemKey::Notice(NoticeId { event_id: found, key: NoticeKey::Completed | NoticeKey::Stamp(_), .. }),
        ) => found == *event_id,
        Some(_) | None => false,
    };
    let [entity_type, named] = ["entityType", "eventId"].map(|name| fields.some_text(name).ok().flatten());
    let is_counted = entity_type.is_some_and(|found| [User::TYPE, UserStamp::TYPE, Completed::TYPE].contains(&found));
    by_key || (is_counted && named == Some(event_id.as_str()))
}

fn partition(event_id: &EventId) -> String {
    format!("COUNTS#{event_id}")
}

fn correction_key(hour: &Hour) -> String {
    format!("HOUR#{}#CORRECTION", hour.as_str())
}

fn item(event_id: &EventId, sort: String, hour: &Hour, counts: &Counts) -> Item {
    let number = |count: i64| AttributeValue::N(count.to_string());
    let stamps = counts.stamps.iter().map(|(stamp_id, count)| (stamp_id.to_string(), number(*count)));
    HashMap::from([
        ("PK".to_owned(), text(partition(event_id))),
        ("SK".to_owned(), text(sort)),
        ("entityType".to_owned(), text("COUNTS")),
        ("hour".to_owned(), text(hour.as_str())),
        ("registrations".to_owned(), number(counts.registrations)),
        ("completions".to_owned(), number(counts.completions)),
        ("stamps".to_owned(), AttributeValue::M(stamps.collect())),
    ])
}

impl Tallied {
    fn take_in(&mut self, item: &Item) {
        match read(item) {
            Ok((hour, counts)) => {
                self.hours.entry(hour.clone()).or_default().add(&counts);
                if Fields::of(item).sk() == correction_key(&hour) {
                    self.corrections.insert(hour, counts);
                }
            }
            Err(unreadable) => self.unreadable.push(unreadable),
        }
    }
}

/// Whether an item of an event's counts is of an hour. Anything else is another program's, or a newer version's.
pub(super) fn is_of_an_hour(item: &Item) -> bool {
    Fields::of(item).sk().starts_with("HOUR#")
}

pub(super) fn read(item: &Item) -> Result<(Hour, Counts), Unreadable> {
    let fields = Fields::of(item);
    let hour = Hour::stored(fields.text("hour")?);
    if !fields.sk().starts_with(&format!("HOUR#{}#", hour.as_str())) || hour.start().is_none() {
        return Err(fields.unreadable("hour", "is not the hour that its key names"));
    }
    let stamps = fields.map("stamps")?.iter().map(|(stamp_id, count)| Some((stamp_id.parse().ok()?, number(count)?)));
    let stamps: Option<BTreeMap<StampId, i64>> = stamps.collect();
    let stamps = stamps.ok_or_else(|| fields.unreadable("stamps", "is not a map of whole numbers by stamp"))?;
    let (registrations, completions) = (fields.number("registrations")?, fields.number("completions")?);
    Ok((hour, Counts { completions, registrations, stamps }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_form_is_pinned_and_read_back() {
        let (rally, hour) = ("rally".parse().unwrap(), Hour::stored("2026-05-23T19:00+09:00"));
        let counts =
            Counts { registrations: 3, completions: -1, stamps: BTreeMap::from([("001".parse().unwrap(), 2)]) };
        let item = item(&rally, correction_key(&hour), &hour, &counts);
        let number = |number: &str| AttributeValue::N(number.to_owned());
        let expected = HashMap::from([
            ("PK".to_owned(), text("COUNTS#rally")),
            ("SK".to_owned(), text("HOUR#2026-05-23T19:00+09:00#CORRECTION")),
            ("entityType".to_owned(), text("COUNTS")),
            ("hour".to_owned(), text("2026-05-23T19:00+09:00")),
            ("registrations".to_owned(), number("3")),
            ("completions".to_owned(), number("-1")),
            ("stamps".to_owned(), AttributeValue::M(HashMap::from([("001".to_owned(), number("2"))]))),
        ]);
        assert_eq!(item, expected);
        assert_eq!(read(&item).unwrap(), (hour, counts));
    }

    #[test]
    fn an_item_that_lacks_something_is_named() {
        let hour = Hour::stored("2026-05-23T19:00+09:00");
        let whole = item(&"rally".parse().unwrap(), correction_key(&hour), &hour, &Counts::default());
        for name in ["hour", "registrations", "completions", "stamps"] {
            let mut item = whole.clone();
            item.remove(name);
            let error = read(&item).unwrap_err();
            let told = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            assert!(told.contains(name), "{told}");
            assert_eq!(error.attribute, name);
        }
    }
    #[test]
    fn an_item_whose_hour_is_not_that_of_its_key_is_not_believed() {
        let hour = Hour::stored("2026-05-23T19:00+09:00");
        let mut item = item(&"rally".parse().unwrap(), correction_key(&hour), &hour, &Counts::default());
        item.insert("hour".to_owned(), text("2026-05-23T20:00+09:00"));
        assert_eq!(read(&item).unwrap_err().attribute, "hour");
    }
}

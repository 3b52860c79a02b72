//! `GSI2` keys for the stamps of a table that was made from the article: who holds a stamp can then be listed, and
//! `reconcile` can look for what the stream has forgotten.
//!
//! The table is scanned page by page. Each stamp without keys gets them by one Update on condition that the item is
//! there and has none, so that it may be run again, twice at once, and beside everything else. How far it came is
//! written down after each page (table `line-event-consumers`, PK `BACKFILL#gsi2`, SK `PROGRESS`), after the page's
//! writes: an interrupted run goes on there. The stream shows these Updates as MODIFY, which delivery passes over.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::{StreamExt as _, stream};

use crate::domain::{
    event::IndexShards,
    fact::UserStamp,
    ids::EventId,
    time::{Clock, Timestamp},
};

use super::{
    Store, StoreError,
    fields::Fields,
    guard::{Guarded, guarded},
    items::{self, Entity, Item, Unreadable},
    keys::{Gsi2Key, Shard},
    participants::text,
};

/// Items that are written at once.
const AT_ONCE: usize = 8;

/// What a backfill has come to, in items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Looked at, of any kind.
    pub looked_at: u64,
    /// Stamps that got their keys.
    pub filled: u64,
    /// Stamps that got them, or went away, between the look and the write.
    pub overtaken: u64,
    /// Stamps that are left as they are: they can't be read, or their event isn't there to say how its index is spread.
    /// The log names them.
    pub left: u64,
}

/// A pass over the table.
pub struct Backfill {
    store: Store,
    clock: Clock,
    /// Over how many partitions an event's index is spread; `None` = there is no such event, or it can't be read.
    shards: HashMap<EventId, Option<IndexShards>>,
    after: Option<Item>,
    counts: Counts,
    over: bool,
}

/// An earlier pass that was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted {
    /// What it had come to.
    pub counts: Counts,
    /// When that was written down.
    pub at: Timestamp,
}

impl Store {
    /// A pass over the table, from its beginning or from where an earlier one was interrupted. If it can't be read where
    /// that was, this is reported, and the pass begins at the beginning: what has its keys is passed over.
    pub async fn backfill(&self, clock: Clock) -> Result<(Backfill, Option<Interrupted>), StoreError> {
        let get = self.client.get_item().table_name(&self.tables.consumers).consistent_read(true);
        let found = get.set_key(Some(progress_key())).send().await?.item;
        let read = found.as_ref().map(read_progress).transpose();
        let read = read.inspect_err(|unreadable| self.report(unreadable)).unwrap_or_default();
        let (after, interrupted) = read.unzip();
        let counts = interrupted.as_ref().map_or_else(Counts::default, |interrupted: &Interrupted| interrupted.counts);
        let pass = Backfill { store: self.clone(), clock, shards: HashMap::new(), after, counts, over: false };
        Ok((pass, interrupted))
    }
}

impl Backfill {
    /// What it has come to so far, with what an interrupted pass before had.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Events that do not exist although stamps of theirs were met, in the order of their ids: without the event it is
    /// not known how its index is spread. Those that an interrupted pass met before are not among them.
    #[must_use]
    pub fn missing_events(&self) -> Vec<&EventId> {
        let missing = self.shards.iter().filter(|(_, shards)| shards.is_none());
        let mut missing: Vec<&EventId> = missing.map(|(event_id, _)| event_id).collect();
        missing.sort();
        missing
    }

    /// Whether everything was looked at.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Looks at the next items, at most `most`, gives keys to those that lack them, and writes down how far it came.
    /// After [`StoreError::Unavailable`] it may be asked again.
    pub async fn step(&mut self, most: u16) -> Result<(), StoreError> {
        let scan = self.store.client.scan().table_name(&self.store.tables.main).limit(i32::from(most.max(1)));
        let page = scan
            .filter_expression("entityType = :stamp AND attribute_not_exists(GSI2PK)")
            .expression_attribute_values(":stamp", text("USER_STAMP"))
            .set_exclusive_start_key(self.after.clone())
            .send()
            .await?;
        let (mut wanted, mut left) = (Vec::new(), 0);
        for item in page.items.unwrap_or_default() {
            match self.keyed(item).await? {
                Some(stamp) => wanted.push(stamp),
                None => left += 1,
            }
        }
        self.fill_all(wanted).await?;
        let looked_at = self.counts.looked_at + u64::try_from(page.scanned_count).unwrap_or_default();
        let counts = Counts { looked_at, left: self.counts.left + left, ..self.counts };
        self.write_down(page.last_evaluated_key, counts).await
    }

    /// One that fails doesn't break the others off; the page is asked for again.
    async fn fill_all(&mut self, stamps: Vec<(UserStamp, Gsi2Key)>) -> Result<(), StoreError> {
        let store = &self.store;
        let writes = stream::iter(stamps).map(|(stamp, key)| async move { store.fill(&stamp, &key).await });
        let mut all = Ok(());
        for written in writes.buffer_unordered(AT_ONCE).collect::<Vec<_>>().await {
            match written {
                Ok(Guarded::Done) => self.counts.filled += 1,
                Ok(Guarded::Refused(_)) => self.counts.overtaken += 1,
                Err(error) => all = Err(error),
            }
        }
        all
    }

    /// A stamp and its keys; `None` if it must be left as it is.
    async fn keyed(&mut self, item: Item) -> Result<Option<(UserStamp, Gsi2Key)>, StoreError> {
        let stamp: UserStamp = match items::decode_as(item) {
            Ok(stamp) => stamp,
            Err(unreadable) => {
                self.store.report(&unreadable);
                return Ok(None);
            }
        };
        let Some(shards) = self.shards_of(&stamp.event_id).await? else { return Ok(None) };
        let key = Gsi2Key {
            event_id: stamp.event_id.clone(),
            stamp_id: stamp.stamp_id.clone(),
            shard: Shard::of(&stamp.line_user_id, shards),
            acquired_at: stamp.acquired_at,
            line_user_id: stamp.line_user_id.clone(),
        };
        Ok(Some((stamp, key)))
    }

    async fn shards_of(&mut self, event_id: &EventId) -> Result<Option<IndexShards>, StoreError> {
        if let Some(known) = self.shards.get(event_id) {
            return Ok(*known);
        }
        let shards = match self.store.event(event_id).await {
            Ok(found) => found.map(|event| event.index_shards),
            Err(StoreError::Unreadable(_)) => None,
            Err(error) => return Err(error),
        };
        if shards.is_none() {
            tracing::error!(
                event.id = %event_id,
                "the stamps of an event that does not exist, or can't be read, are left as they are: write it with \
                 `stamp-rally event apply`"
            );
        }
        self.shards.insert(event_id.clone(), shards);
        Ok(shards)
    }

    /// A pass that is over leaves nothing: the next one looks at everything again.
    async fn write_down(&mut self, after: Option<Item>, counts: Counts) -> Result<(), StoreError> {
        let (client, table) = (&self.store.client, &self.store.tables.consumers);
        match &after {
            None => client.delete_item().table_name(table).set_key(Some(progress_key())).send().await.map(drop)?,
            Some(after) => {
                let item = progress(after, counts, self.clock.now());
                client.put_item().table_name(table).set_item(Some(item)).send().await.map(drop)?;
            }
        }
        (self.over, self.after, self.counts) = (after.is_none(), after, counts);
        Ok(())
    }
}

impl Store {
    /// Gives a stamp its keys, unless it has some by now, or is gone.
    async fn fill(&self, stamp: &UserStamp, key: &Gsi2Key) -> Result<Guarded, StoreError> {
        let item = stamp.key();
        let update = self.client.update_item().table_name(&self.tables.main);
        let update = update.key("PK", text(item.pk())).key("SK", text(item.sk()));
        let update = update
            .update_expression("SET GSI2PK = :pk, GSI2SK = :sk")
            .condition_expression("attribute_exists(PK) AND attribute_not_exists(GSI2PK)")
            .expression_attribute_values(":pk", text(key.pk()))
            .expression_attribute_values(":sk", text(key.sk()));
        guarded(update.send().await)
    }
}

fn progress_key() -> Item {
    Item::from([("PK".to_owned(), text("BACKFILL#gsi2")), ("SK".to_owned(), text("PROGRESS"))])
}

/// How far a pass came: after which item of the table, and to what.
fn progress(after: &Item, counts: Counts, now: Timestamp) -> Item {
    let number = |number: u64| AttributeValue::N(number.to_string());
    let mut item = progress_key();
    item.extend([
        ("entityType".to_owned(), text("BACKFILL")),
        ("after".to_owned(), AttributeValue::M(after.clone())),
        ("lookedAt".to_owned(), number(counts.looked_at)),
        ("filled".to_owned(), number(counts.filled)),
        ("overtaken".to_owned(), number(counts.overtaken)),
        ("left".to_owned(), number(counts.left)),
        ("updatedAt".to_owned(), text(now.to_string())),
    ]);
    item
}

pub(super) fn read_progress(item: &Item) -> Result<(Item, Interrupted), Unreadable> {
    let fields = Fields::of(item);
    let after = fields.map("after")?;
    let is_key = after.len() == 2 && ["PK", "SK"].iter().all(|name| after.get(*name).is_some_and(AttributeValue::is_s));
    if !is_key {
        return Err(fields.unreadable("after", "is not a key of the table"));
    }
    let counts = Counts {
        looked_at: fields.number("lookedAt")?,
        filled: fields.number("filled")?,
        overtaken: fields.number("overtaken")?,
        left: fields.number("left")?,
    };
    Ok((after.clone(), Interrupted { counts, at: fields.time("updatedAt")? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_read_as_it_is_written() {
        let after = Item::from([("PK".to_owned(), text("EVENT#r#USER#U1")), ("SK".to_owned(), text("STAMP#001"))]);
        let counts = Counts { looked_at: 4, filled: 3, overtaken: 2, left: 1 };
        let at: Timestamp = "2026-05-23T10:00:00.000Z".parse().unwrap();
        let item = progress(&after, counts, at);
        assert_eq!(item["PK"], text("BACKFILL#gsi2"));
        assert_eq!(read_progress(&item).unwrap(), (after, Interrupted { counts, at }));
        assert!(read_progress(&progress_key()).is_err());
    }
}

//! `GSI2` keys for the stamps of a table that was made from the article: who holds a stamp can then be listed, and
//! `reconcile` can look for what the stream has forgotten.
//!
//! The table is scanned page by page. Each stamp without keys gets them by one Update on condition that the item is
//! there and has none, so that it may be run again, twice at once, and beside everything else. How far it came is
//! written down after each page (table `line-event-consumers`, PK `BACKFILL#gsi2`, SK `PROGRESS`), after the page's
//! writes: an interrupted run continues there. The stream shows these Updates as MODIFY, which delivery passes over.

use std::collections::HashMap;

use futures_util::{StreamExt as _, stream};

use crate::domain::{event::IndexShards, fact::UserStamp, ids::EventId, time::Clock};

use super::{
    Store, StoreError,
    guard::{Guarded, guarded},
    items::{
        self, Entity, Item,
        backfill::{progress, read_progress},
        text,
    },
    keys::{Gsi2Key, ProgressKey, Shard},
    paging::{Items as _, Pages},
};

pub use super::items::backfill::{Counts, Interrupted};

/// Items that are written at once.
const AT_ONCE: usize = 8;

/// A pass over the table.
pub struct Backfill {
    store: Store,
    clock: Clock,
    /// Over how many partitions an event's index is spread; `None` = there is no such event, or it can't be read.
    shards: HashMap<EventId, Option<IndexShards>>,
    pages: Pages<Item>,
    counts: Counts,
}

impl Store {
    /// Begins a pass over the table, from its beginning or from where an earlier one was interrupted. If it can't be
    /// read where that was, this is reported, and the pass begins at the beginning: what has its keys is passed over.
    #[tracing::instrument(name = "store.backfill", level = "debug", skip_all)]
    pub async fn backfill(&self, clock: Clock) -> Result<(Backfill, Option<Interrupted>), StoreError> {
        let found = self.progress_item(items::progress_key(ProgressKey::Backfill)).await?;
        let read = found.as_ref().map(read_progress).transpose();
        let read = read.inspect_err(|unreadable| self.report(unreadable)).unwrap_or_default();
        let (after, interrupted) = read.unzip();
        let counts = interrupted.as_ref().map_or_else(Counts::default, |interrupted: &Interrupted| interrupted.counts);
        let pass = Backfill { store: self.clone(), clock, shards: HashMap::new(), pages: Pages::From(after), counts };
        Ok((pass, interrupted))
    }
}

impl Backfill {
    /// Returns what it has come to so far, with what an interrupted pass before had.
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

    /// Returns whether everything was looked at.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.pages.is_over()
    }

    /// Looks at the next items, at most `most`, gives keys to those that lack them, and writes down how far it came.
    /// After [`StoreError::Unavailable`] it may be asked again.
    pub async fn step(&mut self, most: u16) -> Result<(), StoreError> {
        let scan = self.store.client.scan().table_name(&self.store.tables.main).limit(i32::from(most.max(1)));
        let scan = scan
            .filter_expression("entityType = :stamp AND attribute_not_exists(GSI2PK)")
            .expression_attribute_values(":stamp", text(UserStamp::TYPE));
        let mut pages = self.pages.clone();
        let page = pages.next(|after| scan.set_exclusive_start_key(after).send()).await?;
        let Some(page) = page else { return Ok(()) };
        let looked_at = self.counts.looked_at + u64::try_from(page.scanned_count).unwrap_or_default();
        let (mut wanted, mut left) = (Vec::new(), 0);
        for item in page.found() {
            match self.keyed(item).await? {
                Some(stamp) => wanted.push(stamp),
                None => left += 1,
            }
        }
        self.fill_all(wanted).await?;
        let counts = Counts { looked_at, left: self.counts.left + left, ..self.counts };
        self.write_down(pages, counts).await
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

    /// Returns a stamp and its keys; `None` if it must be left as it is.
    async fn keyed(&mut self, item: Item) -> Result<Option<(UserStamp, Gsi2Key)>, StoreError> {
        let stamp: UserStamp = match items::decode_as(item) {
            Ok(stamp) => stamp,
            Err(unreadable) => {
                self.store.report(&unreadable);
                return Ok(None);
            }
        };
        let Some(shards) = self.shards_of(&stamp.event_id).await? else { return Ok(None) };
        let key = items::holder_key(&stamp, Shard::of(&stamp.line_user_id, shards));
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

    /// Writes down how far the pass came. One that is over leaves nothing: the next one looks at everything again.
    async fn write_down(&mut self, pages: Pages<Item>, counts: Counts) -> Result<(), StoreError> {
        match pages.clone().cursor() {
            None => self.store.delete_progress(items::progress_key(ProgressKey::Backfill)).await?,
            Some(after) => self.store.put_progress(progress(&after, counts, self.clock.now())).await?,
        }
        (self.pages, self.counts) = (pages, counts);
        Ok(())
    }
}

impl Store {
    /// Gives a stamp its keys, unless it has some by now, or is gone.
    async fn fill(&self, stamp: &UserStamp, key: &Gsi2Key) -> Result<Guarded, StoreError> {
        let update = self.client.update_item().table_name(&self.tables.main);
        let update = update.set_key(Some(items::primary_key(&stamp.key())));
        let update = update
            .update_expression("SET GSI2PK = :pk, GSI2SK = :sk")
            .condition_expression("attribute_exists(PK) AND attribute_not_exists(GSI2PK)")
            .expression_attribute_values(":pk", text(key.pk()))
            .expression_attribute_values(":sk", text(key.sk()));
        guarded(update.send().await)
    }
}

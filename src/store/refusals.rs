//! Refused claims by hour (entity `REFUSALS`): absolute values of each process, so that writing them again changes nothing.

use std::collections::BTreeMap;

use crate::domain::{counts::Hour, ids::EventId, refusals::RefusalCounts, time::Timestamp};

use super::{
    Store, StoreError, items,
    keys::{self, ItemKey},
    paging,
};

pub use super::ids::ProcessId;

/// How long they are kept, in seconds: 30 days.
const KEPT: i64 = 30 * 24 * 3600;

impl Store {
    /// Writes what this process refused of an event in an hour: 1 Put.
    #[tracing::instrument(name = "store.put_refusals", level = "debug", skip_all)]
    pub async fn put_refusals(
        &self,
        (event_id, hour): (&EventId, &Hour),
        process: &ProcessId,
        counts: &RefusalCounts,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let ttl = now.as_millis().div_euclid(1000) + KEPT;
        let key = ItemKey::Refusals { event_id: event_id.clone(), hour: hour.clone(), process: process.clone() };
        let item = items::refusals(&key, (event_id, hour), &counts.largest(), ttl);
        let put = self.client.put_item().table_name(&self.tables.main).set_item(Some(item));
        // On the heap: a server keeps this future beside its own.
        Ok(Box::pin(put.send()).await.map(drop)?)
    }

    /// Returns the refused claims of an event by hour, the sum of all processes: 1 Query. An item that can't be read is
    /// reported, and left out.
    #[tracing::instrument(name = "store.refusals", level = "debug", skip_all)]
    pub async fn refusals(&self, event_id: &EventId) -> Result<BTreeMap<Hour, RefusalCounts>, StoreError> {
        let query = self.partition(&self.tables.main, keys::refusals_partition(event_id));
        let mut hours: BTreeMap<Hour, RefusalCounts> = BTreeMap::new();
        for item in paging::all(|after| query.clone().set_exclusive_start_key(after).send()).await? {
            match items::read_refusals(&item) {
                Ok((hour, counts)) => hours.entry(hour).or_default().add(counts),
                Err(unreadable) => self.report(&unreadable),
            }
        }
        Ok(hours)
    }
}

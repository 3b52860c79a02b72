//! The rallies as this process knows them: event and masters, cached.
//!
//! Fresh for 5 s; stale for at most 30 s while they are fetched anew; older or missing ones are
//! awaited. Unknown ids are looked up, and a "no" is kept for 2 s. Staff are never older than 5 s.

mod cache;

use std::{sync::Arc, time::Duration};

use crate::domain::{
    event::Event,
    ids::{ChannelName, EventId, StampId},
    staff::Staff,
    stamp::{StampMaster, StampMasters},
    time::{Clock, Timestamp},
};

use super::{Store, StoreError, listing::Wanted, paging::Pages};
use cache::{Ages, Cache};

/// An event with its stamp masters, in order.
#[derive(Debug, Clone)]
pub struct Rally {
    /// The event.
    pub event: Event,
    /// Its stamp masters.
    pub masters: StampMasters,
}

impl Rally {
    /// Returns the master of one stamp, as far as this copy knows.
    #[must_use]
    pub fn master(&self, stamp_id: &StampId) -> Option<&StampMaster> {
        self.masters.find(stamp_id)
    }
}

/// The cache; clones share it.
#[derive(Clone)]
pub struct Rallies {
    store: Store,
    known: Arc<Cache<EventId, Rally>>,
    /// Stamps that a rally's copy didn't know: too new for it, or none.
    stamps: Arc<Cache<(EventId, StampId), StampMaster>>,
    /// Staff and screens: never older than 5 s, so that a revoked token is refused within that time.
    staff: Arc<Cache<EventId, Vec<Staff>>>,
    /// Which events a channel has.
    of_channels: Arc<Cache<ChannelName, Vec<EventId>>>,
    clock: Clock,
}

impl Rallies {
    /// Makes a cache in front of a store.
    #[must_use]
    pub fn new(store: Store, clock: Clock) -> Self {
        let absent = Duration::from_secs(2);
        let of_rallies = Ages { fresh: Duration::from_secs(5), stale: Duration::from_secs(30), absent };
        // Long enough to spare the table a crowd in front of a new stamp; the rally's own copy knows it soon.
        let of_stamps = Ages { fresh: absent, stale: absent, absent };
        let of_staff = Ages { stale: of_rallies.fresh, ..of_rallies };
        Self {
            store,
            known: Arc::new(Cache::new(of_rallies, clock.clone())),
            stamps: Arc::new(Cache::new(of_stamps, clock.clone())),
            staff: Arc::new(Cache::new(of_staff, clock.clone())),
            of_channels: Arc::new(Cache::new(of_rallies, clock.clone())),
            clock,
        }
    }

    /// Returns one rally; `None` if there is no such event. At most one `GetItem` (the event) and one `Query` (its
    /// masters) are under way for it, however many ask.
    pub async fn rally(&self, event_id: &EventId) -> Result<Option<Arc<Rally>>, StoreError> {
        let (store, id) = (self.store.clone(), event_id.clone());
        self.known.find(event_id, async move || fetch(&store, &id).await).await
    }

    /// Returns one stamp of a rally: from the cache, or looked up if the cache doesn't know it (it may be new).
    pub async fn stamp(&self, rally: &Rally, stamp_id: &StampId) -> Result<Option<StampMaster>, StoreError> {
        if let Some(master) = rally.master(stamp_id) {
            return Ok(Some(master.clone()));
        }
        let key = (rally.event.event_id.clone(), stamp_id.clone());
        let (store, (event_id, stamp_id)) = (self.store.clone(), key.clone());
        let found = self.stamps.find(&key, async move || store.master(&event_id, &stamp_id).await).await?;
        Ok(found.as_deref().cloned())
    }

    /// Returns the events of a channel that didn't end more than a day ago, by start: those that a webhook event may be
    /// about. Cached as events are; a Query of all events, by pages, is under way for them at most once.
    pub async fn events_of(&self, channel: &ChannelName) -> Result<Arc<Vec<EventId>>, StoreError> {
        let (store, name, now) = (self.store.clone(), channel.clone(), self.clock.now());
        let found = self.of_channels.find(channel, async move || events_of(&store, &name, now).await.map(Some)).await?;
        Ok(found.unwrap_or_default())
    }

    /// Returns an event's staff and screens as they were at most 5 s ago, also those that are revoked. At most one `Query`
    /// is under way for them, however many ask. Ask only for events that exist.
    pub async fn staff(&self, event_id: &EventId) -> Result<Arc<Vec<Staff>>, StoreError> {
        let (store, id) = (self.store.clone(), event_id.clone());
        let found = self.staff.find(event_id, async move || store.staff(&id).await.map(Some)).await?;
        Ok(found.unwrap_or_default())
    }

    /// Forgets who an event's staff are, after this process changed them.
    pub fn forget_staff(&self, event_id: &EventId) {
        self.staff.forget(|id| id == event_id);
    }

    /// Forgets what is cached of one event, after this process changed it. A fetch that is under way may have read
    /// the old state: the callers that wait for it get it, and none after them.
    pub fn forget(&self, event_id: &EventId) {
        self.known.forget(|id| id == event_id);
        self.stamps.forget(|(id, _)| id == event_id);
        self.of_channels.forget(|_| true);
    }
}

/// How long after its end a webhook event may still be about an event, in milliseconds: a beacon's is at most a day old.
const DAY: i64 = 24 * 3_600_000;

async fn events_of(store: &Store, channel: &ChannelName, now: Timestamp) -> Result<Vec<EventId>, StoreError> {
    let (mut pages, mut found) = (Pages::default(), Vec::new());
    while let Some(page) = pages.next(async |after| store.events(&Wanted::oldest_first(after)).await).await? {
        let is_wanted = |event: &Event| event.channel == *channel && event.window.ends_at().plus_millis(DAY) > now;
        found.extend(page.rows.into_iter().filter(is_wanted).map(|event| event.event_id));
    }
    Ok(found)
}

/// Fetches a rally: one `GetItem` for the event and, if there is one, one `Query` for its masters.
async fn fetch(store: &Store, event_id: &EventId) -> Result<Option<Rally>, StoreError> {
    let Some(event) = store.event(event_id).await? else { return Ok(None) };
    let masters = store.masters(event_id).await?;
    Ok(Some(Rally { event, masters }))
}

//! The rallies as this process knows them: event and masters, cached.
//!
//! Fresh for 5 s; stale for at most 30 s while they are fetched anew; older or missing ones are
//! awaited. Unknown ids are looked up, and a "no" is kept for 2 s.

use std::sync::Arc;

use crate::domain::{
    event::Event,
    ids::{EventId, StampId},
    stamp::StampMaster,
    time::Clock,
};

use super::{Store, StoreError};

/// An event with its stamp masters, in order.
#[derive(Debug, Clone)]
pub struct Rally {
    /// The event.
    pub event: Event,
    /// All its masters, the inactive ones too, by order and id.
    pub masters: Vec<StampMaster>,
}

/// The cache; clones share it.
#[derive(Clone)]
pub struct Rallies {}

impl Rallies {
    /// A cache in front of a store.
    #[must_use]
    pub fn new(store: Store, clock: Clock) -> Self {
        todo!()
    }

    /// One rally; `None` if there is no such event.
    pub async fn rally(&self, event_id: &EventId) -> Result<Option<Arc<Rally>>, StoreError> {
        todo!()
    }

    /// One stamp of a rally: from the cache, or looked up if the cache doesn't know it (it may be new).
    pub async fn stamp(&self, rally: &Rally, stamp_id: &StampId) -> Result<Option<StampMaster>, StoreError> {
        todo!()
    }

    /// Forgets what is cached of one event, after this process changed it.
    pub fn forget(&self, event_id: &EventId) {
        todo!()
    }
}

//! Events and stamp masters: read, list, replace. Settings can't be overwritten unseen.

use crate::domain::{
    event::Event,
    ids::{EventId, StampId},
    stamp::StampMaster,
    time::Timestamp,
};

use super::{Store, StoreError};

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
        todo!()
    }

    /// Access pattern 7: the event's stamp masters in order, all pages.
    pub async fn masters(&self, event_id: &EventId) -> Result<Vec<StampMaster>, StoreError> {
        todo!()
    }

    /// Access pattern 8: one stamp master, consistent.
    pub async fn master(&self, event_id: &EventId, stamp_id: &StampId) -> Result<Option<StampMaster>, StoreError> {
        todo!()
    }

    /// Writes an event on condition that `replaces` is still its version (`None`: that it doesn't exist).
    /// A repeat of our own write whose answer got lost is `Done`.
    pub async fn put_event(&self, event: &Event, replaces: Option<Timestamp>) -> Result<Replaced, StoreError> {
        todo!()
    }

    /// The same for a stamp master.
    pub async fn put_master(&self, master: &StampMaster, replaces: Option<Timestamp>) -> Result<Replaced, StoreError> {
        todo!()
    }

    /// Whether anybody is registered for the event (looks into every index partition it could have).
    pub async fn is_anybody_registered(&self, event: &Event) -> Result<bool, StoreError> {
        todo!()
    }
}

//! Lists by index: participants by registration time, holders of a stamp, events by start, notices
//! in special states. A list continues exactly after the last row, also while rows are added.

use crate::domain::{
    event::Event,
    fact::{Fact, User},
    ids::{EventId, LineUserId, StampId},
    notice::ParkedState,
    time::{Span, Timestamp},
};

use super::{Store, StoreError};

/// Which end a list begins at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Oldest first.
    Asc,
    /// Newest first.
    Desc,
}

/// Where a list goes on: the index sort key of the last row that was given out.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Position(String);

/// Which part of a list is wanted.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// From which end.
    pub direction: Direction,
    /// At most so many rows (1 to 1000).
    pub limit: usize,
    /// After this one.
    pub after: Option<Position>,
}

/// A part of a list.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// Where to go on; `None` when there is nothing more.
    pub next: Option<Position>,
}

/// Somebody who holds a stamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Who.
    pub line_user_id: LineUserId,
    /// Since when.
    pub acquired_at: Timestamp,
}

impl Store {
    /// Access pattern 6: participants by registration time (merges the index shards in order).
    pub async fn users(&self, event: &Event, span: Span, wanted: &Wanted) -> Result<Page<User>, StoreError> {
        todo!()
    }

    /// Access pattern 9: who holds a stamp, by time.
    pub async fn holders(
        &self,
        event: &Event,
        stamp_id: &StampId,
        wanted: &Wanted,
    ) -> Result<Page<Holder>, StoreError> {
        todo!()
    }

    /// All events by start.
    pub async fn events(&self, wanted: &Wanted) -> Result<Page<Event>, StoreError> {
        todo!()
    }

    /// The facts of an event whose notices are in a special state, by the time they got there.
    pub async fn parked(
        &self,
        event_id: &EventId,
        state: ParkedState,
        wanted: &Wanted,
    ) -> Result<Page<Fact>, StoreError> {
        todo!()
    }
}

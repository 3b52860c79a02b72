//! Participants: register, acquire, read; each guard is one conditional Put.

use crate::domain::{
    event::IndexShards,
    fact::{Completed, Facts, Friendship, User, UserStamp},
    ids::{ChannelName, EventId, LineUserId, StampId},
    time::Timestamp,
};

use super::{Store, StoreError};

/// What a conditional Put found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded<T> {
    /// The fact stood already; this is the stored one, given back by the failed condition itself.
    Before(T),
    /// The fact was written by this request: now, or by an attempt of it whose answer got lost
    /// (the failed condition gave back our own `requestId`).
    Now(T),
}

impl<T> Recorded<T> {
    /// The stored fact, whoever wrote it.
    pub fn fact(self) -> T {
        match self {
            Self::Before(fact) | Self::Now(fact) => fact,
        }
    }
}

impl Store {
    /// Access pattern 1: everything about one participant, one consistent Query.
    pub async fn facts(&self, event_id: &EventId, line_user_id: &LineUserId) -> Result<Facts, StoreError> {
        todo!()
    }

    /// Access pattern 2: one stamp of one participant, one consistent GetItem.
    pub async fn stamp(
        &self,
        event_id: &EventId,
        line_user_id: &LineUserId,
        stamp_id: &StampId,
    ) -> Result<Option<UserStamp>, StoreError> {
        todo!()
    }

    /// Access pattern 3: registers, never twice.
    pub async fn register(&self, user: &User, shards: IndexShards) -> Result<Recorded<User>, StoreError> {
        todo!()
    }

    /// Access pattern 4: acquires, never twice.
    pub async fn acquire(&self, stamp: &UserStamp, shards: IndexShards) -> Result<Recorded<UserStamp>, StoreError> {
        todo!()
    }

    /// Records a completed card, once.
    pub async fn complete(&self, completed: &Completed) -> Result<Recorded<Completed>, StoreError> {
        todo!()
    }

    /// Records a follow or unfollow; the same webhook event again changes nothing.
    pub async fn record_friendship(&self, friendship: &Friendship) -> Result<(), StoreError> {
        todo!()
    }

    /// The newest follow or unfollow, or the newest at or before a moment; `None` = unknown, never assumed.
    pub async fn friendship(
        &self,
        channel: &ChannelName,
        line_user_id: &LineUserId,
        at: Option<Timestamp>,
    ) -> Result<Option<Friendship>, StoreError> {
        todo!()
    }
}

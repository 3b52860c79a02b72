//! Participants: register, acquire, read; each guard is one conditional Put.

use aws_sdk_dynamodb::types::ReturnValuesOnConditionCheckFailure::AllOld;

use crate::domain::{
    event::IndexShards,
    fact::{Completed, Facts, Friendship, Resend, User, UserStamp},
    ids::{ChannelName, EventId, LineUserId, RequestId, StampId},
    mode::Mode,
    notice::{NoticeId, NoticeKey},
    resend::{ResendOrder, ResendRefusal},
};

use super::{
    Store, StoreError,
    guard::{Guarded, guarded},
    items::{self, Entity, Item, Stored, text},
    keys::{self, ItemKey, SortKeys},
    paging,
};

/// What a conditional Put found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded<T> {
    /// The fact was there already; this is the stored one, given back by the failed condition itself.
    Already(T),
    /// The fact was written by this request: now, or by an attempt of it whose answer got lost
    /// (the failed condition gave back our own `requestId`).
    Written(T),
}

impl<T> Recorded<T> {
    /// Returns the stored fact, of this request or of another one.
    pub fn fact(self) -> T {
        match self {
            Self::Already(fact) | Self::Written(fact) => fact,
        }
    }
}

impl Store {
    /// Access pattern 1: everything about one participant, one consistent Query. A fact that can't be read is reported,
    /// and named in [`Facts::unreadable`]; what isn't a fact is passed over.
    #[tracing::instrument(name = "store.facts", level = "debug", skip_all)]
    pub async fn facts(&self, event_id: &EventId, line_user_id: &LineUserId) -> Result<Facts, StoreError> {
        let query = self.partition(&self.tables.main, keys::participant_partition(event_id, line_user_id));
        let (mut facts, mut pace, mut unreadable) = (Vec::new(), None, Vec::new());
        for item in paging::all(|after| query.clone().set_exclusive_start_key(after).send()).await? {
            match items::decode(item) {
                Ok(Stored::Fact(fact)) => facts.push(fact),
                Ok(Stored::Pace(found)) => pace = Some(found),
                Ok(_) => {}
                Err(error) => {
                    self.report(&error);
                    unreadable.extend(error.fact_key());
                }
            }
        }
        Ok(Facts { pace, unreadable, ..facts.into_iter().collect() })
    }

    /// Access pattern 2: one stamp of one participant, one consistent `GetItem`.
    #[tracing::instrument(name = "store.stamp", level = "debug", skip_all)]
    pub async fn stamp(
        &self,
        event_id: &EventId,
        line_user_id: &LineUserId,
        stamp_id: &StampId,
    ) -> Result<Option<UserStamp>, StoreError> {
        let key = NoticeKey::Stamp(stamp_id.clone());
        self.item(&ItemKey::Notice(NoticeId { event_id: event_id.clone(), line_user_id: line_user_id.clone(), key }))
            .await
    }

    /// Access pattern 3: registers, never twice.
    #[tracing::instrument(name = "store.register", level = "debug", skip_all)]
    pub async fn register(&self, user: &User, shards: IndexShards) -> Result<Recorded<User>, StoreError> {
        let stored = self.put_once(items::user(user, shards)).await?;
        Ok(recorded(user, stored, |user: &User| user.request_id.as_ref()))
    }

    /// Access pattern 4: acquires, never twice.
    #[tracing::instrument(name = "store.acquire", level = "debug", skip_all)]
    pub async fn acquire(&self, stamp: &UserStamp, shards: IndexShards) -> Result<Recorded<UserStamp>, StoreError> {
        let stored = self.put_once(items::user_stamp(stamp, shards)).await?;
        Ok(recorded(stamp, stored, |stamp: &UserStamp| stamp.request_id.as_ref()))
    }

    /// Records a completed card, once. Every worker works out the same fact and it names no request, so a lost
    /// answer of our own reads as [`Recorded::Already`]: nothing depends on who wrote it.
    #[tracing::instrument(name = "store.complete", level = "debug", skip_all)]
    pub async fn complete(&self, completed: &Completed) -> Result<Recorded<Completed>, StoreError> {
        let stored = self.put_once(items::completed(completed)).await?;
        Ok(recorded(completed, stored, |_| None))
    }

    /// Records a resend, never two of the same number: of those who ask at once, one writes it. It names no request; the
    /// same asker at the same millisecond is taken for our own attempt whose answer got lost.
    #[tracing::instrument(name = "store.record_resend", level = "debug", skip_all)]
    pub async fn record_resend(&self, resend: &Resend) -> Result<Recorded<Resend>, StoreError> {
        let asked = |resend: &Resend| (resend.requested_by.clone(), resend.requested_at);
        Ok(match self.put_once(items::resend(resend)).await? {
            None => Recorded::Written(resend.clone()),
            Some(stored) if asked(&stored) == asked(resend) => Recorded::Written(stored),
            Some(stored) => Recorded::Already(stored),
        })
    }

    /// Carries an order to send a notice again out: decides on it, and records what was decided unless the run is dry.
    ///
    /// Of orders that come at once one is recorded; the others are refused as if they had come a moment later.
    #[tracing::instrument(name = "store.resend", level = "debug", skip_all)]
    pub async fn resend(
        &self,
        facts: &Facts,
        order: &ResendOrder<'_>,
        mode: Mode,
    ) -> Result<Result<Resend, ResendRefusal>, StoreError> {
        let resend = match (facts.resend(order), mode) {
            (Ok(resend), Mode::ForReal) => resend,
            (decided, _) => return Ok(decided),
        };
        Ok(match self.record_resend(&resend).await? {
            Recorded::Already(_) => Err(ResendRefusal::Pending),
            Recorded::Written(resend) => Ok(resend),
        })
    }

    /// Records a follow or unfollow; the same webhook event again changes nothing, also where its item can't be read.
    #[tracing::instrument(name = "store.record_friendship", level = "debug", skip_all)]
    pub async fn record_friendship(&self, friendship: &Friendship) -> Result<(), StoreError> {
        match self.put_once::<Friendship>(items::friendship(friendship)).await {
            Ok(_) | Err(StoreError::Unreadable(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns all follows and unfollows of one participant, oldest first: they are few. None = unknown, never assumed.
    #[tracing::instrument(name = "store.friendships", level = "debug", skip_all)]
    pub async fn friendships(
        &self,
        channel: &ChannelName,
        line_user_id: &LineUserId,
    ) -> Result<Vec<Friendship>, StoreError> {
        let range = SortKeys::friendships();
        let query = self.partition(&self.tables.main, keys::friend_partition(channel, line_user_id));
        let query = query
            .key_condition_expression("PK = :pk AND SK BETWEEN :low AND :high")
            .expression_attribute_values(":low", text(range.low))
            .expression_attribute_values(":high", text(range.high));
        let found = paging::all(|after| query.clone().set_exclusive_start_key(after).send()).await?;
        Ok(found.into_iter().filter_map(|item| self.read(item).ok()).collect())
    }

    /// Puts a fact if none is there. If one is, gives it back, out of the failed condition; one that can't be read is
    /// [`StoreError::Unreadable`].
    async fn put_once<T: Entity>(&self, item: Item) -> Result<Option<T>, StoreError> {
        let put = self.client.put_item().table_name(&self.tables.main).set_item(Some(item));
        let put = put.condition_expression("attribute_not_exists(PK)").return_values_on_condition_check_failure(AllOld);
        // On the heap, as every request that many futures may make.
        match guarded(Box::pin(put.send()).await)? {
            Guarded::Done => Ok(None),
            Guarded::Refused(Some(stored)) => self.read(stored).map(Some),
            Guarded::Refused(None) => Err(StoreError::broken("a failed condition gave no item back")),
        }
    }
}

/// Distinguishes our own repeated write from another request's fact.
pub(super) fn recorded<T: Clone>(
    wanted: &T,
    stored: Option<T>,
    request: impl Fn(&T) -> Option<&RequestId>,
) -> Recorded<T> {
    match stored {
        None => Recorded::Written(wanted.clone()),
        Some(fact) if request(&fact).is_some() && request(&fact) == request(wanted) => Recorded::Written(fact),
        Some(fact) => Recorded::Already(fact),
    }
}

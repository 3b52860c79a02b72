//! What is held, when its channel is resumed: in order per participant, at the channel's rate.
//!
//! Several workers may drain at once: pushes carry the same keys and marks are guarded. To spare work, one of them does.

use std::{
    collections::{BTreeSet, HashSet},
    sync::{Mutex, PoisonError, atomic::Ordering},
};

use futures_util::{StreamExt as _, stream};
use tokio_util::sync::CancellationToken;

use crate::consumer::LeaseStatus;
use crate::domain::{
    causes::Causes,
    event::Event,
    fact::Fact,
    ids::{EventId, LineUserId, StampId},
    notice::{NoticeId, NoticeStatus, ParkedState},
    time::Timestamp,
};
use crate::store::{StoreError, completions::PendingCompletion, listing::Wanted, paging::Pages, unreadable::hashed};

use super::{
    Delivery, Outcome, Tally,
    channel::Channel,
    lock::locked,
    pending::{Path, PendingNotice},
};

/// Rows a page of held notices.
const PAGE: usize = 200;

impl Delivery {
    /// Attempts what is held of every event whose channel admits pushes: one notice at first where the channel is paused,
    /// and the rest when that one went through. Returns what became of them; those that stay held aren't counted.
    pub async fn drain(&self, stop: &CancellationToken) -> Result<Tally, StoreError> {
        let tally = Mutex::default();
        self.drain_into(&tally, stop).await?;
        Ok(tally.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// The same as [`Delivery::drain`]; each notice is counted as soon as it is finished, so that the count is right
    /// whenever this is dropped.
    pub(super) async fn drain_into(&self, tally: &Mutex<Tally>, stop: &CancellationToken) -> Result<(), StoreError> {
        if let Err(error) = self.complete_pending(stop).await {
            tracing::warn!(error = %Causes(&error), "pending completions can't be read now");
        }
        let (store, mut pages) = (&self.parts.store, Pages::default());
        while let Some(page) = pages.next(async |after| store.events(&Wanted::oldest_first(after)).await).await? {
            for event in &page.rows {
                self.drain_event(event, tally, stop).await?;
            }
            if stop.is_cancelled() {
                break;
            }
        }
        Ok(())
    }

    /// Drains one event. A page is read before it is worked on: work takes rows out of the list.
    async fn drain_event(
        &self,
        event: &Event,
        tally: &Mutex<Tally>,
        stop: &CancellationToken,
    ) -> Result<(), StoreError> {
        let (mut done, mut pages) = (HashSet::new(), Pages::default());
        let held = async |after| {
            let wanted = Wanted { limit: PAGE, ..Wanted::oldest_first(after) };
            self.parts.store.parked(&event.event_id, ParkedState::Held, &wanted).await
        };
        while self.may_drain(event) && !stop.is_cancelled() {
            let Some(page) = pages.next(held).await? else { break };
            let rows = page.rows.iter().map(|fact| fact.line_user_id().clone());
            self.drain_page(event, rows.filter(|user| done.insert(user.clone())).collect(), tally, stop).await;
        }
        Ok(())
    }

    /// Drains some participants. While the channel is paused, or has no pushes left, one after another: the first whose
    /// notice goes through shows that the others may follow.
    async fn drain_page(
        &self,
        event: &Event,
        mut participants: Vec<LineUserId>,
        tally: &Mutex<Tally>,
        stop: &CancellationToken,
    ) {
        if self.is_held_up(event) && !participants.is_empty() {
            // One that LINE can't take must not be the one that is attempted each time.
            let place = self.parts.probes.fetch_add(1, Ordering::Relaxed) % participants.len();
            participants.rotate_left(place);
        }
        let mut participants = participants.into_iter();
        while self.is_held_up(event) && self.may_drain(event) {
            let Some(user) = participants.next() else { return };
            self.drain_participant(&event.event_id, &user, tally, stop).await;
        }
        let drain = async |user: LineUserId| {
            if self.may_drain(event) {
                self.drain_participant(&event.event_id, &user, tally, stop).await;
            }
        };
        stream::iter(participants).for_each_concurrent(self.settings().concurrency.max(1), drain).await;
    }

    /// Delivers one participant's held notices in the order of their facts, until one of them stays held.
    async fn drain_participant(
        &self,
        event_id: &EventId,
        user: &LineUserId,
        tally: &Mutex<Tally>,
        stop: &CancellationToken,
    ) {
        let facts = match self.parts.store.facts(event_id, user).await {
            Ok(facts) => facts,
            Err(error) => {
                tracing::warn!(event.id = %event_id, user.id = hashed(user.as_str()), error = %Causes(&error), "held notices of a participant can't be read now");
                return;
            }
        };
        let unreadable = self.unreadable_stamps(event_id).await;
        for (notice, since) in facts.in_order().iter().filter_map(held) {
            let waits_alone = facts.stamp_of(&notice.key).is_some_and(|stamp_id| unreadable.contains(stamp_id));
            let lease = LeaseStatus::unlimited();
            let request_id = facts.request_of(&notice.key).cloned();
            let pending = PendingNotice { notice, request_id, since, maybe_sent: false, path: Path::Held, lease };
            match self.deliver(&pending, stop).await {
                Outcome::Parked(ParkedState::Held) if waits_alone => {}
                Outcome::Wait | Outcome::Parked(ParkedState::Held) => break,
                outcome => locked(tally).count(outcome),
            }
        }
    }

    /// Returns the stamps of an event that can't be read: other notices don't wait behind theirs.
    async fn unreadable_stamps(&self, event_id: &EventId) -> BTreeSet<StampId> {
        match self.parts.rallies.rally(event_id).await {
            Ok(Some(rally)) => rally.masters.unreadable.clone(),
            // The notices meet the same failure, and it is logged then.
            Ok(None) | Err(_) => BTreeSet::new(),
        }
    }

    /// Comes back to the cards of which it couldn't be said whether they are complete. What can't be done now is done
    /// the next time.
    async fn complete_pending(&self, stop: &CancellationToken) -> Result<(), StoreError> {
        let (store, mut pages) = (&self.parts.store, Pages::default());
        while let Some(page) = pages.next(async |after| store.pending_completions(after).await).await? {
            for pending in &page.rows {
                if let Err(error) = self.complete_one(pending).await {
                    tracing::warn!(event.id = %pending.event_id, error = %Causes(&error), "a pending completion can't be decided now");
                }
            }
            if stop.is_cancelled() {
                break;
            }
        }
        Ok(())
    }

    /// Completes the card if it can be said now that it is complete; takes the note away if it can be said that it isn't.
    async fn complete_one(&self, pending: &PendingCompletion) -> Result<(), StoreError> {
        let (parts, PendingCompletion { event_id, line_user_id, .. }) = (&self.parts, pending);
        let rally = match parts.rallies.rally(event_id).await {
            Ok(Some(rally)) => rally,
            Ok(None) => return parts.store.remove_pending_completion(pending).await,
            Err(StoreError::Unreadable(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        if !rally.masters.unreadable.is_empty() {
            return Ok(());
        }
        let facts = parts.store.facts(event_id, line_user_id).await?;
        if !facts.unreadable.is_empty() {
            return Ok(());
        }
        parts.complete(&rally, &facts).await?;
        parts.store.remove_pending_completion(pending).await
    }

    /// Returns whether an attempt makes sense: the event is over (its held notices expire), or its channel admits one.
    fn may_drain(&self, event: &Event) -> bool {
        let channel = self.parts.channels.find(&event.channel);
        event.window.is_over(self.clock().now())
            || channel.is_some_and(|channel| channel.would_admit(self.clock().uptime()))
    }

    fn is_held_up(&self, event: &Event) -> bool {
        self.parts.channels.find(&event.channel).is_some_and(Channel::is_held_up)
    }
}

/// Returns a held notice and the time of its fact.
fn held(fact: &Fact) -> Option<(NoticeId, Timestamp)> {
    let (key, status) = fact.notice()?;
    let is_held = matches!(status, NoticeStatus::Parked(parked) if parked.state == ParkedState::Held);
    let notice = || NoticeId { event_id: fact.event_id().clone(), line_user_id: fact.line_user_id().clone(), key };
    is_held.then(|| (notice(), fact.at()))
}

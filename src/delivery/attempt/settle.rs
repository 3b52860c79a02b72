//! How an attempt ends: the notice is marked as sent, parked, or attempted again.

use std::time::Duration;

use crate::domain::{
    causes::Causes,
    notice::{NoticeId, Parked, ParkedState, Via},
    time::Timestamp,
};
use crate::line::messaging::PushError;
use crate::store::{
    StoreError,
    notices::{Marked, Sending},
    unreadable::hashed,
};

use super::{AcceptedPush, Attempt, Instead, Next};
use crate::delivery::{
    Outcome,
    channel::{Channel, retries},
    health::PauseReason,
    parts::Parts,
    pending::{Path, PendingNotice},
};

impl Parts {
    /// Marks what LINE accepted. A resend speaks for the notices that it repeats: they leave their special states, so that
    /// they aren't sent again; the resend itself is marked last, because its mark ends the work.
    pub(super) async fn mark(&self, pending: &PendingNotice, accepted: &AcceptedPush) -> Result<Next, StoreError> {
        let (notice, request_id) = (&pending.notice, accepted.request_id.as_deref());
        let sending = Sending { at: accepted.at, request_id, via: Via::Push };
        for key in &accepted.settled_by {
            let repeated = NoticeId { key: key.clone(), ..notice.clone() };
            self.store.mark_sent(&repeated, &sending).await?;
        }
        if self.store.mark_sent(notice, &sending).await? == Marked::NoItem {
            // Erased between push and mark: there is nothing left to say it on.
            return Ok(Next::Done(Outcome::PassedOver));
        }
        tracing::info!(line.request_id = request_id, outcome = Outcome::Sent.as_str(), "the notice is marked");
        Ok(Next::Done(Outcome::Sent))
    }

    /// Takes the notice off its path. What another reader has done meanwhile stays.
    pub(super) async fn park(&self, attempt: &Attempt<'_>, parked: &Parked) -> Result<Next, StoreError> {
        let PendingNotice { notice, path, .. } = attempt.pending;
        Ok(Next::Done(match self.store.park(notice, path.state(), parked).await? {
            Marked::Done => reported(attempt, parked),
            Marked::Already if *path != Path::Unreadable => Outcome::AlreadySent,
            Marked::Already | Marked::NoItem => Outcome::PassedOver,
        }))
    }

    /// Parks a notice as held. One that is held stays so since when it was; what it is held for is written anew if that
    /// has changed, or the wrong thing would be mended.
    pub(super) async fn hold(&self, attempt: &Attempt<'_>, reason: PauseReason) -> Result<Next, StoreError> {
        let PendingNotice { notice, path, .. } = attempt.pending;
        if *path != Path::Held {
            return self.park(attempt, &attempt.held(reason, self.clock.now())).await;
        }
        if let Some(held) = attempt.held.as_ref().filter(|held| held.reason.as_deref() != Some(reason.as_str())) {
            let parked = Parked { reason: Some(reason.as_str().to_owned()), ..held.clone() };
            self.store.park(notice, path.state(), &parked).await?;
        }
        Ok(Next::Done(Outcome::Parked(ParkedState::Held)))
    }

    /// Notes that an attempt ended without a clear answer, before the next one is made.
    pub(super) async fn note_ambiguous(&self, attempt: &mut Attempt<'_>) -> Result<(), StoreError> {
        if let Some(at) = attempt.ambiguous_at.filter(|_| !attempt.is_noted) {
            self.store.note_attempt(&attempt.pending.notice, at).await?;
            attempt.is_noted = true;
        }
        Ok(())
    }

    /// Notes an attempt before it is made, where no progress of a shard covers it: the record of a held notice doesn't come
    /// again, and one that is taken ahead of the stream has none. If the process dies between push and mark, the notice
    /// isn't sent again when LINE has forgotten its key. Returns when it was noted.
    pub(super) async fn note_before_push(&self, attempt: &Attempt<'_>) -> Result<Option<Timestamp>, StoreError> {
        let PendingNotice { notice, path, .. } = attempt.pending;
        if *path == Path::Ordinary || attempt.maybe_sent_at.is_some() {
            return Ok(None);
        }
        let at = self.clock.now();
        Ok((self.store.note_attempt(notice, at).await? == Marked::Done).then_some(at))
    }

    /// Returns what a failed push means: is it the message or the channel, and may LINE have accepted it?
    pub(super) async fn push_failed(
        &self,
        channel: &Channel,
        attempt: &mut Attempt<'_>,
        began: Timestamp,
        error: PushError,
    ) -> Result<Instead, StoreError> {
        tracing::info!(attempt = attempt.number, error = %Causes(&error), "an attempt failed");
        Ok(match error {
            PushError::Ambiguous { .. } => {
                attempt.ended_ambiguously(began);
                self.note_ambiguous(attempt).await?;
                self.again(channel, attempt, &error)
            }
            PushError::MonthlyLimit if self.is_used_up(channel).await => self.pause(channel, PauseReason::MonthlyLimit),
            PushError::MonthlyLimit | PushError::RateLimited { .. } | PushError::Unreachable { .. } => {
                self.again(channel, attempt, &error)
            }
            PushError::Refused { status, message } => {
                self.answered(channel);
                Instead::Park(attempt.failed(status, message, self.clock.now()))
            }
            PushError::Unauthorized { .. } => self.pause(channel, PauseReason::NotAuthorized),
        })
    }

    /// Attempts it once more with the same key, unless it has waited too long or must not be repeated. The notice itself
    /// waits as long as it is asked to, in any case; the others of its channel only until one of them goes through.
    fn again(&self, channel: &Channel, attempt: &mut Attempt<'_>, error: &PushError) -> Instead {
        let (uptime, now) = (self.clock.uptime(), self.clock.now());
        let wait = self.retry.bounded_wait(error.retry_after(), now);
        channel.failed(uptime, error);
        channel.wait(uptime, wait);
        attempt.not_before = uptime + wait;
        retries(&channel.name).increment(1);
        attempt.after_failure(wait, channel.paused(), now)
    }

    fn pause(&self, channel: &Channel, reason: PauseReason) -> Instead {
        channel.pause(reason, self.clock.uptime());
        Instead::Hold(reason)
    }

    /// Returns whether the month's messages are used up. LINE's two 429s differ in their text alone, and a large delivery
    /// elsewhere can reserve what is left for a while: the quota endpoints decide. If they can't be asked, the text
    /// counts.
    async fn is_used_up(&self, channel: &Channel) -> bool {
        match channel.messenger.quota().await {
            Ok(quota) => quota.is_used_up(),
            Err(error) => {
                tracing::warn!(error = %Causes(&error), "the month's quota can't be read");
                true
            }
        }
    }

    /// Handles a store that did not do as asked. While it can't answer, the notice waits. What can't be read must not stop
    /// the shard: the notice is held at once, and attempted again with the others that are. What else the store will
    /// never do may be mended soon, so it has the time that any notice has.
    pub(super) async fn store_failed(&self, attempt: &Attempt<'_>, error: &StoreError) -> Next {
        report(error);
        let is_lasting = match error {
            StoreError::Broken(_) => attempt.is_overdue,
            StoreError::Conflict(_) | StoreError::Unavailable(_) => false,
            StoreError::Unreadable(_) => true,
        };
        let again = Next::Again(Duration::ZERO);
        if attempt.accepted.is_some() || !is_lasting {
            return again;
        }
        self.hold(attempt, PauseReason::Unreadable).await.unwrap_or(again)
    }
}

/// Logs that a notice is parked, and returns the outcome.
fn reported(attempt: &Attempt<'_>, parked: &Parked) -> Outcome {
    let (attempt, state, reason) = (attempt.number, parked.state, parked.reason.as_deref());
    let Some(refused) = &parked.error else {
        tracing::info!(attempt, outcome = state.as_str(), reason, "the notice is parked");
        return Outcome::Parked(state);
    };
    tracing::warn!(
        attempt,
        outcome = state.as_str(),
        line.status = refused.status,
        line.message = refused.message,
        "the notice has failed: mend the cause, then resend it"
    );
    Outcome::Failed
}

fn report(error: &StoreError) {
    match error {
        StoreError::Broken(_) => tracing::error!(error = %Causes(error), "a notice can't be worked on"),
        StoreError::Conflict(_) | StoreError::Unavailable(_) => {
            tracing::warn!(error = %Causes(error), "the store can't answer: the notice waits");
        }
        StoreError::Unreadable(unreadable) => tracing::warn!(
            item.pk = hashed(&unreadable.pk),
            item.sk = hashed(&unreadable.sk),
            "an item that the notice needs can't be read: the notice is held"
        ),
    }
}

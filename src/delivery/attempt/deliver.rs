//! One notice until nothing more is to be done for it now: attempts, and pauses between them. An attempt reads the
//! participant's facts, decides, and pushes.

use std::{borrow::Cow, sync::Arc, time::Duration};

use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::domain::{
    card::{completion_due, completion_pending},
    fact::Facts,
    ids::StampId,
    notice::{Parked, ParkedState, Subject, retry_key},
    stamp::StampMaster,
};
use crate::line::messaging::PushError;
use crate::store::{StoreError, rallies::Rally};

use super::{AcceptedPush, Attempt, Instead, Next, decision::About};
use crate::delivery::{
    Delivery, Outcome,
    channel::Channel,
    health::{Admission, PauseReason},
    message::Content,
    parts::Parts,
    pending::{Path, PendingNotice},
    retry::stopped_during,
};

impl Delivery {
    /// Works on a notice until it is finished or parked, or the process stops. A push that was begun is brought to its
    /// end; pauses are cut short.
    ///
    /// # Cost
    ///
    /// A notice that LINE accepts at once: 1 Query, 1 push, 1 Update (and 1 Put when the card became complete).
    pub async fn deliver(&self, pending: &PendingNotice, stop: &CancellationToken) -> Outcome {
        let mut attempt = Attempt::at(pending);
        let span = attempt.span.clone();
        let outcome = self.retry(&mut attempt, stop).instrument(span).await;
        if outcome.is_final() {
            outcome.count();
            attempt.span.in_scope(|| tracing::debug!(outcome = outcome.as_str(), "a notice is finished"));
        }
        outcome
    }

    async fn retry<'a>(&'a self, attempt: &mut Attempt<'a>, stop: &CancellationToken) -> Outcome {
        let (lease, began) = (&attempt.pending.lease, Instant::now());
        while !stop.is_cancelled() && lease.is_valid(self.clock().uptime()) {
            let deadline = self.deadline(attempt.pending);
            attempt.begin();
            attempt.is_overdue |= began.elapsed() >= deadline;
            let min_wait = match self.parts.attempt(attempt).await {
                Next::Done(outcome) => return outcome,
                Next::Again(min_wait) => min_wait,
            };
            // A longer wait than its path allows is for nothing: the next attempt parks it.
            attempt.is_overdue = min_wait > deadline.saturating_sub(began.elapsed());
            let backoff = || self.parts.retry.backoff(attempt.number).max(min_wait);
            let pause = if attempt.is_overdue { Duration::ZERO } else { backoff() };
            if stopped_during(pause, stop).await {
                break;
            }
        }
        Outcome::Wait
    }

    /// Returns how long a notice may wait for LINE; less where the stream waits behind it.
    fn deadline(&self, pending: &PendingNotice) -> Duration {
        let deadline = match pending.path {
            Path::Held => self.parts.retry.held_deadline,
            Path::AheadOfStream | Path::Ordinary | Path::Unreadable => self.parts.retry.ordinary_deadline,
        };
        if pending.lease.has_backpressure() { deadline / 10 } else { deadline }
    }
}

impl Parts {
    /// Attempts a notice once. Waits for its turn and for LINE, and for nothing else.
    ///
    /// What an earlier attempt read is read anew, so an attempt can be repeated by any process.
    pub(in crate::delivery) async fn attempt<'a>(&'a self, attempt: &mut Attempt<'a>) -> Next {
        let done = match self.send(attempt).await {
            Ok(accepted) => {
                let accepted = attempt.accepted.insert(accepted);
                self.mark(attempt.pending, accepted).await
            }
            Err(Instead::Next(next)) => Ok(next),
            Err(Instead::Hold(reason)) => self.hold(attempt, reason).await,
            Err(Instead::Park(parked)) => self.park(attempt, &parked).await,
            Err(Instead::Store(error)) => Err(error),
        };
        attempt.permit = None;
        match done {
            Ok(next) => next,
            Err(error) => self.store_failed(attempt, &error).await,
        }
    }

    /// Sends the notice, and returns what LINE accepted, now or in an earlier attempt.
    async fn send<'a>(&'a self, attempt: &mut Attempt<'a>) -> Result<AcceptedPush, Instead> {
        if let Some(accepted) = attempt.accepted.take() {
            return Ok(accepted);
        }
        if attempt.pending.path == Path::Unreadable {
            let parked = attempt.held(PauseReason::Unreadable, self.clock.now());
            return Err(Instead::Park(Parked { maybe_sent_at: None, ..parked }));
        }
        self.note_ambiguous(attempt).await?;
        let Some(rally) = self.rallies.rally(&attempt.pending.notice.event_id).await? else {
            return Err(Instead::Park(attempt.failed(0, "there is no such event".to_owned(), self.clock.now())));
        };
        let Some(channel) = self.channels.find(&rally.event.channel) else {
            tracing::warn!(channel = %rally.event.channel, "no such channel is configured: its notices are held");
            return Err(Instead::Hold(PauseReason::ChannelUnknown));
        };
        attempt.permit =
            Some(channel.permits.acquire().await.map_err(|_closed| Instead::Next(Next::Done(Outcome::Wait)))?);
        // Boxed: while thousands wait for a permit, only those that have one need the room of a whole attempt.
        Box::pin(self.send_on(channel, &rally, attempt)).await
    }

    async fn send_on(
        &self,
        channel: &Channel,
        rally: &Arc<Rally>,
        attempt: &mut Attempt<'_>,
    ) -> Result<AcceptedPush, Instead> {
        let notice = &attempt.pending.notice;
        let facts = self.store.facts(&notice.event_id, &notice.line_user_id).await?;
        attempt.name_request(&channel.name, &facts);
        let about = attempt.about(&facts, self.clock.now())?;
        if about.is_of_new_stamp() {
            self.complete(rally, &facts).await?;
        }
        attempt.check(&about, rally, self.clock.now())?;
        let message = self.message(rally, attempt, &about).await?;
        let uptime = self.clock.uptime();
        attempt.check_wait(attempt.not_before.saturating_sub(uptime))?;
        match channel.admit(uptime) {
            Admission::Later(wait) => attempt.check_wait(wait)?,
            Admission::Paused(reason) => return Err(Instead::Hold(reason)),
            Admission::Probe | Admission::Push => {}
        }
        self.push(channel, attempt, &about, &message).await
    }

    async fn push(
        &self,
        channel: &Channel,
        attempt: &mut Attempt<'_>,
        about: &About<'_>,
        message: &Value,
    ) -> Result<AcceptedPush, Instead> {
        let noted_at = self.note_before_push(attempt).await?;
        channel.turn().await;
        if !attempt.pending.lease.is_valid(self.clock.uptime()) {
            return Err(Instead::Next(Next::Done(Outcome::Wait)));
        }
        let (notice, began) = (&attempt.pending.notice, self.clock.now());
        let key = retry_key(&channel.name, notice, &about.subject, about.resend);
        match channel.messenger.push(&notice.line_user_id, message, key).await {
            Ok(accepted) => {
                let request_id = accepted.request_id;
                tracing::info!(attempt = attempt.number, line.request_id = request_id, "LINE accepted the push");
                self.answered(channel);
                Ok(AcceptedPush { at: self.clock.now(), request_id, settled_by: about.facts.settled_by(&notice.key) })
            }
            Err(error) => {
                match (noted_at, &error) {
                    (Some(_), PushError::Ambiguous { .. }) => attempt.maybe_sent_at = noted_at,
                    (Some(at), _) => drop(self.store.forget_attempt(notice, at).await?),
                    (None, _) => {}
                }
                Err(self.push_failed(channel, attempt, began, error).await?)
            }
        }
    }

    /// Takes note that LINE answered about a message of the channel: a paused channel is resumed.
    pub(super) fn answered(&self, channel: &Channel) {
        if channel.answered() {
            self.resumed.notify_one();
        }
    }

    /// Returns the message of the notice, filled.
    async fn message(&self, rally: &Arc<Rally>, attempt: &Attempt<'_>, about: &About<'_>) -> Result<Value, Instead> {
        let failed = |why: String| Instead::Park(attempt.failed(0, why, self.clock.now()));
        let wanted = &about.stamp.stamp_id;
        let master = self.master(rally, wanted).await?.ok_or_else(|| failed(format!("there is no stamp {wanted}")))?;
        let (of, at, template) = match (&about.subject, &rally.event.completion_message_content) {
            (Subject::Stamp { stamp_id, acquired_at }, _) => {
                (Some(stamp_id.clone()), *acquired_at, &master.flex_message_content)
            }
            (Subject::Completed { completed_at }, Some(template)) => (None, *completed_at, template),
            (Subject::Completed { .. }, None) => {
                let now = self.clock.now();
                return Err(Instead::Park(attempt.parked(ParkedState::Suppressed, "no_completion_message", now)));
            }
        };
        let content = Content { rally, master: &master, stamp: about.stamp, at, facts: about.facts };
        self.templates.fill(&content, of, template).map_err(failed)
    }

    /// Returns a stamp's master: one that is newer than the cached rally is read.
    async fn master<'r>(
        &self,
        rally: &'r Arc<Rally>,
        stamp_id: &StampId,
    ) -> Result<Option<Cow<'r, StampMaster>>, StoreError> {
        Ok(match rally.master(stamp_id) {
            Some(master) => Some(Cow::Borrowed(master)),
            None => self.rallies.stamp(rally, stamp_id).await?.map(Cow::Owned),
        })
    }

    /// Puts the fact of a complete card, whether or not the event has a message for it. Where a stamp that can't be read
    /// decides, that is noted, and the drain of held notices comes back to it.
    pub(in crate::delivery) async fn complete(&self, rally: &Rally, facts: &Facts) -> Result<(), StoreError> {
        if let Some(completed) = completion_due(&rally.event, &rally.masters, facts) {
            return match self.store.complete(&completed).await {
                // There is one.
                Ok(_) | Err(StoreError::Unreadable(_)) => Ok(()),
                Err(error) => Err(error),
            };
        }
        match facts.stamps.first().filter(|_| completion_pending(&rally.masters, facts)) {
            Some(stamp) => {
                self.store.put_pending_completion(&stamp.event_id, &stamp.line_user_id, self.clock.now()).await
            }
            None => Ok(()),
        }
    }
}

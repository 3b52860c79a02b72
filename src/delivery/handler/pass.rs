//! One pass at a notice, from the participant's facts to the mark.

use std::sync::Arc;

use serde_json::Value;

use crate::domain::{
    card::{completion_due, completion_pending},
    fact::Facts,
    ids::StampId,
    notice::{NoticeId, NoticeKey, Parked, ParkedState, PushRefused, Subject, retry_key},
    stamp::StampMaster,
    time::Timestamp,
};
use crate::line::messaging::{Accepted, PushError};
use crate::store::{StoreError, notices::Marked, rallies::Rally};

use super::{
    Call, Delivery, Parts, Pass, Path, RETRY_LIMIT, Tries,
    matter::{Matter, comes_too_early, has_held, held_as, still_due},
};
use crate::delivery::{
    Outcome,
    channel::{Channel, HoldReason, Try},
    message::Content,
};

/// Why a notice can't be sent now, or at all.
pub(super) struct Verdict {
    pub state: ParkedState,
    pub reason: Option<String>,
    pub error: Option<PushRefused>,
}

impl Verdict {
    pub fn held(reason: HoldReason) -> Self {
        Self { state: ParkedState::Held, reason: Some(reason.as_str().to_owned()), error: None }
    }

    /// `status` 0: the message never left.
    pub fn failed(status: u16, message: String, at: Timestamp) -> Self {
        Self { state: ParkedState::Failed, reason: None, error: Some(PushRefused { status, message, at }) }
    }

    pub fn of(state: ParkedState, reason: &str) -> Self {
        Self { state, reason: Some(reason.to_owned()), error: None }
    }
}

impl Delivery {
    /// One pass at a notice: waits for its turn and for LINE, and for nothing else.
    pub(in crate::delivery) async fn pass(&self, call: &Call, tries: &mut Tries) -> Pass {
        match self.parts.pass(call, tries).await {
            Ok(pass) => pass,
            Err(error) => self.parts.store_failed(call, tries, &error).await,
        }
    }
}

impl Parts {
    async fn pass(&self, call: &Call, tries: &mut Tries) -> Result<Pass, StoreError> {
        if tries.accepted.is_some() {
            return self.mark(call, tries).await;
        }
        if call.path == Path::Unreadable {
            return self.park_unreadable(call).await;
        }
        self.note_attempt(call, tries).await?;
        let Some(rally) = self.rallies.rally(&call.notice.event_id).await? else {
            let verdict = Verdict::failed(0, "there is no such event".to_owned(), self.clock.now());
            return self.park(call, None, verdict).await;
        };
        let Some(channel) = self.channels.find(&rally.event.channel) else {
            tracing::warn!(channel = %rally.event.channel, "no such channel is configured: its notices are held");
            return self.hold(call, tries, HoldReason::ChannelUnknown).await;
        };
        let Ok(_permit) = channel.permits.acquire().await else { return Ok(Pass::Done(Outcome::Wait)) };
        // Boxed: while thousands wait for a permit, only those that have one need the room of a whole pass.
        Box::pin(self.pass_on(channel, &rally, call, tries)).await
    }

    async fn pass_on(
        &self,
        channel: &Channel,
        rally: &Arc<Rally>,
        call: &Call,
        tries: &mut Tries,
    ) -> Result<Pass, StoreError> {
        let facts = self.store.facts(&call.notice.event_id, &call.notice.line_user_id).await?;
        if !facts.unreadable.is_empty() {
            // What was sent before, how full the card is, which notice comes first: nothing of it can be said.
            tries.held = held_as(&facts, call);
            return self.hold(call, tries, HoldReason::Unreadable).await;
        }
        let tried_at = match still_due(&facts, call) {
            Ok(tried_at) => tried_at.or(tries.ambiguous),
            Err(outcome) => return Ok(Pass::Done(outcome)),
        };
        tries.held = held_as(&facts, call);
        let Some(matter) = Matter::of(&facts, &call.notice.key, tried_at) else {
            let verdict = Verdict::failed(0, "the stamp it tells of is gone".to_owned(), self.clock.now());
            return self.park(call, tried_at, verdict).await;
        };
        if matter.number == 0 && call.notice.key != NoticeKey::Completed {
            self.complete(rally, &facts).await?;
        }
        if let Some(verdict) = self.too_late(call, rally, &matter) {
            return self.park(call, tried_at, verdict).await;
        }
        if matches!(call.path, Path::AheadOfStream | Path::Ordinary) && has_held(&facts, &matter, &rally.masters) {
            return self.park(call, tried_at, Verdict::held(HoldReason::EarlierHeld)).await;
        }
        if call.path != Path::Held && !tries.out_of_patience && comes_too_early(&facts, &matter, self.clock.now()) {
            return Ok(Pass::Again);
        }
        let message = match self.message(rally, &matter).await? {
            Ok(message) => message,
            Err(verdict) => return self.park(call, tried_at, verdict).await,
        };
        let uptime = self.clock.uptime();
        let wait = tries.wait_until.saturating_sub(uptime);
        if !wait.is_zero() {
            return self.later(call, tries, tried_at, wait).await;
        }
        match channel.may_try(uptime) {
            Try::Later(wait) => self.later(call, tries, tried_at, wait).await,
            Try::No(reason) => self.hold_if_needed(call, tries, tried_at, reason).await,
            Try::Probe | Try::Yes => self.push(channel, call, tries, &matter, &message).await,
        }
    }

    async fn push(
        &self,
        channel: &Channel,
        call: &Call,
        tries: &mut Tries,
        matter: &Matter<'_>,
        message: &Value,
    ) -> Result<Pass, StoreError> {
        let noted = self.note_held_attempt(call, matter).await?;
        channel.turn().await;
        if !call.standing.is_good(self.clock.uptime()) {
            return Ok(Pass::Done(Outcome::Wait));
        }
        let (to, began) = (&call.notice.line_user_id, self.clock.now());
        let key = retry_key(&channel.name, &call.notice.event_id, to, &matter.subject, matter.number);
        match channel.messenger.push(to, message, key).await {
            Ok(accepted) => {
                if channel.answered() {
                    self.goes_on.notify_one();
                }
                tries.accepted = Some((self.clock.now(), accepted));
                tries.spoken_for = matter.facts.spoken_for(&call.notice.key);
                self.mark(call, tries).await
            }
            Err(error) => {
                let mut tried_at = matter.tried_at;
                match (noted, &error) {
                    (Some(at), PushError::Ambiguous { .. }) => tried_at = Some(at),
                    (Some(at), _) => drop(self.store.forget_attempt(&call.notice, at).await?),
                    (None, _) => {}
                }
                self.push_failed(channel, call, tries, began, tried_at, error).await
            }
        }
    }

    /// The record of a held notice doesn't come again, and a notice that is taken ahead of the stream has no shard whose
    /// progress would cover it. So its item notes the attempt before it is made: if the process dies between push and
    /// mark, the notice isn't sent again when LINE has forgotten its key.
    async fn note_held_attempt(&self, call: &Call, matter: &Matter<'_>) -> Result<Option<Timestamp>, StoreError> {
        if call.path == Path::Ordinary || matter.tried_at.is_some() {
            return Ok(None);
        }
        let at = self.clock.now();
        let noted = self.store.note_attempt(&call.notice, at).await?;
        Ok((noted == Marked::Now).then_some(at))
    }

    /// Marks what LINE accepted. A resend speaks for the notices that it repeats: they leave their special states, so
    /// that nobody sends them again; the resend itself is marked last, because its mark ends the work.
    pub(super) async fn mark(&self, call: &Call, tries: &mut Tries) -> Result<Pass, StoreError> {
        let Some((at, Accepted { request_id, .. })) = &tries.accepted else { return Ok(Pass::Again) };
        for key in &tries.spoken_for {
            let repeated = NoticeId { key: key.clone(), ..call.notice.clone() };
            self.store.mark_sent(&repeated, *at, request_id.as_deref()).await?;
        }
        let marked = self.store.mark_sent(&call.notice, *at, request_id.as_deref()).await?;
        // Erased between push and mark: there is nothing left to say it on.
        Ok(Pass::Done(if marked == Marked::Gone { Outcome::PassedOver } else { Outcome::Sent }))
    }

    /// Takes the notice off its path. Somebody who was faster (`Before`) has finished it.
    pub(super) async fn park(
        &self,
        call: &Call,
        tried_at: Option<Timestamp>,
        verdict: Verdict,
    ) -> Result<Pass, StoreError> {
        let Verdict { state, reason, error } = verdict;
        // A held notice comes back when nobody remembers any more that it may have been pushed before.
        let tried_at = tried_at.or((call.doubtful && state == ParkedState::Held).then_some(call.since));
        if let Some(error) = &error {
            tracing::warn!(
                event.id = %call.notice.event_id, notice = ?call.notice.key, status = error.status, said = error.message,
                "a notice has failed"
            );
        }
        let parked = Parked { state, since: self.clock.now(), reason, tried_at, error };
        let outcome = match self.store.park(&call.notice, call.path.state(), &parked).await? {
            Marked::Gone => Outcome::PassedOver,
            Marked::Before => Outcome::AlreadySent,
            Marked::Now if state == ParkedState::Failed => Outcome::Failed,
            Marked::Now => Outcome::Parked(state),
        };
        Ok(Pass::Done(outcome))
    }

    /// Parks a notice whose own item can't be read, so that it goes out when the item is mended.
    async fn park_unreadable(&self, call: &Call) -> Result<Pass, StoreError> {
        let Verdict { state, reason, error } = Verdict::held(HoldReason::Unreadable);
        let parked = Parked { state, since: self.clock.now(), reason, tried_at: None, error };
        Ok(Pass::Done(match self.store.park(&call.notice, None, &parked).await? {
            Marked::Now => Outcome::Parked(state),
            Marked::Before | Marked::Gone => Outcome::PassedOver,
        }))
    }

    /// Parks a notice as held. One that is held stays so since when it was; what it is held for is written anew if that
    /// has changed, or people would mend the wrong thing.
    pub(super) async fn hold_if_needed(
        &self,
        call: &Call,
        tries: &Tries,
        tried_at: Option<Timestamp>,
        reason: HoldReason,
    ) -> Result<Pass, StoreError> {
        if call.path != Path::Held {
            return self.park(call, tried_at, Verdict::held(reason)).await;
        }
        if let Some(held) = tries.held.as_ref().filter(|held| held.reason.as_deref() != Some(reason.as_str())) {
            let parked = Parked { reason: Some(reason.as_str().to_owned()), ..held.clone() };
            self.store.park(&call.notice, call.path.state(), &parked).await?;
        }
        Ok(Pass::Done(Outcome::Parked(ParkedState::Held)))
    }

    /// Holds a notice whose facts were not read.
    pub(super) async fn hold(&self, call: &Call, tries: &Tries, reason: HoldReason) -> Result<Pass, StoreError> {
        self.hold_if_needed(call, tries, tries.ambiguous, reason).await
    }

    /// Writes down that an attempt ended without a clear answer, before the next one is made.
    pub(super) async fn note_attempt(&self, call: &Call, tries: &mut Tries) -> Result<(), StoreError> {
        if let Some(at) = tries.ambiguous.filter(|_| !tries.noted) {
            self.store.note_attempt(&call.notice, at).await?;
            tries.noted = true;
        }
        Ok(())
    }

    /// Every complete card gets its fact, whether or not the event has a message for it. Where a stamp that can't be read
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

    /// It may have been accepted. Either LINE has forgotten the key of its first attempt, or that isn't certain: an
    /// attempt was noted lately, but the notice is so old that there may have been others before.
    pub(super) fn unknown(&self, tried_at: Option<Timestamp>) -> Verdict {
        let lately = tried_at.is_some_and(|at| self.clock.now().since(at) <= RETRY_LIMIT);
        Verdict::of(ParkedState::Unknown, if lately { "retry_key_uncertain" } else { "retry_key_expired" })
    }

    /// Whether it must not be tried (again) automatically.
    fn too_late(&self, call: &Call, rally: &Rally, matter: &Matter<'_>) -> Option<Verdict> {
        let now = self.clock.now();
        let old = |at: Timestamp| now.since(at) > RETRY_LIMIT;
        let may_be_accepted = match matter.tried_at {
            Some(tried_at) => old(tried_at) || old(call.since),
            None => call.doubtful && old(call.since),
        };
        if may_be_accepted {
            return Some(self.unknown(matter.tried_at));
        }
        // A resend that was asked for after the end was not parked when the event ended.
        let asked_after = matter.number > 0 && rally.event.window.is_over(call.since);
        let over = call.path == Path::Held && rally.event.window.is_over(now) && !asked_after;
        over.then(|| match matter.tried_at {
            Some(_) => Verdict::of(ParkedState::Unknown, "event_ended"),
            None => Verdict::of(ParkedState::Expired, "event_ended"),
        })
    }

    async fn message(&self, rally: &Arc<Rally>, about: &Matter<'_>) -> Result<Result<Value, Verdict>, StoreError> {
        let failed = |why: String| Verdict::failed(0, why, self.clock.now());
        let looked_up;
        let wanted: &StampId = &about.stamp.stamp_id;
        let master: &StampMaster = match rally.master(wanted) {
            Some(master) => master,
            None => match self.rallies.stamp(rally, wanted).await? {
                Some(master) => {
                    looked_up = master;
                    &looked_up
                }
                None => return Ok(Err(failed(format!("there is no stamp {wanted}")))),
            },
        };
        let content = |at| Content { rally, master, stamp: about.stamp, at, facts: about.facts };
        let filled = match (&about.subject, &rally.event.completion_message_content) {
            (Subject::Stamp { acquired_at, .. }, _) => self.templates.of_stamp(&content(*acquired_at)),
            (Subject::Completed { completed_at }, Some(template)) => {
                self.templates.of_completion(&content(*completed_at), template)
            }
            (Subject::Completed { .. }, None) => {
                return Ok(Err(Verdict::of(ParkedState::Suppressed, "no_completion_message")));
            }
        };
        Ok(filled.map_err(failed))
    }
}

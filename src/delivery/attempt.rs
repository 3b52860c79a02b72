//! One notice while it is worked on: what is known of it, and what is to be done with it.
//!
//! | file | holds | I/O |
//! | --- | --- | --- |
//! | `attempt/deliver.rs` | attempts, and pauses between them; one attempt: facts, decision, push | store, LINE |
//! | `attempt/decision.rs` | what the participant's facts, times and failures mean for the notice | none |
//! | `attempt/settle.rs` | how an attempt ends: marked as sent, parked, or attempted again | store, LINE |

mod decision;
mod deliver;
mod settle;

use std::time::Duration;

use tokio::sync::SemaphorePermit;
use tracing::{Span, field};

use crate::domain::{
    fact::Facts,
    ids::ChannelName,
    notice::{NoticeKey, Parked, ParkedState, PushRefused},
    time::Timestamp,
};
use crate::store::{StoreError, keys::ItemKey, unreadable::hashed};

use super::{Outcome, budget::AtHand, health::PauseReason, pending::PendingNotice, retry::RETRY_LIMIT};

/// All that is known of one notice while it is worked on.
pub(super) struct Attempt<'a> {
    pub pending: &'a PendingNotice,
    /// What each log line about the notice carries.
    pub span: Span,
    /// The number of the attempt, from 1.
    pub number: u32,
    /// Whether it waits longer than its path allows: what can't be sent now is parked.
    pub is_overdue: bool,
    /// No push before this uptime: LINE, or a gateway before it, asked for the pause.
    not_before: Duration,
    /// Its place among the notices of its channel that are worked on at once, for as long as the attempt takes.
    permit: Option<SemaphorePermit<'a>>,
    /// That it is worked on, for the channel's budget.
    at_hand: Option<AtHand<'a>>,
    /// When an attempt of this process first ended without a clear answer.
    ambiguous_at: Option<Timestamp>,
    /// Whether the item says so too.
    is_noted: bool,
    /// Since when LINE may have accepted it, as its item or this process says.
    maybe_sent_at: Option<Timestamp>,
    /// How it is parked, if it is held.
    held: Option<Parked>,
    /// What LINE accepted: only the mark is missing, and a second push would be for nothing.
    accepted: Option<AcceptedPush>,
    /// Whether the span names channel and request.
    is_known: bool,
}

struct AcceptedPush {
    at: Timestamp,
    request_id: Option<String>,
    /// The notices that are done with it, if it is a resend.
    settled_by: Vec<NoticeKey>,
}

/// How one attempt ended.
pub(super) enum Next {
    /// Attempt it again after a pause, and not before this time is over.
    Again(Duration),
    /// Nothing more is to be done.
    Done(Outcome),
}

/// What is to be done with a notice instead of marking it as sent.
enum Instead {
    /// Nothing now.
    Next(Next),
    /// Its channel, or something that it needs, is out of order: it is parked as held.
    Hold(PauseReason),
    /// It is parked.
    Park(Parked),
    /// The store did not do as asked.
    Store(StoreError),
}

impl From<StoreError> for Instead {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl<'a> Attempt<'a> {
    /// Returns what is known of a notice before its first attempt.
    pub fn at(pending: &'a PendingNotice) -> Self {
        Self {
            pending,
            span: span(pending),
            number: 0,
            is_overdue: false,
            not_before: Duration::ZERO,
            permit: None,
            at_hand: None,
            ambiguous_at: None,
            is_noted: false,
            maybe_sent_at: None,
            held: None,
            accepted: None,
            is_known: false,
        }
    }

    /// Begins the next attempt: what the one before it read is read anew.
    pub fn begin(&mut self) {
        self.number = self.number.saturating_add(1);
        self.maybe_sent_at = self.ambiguous_at;
    }

    /// Names the channel of the notice on each log line from now on, and its request where only the facts name it: for a
    /// resend and a completed card that of the stamp.
    fn name_request(&mut self, channel: &ChannelName, facts: &Facts) {
        if std::mem::replace(&mut self.is_known, true) {
            return;
        }
        self.span.record("channel", field::display(channel));
        if self.pending.request_id.is_none()
            && let Some(request_id) = facts.request_of(&self.pending.notice.key)
        {
            self.span.record("request.id", field::display(request_id));
        }
        tracing::info!(notice.path = ?self.pending.path, notice.since = %self.pending.since, "a notice is taken up");
    }

    /// Parks it as held. One that comes back later is held with what is known only now: that it may have been sent.
    fn held(&self, reason: PauseReason, now: Timestamp) -> Parked {
        let maybe_sent_at = self.maybe_sent_at.or(self.pending.maybe_sent.then_some(self.pending.since));
        Parked { maybe_sent_at, ..self.parked(ParkedState::Held, reason.as_str(), now) }
    }

    /// Parks it as failed; `status` 0: the message never left.
    fn failed(&self, status: u16, message: String, now: Timestamp) -> Parked {
        let error = Some(PushRefused { status, message, at: now });
        Parked { reason: None, error, ..self.parked(ParkedState::Failed, "", now) }
    }

    /// Parks it as unknown: LINE may have accepted it. Either LINE has forgotten the key of its first attempt, or that
    /// isn't certain: an attempt was noted lately, but the notice is so old that there may have been others before.
    fn unknown(&self, now: Timestamp) -> Parked {
        let is_late = self.maybe_sent_at.is_none_or(|at| now.since(at) > RETRY_LIMIT);
        let reason = if is_late { "retry_key_expired" } else { "retry_key_uncertain" };
        self.parked(ParkedState::Unknown, reason, now)
    }

    fn parked(&self, state: ParkedState, reason: &str, now: Timestamp) -> Parked {
        Parked { state, since: now, reason: Some(reason.to_owned()), maybe_sent_at: self.maybe_sent_at, error: None }
    }
}

/// Returns the span of a notice; its channel is known later.
fn span(PendingNotice { notice, request_id, .. }: &PendingNotice) -> Span {
    tracing::info_span!(
        "delivery.notice",
        request.id = request_id.as_ref().map(field::display),
        event.id = %notice.event_id,
        notice.id = ItemKey::Notice(notice.clone()).sk(),
        user.id = hashed(notice.line_user_id.as_str()),
        channel = field::Empty,
    )
}

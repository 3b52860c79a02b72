//! What a participant's facts say about forgotten notices: pure.

#[cfg(test)]
mod tests;

use crate::delivery::retry::RETRY_LIMIT;
use crate::domain::{
    fact::{Fact, Facts},
    ids::{EventId, LineUserId},
    notice::{NoticeId, NoticeKey, NoticeStatus},
    time::Timestamp,
};
use crate::store::progress::{By, HandedOut};

use super::{
    horizon::{Horizon, RecordState},
    summary::Left,
};

/// Facts whose notices may have been sent.
#[derive(Debug, Clone, Default)]
pub struct MaybeSent(Vec<HandedOut>);

impl MaybeSent {
    /// Takes what may have been handed out and not finished. What another run of `reconcile` has under way isn't among it
    /// while LINE remembers its keys: the same push again is one message.
    #[must_use]
    pub fn of(handed_out: Vec<HandedOut>, now: Timestamp) -> Self {
        let is_uncertain = |out: &HandedOut| match &out.by {
            By::Run(run) => now.since(run.since) > RETRY_LIMIT,
            By::Function { .. } | By::Stream => true,
        };
        Self(handed_out.into_iter().filter(is_uncertain).collect())
    }

    /// Returns whether a participant's fact of this event and time is among them.
    #[must_use]
    pub fn covers(&self, event_id: &EventId, participant: &LineUserId, at: Timestamp) -> bool {
        self.0.iter().any(|out| out.covers(event_id, participant, at))
    }
}

/// What is known of the notices of stamps that name no request: another program has written them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Migrated {
    /// It may have sent them.
    #[default]
    MaybeSent,
    /// It certainly sent none: they are sent.
    Unsent,
}

/// What is known of a notice that no record brings any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// LINE may have it, or a reader of a former stream (or of this one, if clocks differ) may be working on it: it is so
    /// young that the same push again is one message.
    AheadOfStream,
    /// Another program has written it, which may have sent it.
    OfFormerProgram,
    /// LINE may have it, and has forgotten the key.
    MaybeSent,
    /// LINE certainly doesn't have it.
    NeverSent,
}

/// A notice that no record brings any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgotten {
    /// Which.
    pub notice: NoticeId,
    /// When its fact happened.
    pub at: Timestamp,
    /// Whether LINE may have it.
    pub finding: Finding,
}

/// What was found of one participant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// In the order of their facts.
    pub forgotten: Vec<Forgotten>,
    /// How many were maybe sent, and may be worked on just now: they can't be decided yet.
    pub undecided: usize,
    /// Those that the stream's readers may still bring.
    pub left: Option<Left>,
}

/// What decides about a notice, beside its participant's facts.
#[derive(Debug, Clone)]
pub struct Grounds {
    /// What the stream can still bring.
    pub horizon: Horizon,
    /// What may have been sent.
    pub maybe_sent: MaybeSent,
    /// What is known of another program's notices.
    pub migrated: Migrated,
}

impl Grounds {
    /// Returns what a participant's facts say.
    #[must_use]
    pub fn find_among(&self, facts: &Facts) -> Found {
        let mut found = Found::default();
        for fact in facts.in_order() {
            let Some((key, NoticeStatus::Pending { maybe_sent_at })) = fact.notice() else { continue };
            if let RecordState::Coming(until) = self.horizon.record(fact.at()) {
                found.left = Some(Left::one(until).and(found.left));
                continue;
            }
            match self.finding(&fact, *maybe_sent_at) {
                Finding::MaybeSent if !is_record_gone(&key, facts, &self.horizon) => found.undecided += 1,
                finding => {
                    found.forgotten.push(Forgotten { notice: notice_of(&fact, key), at: fact.at(), finding });
                }
            }
        }
        found
    }

    /// `maybe_sent_at`: as the fact's item says.
    fn finding(&self, fact: &Fact, maybe_sent_at: Option<Timestamp>) -> Finding {
        if self.migrated == Migrated::MaybeSent && is_of_former_program(fact) {
            Finding::OfFormerProgram
        } else if !self.horizon.is_gone(fact.at()) {
            Finding::AheadOfStream
        } else if maybe_sent_at.is_some() || self.maybe_sent.covers(fact.event_id(), fact.line_user_id(), fact.at()) {
            Finding::MaybeSent
        } else {
            Finding::NeverSent
        }
    }
}

/// The source article's stamps name no request; every one that this program ever wrote does. Nothing else has a notice
/// there.
fn is_of_former_program(fact: &Fact) -> bool {
    matches!(fact, Fact::UserStamp(stamp) if stamp.request_id.is_none())
}

/// Returns whether the record of a fact that is older than the horizon is certainly no longer in the stream. A completed
/// card has the time of its last stamp, and is written when the notice of a stamp is worked on: before that is finished.
/// (It does no harm to send one that may still come: the same push again is one message.)
fn is_record_gone(key: &NoticeKey, facts: &Facts, horizon: &Horizon) -> bool {
    *key != NoticeKey::Completed
        || facts.stamps.iter().all(|stamp| match &stamp.notice {
            NoticeStatus::None => true,
            NoticeStatus::Parked(parked) => horizon.is_gone(parked.since),
            NoticeStatus::Sent { at, .. } => at.is_none_or(|at| horizon.is_gone(at)),
            NoticeStatus::Pending { .. } => false,
        })
}

fn notice_of(fact: &Fact, key: NoticeKey) -> NoticeId {
    NoticeId { event_id: fact.event_id().clone(), line_user_id: fact.line_user_id().clone(), key }
}

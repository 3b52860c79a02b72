//! What a participant's facts say about forgotten notices: pure.

#[cfg(test)]
mod tests;

use crate::delivery::handler::RETRY_LIMIT;
use crate::domain::{
    fact::{Fact, Facts},
    ids::{EventId, LineUserId},
    notice::{NoticeId, NoticeKey, NoticeStatus},
    time::Timestamp,
};
use crate::store::progress::{By, HandedOut};

use super::{
    Left, Migrated,
    horizon::{Horizon, RecordState},
};

/// Facts whose notices may have been tried.
#[derive(Debug, Clone, Default)]
pub struct Doubts(Vec<HandedOut>);

impl Doubts {
    /// Out of what may have been handed out and not finished. What another run of `reconcile` has under way is in no
    /// doubt while LINE remembers its keys: the same push again is one message.
    #[must_use]
    pub fn of(handed_out: Vec<HandedOut>, now: Timestamp) -> Self {
        let is_in_doubt = |out: &HandedOut| match &out.by {
            By::Run(run) => now.since(run.since) > RETRY_LIMIT,
            By::Function { .. } | By::Stream => true,
        };
        Self(handed_out.into_iter().filter(is_in_doubt).collect())
    }

    /// Whether a participant's fact of this event and time is among them.
    #[must_use]
    pub fn cover(&self, event_id: &EventId, participant: &LineUserId, at: Timestamp) -> bool {
        self.0.iter().any(|out| out.covers(event_id, participant, at))
    }
}

/// What is known of a notice that no record brings any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// LINE may have it, or a reader of a former stream (or of this one, if clocks differ) may just be at it: it is so
    /// young that the same push again is one message.
    AheadOfStream,
    /// Another program has written it, which may have sent it.
    OfFormerProgram,
    /// LINE may have it, and has forgotten the key.
    PerhapsTried,
    /// LINE certainly doesn't have it.
    NeverTried,
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
    /// How many are in doubt, and may just be worked on: it can't be told yet what becomes of them.
    pub undecided: usize,
    /// Those that the stream's readers may still bring.
    pub left: Option<Left>,
}

/// What decides about a notice, beside its participant's facts.
#[derive(Debug, Clone)]
pub struct Grounds {
    /// What the stream can still bring.
    pub horizon: Horizon,
    /// What may have been tried.
    pub doubts: Doubts,
    /// What is known of another program's notices.
    pub migrated: Migrated,
}

impl Grounds {
    /// Looks through a participant's facts.
    #[must_use]
    pub fn find_among(&self, facts: &Facts) -> Found {
        let mut found = Found::default();
        for fact in facts.in_order() {
            let Some((key, NoticeStatus::Waiting { tried_at })) = fact.notice() else { continue };
            if let RecordState::Coming(until) = self.horizon.record(fact.at()) {
                found.left = Some(Left::one(until).and(found.left));
                continue;
            }
            let is_tried = tried_at.is_some() || self.doubts.cover(fact.event_id(), fact.line_user_id(), fact.at());
            match self.finding(&fact, is_tried) {
                Finding::PerhapsTried if !is_record_gone(&key, facts, &self.horizon) => found.undecided += 1,
                finding => {
                    found.forgotten.push(Forgotten { notice: notice_of(&fact, key), at: fact.at(), finding });
                }
            }
        }
        found
    }

    fn finding(&self, fact: &Fact, is_tried: bool) -> Finding {
        if self.migrated == Migrated::MaybeSent && is_of_former_program(fact) {
            Finding::OfFormerProgram
        } else if !self.horizon.is_gone(fact.at()) {
            Finding::AheadOfStream
        } else if is_tried {
            Finding::PerhapsTried
        } else {
            Finding::NeverTried
        }
    }
}

/// The source article's stamps name no request; every one that this program ever wrote does. Nothing else has a notice
/// there.
fn is_of_former_program(fact: &Fact) -> bool {
    matches!(fact, Fact::UserStamp(stamp) if stamp.request_id.is_none())
}

/// Whether the record of a fact that is older than the horizon is certainly no longer in the stream. A completed card
/// tells the time of its last stamp, and is written when the notice of a stamp is worked on: before that is finished.
/// (It does no harm to send one that may still come: the same push again is one message.)
fn is_record_gone(key: &NoticeKey, facts: &Facts, horizon: &Horizon) -> bool {
    *key != NoticeKey::Completed
        || facts.stamps.iter().all(|stamp| match &stamp.notice {
            NoticeStatus::None => true,
            NoticeStatus::Parked(parked) => horizon.is_gone(parked.since),
            NoticeStatus::Sent { at, .. } => at.is_none_or(|at| horizon.is_gone(at)),
            NoticeStatus::Waiting { .. } => false,
        })
}

fn notice_of(fact: &Fact, key: NoticeKey) -> NoticeId {
    NoticeId { event_id: fact.event_id().clone(), line_user_id: fact.line_user_id().clone(), key }
}

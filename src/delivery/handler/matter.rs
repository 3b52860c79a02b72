//! What a notice is about, and whether it is still due: out of the participant's facts. Pure.

use crate::domain::{
    fact::{Facts, UserStamp},
    ids::StampId,
    notice::{NoticeKey, NoticeStatus, Parked, ParkedState, Subject},
    stamp::StampMasters,
    time::Timestamp,
};

use super::{Call, Path, RETRY_LIMIT};
use crate::delivery::Outcome;

/// What a notice is about, out of the participant's facts.
pub(super) struct Matter<'a> {
    pub facts: &'a Facts,
    /// The acquisition that it tells of.
    pub stamp: &'a UserStamp,
    /// As the retry key names it.
    pub subject: Subject,
    /// 0, or the number of a resend.
    pub number: u16,
    /// When an attempt first ended without a clear answer, as the item says.
    pub tried_at: Option<Timestamp>,
}

/// When the notice was tried, if it is still to be sent on this path; else what became of it.
pub(super) fn still_due(facts: &Facts, call: &Call) -> Result<Option<Timestamp>, Outcome> {
    match (facts.notice(&call.notice.key), call.path) {
        // Nobody puts a parked notice back on its path.
        (None | Some(NoticeStatus::None), _) | (Some(NoticeStatus::Waiting { .. }), Path::Held | Path::Unreadable) => {
            Err(Outcome::PassedOver)
        }
        (Some(NoticeStatus::Sent { .. }), _) => Err(Outcome::AlreadySent),
        (Some(NoticeStatus::Parked(parked)), Path::Held) if parked.state == ParkedState::Held => Ok(parked.tried_at),
        (Some(NoticeStatus::Parked(parked)), _) => Err(Outcome::Parked(parked.state)),
        (Some(NoticeStatus::Waiting { tried_at }), Path::AheadOfStream | Path::Ordinary) => Ok(*tried_at),
    }
}

/// How the notice is held, if it is.
pub(super) fn held_as(facts: &Facts, call: &Call) -> Option<Parked> {
    match facts.notice(&call.notice.key) {
        Some(NoticeStatus::Parked(parked)) if parked.state == ParkedState::Held => Some(parked.clone()),
        _ => None,
    }
}

/// Whether another notice of this participant is held: this one then waits behind it. A resend doesn't wait for the
/// very notice that it repeats, and none waits for one that is held until its stamp is mended.
pub(super) fn has_held(facts: &Facts, matter: &Matter<'_>, masters: &StampMasters) -> bool {
    let is_held = |stamp_id: &StampId, status: &NoticeStatus| {
        matches!(status, NoticeStatus::Parked(p) if p.state == ParkedState::Held)
            && !masters.unreadable.contains(stamp_id)
    };
    let repeated = |id: &StampId| matter.number > 0 && *id == matter.stamp.stamp_id;
    facts.stamps.iter().any(|stamp| is_held(&stamp.stamp_id, &stamp.notice) && !repeated(&stamp.stamp_id))
        || facts.resends.iter().any(|resend| is_held(&resend.stamp_id, &resend.notice))
        || facts.completed.as_ref().is_some_and(|completed| is_held(&completed.by_stamp_id, &completed.notice))
}

/// Whether a completed card's message would come before that of one of its stamps: one that the stream has forgotten or
/// never had, so that `reconcile` sends it, just now maybe. (Those that come by the stream come in order.)
pub(super) fn comes_too_early(facts: &Facts, matter: &Matter<'_>, now: Timestamp) -> bool {
    let Subject::Completed { completed_at } = matter.subject else { return false };
    let is_before = |stamp: &&UserStamp| stamp.acquired_at <= completed_at;
    let is_forgotten = |stamp: &UserStamp| {
        let is_old = now.since(stamp.acquired_at) > RETRY_LIMIT;
        matches!(stamp.notice, NoticeStatus::Waiting { tried_at } if is_old || tried_at.is_some())
    };
    facts.stamps.iter().filter(is_before).any(is_forgotten)
}

impl<'a> Matter<'a> {
    pub fn of(facts: &'a Facts, key: &NoticeKey, tried_at: Option<Timestamp>) -> Option<Self> {
        let (stamp_id, number) = match key {
            NoticeKey::Completed => {
                let completed = facts.completed.as_ref()?;
                let subject = Subject::Completed { completed_at: completed.completed_at };
                return Some(Self { facts, stamp: facts.stamp(&completed.by_stamp_id)?, subject, number: 0, tried_at });
            }
            NoticeKey::Resend { stamp_id, number } => (stamp_id, *number),
            NoticeKey::Stamp(stamp_id) => (stamp_id, 0),
        };
        let stamp = facts.stamp(stamp_id)?;
        let subject = Subject::Stamp { stamp_id: stamp_id.clone(), acquired_at: stamp.acquired_at };
        Some(Self { facts, stamp, subject, number, tried_at })
    }
}

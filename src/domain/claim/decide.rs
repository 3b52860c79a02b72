//! The decision on a claim: pure. It takes what is known already, and says what else it must know.

use super::{
    Claim, Refusal, admit,
    case::{Case, Known, NoKeys, Question},
    judge::{self, Judge, Stop},
    pace,
};
use crate::domain::{
    fact::{Pace, UserStamp},
    notice::NoticeStatus,
    proof::{AcceptedProof, ProofKind},
    stamp::Notify,
    time::Timestamp,
};

/// What comes of a claim.
#[derive(Debug)]
pub enum Decision {
    /// The stamp is acquired: to be recorded.
    Acquire(Box<Wanted>),
    /// Something else must be known first.
    Ask(Question),
    /// The participant has the stamp, as the facts say: nothing that would refuse a new claim counts.
    Held,
    /// This server can't judge it: our trouble, never a stamp.
    NoKeys(NoKeys),
    /// It is refused, unless the participant has the stamp.
    Refuse(Refusal),
}

/// A stamp to be recorded, and under which conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// The fact.
    pub stamp: UserStamp,
    /// Whether the participant may be registered with it.
    pub registration: Registration,
    /// What must still be true of the participant's pace.
    pub pace: PaceGuard,
}

/// What must be true of a participant's `PACE` when a stamp is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaceGuard {
    /// It must be as it was read; `None`: there was none. The event limits the pace.
    AsRead(Option<Pace>),
    /// Nothing.
    Free,
}

/// Whether a claim may register the participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registration {
    /// It does, if needed.
    IfNeeded,
    /// They must be registered before.
    Required,
}

/// Where the windows were judged.
#[derive(Clone, Copy)]
enum Judged {
    /// When it was received.
    OnTime,
    /// When the proof was taken.
    Late,
}

impl Claim {
    /// Decides on the claim. Checks come in the contract's order: acquired already, the windows and whether the stamp is
    /// active, the proof, other stamps first, the pace, and last the passcode.
    #[must_use]
    pub fn decide(&self, case: &Case<'_>, known: &Known<'_>) -> Decision {
        match self.judge(case, known) {
            Ok(decision) => decision,
            Err(Stop::Ask(question)) => Decision::Ask(question),
            Err(Stop::NoKeys(no_keys)) => Decision::NoKeys(no_keys),
            Err(Stop::Refuse(refusal)) => Decision::Refuse(refusal),
        }
    }

    fn judge(&self, case: &Case<'_>, known: &Known<'_>) -> Result<Decision, Stop> {
        if known.facts.is_some_and(|facts| facts.has_stamp(&case.master.stamp_id)) {
            return Ok(Decision::Held);
        }
        let judged = self.admit(case).map_err(Stop::Refuse)?;
        let judge = Judge { claim: self, case, known };
        let chosen = judge.choose()?;
        let pace = check_history(case, known)?;
        if chosen.needs_passcode() {
            judge.is_passcode()?;
        }
        let is_late = matches!(judged, Judged::Late);
        let stamp = self.acquires(case, judge.accepted(&chosen, is_late));
        let registration = if is_late { Registration::Required } else { Registration::IfNeeded };
        Ok(Decision::Acquire(Box::new(Wanted { stamp, registration, pace })))
    }

    /// Refuses what is outside a window, and a stamp that isn't active: judged when it was received, or, where it may be
    /// late, when its proof was taken.
    fn admit(&self, case: &Case<'_>) -> Result<Judged, Refusal> {
        let refusal = match windows(case, case.now) {
            Ok(()) => return Ok(Judged::OnTime),
            Err(Refusal::StampInactive) => return Err(Refusal::StampInactive),
            Err(refusal) => refusal,
        };
        match self.late(case).map(|at| windows(case, at)) {
            Some(Ok(())) => Ok(Judged::Late),
            Some(Err(Refusal::StampInactive)) => Err(Refusal::StampInactive),
            Some(Err(_)) | None => Err(refusal),
        }
    }

    /// Returns when the proof was taken, if a claim may be judged by that: LINE's word always, the phone's within the
    /// event's `lateMinutes` and where it brings nothing that depends on the time.
    fn late(&self, case: &Case<'_>) -> Option<Timestamp> {
        let at = self.evidence.captured_at(case.now)?;
        if self.evidence.has(ProofKind::Beacon) {
            return Some(at);
        }
        let most = i64::from(case.event.limits.late_minutes?.get()) * 60_000;
        let depends_on_time = self.evidence.has(ProofKind::Location) || self.evidence.has(ProofKind::QrRotating);
        (!depends_on_time && at.plus_millis(most) >= case.now).then_some(at)
    }

    fn acquires(&self, case: &Case<'_>, proof: Option<AcceptedProof>) -> UserStamp {
        UserStamp {
            event_id: case.master.event_id.clone(),
            line_user_id: self.line_user_id.clone(),
            stamp_id: case.master.stamp_id.clone(),
            acquired_at: case.now,
            request_id: Some(self.request_id.clone()),
            proof,
            notice: match case.master.notify {
                Notify::Always => NoticeStatus::Pending { maybe_sent_at: None },
                Notify::Never => NoticeStatus::None,
            },
        }
    }
}

/// Refuses an instant that is outside the event, a stamp that isn't active, and an instant that is outside the stamp's own
/// window or its hours, in this order.
fn windows(case: &Case<'_>, at: Timestamp) -> Result<(), Refusal> {
    admit(case.event.window, at)?;
    if !case.master.is_active {
        return Err(Refusal::StampInactive);
    }
    let schedule = &case.master.rules.schedule;
    schedule.admit(at, case.event.window, case.event.time_zone).map_err(Refusal::StampClosed)
}

/// Refuses what the participant's other stamps refuse; returns what their pace must still be when it is recorded.
fn check_history(case: &Case<'_>, known: &Known<'_>) -> Result<PaceGuard, Stop> {
    let limits_pace = case.event.limits.limit_pace();
    if !limits_pace && case.master.rules.after.ids().is_empty() {
        return Ok(PaceGuard::Free);
    }
    let facts = known.facts.ok_or(Stop::Ask(Question::Facts))?;
    let missing = judge::missing(case, |id| facts.has_stamp(id));
    if !missing.is_empty() {
        return Err(Stop::Refuse(Refusal::Prerequisite { missing }));
    }
    pace::check(case.event, (case.master, case.masters), facts, case.now).map_err(Stop::Refuse)?;
    Ok(if limits_pace { PaceGuard::AsRead(facts.pace.clone()) } else { PaceGuard::Free })
}

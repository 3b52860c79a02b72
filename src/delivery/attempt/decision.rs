//! What the participant's facts, times and failures mean for a notice. Pure.

#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::domain::{
    event::Event,
    fact::{Facts, UserStamp},
    ids::StampId,
    notice::{NoticeKey, NoticeStatus, Parked, ParkedState, Subject},
    stamp::StampMasters,
    time::Timestamp,
};
use crate::store::rallies::Rally;

use super::{Attempt, Instead, Next};
use crate::delivery::{
    Outcome,
    health::PauseReason,
    pending::{Path, PendingNotice},
    retry::RETRY_LIMIT,
};

/// What a notice is about, out of the participant's facts.
pub(super) struct About<'f> {
    pub facts: &'f Facts,
    /// The acquisition that it reports.
    pub stamp: &'f UserStamp,
    /// As the retry key names it.
    pub subject: Subject,
    /// 0, or the number of a resend.
    pub resend: u16,
}

impl<'f> About<'f> {
    fn of(facts: &'f Facts, key: &NoticeKey) -> Option<Self> {
        let stamp = facts.stamp(facts.stamp_of(key)?)?;
        let of_stamp = || Subject::Stamp { stamp_id: stamp.stamp_id.clone(), acquired_at: stamp.acquired_at };
        let (subject, resend) = match key {
            NoticeKey::Completed => (Subject::Completed { completed_at: facts.completed.as_ref()?.completed_at }, 0),
            NoticeKey::Resend { number, .. } => (of_stamp(), *number),
            NoticeKey::Stamp(_) => (of_stamp(), 0),
        };
        Some(Self { facts, stamp, subject, resend })
    }

    /// Returns whether it reports a stamp for the first time, which may have completed the card.
    pub fn is_of_new_stamp(&self) -> bool {
        self.resend == 0 && matches!(self.subject, Subject::Stamp { .. })
    }

    /// Returns whether another notice of this participant is held: this one then waits behind it. A resend doesn't wait
    /// for the very notice that it repeats, and none waits for one that is held until its stamp is mended.
    fn is_behind_held(&self, masters: &StampMasters) -> bool {
        let Facts { stamps, resends, completed, .. } = self.facts;
        let holds = |(stamp_id, status): (&StampId, &NoticeStatus)| {
            held_as(Some(status)).is_some() && !masters.unreadable.contains(stamp_id)
        };
        let is_repeated = |stamp: &&UserStamp| self.resend > 0 && stamp.stamp_id == self.stamp.stamp_id;
        let stamps = stamps.iter().filter(|stamp| !is_repeated(stamp)).map(|fact| (&fact.stamp_id, &fact.notice));
        let resends = resends.iter().map(|fact| (&fact.stamp_id, &fact.notice));
        let completed = completed.iter().map(|fact| (&fact.by_stamp_id, &fact.notice));
        stamps.chain(resends).chain(completed).any(holds)
    }

    /// Returns whether a completed card's message would come before that of one of its stamps: one that the stream has
    /// forgotten or never had, so that `reconcile` sends it, just now maybe. (Those that come by the stream come in
    /// order.)
    fn is_too_early(&self, now: Timestamp) -> bool {
        let Subject::Completed { completed_at } = self.subject else { return false };
        let is_forgotten = |stamp: &UserStamp| {
            let is_old = now.since(stamp.acquired_at) > RETRY_LIMIT;
            matches!(stamp.notice, NoticeStatus::Pending { maybe_sent_at } if is_old || maybe_sent_at.is_some())
        };
        self.facts.stamps.iter().any(|stamp| stamp.acquired_at <= completed_at && is_forgotten(stamp))
    }
}

impl Attempt<'_> {
    /// Returns what the notice is about, if it is still to be sent on its path.
    pub(super) fn about<'f>(&mut self, facts: &'f Facts, now: Timestamp) -> Result<About<'f>, Instead> {
        let key = &self.pending.notice.key;
        self.held = held_as(facts.notice(key)).cloned();
        if !facts.unreadable.is_empty() {
            // What was sent before, how full the card is, which notice comes first: nothing of it can be said.
            return Err(Instead::Hold(PauseReason::Unreadable));
        }
        let maybe_sent_at = still_due(facts, self.pending).map_err(|outcome| Instead::Next(Next::Done(outcome)))?;
        self.maybe_sent_at = maybe_sent_at.or(self.ambiguous_at);
        About::of(facts, key).ok_or_else(|| {
            Instead::Park(self.failed(0, "the stamp that this notice reports no longer exists".to_owned(), now))
        })
    }

    /// Refuses a notice that must not be sent any more, or not before another one.
    pub(super) fn check(&self, about: &About<'_>, rally: &Rally, now: Timestamp) -> Result<(), Instead> {
        if let Some(parked) = self.too_late(about, &rally.event, now) {
            return Err(Instead::Park(parked));
        }
        if self.pending.path == Path::Held {
            return Ok(());
        }
        if about.is_behind_held(&rally.masters) {
            return Err(Instead::Hold(PauseReason::EarlierHeld));
        }
        if !self.is_overdue && about.is_too_early(now) {
            return Err(Instead::Next(Next::Again(Duration::ZERO)));
        }
        Ok(())
    }

    /// Returns how it is parked, if it must not be attempted (again) automatically.
    fn too_late(&self, about: &About<'_>, event: &Event, now: Timestamp) -> Option<Parked> {
        let PendingNotice { since, maybe_sent, path, .. } = self.pending;
        let is_old = |at: Timestamp| now.since(at) > RETRY_LIMIT;
        let may_be_accepted = match self.maybe_sent_at {
            Some(at) => is_old(at) || is_old(*since),
            None => *maybe_sent && is_old(*since),
        };
        if may_be_accepted {
            return Some(self.unknown(now));
        }
        // A resend that was asked for after the end was not parked when the event ended.
        let asked_after = about.resend > 0 && event.window.is_over(*since);
        if *path != Path::Held || !event.window.is_over(now) || asked_after {
            return None;
        }
        let state = self.maybe_sent_at.map_or(ParkedState::Expired, |_| ParkedState::Unknown);
        Some(self.parked(state, "event_ended", now))
    }

    /// Refuses a push that is asked to wait so long: where its path doesn't allow that, the notice is held.
    pub(super) fn check_wait(&self, wait: Duration) -> Result<(), Instead> {
        match (wait.is_zero(), self.is_overdue) {
            (true, _) => Ok(()),
            (false, true) => Err(Instead::Hold(PauseReason::LineUnavailable)),
            (false, false) => Err(Instead::Next(Next::Again(wait))),
        }
    }

    /// Takes note that an attempt, begun at that time, ended without a clear answer.
    pub(super) fn ended_ambiguously(&mut self, began: Timestamp) {
        self.is_noted |= self.maybe_sent_at.is_some();
        let first = self.maybe_sent_at.unwrap_or(began);
        self.maybe_sent_at = Some(*self.ambiguous_at.get_or_insert(first));
    }

    /// Returns what follows from a failure that passes: the same push again, unless it has waited too long or must not be
    /// repeated.
    pub(super) fn after_failure(&self, wait: Duration, paused: Option<PauseReason>, now: Timestamp) -> Instead {
        let is_old = now.since(self.pending.since) > RETRY_LIMIT;
        if is_old && self.maybe_sent_at.is_some() {
            Instead::Park(self.unknown(now))
        } else if is_old || self.is_overdue || paused.is_some() {
            Instead::Hold(PauseReason::LineUnavailable)
        } else {
            Instead::Next(Next::Again(wait))
        }
    }
}

/// Returns since when the notice may have been sent, if it is still to be sent on its path; else what became of it.
fn still_due(facts: &Facts, pending: &PendingNotice) -> Result<Option<Timestamp>, Outcome> {
    match (facts.notice(&pending.notice.key), pending.path) {
        // No process puts a parked notice back on its path.
        (None | Some(NoticeStatus::None), _) | (Some(NoticeStatus::Pending { .. }), Path::Held | Path::Unreadable) => {
            Err(Outcome::PassedOver)
        }
        (Some(NoticeStatus::Sent { .. }), _) => Err(Outcome::AlreadySent),
        (Some(NoticeStatus::Parked(parked)), Path::Held) if parked.state == ParkedState::Held => {
            Ok(parked.maybe_sent_at)
        }
        (Some(NoticeStatus::Parked(parked)), _) => Err(Outcome::Parked(parked.state)),
        (Some(NoticeStatus::Pending { maybe_sent_at }), Path::AheadOfStream | Path::Ordinary) => Ok(*maybe_sent_at),
    }
}

/// Returns how a notice is held, if it is.
fn held_as(status: Option<&NoticeStatus>) -> Option<&Parked> {
    match status {
        Some(NoticeStatus::Parked(parked)) if parked.state == ParkedState::Held => Some(parked),
        _ => None,
    }
}

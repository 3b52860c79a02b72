//! Some participants: read them, note what is handed out, and send or park what was found.

use std::{collections::HashSet, time::Duration};

use futures_util::{StreamExt as _, stream};

use crate::consumer::CONSUMER;
use crate::delivery::{
    Outcome, Tally,
    pending::{Path, PendingNotice},
    retry::stopped_during,
};
use crate::domain::{
    event::Event,
    fact::{Completed, Facts},
    ids::LineUserId,
    mode::Mode,
    notice::{NoticeId, NoticeKey, NoticeStatus, Parked, ParkedState},
    time::Timestamp,
};
use crate::store::{
    StoreError,
    notices::Marked,
    progress::{FactSpan, Run},
};

use super::{
    finding::{Finding, Forgotten, Found},
    horizon::RecordState,
    run::Reconciling,
    summary::Counts,
};

/// Participants that are read at once.
const READS: usize = 16;

/// When the process was paused, other workers may have taken over its share of the pushes: so long until it looks whether
/// its lease is good again.
const LEASE_CHECK: Duration = Duration::from_millis(200);

pub(super) struct Work<'a> {
    run: &'a Reconciling<'a>,
    event: &'a Event,
    counts: Counts,
    /// Participants of whom something was found: the second index brings nothing new of them.
    dealt_with: HashSet<LineUserId>,
    /// Nothing that was handed out is unfinished.
    finished: bool,
}

struct Participant {
    user: LineUserId,
    found: Found,
    /// Their facts with a notice that the stream doesn't bring: a card that becomes complete is dated by one of them.
    span: Option<FactSpan>,
    /// Whether their card was complete, as far as facts say.
    is_complete: bool,
}

impl<'a> Work<'a> {
    pub fn of(run: &'a Reconciling<'a>, event: &'a Event) -> Self {
        Self { run, event, counts: Counts::default(), dealt_with: HashSet::new(), finished: true }
    }

    /// Returns whether everything that was handed out has come to an end.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Returns whether nothing is left that may have been sent, either.
    pub fn is_whole(&self) -> bool {
        self.finished && (self.counts.undecided, self.counts.unreadable) == (0, 0)
    }

    /// Counts entries of a list that name no participant.
    pub fn passed_over(&mut self, entries: usize) {
        self.counts.unreadable += entries;
    }

    pub fn into_counts(self) -> Counts {
        self.counts
    }

    /// Reads some participants, and does what is to be done for them.
    pub async fn batch(&mut self, users: Vec<LineUserId>) -> Result<(), StoreError> {
        let users: Vec<LineUserId> = users.into_iter().filter(|user| !self.dealt_with.contains(user)).collect();
        let found = self.look(users).await?;
        match self.run.mode {
            Mode::DryRun => self.count(&found),
            Mode::ForReal => self.hand_out(&found).await?,
        }
        self.dealt_with.extend(found.into_iter().map(|participant| participant.user));
        (self.run.report)(&self.event.event_id, &self.counts);
        Ok(())
    }

    /// Reads participants, and returns those of whom there is something to do.
    async fn look(&mut self, users: Vec<LineUserId>) -> Result<Vec<Participant>, StoreError> {
        let (run, event_id) = (self.run, &self.event.event_id);
        let reads = stream::iter(users).map(|user| async move {
            let facts = run.delivery.parts.store.facts(event_id, &user).await;
            (user, facts)
        });
        let mut participants = Vec::new();
        for (user, facts) in reads.buffered(READS).collect::<Vec<_>>().await {
            self.counts.participants += 1;
            match facts {
                // The log names the fact already: nothing is done for them.
                Ok(facts) if !facts.unreadable.is_empty() => {
                    self.counts.unreadable += 1;
                    self.dealt_with.insert(user);
                }
                Ok(facts) => participants.extend(self.found(user, &facts)),
                Err(error) => return Err(error),
            }
        }
        Ok(participants)
    }

    fn found(&mut self, user: LineUserId, facts: &Facts) -> Option<Participant> {
        let grounds = &self.run.grounds;
        let found = grounds.find_among(facts);
        self.counts.undecided += found.undecided;
        self.counts.left = found.left.map_or(self.counts.left, |left| Some(left.and(self.counts.left)));
        if found.forgotten.is_empty() {
            // Of the others nothing was counted, so they may be looked at again.
            if found != Found::default() {
                self.dealt_with.insert(user);
            }
            return None;
        }
        let times = facts.in_order().into_iter().filter(|fact| fact.notice().is_some()).map(|fact| fact.at());
        let span = FactSpan::around(times.filter(|at| !grounds.horizon.is_coming(*at)));
        Some(Participant { user, found, span, is_complete: facts.completed.is_some() })
    }

    /// Counts what would be done.
    fn count(&mut self, participants: &[Participant]) {
        for forgotten in participants.iter().flat_map(|participant| &participant.found.forgotten) {
            self.counts.tally.count(match forgotten.finding {
                Finding::AheadOfStream | Finding::NeverSent => Outcome::Sent,
                Finding::OfFormerProgram | Finding::MaybeSent => Outcome::Parked(ParkedState::Unknown),
            });
        }
    }

    /// Notes what is handed out, and then hands it out: participants side by side, the notices of one in order.
    async fn hand_out(&mut self, participants: &[Participant]) -> Result<(), StoreError> {
        let run = self.run;
        if let Some(span) = to_hand_out(participants) {
            let since = run.delivery.clock().now();
            let noted = Run { id: run.me.clone(), event_id: self.event.event_id.clone(), since };
            run.delivery.parts.store.hand_out(CONSUMER, &noted, span).await?;
        }
        let work = stream::iter(participants).map(|participant| run.finish(self.event, participant));
        let work = work.buffer_unordered(run.delivery.settings().concurrency.max(1));
        let mut all = Ok(());
        // All come to their end: none is broken off because another one failed.
        for done in work.collect::<Vec<_>>().await {
            match done {
                Ok(tally) => {
                    self.finished &= tally.of(Outcome::Wait) == 0;
                    self.counts.tally.add(&tally);
                }
                Err(error) => all = Err(error),
            }
        }
        all
    }
}

/// Returns the span of the facts that are about to be handed out.
fn to_hand_out(participants: &[Participant]) -> Option<FactSpan> {
    let is_to_send = |forgotten: &Forgotten| matches!(forgotten.finding, Finding::AheadOfStream | Finding::NeverSent);
    let to_send = |participant: &&Participant| participant.found.forgotten.iter().any(is_to_send);
    participants.iter().filter(to_send).filter_map(|participant| participant.span).reduce(FactSpan::and)
}

impl Reconciling<'_> {
    /// Sends or parks what was found of a participant.
    async fn finish(&self, event: &Event, participant: &Participant) -> Result<Tally, StoreError> {
        let mut tally = Tally::default();
        for Forgotten { notice, finding, at } in &participant.found.forgotten {
            let outcome = match finding {
                Finding::AheadOfStream => self.send_ahead(notice, *at).await,
                Finding::NeverSent => self.send(notice).await,
                Finding::OfFormerProgram => self.park_unknown(notice, "former_program").await?,
                Finding::MaybeSent => self.park_unknown(notice, "retry_key_expired").await?,
            };
            tally.count(outcome);
            if outcome == Outcome::Wait {
                return Ok(tally);
            }
        }
        if tally.of(Outcome::Sent) > 0 && !participant.is_complete {
            self.complete(event, participant, &mut tally).await?;
        }
        Ok(tally)
    }

    /// Sends the message of a card that was completed by what was just sent: its record is in the stream now, but the
    /// stream need not have a reader.
    async fn complete(&self, event: &Event, of: &Participant, tally: &mut Tally) -> Result<(), StoreError> {
        let facts = self.delivery.parts.store.facts(&event.event_id, &of.user).await?;
        let waits = |card: &&Completed| card.notice == (NoticeStatus::Pending { maybe_sent_at: None });
        let Some(card) = facts.completed.as_ref().filter(waits) else { return Ok(()) };
        let (event_id, line_user_id, key) = (event.event_id.clone(), of.user.clone(), NoticeKey::Completed);
        let notice = NoticeId { event_id, line_user_id, key };
        match self.grounds.horizon.record(card.completed_at) {
            RecordState::Coming(_) => {}
            RecordState::Gone => tally.count(self.send(&notice).await),
            RecordState::NotInStream => tally.count(self.send_ahead(&notice, card.completed_at).await),
        }
        Ok(())
    }

    /// Sends a notice as a worker would, until nothing more is to be done, or the run is stopped. Its keys are new to LINE,
    /// so they are good from now on.
    async fn send(&self, notice: &NoticeId) -> Outcome {
        let since = self.delivery.clock().now();
        self.push(notice, since, Path::Ordinary).await
    }

    /// Sends a notice that another reader may be working on, or have worked on: with the key that it used, for as long as
    /// LINE remembers that.
    async fn send_ahead(&self, notice: &NoticeId, at: Timestamp) -> Outcome {
        self.push(notice, at, Path::AheadOfStream).await
    }

    async fn push(&self, notice: &NoticeId, since: Timestamp, path: Path) -> Outcome {
        let NoticeId { event_id, line_user_id, .. } = notice;
        let maybe_sent = path == Path::AheadOfStream && self.grounds.maybe_sent.covers(event_id, line_user_id, since);
        let (notice, lease) = (notice.clone(), self.lease.clone());
        let pending = PendingNotice { notice, request_id: None, since, maybe_sent, path, lease };
        loop {
            let outcome = self.delivery.deliver(&pending, self.stop).await;
            if outcome.is_final() || stopped_during(LEASE_CHECK, self.stop).await {
                return outcome;
            }
        }
    }

    /// Parks a notice as unknown: an operator decides.
    async fn park_unknown(&self, notice: &NoticeId, reason: &str) -> Result<Outcome, StoreError> {
        let (state, since) = (ParkedState::Unknown, self.delivery.clock().now());
        let parked = Parked { state, since, reason: Some(reason.to_owned()), maybe_sent_at: None, error: None };
        Ok(match self.delivery.parts.store.park(notice, None, &parked).await? {
            Marked::Already => Outcome::AlreadySent,
            Marked::NoItem => Outcome::PassedOver,
            Marked::Done => Outcome::Parked(state),
        })
    }
}

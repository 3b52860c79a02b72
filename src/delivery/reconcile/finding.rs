//! What a participant's facts say about forgotten notices: pure.

use std::time::Duration;

use crate::delivery::handler::RETRY_LIMIT;
use crate::domain::{
    fact::{Fact, Facts},
    ids::EventId,
    notice::{NoticeId, NoticeKey, NoticeStatus},
    time::Timestamp,
};
use crate::store::progress::{By, FactSpan, HandedOut};

/// When a fact is older than this, its record is no longer in the stream: that keeps records for 24 hours (AWS developer
/// guide: "Change data capture for DynamoDB Streams"); the rest is for clocks that differ.
pub const FORGOTTEN: Duration = Duration::from_mins(24 * 60 + 15);

/// Facts whose notices may have been tried.
#[derive(Debug, Clone, Default)]
pub struct Doubts {
    of_any_event: Vec<FactSpan>,
    of_events: Vec<(EventId, FactSpan)>,
}

impl Doubts {
    /// Out of what may have been handed out and not finished. What another run of `reconcile` has under way is in no
    /// doubt while LINE remembers its keys: the same push again is one message.
    #[must_use]
    pub fn of(handed_out: Vec<HandedOut>, now: Timestamp) -> Self {
        let mut doubts = Self::default();
        for HandedOut { span, by } in handed_out {
            match by {
                By::Run(run) if now.since(run.since) > RETRY_LIMIT => doubts.of_events.push((run.event_id, span)),
                By::Run(_) => {}
                By::Stream => doubts.of_any_event.push(span),
            }
        }
        doubts
    }

    fn cover(&self, event_id: &EventId, at: Timestamp) -> bool {
        let of_event = self.of_events.iter().filter(|(id, _)| id == event_id).map(|(_, span)| span);
        self.of_any_event.iter().chain(of_event).any(|span| span.contains(at))
    }
}

/// Whether LINE may have a forgotten notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Certainly not.
    NeverTried,
    /// It may.
    PerhapsTried,
}

/// A notice that the stream has forgotten.
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
}

impl Found {
    /// Looks through the facts; those up to `horizon` are forgotten.
    #[must_use]
    pub fn among(facts: &Facts, horizon: Timestamp, doubts: &Doubts) -> Self {
        let mut found = Self::default();
        for fact in facts.in_order() {
            let Some((key, NoticeStatus::Waiting { tried_at })) = fact.notice() else { continue };
            let perhaps = tried_at.is_some() || doubts.cover(fact.event_id(), fact.at());
            let finding = if perhaps { Finding::PerhapsTried } else { Finding::NeverTried };
            if fact.at() > horizon {
                continue;
            }
            if perhaps && !is_record_gone(&key, facts, horizon) {
                found.undecided += 1;
            } else {
                found.forgotten.push(Forgotten { notice: notice_of(&fact, key), at: fact.at(), finding });
            }
        }
        found
    }
}

/// Whether the record of a fact that is older than the horizon is certainly no longer in the stream. A completed card
/// tells the time of its last stamp, and is written when the notice of a stamp is worked on: before that is finished.
/// (It does no harm to send one that may still come: the same push again is one message.)
fn is_record_gone(key: &NoticeKey, facts: &Facts, horizon: Timestamp) -> bool {
    *key != NoticeKey::Completed
        || facts.stamps.iter().all(|stamp| match &stamp.notice {
            NoticeStatus::None => true,
            NoticeStatus::Parked(parked) => parked.since <= horizon,
            NoticeStatus::Sent { at, .. } => at.is_none_or(|at| at <= horizon),
            NoticeStatus::Waiting { .. } => false,
        })
}

fn notice_of(fact: &Fact, key: NoticeKey) -> NoticeId {
    NoticeId { event_id: fact.event_id().clone(), line_user_id: fact.line_user_id().clone(), key }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        fact::{Completed, UserStamp},
        notice::{Parked, ParkedState},
    };
    use crate::store::progress::{Run, WorkerId};

    /// So many hours after ten o'clock.
    fn hour(hours: i64) -> Timestamp {
        "2026-05-23T10:00:00.000Z".parse::<Timestamp>().unwrap().plus_millis(hours * 3_600_000)
    }

    fn span(from: i64, through: i64) -> FactSpan {
        FactSpan { from: hour(from), through: hour(through) }
    }

    fn stamp(id: &str, at: i64, notice: NoticeStatus) -> Fact {
        Fact::UserStamp(UserStamp {
            event_id: "rally".parse().unwrap(),
            line_user_id: "U0123456789abcdef0123456789abcdef".parse().unwrap(),
            stamp_id: id.parse().unwrap(),
            acquired_at: hour(at),
            request_id: None,
            notice,
        })
    }

    fn completed(at: i64) -> Fact {
        let Fact::UserStamp(stamp) = stamp("002", at, waiting()) else { unreachable!() };
        Fact::Completed(Completed {
            event_id: stamp.event_id,
            line_user_id: stamp.line_user_id,
            completed_at: stamp.acquired_at,
            by_stamp_id: stamp.stamp_id,
            notice: waiting(),
        })
    }

    fn waiting() -> NoticeStatus {
        NoticeStatus::Waiting { tried_at: None }
    }

    fn sent(at: i64) -> NoticeStatus {
        NoticeStatus::Sent { at: Some(hour(at)), request_id: None }
    }

    /// The findings at hour 30, when everything up to hour 5 is forgotten; `-` = undecided.
    fn findings(facts: impl IntoIterator<Item = Fact>, handed_out: Vec<HandedOut>) -> String {
        let found = Found::among(&facts.into_iter().collect(), hour(5), &Doubts::of(handed_out, hour(30)));
        let one = |forgotten: &Forgotten| match forgotten.finding {
            Finding::NeverTried => "never ",
            Finding::PerhapsTried => "perhaps ",
        };
        let findings: String = found.forgotten.iter().map(one).collect();
        findings + &"-".repeat(found.undecided)
    }

    fn by_the_stream(span: FactSpan) -> Vec<HandedOut> {
        vec![HandedOut { span, by: By::Stream }]
    }

    fn by_a_run(event: &str, since: i64) -> Vec<HandedOut> {
        let run = Run { id: WorkerId::from("r".to_owned()), event_id: event.parse().unwrap(), since: hour(since) };
        vec![HandedOut { span: span(0, 4), by: By::Run(run) }]
    }

    #[test]
    fn what_nobody_has_handed_out_was_never_tried() {
        assert_eq!(findings([stamp("001", 1, waiting())], vec![]), "never ");
        assert_eq!(findings([stamp("001", 1, waiting())], by_the_stream(span(2, 9))), "never ");
    }

    #[test]
    fn what_was_handed_out_and_not_finished_may_have_been_accepted() {
        for edge in [1, 2, 3] {
            assert_eq!(findings([stamp("001", edge, waiting())], by_the_stream(span(1, 3))), "perhaps ");
        }
    }

    #[test]
    fn what_was_tried_without_a_clear_answer_may_have_been_accepted() {
        let tried = NoticeStatus::Waiting { tried_at: Some(hour(29)) };
        assert_eq!(findings([stamp("001", 1, tried)], vec![]), "perhaps ");
    }

    #[test]
    fn what_is_marked_or_parked_is_not_forgotten_and_what_is_young_is_left() {
        let held = Parked { state: ParkedState::Held, since: hour(2), reason: None, tried_at: None, error: None };
        let facts = [
            stamp("001", 1, sent(1)),
            stamp("002", 1, NoticeStatus::Parked(held)),
            stamp("003", 6, waiting()),
            stamp("004", 5, waiting()),
        ];
        assert_eq!(findings(facts, vec![]), "never ", "only the fourth");
    }

    #[test]
    fn what_a_run_of_this_event_had_under_way_is_in_doubt_when_line_has_forgotten_the_keys() {
        assert_eq!(findings([stamp("001", 1, waiting())], by_a_run("rally", 8)), "never ");
        assert_eq!(findings([stamp("001", 1, waiting())], by_a_run("rally", 6)), "perhaps ");
        assert_eq!(findings([stamp("001", 1, waiting())], by_a_run("another", 6)), "never ");
    }

    #[test]
    fn a_completed_card_may_be_written_long_after_its_last_stamp_so_it_is_left_while_it_may_just_be_worked_on() {
        let stamps = |first, second| [stamp("001", 1, first), stamp("002", 2, second), completed(2)];
        assert_eq!(findings(stamps(sent(1), sent(2)), vec![]), "never ");
        assert_eq!(findings(stamps(sent(1), sent(2)), by_the_stream(span(2, 2))), "perhaps ");
        assert_eq!(findings(stamps(sent(1), sent(29)), by_the_stream(span(2, 2))), "-", "written an hour ago at most");
        assert_eq!(findings(stamps(waiting(), sent(2)), by_the_stream(span(2, 2))), "never -");
    }
}

//! What becomes of a notice, by facts, times and failures.

use super::*;
use crate::consumer::LeaseStatus;
use crate::domain::{
    event::EventChange,
    fact::{Completed, Resend},
    notice::NoticeId,
};

const HOUR: i64 = 3_600_000;

/// So many hours after the event began; it ends at hour 100.
fn hour(hours: i64) -> Timestamp {
    "2026-05-23T10:00:00.000Z".parse::<Timestamp>().unwrap().plus_millis(hours * HOUR)
}

fn rally() -> Rally {
    let change = EventChange {
        name: Some("Rally".to_owned().try_into().unwrap()),
        starts_at: Some(hour(0)),
        ends_at: Some(hour(100)),
        channel: Some("main".parse().unwrap()),
        ..EventChange::default()
    };
    Rally { event: change.create("rally".parse().unwrap(), hour(0)).unwrap(), masters: StampMasters::default() }
}

fn pending(key: NoticeKey, path: Path) -> PendingNotice {
    let notice = NoticeId {
        event_id: "rally".parse().unwrap(),
        line_user_id: "U0123456789abcdef0123456789abcdef".parse().unwrap(),
        key,
    };
    PendingNotice { notice, request_id: None, since: hour(1), maybe_sent: false, path, lease: LeaseStatus::unlimited() }
}

fn of_stamp(path: Path) -> PendingNotice {
    pending(NoticeKey::Stamp("001".parse().unwrap()), path)
}

fn of_resend(path: Path) -> PendingNotice {
    pending(NoticeKey::Resend { stamp_id: "001".parse().unwrap(), number: 1 }, path)
}

fn stamp(id: &str, notice: NoticeStatus) -> UserStamp {
    let NoticeId { event_id, line_user_id, .. } = of_stamp(Path::Ordinary).notice;
    let request_id = Some("request-1".parse().unwrap());
    UserStamp {
        proof: None,
        event_id,
        line_user_id,
        stamp_id: id.parse().unwrap(),
        acquired_at: hour(1),
        request_id,
        notice,
    }
}

fn waiting() -> NoticeStatus {
    NoticeStatus::Pending { maybe_sent_at: None }
}

fn held() -> NoticeStatus {
    let (state, since) = (ParkedState::Held, hour(2));
    let reason = Some("monthly_limit".to_owned());
    NoticeStatus::Parked(Parked { state, since, reason, maybe_sent_at: None, error: None })
}

fn facts(stamps: Vec<UserStamp>) -> Facts {
    Facts { stamps, ..Facts::default() }
}

fn word(instead: Instead) -> String {
    match instead {
        Instead::Next(Next::Again(wait)) => format!("again after {}", wait.as_secs()),
        Instead::Next(Next::Done(outcome)) => outcome.as_str().to_owned(),
        Instead::Hold(reason) => format!("held {}", reason.as_str()),
        Instead::Park(parked) => format!("{} {}", parked.state, parked.reason.unwrap_or_default()),
        Instead::Store(error) => error.to_string(),
    }
}

/// What is to be done at that hour, in a word.
fn decided(pending: &PendingNotice, facts: &Facts, at: i64) -> String {
    let mut attempt = Attempt::at(pending);
    attempt.begin();
    let decided =
        attempt.about(facts, hour(at)).and_then(|about| attempt.check(&about, &rally(), hour(at)).map(|()| about));
    decided.map_or_else(word, |_| "push".to_owned())
}

#[test]
fn a_notice_that_waits_is_pushed_and_a_sent_or_missing_one_is_not() {
    let ordinary = of_stamp(Path::Ordinary);
    let sent = NoticeStatus::Sent { at: Some(hour(2)), request_id: None };
    assert_eq!(decided(&ordinary, &facts(vec![stamp("001", waiting())]), 2), "push");
    assert_eq!(decided(&ordinary, &facts(vec![stamp("001", sent)]), 2), "already_sent");
    assert_eq!(decided(&ordinary, &facts(vec![]), 2), "passed_over");
    assert_eq!(decided(&ordinary, &facts(vec![stamp("001", NoticeStatus::None)]), 2), "passed_over");
}

#[test]
fn a_held_notice_is_pushed_by_the_drain_alone() {
    let facts = facts(vec![stamp("001", held())]);
    assert_eq!(decided(&of_stamp(Path::Held), &facts, 2), "push");
    assert_eq!(decided(&of_stamp(Path::Ordinary), &facts, 2), "held");
    let waits = Facts { stamps: vec![stamp("001", waiting())], ..facts };
    assert_eq!(decided(&of_stamp(Path::Held), &waits, 2), "passed_over");
}

#[test]
fn facts_that_can_not_be_read_hold_the_notice() {
    let unreadable = vec![crate::domain::fact::FactKey::User];
    let facts = Facts { unreadable, ..facts(vec![stamp("001", waiting())]) };
    assert_eq!(decided(&of_stamp(Path::Ordinary), &facts, 2), "held unreadable");
}

#[test]
fn a_notice_that_may_have_been_sent_is_unknown_when_line_has_forgotten_its_key() {
    let noted = |at| facts(vec![stamp("001", NoticeStatus::Pending { maybe_sent_at: Some(hour(at)) })]);
    let ordinary = of_stamp(Path::Ordinary);
    assert_eq!(decided(&ordinary, &noted(1), 24), "push", "23 hours are not over");
    assert_eq!(decided(&ordinary, &noted(1), 25), "unknown retry_key_expired");
    assert_eq!(decided(&ordinary, &noted(20), 25), "unknown retry_key_uncertain");
    assert_eq!(decided(&ordinary, &facts(vec![stamp("001", waiting())]), 25), "push", "certainly never sent");
    let maybe_sent = PendingNotice { maybe_sent: true, ..ordinary };
    assert_eq!(decided(&maybe_sent, &facts(vec![stamp("001", waiting())]), 25), "unknown retry_key_expired");
}

#[test]
fn a_held_notice_expires_when_its_event_ends_unless_it_may_have_been_sent() {
    let facts_at = |maybe_sent_at| match held() {
        NoticeStatus::Parked(parked) => {
            facts(vec![stamp("001", NoticeStatus::Parked(Parked { maybe_sent_at, ..parked }))])
        }
        other => panic!("{other:?}"),
    };
    let late = PendingNotice { since: hour(99), ..of_stamp(Path::Held) };
    assert_eq!(decided(&late, &facts_at(None), 99), "push");
    assert_eq!(decided(&late, &facts_at(None), 100), "expired event_ended");
    assert_eq!(decided(&late, &facts_at(Some(hour(99))), 100), "unknown event_ended");
    let ordinary = PendingNotice { since: hour(99), ..of_stamp(Path::Ordinary) };
    assert_eq!(decided(&ordinary, &facts(vec![stamp("001", waiting())]), 101), "push", "it was never parked");
}

#[test]
fn a_resend_that_was_asked_for_after_the_end_does_not_expire() {
    let NoticeId { event_id, line_user_id, .. } = of_resend(Path::Held).notice;
    let resend = Resend {
        event_id,
        line_user_id,
        stamp_id: "001".parse().unwrap(),
        number: 1,
        requested_by: "office".to_owned(),
        requested_at: hour(101),
        notice: held(),
    };
    let facts = Facts { resends: vec![resend], ..facts(vec![stamp("001", held())]) };
    let asked = |hours| PendingNotice { since: hour(hours), ..of_resend(Path::Held) };
    assert_eq!(decided(&asked(99), &facts, 102), "expired event_ended");
    assert_eq!(decided(&asked(101), &facts, 102), "push");
}

#[test]
fn a_notice_waits_behind_a_held_one_but_a_resend_not_behind_the_one_it_repeats() {
    let behind = facts(vec![stamp("001", waiting()), stamp("002", held())]);
    assert_eq!(decided(&of_stamp(Path::Ordinary), &behind, 2), "held earlier_held");
    let NoticeId { event_id, line_user_id, .. } = of_resend(Path::Ordinary).notice;
    let stamp_id = "001".parse().unwrap();
    let (requested_by, requested_at, notice) = ("office".to_owned(), hour(2), waiting());
    let resend = Resend { event_id, line_user_id, stamp_id, number: 1, requested_by, requested_at, notice };
    let repeats = Facts { resends: vec![resend], ..facts(vec![stamp("001", held())]) };
    assert_eq!(decided(&of_resend(Path::Ordinary), &repeats, 2), "push");
}

#[test]
fn the_message_of_a_full_card_waits_for_a_stamp_that_only_reconcile_sends() {
    let UserStamp { event_id, line_user_id, stamp_id: by_stamp_id, .. } = stamp("001", waiting());
    let completed = Completed { event_id, line_user_id, completed_at: hour(1), by_stamp_id, notice: waiting() };
    let full = |notice| Facts { completed: Some(completed.clone()), ..facts(vec![stamp("001", notice)]) };
    let card = pending(NoticeKey::Completed, Path::Ordinary);
    assert_eq!(decided(&card, &full(waiting()), 2), "push", "the stamp's record comes first anyway");
    assert_eq!(decided(&card, &full(waiting()), 30), "again after 0", "the stream has forgotten it");
    let maybe_sent = NoticeStatus::Pending { maybe_sent_at: Some(hour(2)) };
    assert_eq!(decided(&card, &full(maybe_sent), 2), "again after 0");
}

#[test]
fn a_push_that_is_asked_to_wait_waits_until_its_path_allows_no_more() {
    let ordinary = of_stamp(Path::Ordinary);
    let mut attempt = Attempt::at(&ordinary);
    assert!(attempt.check_wait(Duration::ZERO).is_ok());
    assert_eq!(attempt.check_wait(Duration::from_secs(5)).map_err(word), Err("again after 5".to_owned()));
    attempt.is_overdue = true;
    assert_eq!(attempt.check_wait(Duration::from_secs(5)).map_err(word), Err("held line_unavailable".to_owned()));
}

#[test]
fn a_failed_attempt_is_repeated_held_or_unknown() {
    let ordinary = of_stamp(Path::Ordinary);
    let mut attempt = Attempt::at(&ordinary);
    attempt.begin();
    let (wait, paused) = (Duration::from_secs(2), Some(PauseReason::MonthlyLimit));
    assert_eq!(word(attempt.after_failure(wait, None, hour(2))), "again after 2");
    assert_eq!(word(attempt.after_failure(wait, paused, hour(2))), "held line_unavailable");
    assert_eq!(word(attempt.after_failure(wait, None, hour(25))), "held line_unavailable", "certainly not accepted");
    attempt.ended_ambiguously(hour(2));
    assert_eq!(word(attempt.after_failure(wait, None, hour(3))), "again after 2");
    assert_eq!(word(attempt.after_failure(wait, None, hour(26))), "unknown retry_key_expired");
    attempt.is_overdue = true;
    assert_eq!(word(attempt.after_failure(wait, None, hour(3))), "held line_unavailable");
}

#[test]
fn the_first_ambiguous_attempt_counts_and_what_the_item_says_comes_before_it() {
    let ordinary = of_stamp(Path::Ordinary);
    let mut attempt = Attempt::at(&ordinary);
    attempt.ended_ambiguously(hour(2));
    attempt.begin();
    attempt.ended_ambiguously(hour(3));
    assert_eq!((attempt.maybe_sent_at, attempt.ambiguous_at), (Some(hour(2)), Some(hour(2))));
    let mut noted = Attempt::at(&ordinary);
    let facts = facts(vec![stamp("001", NoticeStatus::Pending { maybe_sent_at: Some(hour(1)) })]);
    assert!(noted.about(&facts, hour(3)).is_ok());
    noted.ended_ambiguously(hour(3));
    assert_eq!((noted.maybe_sent_at, noted.is_noted), (Some(hour(1)), true));
}

#[test]
fn a_notice_that_is_held_says_that_it_may_have_been_sent_before() {
    let ordinary = PendingNotice { maybe_sent: true, ..of_stamp(Path::Ordinary) };
    let parked = Attempt::at(&ordinary).held(PauseReason::MonthlyLimit, hour(2));
    assert_eq!((parked.maybe_sent_at, parked.reason.as_deref()), (Some(hour(1)), Some("monthly_limit")));
    let parked = Attempt::at(&ordinary).failed(400, "no".to_owned(), hour(2));
    assert_eq!((parked.maybe_sent_at, parked.state), (None, ParkedState::Failed));
}

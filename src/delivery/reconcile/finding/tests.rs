//! What is found of one participant, by times, notes and attempts.

use super::*;
use crate::delivery::reconcile::horizon::Readers;
use crate::domain::{
    fact::{Completed, UserStamp},
    notice::{Parked, ParkedState},
};
use crate::store::{
    progress::{FactSpan, Run, WorkerId},
    table::TableStream,
};

/// So many hours after ten o'clock.
fn hour(hours: i64) -> Timestamp {
    "2026-05-23T10:00:00.000Z".parse::<Timestamp>().unwrap().plus_millis(hours * 3_600_000)
}

fn span(from: i64, through: i64) -> FactSpan {
    FactSpan { from: hour(from), through: hour(through) }
}

fn stamp(id: &str, at: i64, notice: NoticeStatus) -> Fact {
    Fact::UserStamp(UserStamp {
        proof: None,
        event_id: "rally".parse().unwrap(),
        line_user_id: "U0123456789abcdef0123456789abcdef".parse().unwrap(),
        stamp_id: id.parse().unwrap(),
        acquired_at: hour(at),
        request_id: Some("r-1".parse().unwrap()),
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
    NoticeStatus::Pending { maybe_sent_at: None }
}

fn sent(at: i64) -> NoticeStatus {
    NoticeStatus::Sent { at: Some(hour(at)), request_id: None }
}

/// The findings at hour 30, when everything up to hour 5 (and three quarters) is forgotten; `-` = undecided.
fn findings(facts: impl IntoIterator<Item = Fact>, handed_out: Vec<HandedOut>) -> String {
    found(facts, handed_out, 0, Migrated::MaybeSent)
}

/// The same with a stream that began in an hour.
fn found(facts: impl IntoIterator<Item = Fact>, handed_out: Vec<HandedOut>, began: i64, migrated: Migrated) -> String {
    let stream = TableStream { arn: "arn".to_owned(), began: Some(hour(began)) };
    let horizon = Horizon::of(Some(&stream), Readers::Workers, hour(30));
    let grounds = Grounds { horizon, maybe_sent: MaybeSent::of(handed_out, hour(30)), migrated };
    let found = grounds.find_among(&facts.into_iter().collect());
    let one = |forgotten: &Forgotten| match forgotten.finding {
        Finding::AheadOfStream => "ahead ",
        Finding::OfFormerProgram => "former ",
        Finding::NeverSent => "never ",
        Finding::MaybeSent => "perhaps ",
    };
    let findings: String = found.forgotten.iter().map(one).collect();
    let left = found.left.map(|left| format!("left {} until {}..{} ", left.notices, left.first, left.last));
    findings + &left.unwrap_or_default() + &"-".repeat(found.undecided)
}

fn by_the_stream(span: FactSpan) -> Vec<HandedOut> {
    vec![HandedOut { span, by: By::Stream }]
}

fn by_a_run(event: &str, since: i64) -> Vec<HandedOut> {
    let run = Run { id: WorkerId::from("r".to_owned()), event_id: event.parse().unwrap(), since: hour(since) };
    vec![HandedOut { span: span(0, 4), by: By::Run(run) }]
}

#[test]
fn what_was_not_handed_out_was_never_sent() {
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
fn what_was_attempted_without_a_clear_answer_is_maybe_sent() {
    let tried = NoticeStatus::Pending { maybe_sent_at: Some(hour(29)) };
    assert_eq!(findings([stamp("001", 1, tried)], vec![]), "perhaps ");
}

#[test]
fn what_is_marked_or_parked_is_not_forgotten_and_what_is_young_is_left() {
    let held = Parked { state: ParkedState::Held, since: hour(2), reason: None, maybe_sent_at: None, error: None };
    let facts = [
        stamp("001", 1, sent(1)),
        stamp("002", 1, NoticeStatus::Parked(held)),
        stamp("003", 6, waiting()),
        stamp("004", 5, waiting()),
    ];
    let (gone_at, left) = (hour(30).plus_millis(15 * 60_000), "left 1 until");
    assert_eq!(findings(facts, vec![]), format!("never {left} {gone_at}..{gone_at} "), "only the fourth");
}

#[test]
fn what_happened_before_the_stream_began_is_taken_at_once_and_what_came_after_is_left() {
    let facts = [stamp("001", 9, waiting()), stamp("002", 10, waiting()), stamp("003", 12, waiting())];
    let times = [34, 36].map(|hours| hour(hours).plus_millis(15 * 60_000));
    let left = format!("left 2 until {}..{} ", times[0], times[1]);
    assert_eq!(found(facts.clone(), vec![], 10, Migrated::MaybeSent), format!("ahead {left}"));
    let tried = found(facts, by_the_stream(span(9, 12)), 10, Migrated::MaybeSent);
    assert_eq!(tried, format!("ahead {left}"), "LINE remembers the key");
}

#[test]
fn a_stamp_that_names_no_request_is_another_programs_and_may_be_sent() {
    let Fact::UserStamp(stamp) = stamp("001", 1, waiting()) else { unreachable!() };
    let theirs = |at| Fact::UserStamp(UserStamp { request_id: None, acquired_at: hour(at), ..stamp.clone() });
    assert_eq!(findings([theirs(1)], vec![]), "former ");
    assert_eq!(found([theirs(1)], vec![], 0, Migrated::Unsent), "never ");
    assert_eq!(found([theirs(9)], vec![], 10, Migrated::MaybeSent), "former ", "before the stream was turned on");
    assert_eq!(found([theirs(9)], vec![], 10, Migrated::Unsent), "ahead ");
    assert!(findings([theirs(9)], vec![]).starts_with("left 1 "), "it is in our stream");
}

#[test]
fn what_a_run_of_this_event_had_under_way_is_maybe_sent_when_line_has_forgotten_the_keys() {
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

use super::*;

#[test]
fn a_claim_within_the_window_is_a_stamp_with_a_pending_notice_and_without_a_proof() {
    let wanted = Story::of(ClaimRules::default()).acquires(&claim());
    let UserStamp { acquired_at, request_id, notice, proof, .. } = wanted.stamp;
    assert_eq!((acquired_at, request_id), (at(NOON), Some(claim().request_id)));
    assert_eq!((notice, proof), (NoticeStatus::Pending { maybe_sent_at: None }, None));
    assert_eq!((wanted.registration, wanted.pace), (Registration::IfNeeded, PaceGuard::Free));
}

#[test]
fn a_stamp_that_never_notifies_calls_for_no_notice() {
    let mut story = Story::of(ClaimRules::default());
    story.masters[0].notify = Notify::Never;
    assert_eq!(story.acquires(&claim()).stamp.notice, NoticeStatus::None);
}

#[test]
fn a_claim_before_the_start_is_refused_as_event_not_started() {
    let story = Story::of(ClaimRules::default()).at(at(START).plus_millis(-1));
    assert_eq!(story.refuses(&claim()), Refusal::EventNotStarted);
    story.at(at(START)).acquires(&claim());
}

#[test]
fn a_claim_at_the_end_is_refused_as_event_ended() {
    let story = Story::of(ClaimRules::default()).at(at(END));
    assert_eq!(story.refuses(&claim()), Refusal::EventEnded);
    story.at(at(END).plus_millis(-1)).acquires(&claim());
}

#[test]
fn a_claim_for_an_inactive_stamp_is_refused_as_stamp_inactive() {
    let mut story = Story::of(ClaimRules::default());
    story.masters[0].is_active = false;
    assert_eq!(story.refuses(&claim()), Refusal::StampInactive);
}

#[test]
fn the_window_comes_before_the_activity_and_the_activity_before_the_stamps_own_window() {
    let available = Availability { from: None, until: Some(at(NOON)) };
    let schedule = Schedule { available, ..Schedule::default() };
    let mut story = Story::of(ClaimRules { schedule, ..ClaimRules::default() });
    story.masters[0].is_active = false;
    assert_eq!(story.refuses(&claim()), Refusal::StampInactive);
    assert_eq!(story.at(at(END)).refuses(&claim()), Refusal::EventEnded);
}

#[test]
fn a_closed_stamp_says_when_it_opens() {
    let hours = serde_json::from_str(r#"[{"from": "13:00", "until": "14:00"}]"#).unwrap();
    let closed = |schedule| Story::of(ClaimRules { schedule, ..ClaimRules::default() }).refuses(&claim());
    let available = |from, until| Schedule { available: Availability { from, until }, ..Schedule::default() };
    let (later, now) = (at(NOON).plus_millis(1), at(NOON));
    assert_eq!(closed(available(Some(later), None)), Refusal::StampClosed(Closed::NotYet(later)));
    assert_eq!(closed(available(None, Some(now))), Refusal::StampClosed(Closed::Over));
    let at_one = at("2026-05-23T13:00:00+09:00");
    let schedule = Schedule { hours, ..Schedule::default() };
    let refusal = closed(schedule);
    assert_eq!(refusal, Refusal::StampClosed(Closed::Hours(Some(at_one))));
    assert_eq!(serde_json::Value::from(refusal.members())["opensAt"], "2026-05-23T04:00:00.000Z");
}

#[test]
fn a_registration_is_taken_before_the_start_and_refused_from_the_end_on() {
    let register = |now| register(&event(), hanako(), claim().request_id, at(now));
    let user: User = register("2026-05-01T00:00:00.000Z").unwrap();
    assert_eq!((user.created_at, user.event_id), (at("2026-05-01T00:00:00.000Z"), event().event_id));
    assert!(register("2026-05-23T07:59:59.999Z").is_ok());
    assert_eq!(register(END), Err(Refusal::EventEnded));
}

use super::*;

fn minutes_ago(minutes: u64, evidence: Evidence) -> Claim {
    bringing(Evidence { age: Some(Duration::from_mins(minutes)), ..evidence })
}

fn late_by_ten_minutes() -> Story {
    let mut story = Story::of(ClaimRules::default()).at(at(END).plus_millis(300_000));
    story.event.limits.late_minutes = Some(10.try_into().unwrap());
    story
}

#[test]
fn a_claim_that_arrives_late_is_judged_when_its_proof_was_taken_and_registers_nobody() {
    let story = late_by_ten_minutes();
    let wanted = story.acquires(&minutes_ago(6, Evidence::default()));
    let proof = wanted.stamp.proof.unwrap();
    assert_eq!((proof.late, proof.captured_at), (true, Some(at(END).plus_millis(-60_000))));
    assert_eq!((wanted.stamp.acquired_at, wanted.registration), (story.now, Registration::Required));
}

#[test]
fn it_is_refused_beyond_the_events_minutes_and_where_it_was_taken_outside_too() {
    let refuses = |minutes| late_by_ten_minutes().refuses(&minutes_ago(minutes, Evidence::default()));
    assert_eq!(refuses(11), Refusal::EventEnded);
    assert_eq!(refuses(5), Refusal::EventEnded, "taken at the end, which isn't within the window");
    assert_eq!(late_by_ten_minutes().refuses(&claim()), Refusal::EventEnded);
    late_by_ten_minutes().acquires(&minutes_ago(10, Evidence::default()));
    let mut never = late_by_ten_minutes();
    never.event.limits.late_minutes = None;
    assert_eq!(never.refuses(&minutes_ago(6, Evidence::default())), Refusal::EventEnded);
}

#[test]
fn a_place_and_a_screens_code_are_never_late() {
    let taken = at(END).plus_millis(-60_000);
    for evidence in [fix(0.0, 5.0), code(&shown("001", taken)), code("nonsense")] {
        assert_eq!(late_by_ten_minutes().refuses(&minutes_ago(6, evidence)), Refusal::EventEnded);
    }
    let mut story = late_by_ten_minutes();
    story.masters[0].rules.proofs = proofs(&[&[QrStatic]]);
    story.acquires(&minutes_ago(6, code(&printed("001", 1))));
}

#[test]
fn no_age_makes_an_inactive_stamp_active() {
    let mut story = late_by_ten_minutes();
    story.masters[0].is_active = false;
    assert_eq!(story.refuses(&minutes_ago(6, Evidence::default())), Refusal::StampInactive);
}

#[test]
fn a_beacon_is_judged_by_lines_time() {
    let mut story = Story::taking(&[&[Beacon]]).at(at(END).plus_millis(3_600_000));
    let hwid = "0123456789".parse().unwrap();
    let seen = |at| {
        bringing(Evidence {
            report: Some(Report::Beacon { hwid: "0123456789".parse().unwrap(), at }),
            ..Evidence::default()
        })
    };
    let proof = story.acquires(&seen(at(END).plus_millis(-1))).stamp.proof.unwrap();
    assert_eq!((proof.kinds, proof.trust, proof.hwid, proof.late), (vec![Beacon], 1, Some(hwid), true));
    assert_eq!(story.refuses(&seen(at(END))), Refusal::EventEnded);
    story.now = at(NOON);
    assert!(!story.acquires(&seen(at(NOON))).stamp.proof.unwrap().late);
}

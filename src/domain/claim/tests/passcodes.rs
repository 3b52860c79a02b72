use super::*;

fn guarded(tries: u32) -> Story {
    let mut story = Story::taking(&[&[PasscodeKind]]);
    story.tries = Some(tries);
    story
}

#[test]
fn a_try_is_counted_before_it_is_judged() {
    let mut story = guarded(1);
    story.tries = None;
    assert_eq!(story.asks(&bringing(passcode("himitsu"))), Question::Try);
    let proof = guarded(5).acquires(&bringing(passcode(" HIMITSU "))).stamp.proof.unwrap();
    assert_eq!((proof.kinds, proof.trust), (vec![PasscodeKind], 1));
}

#[test]
fn a_wrong_one_says_how_many_are_left_and_the_sixth_isnt_judged() {
    assert_eq!(guarded(2).rejects(&bringing(passcode("x"))), Rejection::PasscodeWrong { tries_left: 3 });
    assert_eq!(guarded(5).rejects(&bringing(passcode("x"))), Rejection::PasscodeWrong { tries_left: 0 });
    let waits = guarded(6).at(at(NOON).plus_millis(599_999)).refuses(&bringing(passcode("himitsu")));
    assert_eq!(waits, Refusal::TooManyTries { retry_after: Duration::from_millis(1) });
    let whole = guarded(6).refuses(&bringing(passcode("himitsu")));
    assert_eq!(serde_json::Value::from(whole.members())["retryAfterSeconds"], 600);
}

#[test]
fn it_is_judged_after_everything_else() {
    let mut story = Story::taking(&[&[PasscodeKind, Location]]);
    let far = Evidence { fix: fix(9_000.0, 5.0).fix, ..passcode("himitsu") };
    assert!(matches!(story.rejects(&bringing(far)), Rejection::TooFar(_)), "no try is spent");
    story.masters[0].rules.after = After::try_from(vec!["002".parse().unwrap()]).unwrap();
    let near = Evidence { fix: fix(0.0, 5.0).fix, ..passcode("wrong") };
    assert_eq!(story.asks(&bringing(near.clone())), Question::Facts);
    assert!(matches!(story.with(Vec::new()).refuses(&bringing(near)), Refusal::Prerequisite { .. }));
}

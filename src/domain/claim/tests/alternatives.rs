use super::*;

#[test]
fn the_first_that_holds_counts_and_those_with_a_passcode_come_last() {
    let story = Story::taking(&[&[PasscodeKind], &[QrStatic, Location], &[QrStatic]]);
    let all = Evidence { fix: fix(0.0, 5.0).fix, passcode: passcode("x").passcode, ..code(&printed("001", 1)) };
    let proof = story.acquires(&bringing(all.clone())).stamp.proof.unwrap();
    assert_eq!((proof.kinds, proof.trust), (vec![QrStatic, Location], 2));
    let far = Evidence { fix: fix(9_000.0, 5.0).fix, ..all };
    assert_eq!(story.acquires(&bringing(far)).stamp.proof.unwrap().kinds, [QrStatic]);
}

#[test]
fn a_judged_passcode_gives_the_reason_else_the_first_brought_whole() {
    let mut story = Story::taking(&[&[Location], &[QrStatic], &[PasscodeKind]]);
    let far = Evidence { fix: fix(9_000.0, 5.0).fix, ..code("nonsense") };
    assert!(matches!(story.rejects(&bringing(far.clone())), Rejection::TooFar(_)));
    assert_eq!(story.rejects(&bringing(code("nonsense"))), Rejection::CodeUnknown);
    story.tries = Some(1);
    let wrong = Evidence { passcode: passcode("x").passcode, ..far };
    assert_eq!(story.rejects(&bringing(wrong)), Rejection::PasscodeWrong { tries_left: 4 });
}

#[test]
fn a_grant_of_staff_counts_where_staff_is_taken_and_nowhere_else() {
    let granted = bringing(Evidence { report: Some(Report::Staff(Witness::admin("office"))), ..Evidence::default() });
    let proof = Story::taking(&[&[QrStatic], &[Staff]]).acquires(&granted).stamp.proof.unwrap();
    assert_eq!((proof.kinds, proof.trust), (vec![Staff], 3));
    assert_eq!(proof.staff.unwrap().as_str(), "admin:office");
    assert_eq!(Story::taking(&[&[QrStatic]]).rejects(&granted), Rejection::KindNotTaken);
    let open = Story::taking(&[&[Open]]).acquires(&granted).stamp.proof.unwrap();
    assert_eq!((open.kinds, open.trust), (vec![Open], 0));
}

use super::*;

#[test]
fn a_printed_code_acquires_its_stamp_and_no_other() {
    let story = Story::taking(&[&[QrStatic]]);
    let proof = story.acquires(&bringing(code(&printed("001", 1)))).stamp.proof.unwrap();
    let expected = AcceptedProof {
        kinds: vec![QrStatic],
        trust: 1,
        generation: Some(Generation::FIRST),
        ..AcceptedProof::default()
    };
    assert_eq!(proof, expected);
    let other = story.rejects(&bringing(code(&printed("002", 1))));
    assert_eq!(other, Rejection::CodeOtherStamp("002".parse().unwrap()));
    assert_eq!(story.refuses(&claim()), Refusal::ProofRequired { proofs: proofs(&[&[QrStatic]]) });
}

#[test]
fn what_is_no_code_of_the_event_is_unknown_whatever_it_is() {
    let story = Story::taking(&[&[QrStatic], &[QrRotating]]);
    for text in ["", "🗼", "https://liff.line.me/1-a/s/x", &printed("003", 1), &printed("001", 1)[..20]] {
        assert_eq!(story.rejects(&bringing(code(text))), Rejection::CodeUnknown, "{text}");
    }
}

#[test]
fn a_screens_code_is_no_printed_one() {
    let story = Story::taking(&[&[QrStatic]]);
    let refusal = story.refuses(&bringing(code(&shown("001", at(NOON)))));
    assert_eq!(refusal, Refusal::ProofRequired { proofs: proofs(&[&[QrStatic]]) });
}

#[test]
fn a_screens_code_is_good_a_step_longer_and_two_seconds_early() {
    let story = |millis: i64| Story::taking(&[&[QrRotating]]).at(at(NOON).plus_millis(millis));
    let scanned = bringing(code(&shown("001", at(NOON))));
    assert_eq!(story(-2_001).rejects(&scanned), Rejection::CodeEarly);
    let proof = story(-2_000).acquires(&scanned).stamp.proof.unwrap();
    assert_eq!((proof.trust, proof.step), (2, Some(Step::of(at(NOON), 30))));
    story(59_999).acquires(&scanned);
    assert_eq!(story(60_000).rejects(&scanned), Rejection::CodeExpired);
}

#[test]
fn a_revoked_generation_is_refused_and_a_newer_one_is_asked_for() {
    let mut story = Story::taking(&[&[QrStatic]]);
    let second = bringing(code(&printed("001", 2)));
    assert_eq!(story.asks(&second), Question::NewestMaster);
    story.has_newest_master = true;
    assert_eq!(story.rejects(&second), Rejection::CodeUnknown);
    let mut codes = Generations::default();
    codes.rotate(crate::domain::proof::CodeKind::QrStatic, "office", at(NOON));
    codes.revoke((crate::domain::proof::CodeKind::QrStatic, Generation::FIRST), "office", at(NOON));
    story.masters[0].rules.codes = codes;
    story.acquires(&second);
    assert_eq!(story.rejects(&bringing(code(&printed("001", 1)))), Rejection::CodeRevoked);
}

#[test]
fn without_a_key_a_code_is_our_trouble_and_never_a_free_stamp() {
    let mut story = Story::taking(&[&[QrStatic], &[Staff]]);
    story.keys = ProofKeys::default();
    assert!(matches!(story.decide(&bringing(code(&printed("001", 1)))), Decision::NoKeys(_)));
    let granted = Evidence { report: Some(Report::Staff(Witness::staff("s1"))), ..Evidence::default() };
    story.acquires(&bringing(granted));
}

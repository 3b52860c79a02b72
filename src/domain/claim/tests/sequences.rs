//! Whatever is claimed in whatever order, at whatever time: no stamp twice, none without a proof, none too soon.

use proptest::prelude::*;

use super::*;
use crate::domain::proof::CodeKind;

/// What happens next.
#[derive(Debug, Clone)]
enum Step {
    /// Hanako claims one of the two stamps.
    Claim { stamp: usize, generation: i64, age: Option<u64>, wrong: bool },
    /// The server's clock goes on, or jumps back, by so many seconds.
    Clock(i64),
    /// The organiser makes the next generation of the first stamp's codes.
    Rotate,
    /// The organiser revokes one.
    Revoke(i64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0_usize..2, 1_i64..4, prop::option::of(0_u64..86_400), any::<bool>())
            .prop_map(|(stamp, generation, age, wrong)| Step::Claim { stamp, generation, age, wrong }),
        2 => (-120_i64..240).prop_map(Step::Clock),
        1 => Just(Step::Rotate),
        1 => (1_i64..4).prop_map(Step::Revoke),
    ]
}

fn rally() -> Story {
    let mut story = Story::of(ClaimRules { proofs: proofs(&[&[QrStatic]]), ..ClaimRules::default() });
    story.masters[1].rules.proofs = proofs(&[&[QrStatic]]);
    story.event.limits.min_interval_seconds = Some(60.try_into().unwrap());
    story.event.limits.late_minutes = Some(1_440.try_into().unwrap());
    story.with(Vec::new())
}

/// Decides on one claim, and records what comes of it as the table would.
fn claim_one(story: &mut Story, stamp: usize, evidence: Evidence) {
    story.masters.swap(0, stamp);
    story.has_newest_master = true;
    let decision = story.decide(&bringing(evidence));
    story.masters.swap(0, stamp);
    if let Decision::Acquire(wanted) = decision {
        let facts = story.facts.get_or_insert_default();
        assert_eq!(wanted.pace, PaceGuard::AsRead(facts.pace.clone()));
        facts.pace = Some(Pace::from(&wanted.stamp));
        facts.stamps.push(wanted.stamp);
    }
}

fn carry_out(story: &mut Story, step: &Step) {
    match *step {
        Step::Claim { stamp, generation, age, wrong } => {
            let id = ["001", "002"][if wrong { 1 - stamp } else { stamp }];
            let age = age.map(Duration::from_secs);
            claim_one(story, stamp, Evidence { age, ..code(&printed(id, generation)) });
        }
        Step::Clock(seconds) => story.now = story.now.plus_millis(seconds * 1000),
        Step::Rotate => drop(story.masters[0].rules.codes.rotate(CodeKind::QrStatic, "office", story.now)),
        Step::Revoke(generation) => {
            let revoked = (CodeKind::QrStatic, generation.try_into().unwrap());
            story.masters[0].rules.codes.revoke(revoked, "office", story.now);
        }
    }
}

proptest! {
    #[test]
    fn no_sequence_makes_a_stamp_twice_without_a_proof_or_too_soon(steps in prop::collection::vec(step(), 1..60)) {
        let mut story = rally();
        for step in &steps {
            carry_out(&mut story, step);
        }
        let stamps = story.facts.unwrap().stamps;
        prop_assert!(stamps.len() <= 2, "{stamps:?}");
        if let [first, second] = &stamps[..] {
            prop_assert_ne!(&first.stamp_id, &second.stamp_id);
            prop_assert!(second.acquired_at >= first.acquired_at.plus_millis(60_000), "{stamps:?}");
        }
        for stamp in &stamps {
            let proof = stamp.proof.as_ref().unwrap();
            prop_assert_eq!((&proof.kinds[..], proof.trust), (&[QrStatic][..], 1));
            prop_assert!(proof.generation.is_some());
        }
    }
}

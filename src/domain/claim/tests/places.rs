use super::*;

fn placed() -> Story {
    Story::taking(&[&[Location]])
}

#[test]
fn a_phone_within_radius_and_accuracy_is_near_and_its_place_is_not_kept() {
    let proof = placed().acquires(&bringing(fix(171.2, 80.0))).stamp.proof.unwrap();
    assert_eq!((proof.distance_meters, proof.accuracy_meters), (Some(Meters(180)), Some(Meters(80))));
    assert_eq!(proof.trust, 1);
    placed().acquires(&bringing(fix(149.999, 50.0)));
    assert_eq!(placed().rejects(&bringing(fix(150.01, 50.0))), Rejection::TooFar(Meters(160)));
}

#[test]
fn accuracy_comes_before_age_and_age_before_distance() {
    let claim = |meters, accuracy, seconds| {
        bringing(Evidence { age: Some(Duration::from_secs_f64(seconds)), ..fix(meters, accuracy) })
    };
    let inaccurate = Rejection::LocationInaccurate(Meters(200));
    assert_eq!(placed().rejects(&claim(9_000.0, 200.1, 90.0)), inaccurate);
    assert_eq!(placed().rejects(&claim(9_000.0, 200.0, 60.001)), Rejection::LocationStale);
    assert!(matches!(placed().rejects(&claim(9_000.0, 200.0, 60.0)), Rejection::TooFar(_)));
    placed().acquires(&claim(0.0, 200.0, 60.0));
}

#[test]
fn the_visitor_reads_how_far_it_is_in_both_languages() {
    let refusal = placed().refuses(&bringing(fix(171.2, 5.0)));
    assert!(refusal.text(Japanese).starts_with("スポットまで約180mです"));
    assert!(refusal.text(English).starts_with("You are about 180 m away"));
}

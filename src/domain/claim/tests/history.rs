use super::*;

fn interval(seconds: i64) -> ClaimLimits {
    ClaimLimits { min_interval_seconds: Some(seconds.try_into().unwrap()), ..ClaimLimits::default() }
}

#[test]
fn stamps_come_first_as_the_organiser_said_inactive_ones_excepted() {
    let after = After::try_from(vec!["002".parse().unwrap(), "003".parse().unwrap()]).unwrap();
    let mut story = Story::of(ClaimRules { after, ..ClaimRules::default() });
    story.masters.push(StampMaster { is_active: false, ..stamp("003") });
    assert_eq!(story.asks(&claim()), Question::Facts);
    let story = story.with(Vec::new());
    assert_eq!(story.refuses(&claim()), Refusal::Prerequisite { missing: vec!["002".parse().unwrap()] });
    assert_eq!(story.with(vec![held("002", at(START))]).acquires(&claim()).pace, PaceGuard::Free);
}

#[test]
fn two_stamps_are_an_interval_apart_and_no_age_shortens_it() {
    let story = |millis: i64| Story::limited(interval(60)).with(vec![held("002", at(NOON).plus_millis(-millis))]);
    let old = bringing(Evidence { age: Some(Duration::from_hours(1)), ..Evidence::default() });
    for claim in [claim(), old] {
        let refusal = story(59_999).refuses(&claim);
        assert_eq!(refusal, Refusal::Interval { retry_after: Duration::from_millis(1) });
        assert_eq!(serde_json::Value::from(refusal.members())["retryAfterSeconds"], 1);
    }
    let wanted = story(60_000).acquires(&claim());
    let read = Pace::from(&held("002", at(NOON).plus_millis(-60_000)));
    assert_eq!(wanted.pace, PaceGuard::AsRead(Some(read)));
    assert_eq!(Story::limited(interval(60)).with(Vec::new()).acquires(&claim()).pace, PaceGuard::AsRead(None));
}

#[test]
fn who_was_too_far_away_a_moment_ago_has_travelled_too_fast() {
    let limits = ClaimLimits { max_speed_kmh: Some(60.try_into().unwrap()), ..ClaimLimits::default() };
    let mut story = Story::limited(limits);
    // A degree of latitude, 111.195 km, less the two radii of 100 m: 110.995 km, at 60 km/h 6,659.7 s.
    let there: LocationSettings = serde_json::from_str(r#"{"latitude": 36, "longitude": 139}"#).unwrap();
    story.masters[0].rules.settings = here();
    story.masters[1].rules.settings.location = Some(there);
    let minutes = |minutes: i64| at(NOON).plus_millis(-60_000 * minutes);
    let story = story.with(vec![held("002", minutes(110))]);
    let refusal = story.refuses(&claim());
    assert!(
        matches!(&refusal, Refusal::Travel { retry_after } if (59..61).contains(&retry_after.as_secs())),
        "{refusal:?}"
    );
    story.with(vec![held("002", minutes(111))]).acquires(&claim());
}

#[test]
fn a_stamp_that_is_held_is_held_whatever_refuses_a_new_claim() {
    let mut story = Story::limited(interval(60)).at(at(END)).with(vec![held("001", at(END).plus_millis(-1))]);
    story.masters[0].is_active = false;
    assert!(matches!(story.decide(&claim()), Decision::Held));
}

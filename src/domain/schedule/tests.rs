use super::*;
use serde_json::json;

fn at(text: &str) -> Timestamp {
    Timestamp::parse_instant("at", text).unwrap()
}

fn hours(json: serde_json::Value) -> AllHours {
    serde_json::from_value(json).unwrap()
}

fn refused(json: serde_json::Value) -> String {
    serde_path_to_error::deserialize::<_, AllHours>(json).unwrap_err().to_string()
}

const TOKYO: TimeZone = TimeZone::TOKYO;

#[test]
fn hours_hold_their_first_minute_and_not_their_end() {
    let day = hours(json!([{"from": "10:00", "until": "17:00"}]));
    let admits = |text| day.admit(at(text), TOKYO);
    assert!(!admits("2026-05-23T09:59:59.999+09:00") && admits("2026-05-23T10:00:00.000+09:00"));
    assert!(admits("2026-05-23T16:59:59.999+09:00") && !admits("2026-05-23T17:00:00.000+09:00"));
}

#[test]
fn hours_over_midnight_belong_to_the_day_on_which_they_begin() {
    // 23 May 2026 is a Saturday.
    let night = hours(json!([{"weekdays": ["sat"], "from": "22:00", "until": "02:00"}]));
    let admits = |text| night.admit(at(text), TOKYO);
    assert!(!admits("2026-05-23T01:00:00+09:00"), "that night began on Friday");
    assert!(admits("2026-05-23T23:59:59.999+09:00") && admits("2026-05-24T00:00:00+09:00"));
    assert!(admits("2026-05-24T01:59:59.999+09:00") && !admits("2026-05-24T02:00:00+09:00"));
    assert!(!admits("2026-05-24T22:00:00+09:00"), "Sunday's night isn't named");
}

#[test]
fn a_whole_day_ends_at_24_00() {
    let sunday = hours(json!([{"weekdays": ["sun"], "from": "00:00", "until": "24:00"}]));
    assert!(sunday.admit(at("2026-05-24T00:00:00+09:00"), TOKYO));
    assert!(sunday.admit(at("2026-05-24T23:59:59.999+09:00"), TOKYO));
    assert!(!sunday.admit(at("2026-05-25T00:00:00+09:00"), TOKYO));
}

#[test]
fn the_wall_clock_counts_when_it_is_put_forward_and_back() {
    let berlin: TimeZone = "Europe/Berlin".parse().unwrap();
    let early = hours(json!([{"from": "02:30", "until": "04:00"}]));
    // 29 March 2026: 02:00 becomes 03:00, so 02:30 never comes.
    assert!(early.admit(at("2026-03-29T03:00:00+02:00"), berlin));
    assert_eq!(early.next_opening(at("2026-03-29T00:00:00+01:00"), berlin), Some(at("2026-03-29T03:00:00+02:00")));
    // 25 October 2026: 03:00 becomes 02:00, so 02:30 comes twice.
    assert!(early.admit(at("2026-10-25T02:45:00+02:00"), berlin));
    assert!(!early.admit(at("2026-10-25T02:15:00+01:00"), berlin));
    assert_eq!(early.next_opening(at("2026-10-25T02:15:00+01:00"), berlin), Some(at("2026-10-25T02:30:00+01:00")));
}

#[test]
fn the_next_opening_is_found_over_days_and_not_beyond_the_events_end() {
    let weekend = Schedule {
        hours: hours(json!([{"weekdays": ["sat"], "from": "10:00", "until": "17:00"}])),
        ..Schedule::default()
    };
    let event = |ends| Window::new(at("2026-05-01T00:00:00+09:00"), at(ends)).unwrap();
    let sunday = at("2026-05-24T12:00:00+09:00");
    let saturday = at("2026-05-30T10:00:00+09:00");
    let closed = |ends| weekend.admit(sunday, event(ends), TOKYO);
    assert_eq!(closed("2026-06-01T00:00:00+09:00"), Err(Closed::Hours(Some(saturday))));
    assert_eq!(closed("2026-05-30T10:00:00+09:00"), Err(Closed::Hours(None)));
    let same_day_next_week = weekend.hours.next_opening(at("2026-05-23T18:00:00+09:00"), TOKYO);
    assert_eq!(same_day_next_week, Some(saturday));
}

#[test]
fn the_stamps_own_window_holds_its_start_and_not_its_end() {
    let (from, until) = (at("2026-05-23T10:00:00+09:00"), at("2026-05-23T12:00:00+09:00"));
    let schedule = Schedule { available: Availability { from: Some(from), until: Some(until) }, ..Schedule::default() };
    let event = Window::new(at("2026-05-01T00:00:00+09:00"), at("2026-06-01T00:00:00+09:00")).unwrap();
    let admit = |instant: Timestamp| schedule.admit(instant, event, TOKYO);
    assert_eq!(admit(from.plus_millis(-1)), Err(Closed::NotYet(from)));
    assert_eq!((admit(from), admit(until.plus_millis(-1))), (Ok(()), Ok(())));
    assert_eq!(admit(until), Err(Closed::Over));
    let turned = Availability { from: Some(until), until: Some(from) };
    assert_eq!(turned.check().unwrap_err().to_string(), "availableUntil: must be later than availableFrom");
}

#[test]
fn hours_that_say_nothing_are_refused_with_their_path() {
    for (json, rule) in [
        (json!([]), "must have 1 to 14 hours, or be left out"),
        (json!([{"from": "10:00", "until": "10:00"}]), "[0]: until must differ from from"),
        (json!([{"from": "24:00", "until": "10:00"}]), "[0]: from must be a time of day"),
        (json!([{"from": "10:60", "until": "11:00"}]), "[0].from: must be a time of day like 09:30, up to 24:00"),
        (json!([{"from": "9:00", "until": "11:00"}]), "[0].from: must be a time of day"),
        (json!([{"from": "09:00", "until": "24:01"}]), "[0].until: must be a time of day"),
        (json!([{"weekdays": [], "from": "09:00", "until": "11:00"}]), "[0]: weekdays must name a day"),
        (json!([{"weekdays": ["Mon"], "from": "09:00", "until": "11:00"}]), "[0].weekdays[0]: unknown variant"),
    ] {
        let error = refused(json);
        assert!(error.starts_with(rule), "{error}");
    }
}

//! Claims as stories: given an event, a stamp and what Hanako brings, when she claims, then what comes of it.

mod sequences;

use std::time::Duration;

use super::*;
use crate::domain::{
    event::{ClaimLimits, EventChange},
    fact::{Facts, Pace, User, UserStamp},
    ids::{LineUserId, StampId},
    language::Language::{English, Japanese},
    notice::NoticeStatus,
    proof::{
        AcceptedProof, Circle, CodeSource, Fix, Generation, Generations, LocationSettings, Meters, Passcode, ProofKeys,
        ProofKind::{self, Beacon, Location, Open, Passcode as PasscodeKind, QrRotating, QrStatic, Staff},
        ProofSettings, Proofs, Step, Witness, contract_keys,
    },
    schedule::{Availability, Closed, Schedule},
    setting::Name,
    stamp::{After, ClaimRules, Notify, StampMaster, StampMasterChange, StampMasters, StampOrder},
};

fn at(text: &str) -> Timestamp {
    Timestamp::parse_instant("at", text).unwrap()
}

const START: &str = "2026-05-23T01:00:00.000Z";
const NOON: &str = "2026-05-23T03:00:00.000Z";
const END: &str = "2026-05-23T08:00:00.000Z";

/// One event with two stamps, and what is known when a claim is decided.
struct Story {
    event: Event,
    masters: Vec<StampMaster>,
    keys: ProofKeys,
    now: Timestamp,
    facts: Option<Facts>,
    tries: Option<u32>,
    has_newest_master: bool,
}

fn name(text: &str) -> Name {
    Name::try_from(text.to_owned()).unwrap()
}

fn event() -> Event {
    let change = EventChange {
        name: Some(name("初夏のラリー")),
        starts_at: Some(at(START)),
        ends_at: Some(at(END)),
        channel: Some("main".parse().unwrap()),
        ..EventChange::default()
    };
    change.create("stamp-rally-202606".parse().unwrap(), Timestamp::EPOCH).unwrap()
}

fn stamp(id: &str) -> StampMaster {
    let change = StampMasterChange {
        name: Some(name(id)),
        order: Some(StampOrder::try_from(1).unwrap()),
        flex_message_content: Some(serde_json::Value::Null),
        ..StampMasterChange::default()
    };
    change.create(event().event_id, id.parse().unwrap(), Timestamp::EPOCH).unwrap()
}

fn proofs(alternatives: &[&[ProofKind]]) -> Proofs {
    alternatives.iter().map(|kinds| kinds.to_vec()).collect::<Vec<_>>().try_into().unwrap()
}

fn hanako() -> LineUserId {
    "U0123456789abcdef0123456789abcdef".parse().unwrap()
}

fn claim() -> Claim {
    Claim { line_user_id: hanako(), request_id: "r-1".parse().unwrap(), evidence: Evidence::default() }
}

fn bringing(evidence: Evidence) -> Claim {
    Claim { evidence, ..claim() }
}

fn code(text: &str) -> Evidence {
    Evidence { code: Some(BroughtCode::read(text)), ..Evidence::default() }
}

fn passcode(text: &str) -> Evidence {
    Evidence { passcode: Some(Typed(text.to_owned())), ..Evidence::default() }
}

/// A phone so many metres north of the stamp.
fn fix(meters: f64, accuracy: f64) -> Evidence {
    let latitude = 35.0 + meters / 111_194.926_644_558_74;
    let fix = Fix(Circle { latitude, longitude: 139.0, radius: accuracy });
    Evidence { fix: Some(fix), ..Evidence::default() }
}

fn here() -> ProofSettings {
    let location: LocationSettings = serde_json::from_str(r#"{"latitude": 35, "longitude": 139}"#).unwrap();
    ProofSettings { location: Some(location), ..ProofSettings::default() }
}

fn held(stamp_id: &str, acquired_at: Timestamp) -> UserStamp {
    UserStamp {
        event_id: event().event_id,
        line_user_id: hanako(),
        stamp_id: stamp_id.parse().unwrap(),
        acquired_at,
        request_id: None,
        proof: None,
        notice: NoticeStatus::None,
    }
}

impl Story {
    /// A rally whose stamp 001 has these rules.
    fn of(rules: ClaimRules) -> Self {
        Self {
            event: event(),
            masters: vec![StampMaster { rules, ..stamp("001") }, stamp("002")],
            keys: contract_keys(),
            now: at(NOON),
            facts: None,
            tries: None,
            has_newest_master: false,
        }
    }

    fn taking(alternatives: &[&[ProofKind]]) -> Self {
        let hash = Passcode::try_from("himitsu".to_owned()).unwrap();
        let hash = hash.hash(&contract_keys(), &event().event_id, &"001".parse().unwrap());
        let settings = here();
        Self::of(ClaimRules { proofs: proofs(alternatives), passcode_hash: hash, settings, ..ClaimRules::default() })
    }

    fn limited(limits: ClaimLimits) -> Self {
        let mut story = Self::of(ClaimRules::default());
        story.event.limits = limits;
        story
    }

    fn at(mut self, now: Timestamp) -> Self {
        self.now = now;
        self
    }

    fn with(mut self, stamps: Vec<UserStamp>) -> Self {
        let pace = stamps.last().map(Pace::from);
        self.facts = Some(Facts { stamps, pace, ..Facts::default() });
        self
    }

    fn decide(&self, claim: &Claim) -> Decision {
        let masters: StampMasters = self.masters.clone().into();
        let case =
            Case { event: &self.event, masters: &masters, master: &self.masters[0], keys: &self.keys, now: self.now };
        let (facts, tries) = (self.facts.as_ref(), self.tries);
        claim.decide(&case, &Known { facts, tries, has_newest_master: self.has_newest_master })
    }

    #[track_caller]
    fn acquires(&self, claim: &Claim) -> Wanted {
        match self.decide(claim) {
            Decision::Acquire(wanted) => *wanted,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn refuses(&self, claim: &Claim) -> Refusal {
        match self.decide(claim) {
            Decision::Refuse(refusal) => refusal,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn rejects(&self, claim: &Claim) -> Rejection {
        match self.refuses(claim) {
            Refusal::Rejected(rejection) => rejection,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn asks(&self, claim: &Claim) -> Question {
        match self.decide(claim) {
            Decision::Ask(question) => question,
            other => panic!("{other:?}"),
        }
    }
}

fn source<T>(stamp_id: &str, make: impl FnOnce(&CodeSource<'_>) -> T) -> T {
    let (keys, event_id, stamp_id) = (contract_keys(), event().event_id, stamp_id.parse::<StampId>().unwrap());
    make(&CodeSource { keys: &keys, event_id: &event_id, stamp_id: &stamp_id })
}

fn printed(stamp_id: &str, generation: i64) -> String {
    source(stamp_id, |source| source.printed(generation.try_into().unwrap()).unwrap())
}

fn shown(stamp_id: &str, at: Timestamp) -> String {
    source(stamp_id, |source| source.shown(Generation::FIRST, Step::of(at, 30)).unwrap())
}

mod windows {
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
}

mod late {
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
}

mod codes {
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
}

mod places {
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
}

mod passcodes {
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
}

mod alternatives {
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
        let granted =
            bringing(Evidence { report: Some(Report::Staff(Witness::admin("office"))), ..Evidence::default() });
        let proof = Story::taking(&[&[QrStatic], &[Staff]]).acquires(&granted).stamp.proof.unwrap();
        assert_eq!((proof.kinds, proof.trust), (vec![Staff], 3));
        assert_eq!(proof.staff.unwrap().as_str(), "admin:office");
        assert_eq!(Story::taking(&[&[QrStatic]]).rejects(&granted), Rejection::KindNotTaken);
        let open = Story::taking(&[&[Open]]).acquires(&granted).stamp.proof.unwrap();
        assert_eq!((open.kinds, open.trust), (vec![Open], 0));
    }
}

mod history {
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
}

#[test]
fn every_refusal_says_something_in_both_languages() {
    let wait = Duration::from_secs(90);
    let minutes = Duration::from_secs(601);
    let rejections = [
        Rejection::CodeEarly,
        Rejection::CodeExpired,
        Rejection::CodeOtherStamp("001".parse().unwrap()),
        Rejection::CodeRevoked,
        Rejection::CodeUnknown,
        Rejection::KindNotTaken,
        Rejection::LocationInaccurate(Meters(200)),
        Rejection::LocationStale,
        Rejection::PasscodeWrong { tries_left: 2 },
        Rejection::TooFar(Meters(180)),
    ];
    let refusals = [
        Refusal::Interval { retry_after: wait },
        Refusal::Travel { retry_after: minutes },
        Refusal::TooManyTries { retry_after: minutes },
        Refusal::Prerequisite { missing: vec!["001".parse().unwrap()] },
        Refusal::ProofRequired { proofs: Proofs::default() },
        Refusal::StampClosed(Closed::NotYet(at(NOON))),
        Refusal::StampClosed(Closed::Over),
        Refusal::StampClosed(Closed::Hours(None)),
    ];
    for refusal in refusals.into_iter().chain(rejections.map(Refusal::Rejected)) {
        let (japanese, english) = (refusal.text(Japanese), refusal.text(English));
        assert!(japanese.chars().any(|character| character >= 'ぁ') && english.is_ascii(), "{japanese} {english}");
        assert!(Refusal::REASONS.contains(&refusal.counted_as()), "{refusal:?}");
        assert!(japanese.ends_with('。') && english.ends_with('.'), "{japanese} {english}");
    }
    let waits = Refusal::Interval { retry_after: wait };
    assert_eq!(waits.text(English), "It is too soon after your last stamp. Try again in 90 seconds.");
    assert_eq!(
        Refusal::Travel { retry_after: minutes }.text(Japanese),
        "前のスポットから離れすぎています。11分後にもう一度お試しください。"
    );
}

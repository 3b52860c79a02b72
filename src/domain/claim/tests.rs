//! Claims as stories: given an event, a stamp and what Hanako brings, when she claims, then what comes of it.

mod alternatives;
mod codes;
mod history;
mod late;
mod passcodes;
mod places;
mod sequences;
mod windows;

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

//! Events and stamp masters.

use std::collections::BTreeSet;

use super::*;
use crate::domain::{
    event::{ClaimLimits, Event, LiffId, Window},
    proof::{CodeKind, Generation, PasscodeHash, ProofKind, Proofs},
    schedule::{Availability, Schedule},
    setting::Name,
    stamp::{After, ClaimRules, Notify, StampMaster, StampOrder},
    time::TimeZone,
};

fn name(text: &str) -> Name {
    Name::try_from(text.to_owned()).unwrap()
}

fn rally() -> Event {
    Event {
        event_id: "stamp-rally-202606".parse().unwrap(),
        name: name("初夏のスタンプラリー"),
        window: Window::new(at("2026-05-23T00:00:00.000Z"), at("2026-06-30T15:00:00.000Z")).unwrap(),
        time_zone: TimeZone::TOKYO,
        channel: "main".parse().unwrap(),
        liff_id: None,
        index_shards: IndexShards::ONE,
        former_index_shards: BTreeSet::new(),
        completion_message_content: None,
        limits: ClaimLimits::default(),
        created_at: at("2026-05-01T00:00:00.000Z"),
        updated_at: at("2026-05-02T00:00:00.000Z"),
    }
}

pub(super) fn rally_json() -> Value {
    json!({
        "PK": {"S": "EVENT#stamp-rally-202606"}, "SK": {"S": "METADATA"}, "entityType": {"S": "EVENT"},
        "eventId": {"S": "stamp-rally-202606"}, "name": {"S": "初夏のスタンプラリー"},
        "startsAt": {"S": "2026-05-23T00:00:00.000Z"}, "endsAt": {"S": "2026-06-30T15:00:00.000Z"},
        "timeZone": {"S": "Asia/Tokyo"}, "channel": {"S": "main"}, "indexShards": {"N": "1"},
        "createdAt": {"S": "2026-05-01T00:00:00.000Z"}, "updatedAt": {"S": "2026-05-02T00:00:00.000Z"},
        "GSI1PK": {"S": "EVENTS"}, "GSI1SK": {"S": "2026-05-23T00:00:00.000Z#stamp-rally-202606"},
    })
}

#[test]
fn an_event_is_pinned() {
    is_pinned(Stored::Event(rally()), event(&rally()), rally_json());
    let full = Event {
        liff_id: Some(LiffId::try_from("1234567890-AbcdEfgh".to_owned()).unwrap()),
        index_shards: shards(8),
        former_index_shards: [shards(1), shards(4)].into(),
        completion_message_content: Some(json!({"type": "flex", "altText": "", "contents": {"flex": 2, "url": null}})),
        ..rally()
    };
    let json = with(
        rally_json(),
        json!({
            "liffId": {"S": "1234567890-AbcdEfgh"}, "indexShards": {"N": "8"},
            "formerIndexShards": {"L": [{"N": "1"}, {"N": "4"}]},
            "completionMessageContent": {"M": {
                "type": {"S": "flex"}, "altText": {"S": ""},
                "contents": {"M": {"flex": {"N": "2"}, "url": {"NULL": true}}},
            }},
        }),
    );
    is_pinned(Stored::Event(full.clone()), event(&full), json);
}

#[test]
fn an_event_without_zone_and_shards_has_tokyo_and_one() {
    let json = with(rally_json(), json!({"timeZone": null, "indexShards": null}));
    assert_eq!(decode(stored(json)), Ok(Stored::Event(rally())));
}

/// Else a change would carry over what it takes away.
#[test]
fn every_attribute_that_a_setting_is_written_with_is_known() {
    fn is_known<T: Setting>(written: &Item) {
        let names: BTreeSet<_> = written.keys().map(String::as_str).collect();
        assert_eq!(names, T::ATTRIBUTES.iter().copied().collect());
        assert_eq!(unknown::<T>(written), Item::new());
    }
    let full = Event {
        liff_id: Some(LiffId::try_from("1234567890-AbcdEfgh".to_owned()).unwrap()),
        former_index_shards: [shards(4)].into(),
        completion_message_content: Some(json!({})),
        ..limited_rally()
    };
    is_known::<Event>(&event(&full));
    is_known::<StampMaster>(&master(&StampMaster { updated_at: rally().updated_at, ..guarded_stamp() }));
}

/// An event with limits for claims.
fn limited_rally() -> Event {
    let limits = ClaimLimits {
        min_interval_seconds: Some(60.try_into().unwrap()),
        max_speed_kmh: Some(80.try_into().unwrap()),
        late_minutes: Some(30.try_into().unwrap()),
    };
    Event { limits, ..rally() }
}

#[test]
fn an_event_with_limits_is_pinned() {
    let json = with(
        rally_json(),
        json!({
            "minIntervalSeconds": {"N": "60"}, "maxSpeedKmh": {"N": "80"}, "lateMinutes": {"N": "30"},
        }),
    );
    is_pinned(Stored::Event(limited_rally()), event(&limited_rally()), json);
}

/// A stamp with every rule there is.
fn guarded_stamp() -> StampMaster {
    let proofs =
        vec![vec![ProofKind::QrRotating, ProofKind::Location], vec![ProofKind::Passcode], vec![ProofKind::Beacon]];
    let settings = json!({
        "qr_rotating": {"stepSeconds": 60, "toleranceSteps": 2},
        "location": {"latitude": 35.681_236, "longitude": 139.767_125, "radiusMeters": 150, "maxAccuracyMeters": 100},
        "beacon": {"hwids": ["0123456789"]},
    });
    let hours = json!([{"weekdays": ["sat", "sun"], "from": "10:00", "until": "24:00"}]);
    let hash = "40aac5eb08a187f045c8eb7e5c6313910498b01029cb8cd732a0c5e6c447a100";
    let mut rules = ClaimRules {
        proofs: Proofs::try_from(proofs).unwrap(),
        settings: serde_json::from_value(settings).unwrap(),
        passcode_hash: Some(PasscodeHash::try_from(hash.to_owned()).unwrap()),
        schedule: Schedule {
            available: Availability { from: Some(rally().created_at), until: Some(rally().updated_at) },
            hours: serde_json::from_value(hours).unwrap(),
        },
        after: After::try_from(vec!["002".parse().unwrap()]).unwrap(),
        ..ClaimRules::default()
    };
    rules.codes.rotate(CodeKind::QrRotating, "office", rally().updated_at);
    rules.codes.revoke((CodeKind::QrRotating, Generation::FIRST), "office", rally().updated_at);
    StampMaster { rules, notify: Notify::Never, ..first_stamp() }
}

#[test]
fn a_stamp_master_with_every_rule_is_pinned() {
    let json = with(
        article_master(),
        json!({
            "proofs": {"L": [
                {"L": [{"S": "qr_rotating"}, {"S": "location"}]}, {"L": [{"S": "passcode"}]}, {"L": [{"S": "beacon"}]},
            ]},
            "proofSettings": {"M": {
                "qr_rotating": {"M": {"stepSeconds": {"N": "60"}, "toleranceSteps": {"N": "2"}}},
                "location": {"M": {
                    "latitude": {"N": "35.681236"}, "longitude": {"N": "139.767125"},
                    "radiusMeters": {"N": "150"}, "maxAccuracyMeters": {"N": "100"},
                }},
                "beacon": {"M": {"hwids": {"L": [{"S": "0123456789"}]}}},
            }},
            "passcodeHash": {"S": "40aac5eb08a187f045c8eb7e5c6313910498b01029cb8cd732a0c5e6c447a100"},
            "availableFrom": {"S": "2026-05-01T00:00:00.000Z"}, "availableUntil": {"S": "2026-05-02T00:00:00.000Z"},
            "hours": {"L": [{"M": {
                "weekdays": {"L": [{"S": "sat"}, {"S": "sun"}]}, "from": {"S": "10:00"}, "until": {"S": "24:00"},
            }}]},
            "after": {"L": [{"S": "002"}]},
            "codes": {"L": [
                {"M": {
                    "kind": {"S": "qr_rotating"}, "generation": {"N": "2"},
                    "createdAt": {"S": "2026-05-02T00:00:00.000Z"}, "createdBy": {"S": "office"},
                }},
                {"M": {
                    "kind": {"S": "qr_rotating"}, "generation": {"N": "1"},
                    "revokedAt": {"S": "2026-05-02T00:00:00.000Z"}, "revokedBy": {"S": "office"},
                }},
            ]},
            "notify": {"S": "never"},
        }),
    );
    is_pinned(Stored::StampMaster(guarded_stamp()), master(&guarded_stamp()), json);
}

fn first_stamp() -> StampMaster {
    StampMaster {
        event_id: "stamp-rally-202606".parse().unwrap(),
        stamp_id: "001".parse().unwrap(),
        name: name("第1スタンプ"),
        order: StampOrder::try_from(1).unwrap(),
        is_active: true,
        flex_message_content: json!({
            "type": "flex",
            "altText": "スタンプを獲得しました！",
            "contents": {"//": "LINE Messaging API の Flex Message JSON をそのまま格納"},
        }),
        rules: ClaimRules::default(),
        notify: Notify::Always,
        updated_at: Timestamp::EPOCH,
    }
}

/// The source article's own `STAMP_MASTER`.
pub(super) fn article_master() -> Value {
    json!({
        "PK": {"S": "EVENT#stamp-rally-202606#STAMP#001"}, "SK": {"S": "MASTER"},
        "entityType": {"S": "STAMP_MASTER"}, "eventId": {"S": "stamp-rally-202606"}, "stampId": {"S": "001"},
        "name": {"S": "第1スタンプ"}, "order": {"N": "1"}, "isActive": {"BOOL": true},
        "flexMessageContent": {"M": {
            "type": {"S": "flex"},
            "altText": {"S": "スタンプを獲得しました！"},
            "contents": {"M": {"//": {"S": "LINE Messaging API の Flex Message JSON をそのまま格納"}}},
        }},
        "GSI1PK": {"S": "EVENT#stamp-rally-202606#STAMP_MASTERS"}, "GSI1SK": {"S": "001"},
    })
}

#[test]
fn a_stamp_master_is_pinned_and_the_articles_one_reads_back() {
    is_pinned(Stored::StampMaster(first_stamp()), master(&first_stamp()), article_master());
    let changed = StampMaster { updated_at: at("2026-05-02T00:00:00.000Z"), ..first_stamp() };
    let json = with(article_master(), json!({"updatedAt": {"S": "2026-05-02T00:00:00.000Z"}}));
    is_pinned(Stored::StampMaster(changed.clone()), master(&changed), json);
}

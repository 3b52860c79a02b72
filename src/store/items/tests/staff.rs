//! The stored form of staff and screens.

use super::*;
use crate::domain::staff::{Staff, StaffRole, StaffStamps};

const HASH: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn reception() -> Staff {
    Staff {
        event_id: "stamp-rally-202606".parse().unwrap(),
        staff_id: "0a1b2c3d4e5f".parse().unwrap(),
        name: "駅の受付".parse().unwrap(),
        role: StaffRole::Staff,
        stamps: StaffStamps::These(vec!["001".parse().unwrap(), "002".parse().unwrap()]),
        sha256: HASH.parse().unwrap(),
        created_at: at("2026-05-23T10:00:00.000Z"),
        expires_at: None,
        revoked_at: None,
    }
}

fn reception_json() -> Value {
    json!({
        "PK": {"S": "EVENT#stamp-rally-202606#STAFF"}, "SK": {"S": "0a1b2c3d4e5f"}, "entityType": {"S": "STAFF"},
        "eventId": {"S": "stamp-rally-202606"}, "staffId": {"S": "0a1b2c3d4e5f"}, "name": {"S": "駅の受付"},
        "role": {"S": "staff"}, "stamps": {"L": [{"S": "001"}, {"S": "002"}]}, "sha256": {"S": HASH},
        "createdAt": {"S": "2026-05-23T10:00:00.000Z"},
    })
}

#[test]
fn a_member_of_the_staff_is_pinned() {
    is_pinned(Stored::Staff(reception()), staff(&reception()), reception_json());
}

#[test]
fn a_revoked_screen_for_all_stamps_is_pinned() {
    let screen = Staff {
        role: StaffRole::Screen,
        stamps: StaffStamps::All,
        expires_at: Some(at("2026-06-30T15:00:00.000Z")),
        revoked_at: Some(at("2026-05-24T00:00:00.000Z")),
        ..reception()
    };
    let change = json!({
        "role": {"S": "screen"}, "stamps": {"L": [{"S": "*"}]}, "expiresAt": {"S": "2026-06-30T15:00:00.000Z"},
        "revokedAt": {"S": "2026-05-24T00:00:00.000Z"},
    });
    is_pinned(Stored::Staff(screen.clone()), staff(&screen), with(reception_json(), change));
}

#[test]
fn staff_that_cannot_be_read_names_the_attribute() {
    for (change, attribute) in [
        (json!({"sha256": {"S": "short"}}), "sha256"),
        (json!({"role": {"S": "owner"}}), "role"),
        (json!({"stamps": {"L": []}}), "stamps"),
        (json!({"stamps": null}), "stamps"),
        (json!({"staffId": {"S": "other"}}), "SK"),
    ] {
        let error = decode(stored(with(reception_json(), change.clone()))).unwrap_err();
        assert_eq!(error.attribute, attribute, "{change}");
    }
}

//! The organiser's settings of proofs: kept, changed, and refused by name.

use serde_json::{Value, json};

use super::taking;
use crate::house::{House, RALLY, flex};
use stamp_rally::domain::proof::ProofKeys;

/// What the API says of a stamp.
async fn stamp(house: &House, id: &str) -> Value {
    house.organiser().get(&format!("/{RALLY}/stamps/{id}")).await.is(200).body
}

#[tokio::test]
async fn rules_that_a_put_does_not_name_are_kept_and_a_passcode_is_never_shown() {
    let house = House::open("rules are kept").await;
    let rules = json!({
        "proofs": [["passcode", "location"], ["staff"]],
        "passcode": "himitsu",
        "proofSettings": {"location": {"latitude": 35.5, "longitude": 139.25, "radiusMeters": 50, "maxAccuracyMeters": 40}},
        "availableFrom": "2026-05-23T10:00:00+09:00",
        "hours": [{"weekdays": ["sat"], "from": "10:00", "until": "24:00"}],
        "after": ["002"],
        "notify": "never",
    });
    house.change_stamp("001", &rules).await;
    house.change_stamp("001", &json!({"name": "灯台"})).await;
    let seen = stamp(&house, "001").await;
    for name in ["proofs", "proofSettings", "hours", "after", "notify"] {
        assert_eq!(seen[name], rules[name], "{name}");
    }
    assert_eq!(seen["availableFrom"], "2026-05-23T01:00:00.000Z");
    assert!(seen.get("passcode").is_none() && seen.get("passcodeHash").is_none());
    // What a GET answers may be sent back whole.
    house.change_stamp("001", &seen).await;
    let listed = house.request(reqwest::Method::GET, &format!("/api/events/{RALLY}/stamps")).send().await.unwrap();
    let listed: Value = listed.json().await.unwrap();
    assert_eq!(listed["stamps"][0]["proofs"], rules["proofs"]);
    assert!(listed["stamps"][1].get("proofs").is_none(), "what asks for no proof is listed as before");
    let nothing = json!({"proofs": [["open"]], "proofSettings": null, "passcode": null, "availableFrom": null, "hours": null, "after": null, "notify": null});
    house.change_stamp("001", &nothing).await;
    let seen = stamp(&house, "001").await;
    for name in ["proofs", "proofSettings", "availableFrom", "hours", "after", "notify"] {
        assert!(seen.get(name).is_none(), "{name}: {seen}");
    }
    house.close().await;
}

#[tokio::test]
async fn settings_that_contradict_each_other_are_refused_with_their_path() {
    let house = House::open("contradictions").await;
    house.change_stamp("002", &json!({"after": ["001"]})).await;
    for (change, detail) in [
        (json!({"proofs": null}), "proofs: "),
        (json!({"proofs": [["gps"]]}), "proofs[0][0]: "),
        (json!({"proofs": [["open"], ["staff", "location"]]}), "proofs[1][0]: staff stands alone"),
        (json!({"proofs": [["qr_static", "location"]]}), "proofs[0][1]: location needs proofSettings.location"),
        (json!({"proofs": [["passcode"]]}), "proofs[0][0]: passcode needs a passcode"),
        (json!({"passcode": " a b "}), "passcode: "),
        (json!({"proofSettings": {"qr_rotating": {"stepSeconds": 9}}}), "proofSettings.qr_rotating.stepSeconds: "),
        (
            json!({"availableFrom": "2026-05-23T10:00:00Z", "availableUntil": "2026-05-23T10:00:00Z"}),
            "availableUntil: ",
        ),
        (json!({"hours": [{"from": "10:00", "until": "10:00"}]}), "hours[0]: until must differ"),
        (json!({"after": ["001"]}), "after[0]: names the stamp itself"),
        (json!({"after": ["009"]}), "after[0]: the event has no stamp 009"),
        (json!({"after": ["002"]}), "after[0]: 002 waits for 001"),
        (json!({"notify": "sometimes"}), "notify: "),
    ] {
        let refused = house.organiser().put_stamp(RALLY, "001", &change).await.refuses(400, "invalid_request");
        let said = refused.body["detail"].as_str().unwrap();
        assert!(said.starts_with(detail), "{change}: {said}");
    }
    for (change, detail) in [
        (json!({"minIntervalSeconds": 0}), "minIntervalSeconds: must be a whole number from 1 to 86400"),
        (json!({"maxSpeedKmh": 1001}), "maxSpeedKmh: "),
        (json!({"lateMinutes": 1.5}), "lateMinutes: "),
    ] {
        let refused = house.organiser().put_event(RALLY, &change).await.refuses(400, "invalid_request");
        let said = refused.body["detail"].as_str().unwrap();
        assert!(said.starts_with(detail), "{change}: {said}");
    }
    house.close().await;
}

#[tokio::test]
async fn a_server_without_a_key_takes_no_proof_that_needs_one() {
    let mut house = House::open("a PUT without a key").await;
    house.settings.proofs.keys = ProofKeys::default();
    let (server, url) = house.another_server();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let put = |change: Value| {
        client.put(format!("{url}/admin/api/events/{RALLY}/stamps/001")).bearer_auth("organiser").json(&change).send()
    };
    for (change, place) in [
        (json!({"proofs": [["qr_static"]]}), "proofs[0][0]: needs a key: configure `proofs.keys`"),
        (json!({"passcode": "himitsu"}), "passcode: needs a key"),
    ] {
        let refused = put(change).await.unwrap();
        assert_eq!(refused.status(), 400);
        let said: Value = refused.json().await.unwrap();
        assert!(said["detail"].as_str().unwrap().starts_with(place), "{said}");
    }
    assert_eq!(put(json!({"proofs": [["staff"]]})).await.unwrap().status(), 200);
    tokio::task::spawn_blocking(|| drop(server)).await.unwrap();
    house.close().await;
}

#[tokio::test]
async fn a_new_stamp_may_be_made_with_its_rules_at_once() {
    let house = House::open("made with rules").await;
    let mut stamp = taking(&json!([["qr_rotating", "location"]]));
    stamp["name"] = json!("塔");
    stamp["order"] = json!(3);
    stamp["flexMessageContent"] = flex("{{stamp.name}}");
    let made = house.organiser().put_stamp(RALLY, "003", &stamp).await.is(201);
    assert_eq!(made.body["proofSettings"]["location"]["radiusMeters"], 100, "defaults are said");
    house.close().await;
}

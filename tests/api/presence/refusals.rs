//! What is no proof is refused with its reason, its figures, and a text that says what to do.

use serde_json::json;

use super::{kept, north, printed, shown, taking};
use crate::house::{Answer, House, RALLY};
use stamp_rally::domain::proof::ProofKeys;

#[tokio::test]
async fn a_printed_code_acquires_its_stamp_and_the_fact_says_how_it_was_proved() {
    let house = House::open("a printed code").await;
    house.change_stamp("001", &taking(&json!([["qr_static"]]))).await;
    let hanako = house.hanako();
    let required = hanako.acquire("001").await.refuses(422, "proof_required");
    assert_eq!(required.body["proofs"], json!([["qr_static"]]));
    hanako.prove("001", json!({"code": printed("001")})).await.is(201);
    let proof = kept(&house, &hanako.id, "001").await;
    assert_eq!(proof, json!({"kinds": ["qr_static"], "trust": 1, "generation": 1}));
    hanako.prove("001", json!({"code": "nonsense"})).await.is(200);
    house.close().await;
}

#[tokio::test]
async fn a_scan_finds_the_stamp_that_its_code_is_of() {
    let house = House::open("a scan").await;
    house.change_stamp("002", &taking(&json!([["qr_static"], ["qr_rotating"]]))).await;
    let hanako = house.hanako();
    let stamp = hanako.scan(json!({"code": printed("002")})).await.is(201);
    assert_eq!(stamp.body["stampId"], "002");
    let taro = house.person("太郎");
    assert_eq!(taro.scan(json!({"code": shown("002", house.now())})).await.is(201).body["stampId"], "002");
    let unknown = taro.scan(json!({"code": printed("003")})).await.refuses(422, "proof_rejected");
    assert_eq!(unknown.body["reason"], "code_unknown");
    let without = taro.scan(json!({})).await.refuses(400, "invalid_request");
    assert!(without.body["detail"].as_str().unwrap().starts_with("proof.code"), "{without:?}");
    house.close().await;
}

#[tokio::test]
async fn every_reason_of_a_code_and_of_a_place_is_said_with_its_figures() {
    let house = House::open("reasons").await;
    house.change_stamp("001", &taking(&json!([["qr_static"], ["qr_rotating"], ["location"]]))).await;
    house.change_stamp("002", &taking(&json!([["qr_static"]]))).await;
    let (hanako, now) = (house.hanako(), house.now());
    for (proof, reason, member, figure) in [
        (json!({"code": "🗼"}), "code_unknown", "stampId", json!(null)),
        (json!({"code": printed("002")}), "code_other_stamp", "stampId", json!("002")),
        (json!({"code": shown("001", now.plus_millis(-90_000))}), "code_expired", "stampId", json!(null)),
        (json!({"code": shown("001", now.plus_millis(90_000))}), "code_early", "stampId", json!(null)),
        (json!({"location": north(175.0)}), "too_far", "distanceMeters", json!(180)),
        (json!({"location": north(0.0), "ageSeconds": 61}), "location_stale", "distanceMeters", json!(null)),
        (
            json!({"location": {"latitude": 35.0, "longitude": 139.0, "accuracy": 201}}),
            "location_inaccurate",
            "accuracyMeters",
            json!(200),
        ),
    ] {
        let refused = hanako.prove("001", proof.clone()).await.refuses(422, "proof_rejected").body;
        assert_eq!((&refused["reason"], &refused[member]), (&json!(reason), &figure), "{proof}");
    }
    house.close().await;
}

#[tokio::test]
async fn the_visitor_reads_a_refusal_in_the_language_that_they_prefer() {
    let house = House::open("languages").await;
    house.change_stamp("001", &taking(&json!([["location"]]))).await;
    let hanako = house.hanako();
    for (accepted, expected) in [
        ("ja", "スポットまで約180mです"),
        ("ja-JP,en;q=0.5", "スポットまで約180mです"),
        ("fr,ja;q=0.3", "スポットまで約180mです"),
        ("en;q=0.5,ja;q=0.4", "You are about 180 m away"),
        ("ja;q=0", "You are about 180 m away"),
        ("*", "You are about 180 m away"),
        ("?!", "You are about 180 m away"),
    ] {
        let claim = hanako.request(reqwest::Method::POST, "/me/stamps/001").header("Accept-Language", accepted);
        let refused = Answer::to(claim.json(&json!({"proof": {"location": north(175.0)}}))).await;
        let detail = refused.refuses(422, "proof_rejected").body["detail"].as_str().unwrap().to_owned();
        assert!(detail.starts_with(expected), "{accepted}: {detail}");
    }
    house.close().await;
}

#[tokio::test]
async fn what_is_no_number_in_range_or_too_long_is_a_bad_request_with_its_path() {
    let house = House::open("bad proofs").await;
    let hanako = house.hanako();
    for (proof, path) in [
        (json!({"code": "x".repeat(129)}), "proof.code: "),
        (json!({"code": 1}), "proof.code: "),
        (json!({"passcode": "x".repeat(129)}), "proof.passcode: "),
        (json!({"location": {"latitude": 90.1, "longitude": 0, "accuracy": 1}}), "proof.location.latitude: "),
        (json!({"location": {"latitude": 0, "longitude": -180.1, "accuracy": 1}}), "proof.location.longitude: "),
        (json!({"location": {"latitude": 0, "longitude": 0, "accuracy": -1}}), "proof.location.accuracy: "),
        (json!({"location": {"latitude": 0, "longitude": 0}}), "proof.location: "),
        (json!({"ageSeconds": -1}), "proof.ageSeconds: "),
        (json!({"ageSeconds": 86_401}), "proof.ageSeconds: "),
    ] {
        let refused = hanako.prove("001", proof.clone()).await.refuses(400, "invalid_request");
        let detail = refused.body["detail"].as_str().unwrap();
        assert!(detail.starts_with(path), "{proof}: {detail}");
    }
    hanako.prove("001", json!({"code": "x".repeat(128), "selfie": true})).await.is(201);
    house.close().await;
}

#[tokio::test]
async fn a_stamp_that_needs_a_key_on_a_server_without_one_is_our_trouble_and_never_free() {
    let mut house = House::open("no key").await;
    house.change_stamp("001", &taking(&json!([["qr_static"]]))).await;
    house.settings.proofs.keys = ProofKeys::default();
    let (server, url) = house.another_server();
    let hanako = house.hanako();
    let claim = reqwest::Client::new().post(format!("{url}/api/events/{RALLY}/me/stamps/001"));
    let claim = claim.bearer_auth(&hanako.token).json(&json!({"proof": {"code": printed("001")}}));
    Answer::to(claim).await.refuses(500, "internal_error");
    hanako.prove("001", json!({"code": printed("001")})).await.is(201);
    tokio::task::spawn_blocking(|| drop(server)).await.unwrap();
    house.close().await;
}

#[tokio::test]
async fn a_participants_own_code_changes_every_minute() {
    let house = House::open("one's own code").await;
    let hanako = house.hanako();
    let shown = Answer::to(hanako.request(reqwest::Method::GET, "/me/code")).await.is(200).body;
    let expires: stamp_rally::domain::time::Timestamp = shown["expiresAt"].as_str().unwrap().parse().unwrap();
    assert!(house.now() < expires && expires <= house.now().plus_millis(60_000));
    house.pass(std::time::Duration::from_mins(1)).await;
    let later = Answer::to(hanako.again().request(reqwest::Method::GET, "/me/code")).await.is(200).body;
    assert_ne!(later["code"], shown["code"]);
    house.close().await;
}

#[tokio::test]
async fn refused_claims_are_counted_by_hour_stamp_and_reason_and_name_nobody() {
    let house = House::open("counted refusals").await;
    house.change_stamp("001", &taking(&json!([["qr_static"]]))).await;
    let (server, url) = house.another_server();
    let (hanako, client) = (house.hanako(), reqwest::Client::builder().no_proxy().build().unwrap());
    for proof in [json!({"code": "nonsense"}), json!({"code": "nonsense"}), json!({})] {
        let claim = client.post(format!("{url}/api/events/{RALLY}/me/stamps/001")).bearer_auth(&hanako.token);
        Answer::to(claim.json(&json!({"proof": proof}))).await.is(422);
    }
    // A server that stops writes what it counted.
    tokio::task::spawn_blocking(|| drop(server)).await.unwrap();
    let seen = house.bearer("viewer").get(&format!("/{RALLY}/refusals")).await.is(200).body;
    let rows = seen["refusals"].as_array().unwrap();
    let counted: Vec<_> = rows.iter().map(|row| (&row["stampId"], &row["reason"], &row["count"])).collect();
    let (first, unknown, required) = (json!("001"), json!("code_unknown"), json!("proof_required"));
    assert_eq!(counted, [(&first, &unknown, &json!(2)), (&first, &required, &json!(1))]);
    assert!(rows[0]["hour"].as_str().unwrap().ends_with(":00+09:00"), "{seen}");
    assert!(!seen.to_string().contains(&hanako.id));
    let later = house.organiser().get(&format!("/{RALLY}/refusals?from=2030-01-01")).await.is(200).body;
    assert_eq!(later, json!({"refusals": []}));
    house.organiser().get(&format!("/{RALLY}/refusals?from=x")).await.refuses(400, "invalid_request");
    house.close().await;
}

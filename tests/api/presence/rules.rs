//! Windows, hours, other stamps first, and the pace: held wins over each.

use std::time::Duration;

use serde_json::{Value, json};

use super::{kept, printed, taking};
use crate::house::{House, RALLY};

#[tokio::test]
async fn a_closed_stamp_says_when_it_opens_and_who_has_it_has_it() {
    let house = House::open("a closed stamp").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    let (from, until) = (house.now().plus_millis(60_000), house.now().plus_millis(120_000));
    house.change_stamp("001", &json!({"availableFrom": from, "availableUntil": until})).await;
    hanako.acquire("001").await.is(200);
    let early = taro.acquire("001").await.refuses(409, "stamp_closed").body;
    assert_eq!((&early["reason"], &early["opensAt"]), (&json!("not_yet"), &json!(from)));
    house.pass(Duration::from_mins(1)).await;
    taro.acquire("001").await.is(201);
    house.pass(Duration::from_mins(1)).await;
    let late = house.person("次郎").acquire("001").await.refuses(409, "stamp_closed").body;
    assert_eq!(late["reason"], "over");
    house.close().await;
}

#[tokio::test]
async fn other_stamps_come_first_as_the_organiser_said() {
    let house = House::open("other stamps first").await;
    house.change_stamp("002", &json!({"after": ["001"]})).await;
    let hanako = house.hanako();
    let refused = hanako.acquire("002").await.refuses(409, "claim_refused").body;
    assert_eq!((&refused["reason"], &refused["missing"]), (&json!("prerequisite"), &json!(["001"])));
    let register: Vec<Value> = hanako.card().await.body["facts"].as_array().cloned().unwrap_or_default();
    assert!(register.is_empty(), "a refused claim registers nobody");
    hanako.acquire("001").await.is(201);
    hanako.acquire("002").await.is(201);
    house.change_stamp("001", &json!({"isActive": false})).await;
    house.person("太郎").acquire("002").await.is(201);
    house.close().await;
}

#[tokio::test]
async fn two_stamps_are_an_interval_apart() {
    let house = House::open("an interval").await;
    house.change_the_rally(&json!({"minIntervalSeconds": 60})).await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    let refused = hanako.prove("002", json!({"ageSeconds": 3600})).await.refuses(409, "claim_refused").body;
    assert_eq!((&refused["reason"], &refused["retryAfterSeconds"]), (&json!("interval"), &json!(60)));
    hanako.acquire("001").await.is(200);
    house.pass(Duration::from_millis(59_999)).await;
    assert_eq!(hanako.acquire("002").await.refuses(409, "claim_refused").body["retryAfterSeconds"], 1);
    house.pass(Duration::from_millis(1)).await;
    hanako.acquire("002").await.is(201);
    house.close().await;
}

#[tokio::test]
async fn who_cant_have_come_so_fast_waits() {
    let house = House::open("travel").await;
    house.change_the_rally(&json!({"maxSpeedKmh": 60})).await;
    for (stamp, latitude) in [("001", 35.0), ("002", 36.0)] {
        let place = json!({"proofSettings": {"location": {"latitude": latitude, "longitude": 139.0}}});
        house.change_stamp(stamp, &place).await;
    }
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    let refused = hanako.acquire("002").await.refuses(409, "claim_refused").body;
    // 111.195 km less two radii of 100 m, at 60 km/h.
    assert_eq!((&refused["reason"], &refused["retryAfterSeconds"]), (&json!("travel"), &json!(6_660)));
    house.pass(Duration::from_mins(111)).await;
    hanako.again().acquire("002").await.is(201);
    house.close().await;
}

#[tokio::test]
async fn a_claim_that_waited_for_the_network_is_judged_when_its_proof_was_taken_and_registers_nobody() {
    let house = House::open("a late claim").await;
    house.change_stamp("001", &taking(&json!([["qr_static"]]))).await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.register().await.is(201);
    let end = house.now().plus_millis(60_000);
    house.change_the_rally(&json!({"endsAt": end, "lateMinutes": 10})).await;
    house.pass(Duration::from_mins(6)).await;
    let late = |seconds: u64| json!({"code": printed("001"), "ageSeconds": seconds});
    hanako.prove("001", late(299)).await.refuses(409, "event_ended");
    taro.prove("001", late(301)).await.refuses(404, "not_registered");
    assert!(taro.card().await.status == 404);
    hanako.prove("001", late(301)).await.is(201);
    let proof = kept(&house, &hanako.id, "001").await;
    let captured = house.now().plus_millis(-301_000);
    let expected = json!({"kinds": ["qr_static"], "trust": 1, "generation": 1, "capturedAt": captured, "late": true});
    assert_eq!(proof, expected);
    house.close().await;
}

#[tokio::test]
async fn a_stamp_that_never_notifies_completes_the_card_all_the_same() {
    let house = House::open("never notifies").await;
    house.change_stamp("002", &json!({"notify": "never"})).await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    hanako.acquire("002").await.is(201);
    house.deliver().await;
    assert_eq!(hanako.phone().len(), 2, "of the first stamp and of the full card: {:?}", hanako.phone());
    let seen = house.organiser().get(&format!("/{RALLY}/users/{}", hanako.id)).await.is(200).body;
    assert_eq!(seen["card"]["completed"], true);
    house.close().await;
}

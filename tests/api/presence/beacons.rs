//! LINE reports a beacon: a claim without the participant's phone.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::{kept, taking};
use crate::{
    house::{House, Person, RALLY},
    proxy::{Fault, Often},
};

const HWID: &str = "0123456789";

/// LINE reports that somebody came near a beacon; the statuses that it got.
async fn reports(house: &House, order: Value) -> Vec<u64> {
    let sent = house.control(Method::POST, "/webhooks", &order).await.is(200);
    sent.body["deliveries"].as_array().unwrap().iter().map(|sent| sent["status"].as_u64().unwrap()).collect()
}

/// So many seconds before now.
fn entered(who: &Person<'_>, hwid: &str, ago: i64) -> Value {
    let at = who.house.now().plus_millis(-ago * 1000).as_millis();
    let beacon = json!({"type": "enter", "hwid": hwid});
    json!({"type": "beacon", "userId": who.id, "timestamp": at, "webhookEventId": format!("01HX{ago:022}"), "beacon": beacon})
}

#[tokio::test]
async fn who_is_registered_acquires_the_stamp_at_which_the_beacon_stands_once() {
    let house = House::open("a beacon").await;
    house.change_stamp("001", &taking(&json!([["beacon"], ["qr_static"]]))).await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.register().await.is(201);
    let events = json!([entered(&hanako, HWID, 5), entered(&taro, HWID, 5), entered(&hanako, "ffffffffff", 6)]);
    assert_eq!(reports(&house, json!({"events": events, "duplicate": 2})).await, [200, 200, 200]);
    assert_eq!(hanako.look_at("001").await.is(200).body["acquired"], true);
    let proof = kept(&house, &hanako.id, "001").await;
    let captured = house.now().plus_millis(-5_000);
    assert_eq!(proof, json!({"kinds": ["beacon"], "trust": 1, "hwid": HWID, "capturedAt": captured}));
    assert_eq!(taro.look_at("001").await.is(200).body["acquired"], false, "nobody is registered by a beacon");
    house.deliver().await;
    assert_eq!(hanako.phone().len(), 1);
    house.close().await;
}

#[tokio::test]
async fn windows_are_judged_by_lines_time_which_is_at_most_a_day_old() {
    let house = House::open("an old beacon").await;
    house.change_stamp("001", &taking(&json!([["beacon"]]))).await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    house.change_the_rally(&json!({"endsAt": house.now().plus_millis(1000)})).await;
    house.pass(Duration::from_hours(23)).await;
    let hanako = hanako.again();
    let hour = 3_600;
    for (ago, acquired) in [(23 * hour - 2, false), (24 * hour + 1, false), (23 * hour, true)] {
        assert_eq!(reports(&house, json!({"events": [entered(&hanako, HWID, ago)]})).await, [200]);
        assert_eq!(hanako.look_at("001").await.is(200).body["acquired"], acquired, "{ago}");
    }
    assert_eq!(kept(&house, &hanako.id, "001").await["late"], true);
    house.close().await;
}

#[tokio::test]
async fn what_the_rules_refuse_is_no_failure_and_what_the_store_refuses_is_tried_again_by_line() {
    let house = House::open("a refused beacon").await;
    house.change_stamp("001", &taking(&json!([["beacon"]]))).await;
    house.change_stamp("001", &json!({"after": ["002"]})).await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    assert_eq!(reports(&house, json!({"events": [entered(&hanako, HWID, 1)]})).await, [200]);
    hanako.acquire("002").await.is(201);
    let again = json!({"events": [entered(&hanako, HWID, 2), {"type": "follow", "userId": hanako.id}]});
    house.wire.inject("PutItem", Fault::Throttled, Often::Always);
    assert_eq!(reports(&house, again.clone()).await, [503]);
    house.wire.heal();
    assert_eq!(reports(&house, again).await, [200]);
    assert_eq!(hanako.look_at("001").await.is(200).body["acquired"], true);
    let seen = house.organiser().get(&format!("/{RALLY}/users/{}", hanako.id)).await.is(200).body;
    assert_eq!(seen["friendship"]["following"], true);
    house.close().await;
}

//! LINE's published keys: fetched seldom, kept long, withdrawn in time.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use crate::house::{House, Person};

#[tokio::test]
async fn tokens_of_unknown_keys_make_us_ask_once_in_half_a_minute() {
    let house = House::open("unknown keys").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    let mut strangers = Vec::new();
    for n in 0..20 {
        strangers.push(hanako.minted(&json!({"kid": format!("{n:064x}")})).await);
    }
    let all_at_once = async || {
        let answers = futures_util::future::join_all(strangers.iter().map(Person::card)).await;
        for answer in answers {
            answer.refuses(401, "token_invalid");
        }
    };
    all_at_once().await;
    assert_eq!(house.asked_of_line("certs").await, 1, "the keys were fetched just now");
    house.pass(Duration::from_secs(30)).await;
    all_at_once().await;
    all_at_once().await;
    assert_eq!(house.asked_of_line("certs").await, 2, "one refetch, not one a request");
    house.pass(Duration::from_secs(29)).await;
    all_at_once().await;
    assert_eq!(house.asked_of_line("certs").await, 2);
    house.pass(Duration::from_secs(1)).await;
    hanako.card().await.is(200);
    assert_eq!(house.asked_of_line("certs").await, 2, "known keys ask nothing");
    house.close().await;
}

#[tokio::test]
async fn a_new_key_is_found_by_the_first_who_brings_it() {
    let house = House::open("new key").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    house.pass(Duration::from_secs(31)).await;
    house.control(Method::POST, "/keys/rotate", &json!({})).await.is(200);
    let taro = house.person("太郎");
    taro.register().await.is(201);
    hanako.again().register().await.is(200);
    hanako.register().await.is(200);
    assert_eq!(house.asked_of_line("certs").await, 2);
    house.close().await;
}

#[tokio::test]
async fn a_withdrawn_key_takes_its_tokens_along_within_an_hour() {
    let house = House::open("withdrawn key").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    let long = hanako.minted(&json!({"expiresIn": 36_000})).await;
    long.card().await.is(200);
    house.control(Method::POST, "/keys/rotate", &json!({"keepOld": false})).await.is(200);
    house.pass(Duration::from_hours(1)).await;
    long.card().await.refuses(401, "token_invalid");
    hanako.again().card().await.is(200);
    house.close().await;
}

#[tokio::test]
async fn while_the_keys_cant_be_fetched_the_known_ones_stay_good() {
    let house = House::open("keys down").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    house.control(Method::PATCH, "/settings", &json!({"jwksUp": false})).await.is(200);
    house.person("太郎").register().await.is(201);
    for hours in 1..=3 {
        house.pass(Duration::from_hours(1)).await;
        house.person(&format!("{hours}時")).register().await.is(201);
        hanako.again().register().await.is(200);
        hanako.minted(&json!({"kid": "ff"})).await.card().await.refuses(503, "line_unavailable");
    }
    let asked = house.asked_of_line("certs").await;
    assert!((4..=7).contains(&asked), "asked {asked} times in three hours");
    house.close().await;
}

/// LINE has a new key, and the set can't be had: the page must not send people to log in again and again.
#[tokio::test]
async fn while_the_keys_cant_be_fetched_a_new_key_is_not_known_to_be_wrong() {
    for fault in [
        json!({"endpoint": "certs", "kind": "status", "code": 500}),
        json!({"endpoint": "certs", "kind": "status", "code": 200, "body": "<html>"}),
        json!({"endpoint": "certs", "kind": "status", "code": 200, "body": {"keys": []}}),
        json!({"endpoint": "certs", "kind": "proxy", "code": 200, "body": "<html>"}),
        json!({"endpoint": "certs", "kind": "drop_before"}),
        json!({"endpoint": "certs", "kind": "timeout_after_accept"}),
    ] {
        let house = House::open("new key, no set").await;
        let hanako = house.hanako();
        hanako.register().await.is(201);
        house.control(Method::POST, "/keys/rotate", &json!({})).await.is(200);
        house.line_faults(json!([fault])).await;
        let taro = house.person("太郎");
        house.pass(Duration::from_secs(29)).await;
        taro.register().await.refuses(401, "token_invalid");
        assert_eq!(house.asked_of_line("certs").await, 1, "the keys were fetched just now");
        house.pass(Duration::from_secs(1)).await;
        let all = futures_util::future::join_all((0..10).map(|_| taro.register())).await;
        for refused in all {
            let refused = refused.refuses(503, "line_unavailable");
            assert_eq!(refused.header("retry-after"), "2");
        }
        hanako.again().minted(&json!({"kid": "ff"})).await.card().await.refuses(503, "line_unavailable");
        hanako.card().await.is(200);
        assert_eq!(house.asked_of_line("certs").await, 2, "one fetch, although it failed");
        house.line_faults(json!([])).await;
        house.pass(Duration::from_secs(29)).await;
        taro.register().await.refuses(503, "line_unavailable");
        house.pass(Duration::from_secs(1)).await;
        taro.register().await.is(201);
        hanako.minted(&json!({"kid": "ff"})).await.card().await.refuses(401, "token_invalid");
        assert_eq!(house.asked_of_line("certs").await, 3);
        house.close().await;
    }
}

#[tokio::test]
async fn without_any_key_participants_are_asked_to_come_back() {
    for fault in [
        json!({"endpoint": "certs", "kind": "status", "code": 503}),
        json!({"endpoint": "certs", "kind": "status", "code": 429}),
        json!({"endpoint": "certs", "kind": "status", "code": 200, "body": "<html>"}),
        json!({"endpoint": "certs", "kind": "status", "code": 200, "body": {"keys": []}}),
        json!({"endpoint": "certs", "kind": "status", "code": 302, "body": {}}),
        json!({"endpoint": "certs", "kind": "drop_before"}),
    ] {
        let house = House::open("no key").await;
        let hanako = house.hanako();
        house.line_faults(json!([fault])).await;
        for refused in [hanako.register().await, hanako.acquire("001").await, hanako.card().await] {
            let refused = refused.refuses(503, "line_unavailable");
            assert_eq!(refused.header("retry-after"), "2");
            assert_eq!(refused.body["detail"], "LINE can't be asked at the moment. Please try again.");
        }
        hanako.with("nonsense").register().await.refuses(401, "token_invalid");
        house.line_faults(json!([])).await;
        house.pass(Duration::from_secs(1)).await;
        hanako.acquire("001").await.is(201);
        house.close().await;
    }
}

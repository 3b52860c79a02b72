//! Tokens that LINE's verify endpoint looks at, and those of web login.

use serde_json::{Value, json};
use stamp_rally::{domain::time::TimeSource as _, line::id_token::Verification};

use super::{endpoint, no_way_gets_in};
use crate::house::{Fittings, House, LOGIN_SECRET, MINI_APP};

#[tokio::test]
async fn a_token_is_verified_once_and_then_known() {
    let house = House::open("verified once").await;
    let hanako = house.hanako();
    assert_eq!(house.asked_of_line("certs").await, 0);
    for _ in 0..5 {
        hanako.register().await;
        house.person("太郎").register().await.is(201);
    }
    assert_eq!(house.asked_of_line("certs").await, 1, "the keys are fetched once for all");
    assert_eq!(house.asked_of_line("verify").await, 0);
    house.close().await;

    let house = House::fitted("verified once by LINE", endpoint()).await;
    let hanako = house.hanako();
    for _ in 0..5 {
        hanako.register().await;
    }
    assert_eq!(house.asked_of_line("verify").await, 1);
    hanako.again().register().await.is(200);
    assert_eq!(house.asked_of_line("verify").await, 2);
    house.close().await;
}

#[tokio::test]
async fn while_the_endpoint_is_down_known_tokens_stay_good_and_new_ones_wait() {
    for fault in [
        json!({"endpoint": "verify", "kind": "status", "code": 500}),
        json!({"endpoint": "verify", "kind": "status", "code": 429}),
        json!({"endpoint": "verify", "kind": "status", "code": 400, "body": "<html>"}),
        json!({"endpoint": "verify", "kind": "status", "code": 200, "body": "<html>"}),
        json!({"endpoint": "verify", "kind": "proxy", "code": 200, "body": "<html>"}),
        json!({"endpoint": "verify", "kind": "proxy", "code": 400, "body": {"error": "invalid_request"}}),
        json!({"endpoint": "verify", "kind": "proxy", "code": 401}),
        json!({"endpoint": "verify", "kind": "drop_before"}),
    ] {
        let house = House::fitted("endpoint down", endpoint()).await;
        let (hanako, taro) = (house.hanako(), house.person("太郎"));
        hanako.register().await.is(201);
        house.line_faults(json!([fault])).await;
        hanako.acquire("001").await.is(201);
        let refused = taro.acquire("001").await.refuses(503, "line_unavailable");
        assert_eq!(refused.header("retry-after"), "2");
        house.line_faults(json!([])).await;
        taro.acquire("001").await.is(201);
        house.close().await;
    }
}

#[tokio::test]
async fn what_line_answers_is_checked_again() {
    let house = House::fitted("LINE is checked", endpoint()).await;
    let hanako = house.hanako();
    let now = house.clock.now().as_millis() / 1000;
    let good =
        json!({"iss": "https://access.line.me", "sub": hanako.id, "aud": "1000000001", "iat": now, "exp": now + 3600});
    for (member, value) in [
        ("iss", json!("https://evil.example")),
        ("sub", json!("hanako")),
        ("sub", Value::Null),
        ("aud", json!("1000000002")),
        ("aud", json!(MINI_APP)),
        ("exp", json!("soon")),
        ("iat", json!(now + 600)),
    ] {
        let mut said = good.clone();
        said[member] = value;
        house.line_faults(json!([{"endpoint": "verify", "kind": "status", "code": 200, "body": said}])).await;
        hanako.register().await.refuses(401, "token_invalid");
    }
    let mut said = good.clone();
    said["exp"] = json!(now - 60);
    house.line_faults(json!([{"endpoint": "verify", "kind": "status", "code": 200, "body": said}])).await;
    hanako.register().await.refuses(401, "token_expired");
    house.line_faults(json!([{"endpoint": "verify", "kind": "status", "code": 200, "body": good}])).await;
    hanako.register().await.is(201);
    house.close().await;
}

#[tokio::test]
async fn web_logins_tokens_are_taken_only_where_their_secret_is_configured() {
    let house = House::open("no web login").await;
    let hanako = house.hanako();
    no_way_gets_in(&hanako.minted(&json!({"alg": "HS256"})).await, "token_invalid", "no secret configured").await;
    house.close().await;

    for verification in [Verification::Jwks, Verification::Endpoint] {
        let fittings = Fittings { login_secret: Some(LOGIN_SECRET), verification, ..Fittings::default() };
        let house = House::fitted("web login", fittings).await;
        let hanako = house.hanako();
        hanako.minted(&json!({"alg": "HS256"})).await.register().await.is(201);
        hanako.register().await.is(200);
        for (what, order) in [
            ("signed with the public key", json!({"alg": "HS256", "signedWith": "publicKey"})),
            ("of another channel", json!({"alg": "HS256", "aud": "1000000002"})),
            ("unsigned", json!({"alg": "HS256", "signedWith": "nothing"})),
            ("another length", json!({"alg": "HS512", "signedWith": "loginSecret"})),
        ] {
            no_way_gets_in(&hanako.minted(&order).await, "token_invalid", what).await;
        }
        no_way_gets_in(&hanako.minted(&json!({"alg": "HS256", "age": 7200})).await, "token_expired", "old").await;
        house.close().await;
    }

    let fittings = Fittings { login_secret: Some("another-secret-than-lines"), ..Fittings::default() };
    let house = House::fitted("wrong web login", fittings).await;
    let hanako = house.hanako();
    no_way_gets_in(&hanako.minted(&json!({"alg": "HS256"})).await, "token_invalid", "another secret").await;
    house.close().await;
}

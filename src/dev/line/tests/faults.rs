//! Injected faults.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Desk, KEY, text};

#[tokio::test]
async fn a_status_fault_does_nothing_and_ends_after_its_times() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    desk.faults(json!([{ "endpoint": "push", "kind": "status", "code": 500, "times": 2 }])).await;
    let got = desk.push(&hanako, Some(KEY)).await;
    assert_eq!((got.status, got.request_id.is_some()), (500, true));
    assert_eq!(desk.push(&hanako, Some(KEY)).await.status, 500);
    assert!(desk.phone(&hanako).await.is_empty());
    assert_eq!(desk.push(&hanako, Some(KEY)).await.status, 200);
    assert_eq!(desk.get("/control/faults").await.json()["rules"][0]["hits"], json!(2));
    assert_eq!(desk.get("/control/requests").await.json()["endpoints"]["push"], json!({ "200": 1, "500": 2 }));
}

#[tokio::test]
async fn a_connection_can_be_dropped_before_or_after_the_message_was_accepted() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let messages = json!([text("一")]);
    desk.faults(json!([
        { "endpoint": "push", "kind": "drop_before", "times": 1 },
        { "endpoint": "push", "kind": "drop_after_accept", "times": 1 },
    ]))
    .await;
    assert!(desk.push_request(&hanako, Some(KEY), &messages).send().await.is_err());
    assert!(desk.phone(&hanako).await.is_empty());
    assert!(desk.push_request(&hanako, Some(KEY), &messages).send().await.is_err());
    assert_eq!(desk.phone(&hanako).await.len(), 1);
    assert_eq!(desk.push_messages(&hanako, Some(KEY), messages).await.status, 409);
    assert_eq!(desk.get("/control/requests").await.json()["endpoints"]["push"], json!({ "409": 1, "dropped": 2 }));
}

#[tokio::test]
async fn an_answer_can_be_withheld_after_the_message_was_accepted() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    desk.faults(json!([{ "endpoint": "push", "kind": "timeout_after_accept", "times": 1 }])).await;
    let messages = json!([text("一")]);
    let timeout = std::time::Duration::from_millis(50);
    let error = desk.push_request(&hanako, Some(KEY), &messages).timeout(timeout).send().await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert_eq!(desk.phone(&hanako).await.len(), 1);
    assert_eq!(desk.push(&hanako, Some(KEY)).await.status, 409);
}

#[tokio::test]
async fn silence_has_an_end() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    desk.faults(json!([{ "endpoint": "push", "kind": "timeout_after_accept", "ms": 10 }])).await;
    let error = desk.push_request(&hanako, None, &json!([text("一")])).send().await.unwrap_err();
    assert!(!error.is_timeout(), "the connection was closed: {error}");
}

#[tokio::test]
async fn an_accepted_message_can_be_answered_with_an_error() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    desk.faults(json!([{ "endpoint": "push", "kind": "status_after_accept", "code": 502, "times": 1 }])).await;
    assert_eq!(desk.push(&hanako, Some(KEY)).await.status, 502);
    assert_eq!(desk.push(&hanako, Some(KEY)).await.status, 409);
}

#[tokio::test]
async fn a_proxy_can_answer_in_lines_place() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let page = "<html>Log in to go on</html>";
    desk.faults(json!([
        { "endpoint": "push", "kind": "proxy", "code": 200, "body": page, "times": 1 },
        { "endpoint": "push", "kind": "proxy_after_accept", "code": 502, "times": 1 },
    ]))
    .await;
    let got = desk.push(&hanako, Some(KEY)).await;
    assert_eq!((got.status, got.request_id, got.text.as_str()), (200, None, page));
    assert!(desk.phone(&hanako).await.is_empty(), "LINE has seen nothing of it");
    let got = desk.push(&hanako, Some(KEY)).await;
    assert_eq!((got.status, got.request_id), (502, None));
    assert_eq!(desk.phone(&hanako).await.len(), 1);
    let got = desk.push(&hanako, Some(KEY)).await;
    assert!(got.status == 409 && got.request_id.is_some());
    let counts = desk.get("/control/requests").await.json()["endpoints"]["push"].clone();
    assert_eq!(counts, json!({ "409": 1, "proxy_200": 1, "proxy_502": 1 }));
}

#[tokio::test]
async fn an_answer_can_have_other_headers_too() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    for kind in ["status", "proxy"] {
        let headers = json!({ "retry-after": "7" });
        desk.faults(json!([{ "endpoint": "push", "kind": kind, "code": 503, "headers": headers }])).await;
        let answer = desk.push_request(&hanako, None, &json!([text("一")])).send().await.unwrap();
        assert_eq!(answer.headers()["retry-after"], "7");
    }
}

#[tokio::test]
async fn limits_and_expired_tokens_can_be_pretended() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    for (kind, status, words) in [
        ("rate_limited", 429, "rate limit"),
        ("monthly_limit", 429, "monthly limit"),
        ("expired_token", 401, "Authentication failed"),
    ] {
        desk.faults(json!([{ "kind": kind }])).await;
        let got = desk.push(&hanako, None).await;
        assert_eq!(got.status, status);
        assert!(got.message().contains(words), "{}", got.text);
    }
    desk.control(Method::DELETE, "/faults", json!({})).await;
    assert_eq!(desk.push(&hanako, None).await.status, 200);
}

#[tokio::test]
async fn a_body_can_be_anything() {
    let desk = Desk::open();
    desk.faults(json!([{ "endpoint": "certs", "kind": "status", "code": 200, "body": "<html>" }])).await;
    assert_eq!(desk.get("/oauth2/v2.1/certs").await.text, "<html>");
    desk.faults(json!([{ "endpoint": "certs", "kind": "status", "code": 400, "body": { "error": "x" } }])).await;
    assert_eq!(desk.get("/oauth2/v2.1/certs").await.json(), json!({ "error": "x" }));
}

#[tokio::test]
async fn rules_can_single_out_a_user_and_a_channel() {
    let desk = Desk::open();
    let (hanako, taro) = (desk.hanako().await, desk.hanako().await);
    desk.faults(json!([{ "endpoint": "push", "kind": "status", "code": 400, "user": hanako }])).await;
    assert_eq!((desk.push(&hanako, None).await.status, desk.push(&taro, None).await.status), (400, 200));
    desk.faults(json!([{ "endpoint": "push", "kind": "status", "code": 403, "channel": "other" }])).await;
    assert_eq!(desk.push(&hanako, None).await.status, 200);
    desk.faults(json!([{ "endpoint": "push", "kind": "status", "code": 403, "channel": "main", "skip": 1 }])).await;
    assert_eq!((desk.push(&hanako, None).await.status, desk.push(&hanako, None).await.status), (200, 403));
}

/// The statuses of a hundred pushes under seeded rules.
async fn fates(desk: &Desk, seed: u64) -> Vec<u16> {
    let taro = desk.hanako().await;
    desk.faults(json!([
        { "endpoint": "push", "kind": "status", "code": 500, "percent": 20, "seed": seed },
        { "endpoint": "push", "kind": "rate_limited", "percent": 10, "seed": seed },
    ]))
    .await;
    let mut statuses = Vec::new();
    for _ in 0..100 {
        statuses.push(desk.push(&taro, None).await.status);
    }
    statuses
}

#[tokio::test]
async fn chance_repeats_from_its_seed() {
    let desk = Desk::open();
    let (one, again, other) = (fates(&desk, 7).await, fates(&desk, 7).await, fates(&desk, 8).await);
    assert_eq!(one, again);
    assert_ne!(one, other);
    let count = |status| one.iter().filter(|found| **found == status).count();
    assert!((10..=30).contains(&count(500)) && (2..=18).contains(&count(429)), "{one:?}");
}

#[tokio::test]
async fn latency_comes_after_acceptance_and_isnt_a_fault() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    desk.settings(json!({ "latencyMs": { "push": 100 } })).await;
    desk.faults(json!([{ "endpoint": "push", "kind": "delay", "ms": 100 }])).await;
    let began = std::time::Instant::now();
    let answered = std::cell::Cell::new(false);
    let push = async {
        let got = desk.push(&hanako, None).await;
        answered.set(true);
        got
    };
    let look = async {
        while desk.phone(&hanako).await.is_empty() {}
        answered.get()
    };
    let (got, answered_before_it_was_shown) = tokio::join!(push, look);
    assert_eq!((got.status, answered_before_it_was_shown), (200, false));
    assert!(began.elapsed().as_millis() >= 200);
}

#[tokio::test]
async fn impossible_rules_are_refused_and_change_nothing() {
    let desk = Desk::open();
    desk.faults(json!([{ "endpoint": "push", "kind": "rate_limited" }])).await;
    for (rule, why) in [
        (json!({ "endpoint": "pusj", "kind": "drop_before" }), "rules[0]: no endpoint `pusj`"),
        (json!({ "kind": "status" }), "rules[0]: this kind needs `code`"),
        (json!({ "kind": "proxy" }), "rules[0]: this kind needs `code`"),
        (json!({ "kind": "proxy", "code": 200, "headers": { "a b": "" } }), "rules[0]: `headers`: `a b` and its value"),
        (json!({ "kind": "status", "code": 99 }), "rules[0]: `code` is from 200 to 599"),
        (json!({ "kind": "drop_before", "percent": 101 }), "rules[0]: percent is from 0 to 100"),
        (json!({ "kind": "drop" }), "the body can't be read: unknown variant `drop`"),
        (json!({ "kind": "drop_before", "time": 1 }), "the body can't be read: unknown field `time`"),
    ] {
        let request = desk.request(Method::PUT, "/control/faults").json(&json!({ "rules": [rule] }));
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 400);
        let body: Value = response.json().await.unwrap();
        assert!(body["message"].as_str().unwrap().starts_with(why), "{body}");
    }
    assert_eq!(desk.get("/control/faults").await.json()["rules"][0]["kind"], json!("rate_limited"));
}

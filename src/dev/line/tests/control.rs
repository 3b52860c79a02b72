//! The rest of the control API.

use reqwest::Method;
use serde_json::json;

use super::{Desk, Got, KEY};

#[tokio::test]
async fn users_are_made_changed_and_listed() {
    let desk = Desk::open();
    let id = "U0123456789abcdef0123456789abcdef";
    let made = desk.control(Method::POST, "/users", json!({ "userId": id, "name": "太郎" })).await;
    assert_eq!(made, json!({ "userId": id, "name": "太郎", "relations": { "main": "friend", "other": "friend" } }));
    let order = json!({ "userId": id, "name": "太郎", "relation": "blocked", "channels": ["main"] });
    let changed = desk.control(Method::POST, "/users", order).await;
    assert_eq!(changed["relations"], json!({ "main": "blocked", "other": "friend" }));
    assert_eq!(desk.get("/control/users").await.json()["users"], json!([changed]));
    assert_eq!(desk.get(&format!("/control/users/{id}")).await.json(), changed);
}

#[tokio::test]
async fn many_users_are_made_at_once() {
    let desk = Desk::open();
    let made = desk.control(Method::POST, "/users", json!({ "name": "客", "count": 200 })).await;
    assert_eq!(made["users"].as_array().unwrap().len(), 200);
    let last = made["users"][199].as_str().unwrap();
    assert_eq!(desk.get(&format!("/control/users/{last}")).await.json()["name"], json!("客 200"));
}

#[tokio::test]
async fn errors_say_what_is_wrong() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    for (method, path, body, status, why) in [
        (Method::POST, "/users".to_owned(), json!({ "nam": "x" }), 400, "unknown field `nam`"),
        (Method::POST, "/users".to_owned(), json!({ "userId": "hanako" }), 400, "`U` and 32 lower-case hex digits"),
        (
            Method::POST,
            "/users".to_owned(),
            json!({ "channels": ["man"] }),
            404,
            "no channel `man`; there are: main, other",
        ),
        (Method::POST, "/users/Uffff/id-token".to_owned(), json!({}), 404, "no user Uffff"),
        (
            Method::POST,
            format!("/users/{hanako}/id-token"),
            json!({ "channel": "other", "alg": "HS256" }),
            400,
            "no login channel secret",
        ),
        (Method::PATCH, "/settings".to_owned(), json!({ "latencyMs": { "pusj": 1 } }), 400, "no endpoint `pusj`"),
        (Method::PATCH, "/settings".to_owned(), json!({ "ratePerSecond": 0 }), 400, "ratePerSecond is above 0"),
        (Method::GET, "/pushes?chanel=main".to_owned(), json!({}), 400, "no query member `chanel`"),
        (Method::GET, "/pushes?limit=x".to_owned(), json!({}), 400, "`limit` can't be `x`"),
        (Method::GET, "/phones".to_owned(), json!({}), 404, "no control GET /control/phones"),
    ] {
        let sent = desk.request(method, &format!("/control{path}")).json(&body).send().await.unwrap();
        let got = Got::read(sent).await;
        assert_eq!(got.status, status, "{path}");
        assert!(got.message().contains(why), "{path}: {}", got.text);
    }
}

#[tokio::test]
async fn accepted_pushes_are_listed_filtered_and_without_their_messages() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let taro = desk.user(json!({ "relation": "blocked" })).await;
    desk.push(&hanako, Some(KEY)).await;
    desk.push(&hanako, None).await;
    desk.push(&taro, None).await;
    let list = async |query: &str| desk.get(&format!("/control/pushes?{query}")).await.json();
    assert_eq!(list(&format!("user={hanako}")).await["total"], json!(2));
    let hidden = list("shown=false").await;
    assert_eq!((&hidden["total"], &hidden["pushes"][0]["userId"]), (&json!(1), &json!(taro)));
    let keyed = list(&format!("retryKey={KEY}&messages=false")).await;
    assert_eq!((&keyed["total"], keyed["pushes"][0].get("messages")), (&json!(1), None));
    let paged = list("after=1&limit=1").await;
    assert_eq!((&paged["total"], &paged["pushes"][0]["ordinal"]), (&json!(3), &json!(2)));
    assert_eq!(paged["pushes"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn the_log_lists_each_request() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    desk.faults(json!([{ "endpoint": "push", "kind": "rate_limited", "times": 1 }])).await;
    let first = desk.push(&hanako, Some(KEY)).await;
    desk.get("/v2/bot/info").await;
    let log = desk.get("/control/requests/log?endpoint=push").await.json();
    assert_eq!(log["requests"].as_array().unwrap().len(), 1);
    let entry = &log["requests"][0];
    assert_eq!(entry["requestId"].as_str(), first.request_id.as_deref());
    assert_eq!((&entry["retryKey"], &entry["channel"]), (&json!(KEY), &json!("main")));
    assert_eq!((&entry["outcome"], &entry["fault"]), (&json!("429"), &json!("rate_limited")));
    let later = desk.get("/control/requests/log?after=1").await.json();
    assert_eq!(later["requests"][0]["endpoint"], json!("info"));
}

#[tokio::test]
async fn channels_show_no_secrets() {
    let desk = Desk::open();
    let shown = desk.get("/control/channels").await;
    assert_eq!(shown.json()["channels"][0]["messagingChannelId"], json!(super::MESSAGING));
    for secret in [super::SECRET, super::TOKEN, super::LOGIN_SECRET] {
        assert!(!shown.text.contains(secret));
    }
}

#[tokio::test]
async fn a_reset_forgets_users_and_settings_but_no_keys() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let kid = desk.get("/control/settings").await.json()["kid"].clone();
    desk.push(&hanako, Some(KEY)).await;
    desk.settings(json!({ "advanceMs": 5_000_000, "jwksUp": false })).await;
    desk.faults(json!([{ "kind": "drop_before" }])).await;
    desk.control(Method::PATCH, "/channels/main", json!({ "quota": 1 })).await;
    desk.control(Method::POST, "/reset", json!({})).await;
    assert_eq!(desk.get("/oauth2/v2.1/certs").await.status, 200);
    assert_eq!(desk.get("/v2/bot/message/quota").await.json(), json!({ "type": "none" }));
    assert_eq!((desk.accepted().await, desk.push(&hanako, Some(KEY)).await.status), (0, 400));
    let settings = desk.get("/control/settings").await.json();
    assert_eq!((&settings["clockOffsetMs"], &settings["kid"]), (&json!(0), &kid));
}

#[tokio::test]
async fn the_same_process_may_ask_without_http() {
    let desk = Desk::open();
    let hanako = desk.line.make_user("花子").unwrap();
    desk.push(&hanako, None).await;
    assert_eq!(desk.line.phone(&hanako).unwrap(), desk.phone(&hanako).await);
    let token = desk.line.id_token(&hanako, "main").unwrap();
    let form = [("id_token", token.as_str()), ("client_id", super::LOGIN)];
    assert_eq!(desk.form("/oauth2/v2.1/verify", &form).await.status, 200);
    let refused = desk.line.id_token(&hanako, "man").unwrap_err();
    assert_eq!(refused.status, 404);
}

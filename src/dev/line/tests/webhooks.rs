//! Webhooks, as a server receives them.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Desk, SECRET};
use crate::dev::line::webhooks::sign;
use crate::stub::{self, Reply, Request, Stub};

/// A server that answers every webhook with a status.
struct Server(Stub);

impl Server {
    fn answering(status: u16) -> Self {
        Self(Stub::start(move |_| Reply::text(status, "")))
    }

    fn url(&self) -> String {
        format!("{}/webhook/main", self.0.url())
    }

    /// Returns the request that came last.
    fn got(&self) -> Request {
        self.0.requests().pop().unwrap()
    }
}

fn events(request: &Request) -> Vec<Value> {
    serde_json::from_str::<Value>(&request.body).unwrap()["events"].as_array().unwrap().clone()
}

async fn order(desk: &Desk, order: Value) -> Vec<Value> {
    desk.control(Method::POST, "/webhooks", order).await["deliveries"].as_array().unwrap().clone()
}

#[tokio::test]
async fn events_of_several_users_come_signed_in_one_body() {
    let (desk, server) = (Desk::open(), Server::answering(200));
    desk.line.set_webhook_url("main", &server.url()).unwrap();
    let (hanako, taro) = (desk.hanako().await, desk.hanako().await);
    let events = json!({ "events": [
        { "type": "follow", "userId": hanako },
        { "type": "somethingNew", "userId": taro, "webhookEventId": "given" },
    ] });
    let sent = order(&desk, events).await;
    let got = server.got();
    assert_eq!((&sent[0]["status"], &sent[0]["reason"]), (&json!(200), &json!("OK")));
    assert!(got.head.starts_with("POST /webhook/main HTTP/1.1"));
    assert!(got.head.contains(&format!("x-line-signature: {}", sign(SECRET, got.body.as_bytes()))), "{}", got.head);
    assert!(got.head.contains("content-type: application/json; charset=utf-8"));

    let body: Value = serde_json::from_str(&got.body).unwrap();
    assert_eq!(body["destination"], desk.get("/v2/bot/info").await.json()["userId"]);
    let first = &body["events"][0];
    assert_eq!(first["source"], json!({ "type": "user", "userId": hanako }));
    assert_eq!((&first["mode"], &first["deliveryContext"]), (&json!("active"), &json!({ "isRedelivery": false })));
    assert_eq!(first["webhookEventId"].as_str().unwrap().len(), 26);
    assert!(first["timestamp"].is_i64() && first["replyToken"].is_string());
    assert_eq!((&body["events"][1]["webhookEventId"], body["events"][1].get("replyToken")), (&json!("given"), None));
}

#[tokio::test]
async fn one_request_for_each_event_and_duplicates() {
    let (desk, server) = (Desk::open(), Server::answering(200));
    desk.line.set_webhook_url("main", &server.url()).unwrap();
    let hanako = desk.hanako().await;
    let ordered = json!([{ "type": "follow", "userId": hanako }, { "type": "unfollow", "userId": hanako }]);
    let sent = order(&desk, json!({ "events": ordered, "batch": false, "duplicate": 1 })).await;
    let got = server.0.requests();
    assert_eq!(sent.len(), 4);
    let kinds: Vec<_> = got.iter().map(|request| events(request)[0]["type"].clone()).collect();
    assert_eq!(kinds, ["follow", "follow", "unfollow", "unfollow"]);
    assert_eq!(got[0].body, got[1].body, "a duplicate is the same to the byte");
}

#[tokio::test]
async fn signatures_can_be_wrong_or_missing_and_headers_in_title_case() {
    let (desk, server) = (Desk::open(), Server::answering(401));
    let url = server.url();
    order(&desk, json!({ "url": url, "signature": "wrong", "headerCase": "title" })).await;
    let got = server.got();
    let right = sign(SECRET, got.body.as_bytes());
    assert!(got.head.contains("X-Line-Signature: ") && !got.head.contains(&right), "{}", got.head);
    assert!(events(&got).is_empty());

    let sent = order(&desk, json!({ "url": url, "signature": "missing" })).await;
    let got = server.got();
    assert!(!got.head.to_lowercase().contains("x-line-signature"));
    assert_eq!((&sent[0]["status"], &sent[0]["reason"]), (&json!(401), &json!("ERROR_STATUS_CODE")));
}

#[tokio::test]
async fn any_bytes_can_be_signed() {
    let (desk, server) = (Desk::open(), Server::answering(400));
    order(&desk, json!({ "url": server.url(), "rawBody": "{" })).await;
    let got = server.got();
    assert_eq!(got.body, "{");
    assert!(got.head.contains(&sign(SECRET, b"{")));
}

#[tokio::test]
async fn another_secret_signs_while_one_is_replaced() {
    let (desk, server) = (Desk::open(), Server::answering(200));
    order(&desk, json!({ "url": server.url(), "secret": "old" })).await;
    let got = server.got();
    assert!(got.head.contains(&sign("old", got.body.as_bytes())));
    desk.control(Method::PATCH, "/channels/main", json!({ "channelSecret": "new" })).await;
    order(&desk, json!({ "url": server.url() })).await;
    let got = server.got();
    assert!(got.head.contains(&sign("new", got.body.as_bytes())));
}

#[tokio::test]
async fn a_block_and_an_unblock_send_unfollow_and_follow() {
    let (desk, server) = (Desk::open(), Server::answering(200));
    desk.line.set_webhook_url("main", &server.url()).unwrap();
    let hanako = desk.hanako().await;
    let path = format!("/users/{hanako}/relation");
    let change = |relation: &str| json!({ "channel": "main", "relation": relation, "webhook": true });
    desk.control(Method::PUT, &path, change("blocked")).await;
    assert_eq!(events(&server.got())[0]["type"], json!("unfollow"));
    assert_eq!(desk.push(&hanako, None).await.status, 200);
    desk.control(Method::PUT, &path, change("friend")).await;
    let got = events(&server.got());
    assert_eq!((&got[0]["type"], &got[0]["follow"]), (&json!("follow"), &json!({ "isUnblocked": true })));
    assert!(desk.phone(&hanako).await.is_empty(), "what came meanwhile stays lost");
}

#[tokio::test]
async fn a_refused_connection_is_an_answer_too() {
    let desk = Desk::open();
    let closed = stub::unreachable_url();
    let sent = order(&desk, json!({ "url": closed })).await;
    assert_eq!((&sent[0]["status"], &sent[0]["reason"]), (&json!(0), &json!("COULD_NOT_CONNECT")));
    let response = desk.request(Method::POST, "/control/webhooks").json(&json!({})).send().await.unwrap();
    assert_eq!(response.status(), 409);
    let text = response.text().await.unwrap();
    assert!(text.contains("channel `main` has no webhook URL"), "{text}");
}

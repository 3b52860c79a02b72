//! Webhooks, as somebody who listens receives them.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::{Desk, SECRET};
use crate::dev::line::webhooks::sign;

/// Somebody who listens for webhooks and keeps the bytes.
struct Listener(TcpListener);

/// A request as it was on the wire.
struct Received {
    head: String,
    body: String,
}

impl Listener {
    async fn open() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    fn url(&self) -> String {
        format!("http://{}/webhook/main", self.0.local_addr().unwrap())
    }

    /// Takes one request on a connection of its own and answers this status.
    async fn take(&self, status: &str) -> Received {
        let (mut stream, _) = self.0.accept().await.unwrap();
        let mut bytes = Vec::new();
        let received = loop {
            let mut part = [0; 4096];
            let read = stream.read(&mut part).await.unwrap();
            assert!(read > 0, "the request ended early");
            bytes.extend_from_slice(&part[..read]);
            if let Some(received) = whole(&bytes) {
                break received;
            }
        };
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        stream.write_all(answer.as_bytes()).await.unwrap();
        received
    }
}

fn whole(bytes: &[u8]) -> Option<Received> {
    let text = String::from_utf8(bytes.to_vec()).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let length: usize =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok())?;
    (body.len() == length).then(|| Received { head: head.to_owned(), body: body.to_owned() })
}

impl Received {
    fn events(&self) -> Vec<Value> {
        serde_json::from_str::<Value>(&self.body).unwrap()["events"].as_array().unwrap().clone()
    }
}

async fn order(desk: &Desk, order: Value) -> Vec<Value> {
    desk.control(Method::POST, "/webhooks", order).await["deliveries"].as_array().unwrap().clone()
}

#[tokio::test]
async fn events_of_several_users_come_signed_in_one_body() {
    let (desk, listener) = (Desk::open(), Listener::open().await);
    desk.line.set_webhook_url("main", &listener.url()).unwrap();
    let (hanako, taro) = (desk.hanako().await, desk.hanako().await);
    let events = json!({ "events": [
        { "type": "follow", "userId": hanako },
        { "type": "somethingNew", "userId": taro, "webhookEventId": "given" },
    ] });
    let (sent, got) = tokio::join!(order(&desk, events), listener.take("200 OK"));
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
    let (desk, listener) = (Desk::open(), Listener::open().await);
    desk.line.set_webhook_url("main", &listener.url()).unwrap();
    let hanako = desk.hanako().await;
    let events = json!([{ "type": "follow", "userId": hanako }, { "type": "unfollow", "userId": hanako }]);
    let take_all = async {
        let mut all = Vec::new();
        for _ in 0..4 {
            all.push(listener.take("200 OK").await);
        }
        all
    };
    let (sent, got) = tokio::join!(order(&desk, json!({ "events": events, "batch": false, "duplicate": 1 })), take_all);
    assert_eq!(sent.len(), 4);
    let kinds: Vec<_> = got.iter().map(|request| request.events()[0]["type"].clone()).collect();
    assert_eq!(kinds, ["follow", "follow", "unfollow", "unfollow"]);
    assert_eq!(got[0].body, got[1].body, "a duplicate is the same to the byte");
}

#[tokio::test]
async fn signatures_can_be_wrong_or_missing_and_headers_in_title_case() {
    let (desk, listener) = (Desk::open(), Listener::open().await);
    let url = listener.url();
    let (_, got) = tokio::join!(
        order(&desk, json!({ "url": url, "signature": "wrong", "headerCase": "title" })),
        listener.take("401 Unauthorized")
    );
    let right = sign(SECRET, got.body.as_bytes());
    assert!(got.head.contains("X-Line-Signature: ") && !got.head.contains(&right), "{}", got.head);
    assert!(got.events().is_empty());

    let (sent, got) =
        tokio::join!(order(&desk, json!({ "url": url, "signature": "missing" })), listener.take("401 Unauthorized"));
    assert!(!got.head.to_lowercase().contains("x-line-signature"));
    assert_eq!((&sent[0]["status"], &sent[0]["reason"]), (&json!(401), &json!("ERROR_STATUS_CODE")));
}

#[tokio::test]
async fn any_bytes_can_be_signed() {
    let (desk, listener) = (Desk::open(), Listener::open().await);
    let (_, got) =
        tokio::join!(order(&desk, json!({ "url": listener.url(), "rawBody": "{" })), listener.take("400 Bad Request"));
    assert_eq!(got.body, "{");
    assert!(got.head.contains(&sign(SECRET, b"{")));
}

#[tokio::test]
async fn another_secret_signs_while_one_is_replaced() {
    let (desk, listener) = (Desk::open(), Listener::open().await);
    let (_, got) =
        tokio::join!(order(&desk, json!({ "url": listener.url(), "secret": "old" })), listener.take("200 OK"));
    assert!(got.head.contains(&sign("old", got.body.as_bytes())));
    desk.control(Method::PATCH, "/channels/main", json!({ "channelSecret": "new" })).await;
    let (_, got) = tokio::join!(order(&desk, json!({ "url": listener.url() })), listener.take("200 OK"));
    assert!(got.head.contains(&sign("new", got.body.as_bytes())));
}

#[tokio::test]
async fn blocking_and_coming_back_is_told() {
    let (desk, listener) = (Desk::open(), Listener::open().await);
    desk.line.set_webhook_url("main", &listener.url()).unwrap();
    let hanako = desk.hanako().await;
    let path = format!("/users/{hanako}/relation");
    let change = |relation: &str| json!({ "channel": "main", "relation": relation, "webhook": true });
    let (_, got) = tokio::join!(desk.control(Method::PUT, &path, change("blocked")), listener.take("200 OK"));
    assert_eq!(got.events()[0]["type"], json!("unfollow"));
    assert_eq!(desk.push(&hanako, None).await.status, 200);
    let (_, got) = tokio::join!(desk.control(Method::PUT, &path, change("friend")), listener.take("200 OK"));
    assert_eq!(
        (&got.events()[0]["type"], &got.events()[0]["follow"]),
        (&json!("follow"), &json!({ "isUnblocked": true }))
    );
    assert!(desk.phone(&hanako).await.is_empty(), "what came meanwhile stays lost");
}

#[tokio::test]
async fn nobody_there_is_an_answer_too() {
    let desk = Desk::open();
    let closed = format!("http://{}/", Listener::open().await.0.local_addr().unwrap());
    let sent = order(&desk, json!({ "url": closed })).await;
    assert_eq!((&sent[0]["status"], &sent[0]["reason"]), (&json!(0), &json!("COULD_NOT_CONNECT")));
    let response = desk.request(Method::POST, "/control/webhooks").json(&json!({})).send().await.unwrap();
    assert_eq!(response.status(), 409);
    let text = response.text().await.unwrap();
    assert!(text.contains("channel `main` has no webhook URL"), "{text}");
}

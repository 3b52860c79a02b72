//! Replies: one use of a token, within a minute, never with a retry key.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Desk, Got, KEY, TOKEN, text};

/// Sends a postback of the user into the void and answers the event as it was sent.
async fn postback(desk: &Desk, user_id: &str) -> Value {
    let event = json!({ "type": "postback", "userId": user_id, "postback": { "data": "x" } });
    send(desk, json!({ "events": [event] })).await
}

async fn send(desk: &Desk, mut order: Value) -> Value {
    order["url"] = json!(format!("{}/nowhere", desk.line.base_url()));
    desk.control(Method::POST, "/webhooks", order).await["deliveries"][0]["events"][0].clone()
}

async fn reply(desk: &Desk, token: &Value) -> Got {
    desk.post("/v2/bot/message/reply", &json!({ "replyToken": token, "messages": [text("はい")] })).await
}

#[tokio::test]
async fn a_reply_token_works_once_and_is_free() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let event = postback(&desk, &hanako).await;
    assert_eq!(reply(&desk, &event["replyToken"]).await.status, 200);
    assert_eq!(desk.phone(&hanako).await[0]["kind"], json!("reply"));
    assert_eq!(desk.get("/v2/bot/message/quota/consumption").await.json()["totalUsage"], json!(0));
    let again = reply(&desk, &event["replyToken"]).await;
    assert_eq!((again.status, again.json()), (400, json!({ "message": "Invalid reply token" })));
}

#[tokio::test]
async fn a_reply_token_is_good_for_a_minute_and_again_after_redelivery() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let event = postback(&desk, &hanako).await;
    desk.settings(json!({ "advanceMs": 61_000 })).await;
    assert_eq!(reply(&desk, &event["replyToken"]).await.message(), "Invalid reply token");
    let again = send(&desk, json!({ "events": [event], "redelivery": true })).await;
    assert_eq!(again["deliveryContext"]["isRedelivery"], json!(true));
    assert_eq!((&again["webhookEventId"], &again["replyToken"]), (&event["webhookEventId"], &event["replyToken"]));
    assert_eq!(reply(&desk, &event["replyToken"]).await.status, 200);
}

#[tokio::test]
async fn a_redelivery_can_be_too_late_for_the_token() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let event = postback(&desk, &hanako).await;
    desk.settings(json!({ "advanceMs": 20 * 60_000 + 1000 })).await;
    send(&desk, json!({ "events": [event], "redelivery": true })).await;
    assert_eq!(reply(&desk, &event["replyToken"]).await.message(), "Invalid reply token");
}

#[tokio::test]
async fn dummy_tokens_and_retry_keys_are_refused() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    assert_eq!(reply(&desk, &json!("0".repeat(32))).await.message(), "Invalid reply token");
    let event = postback(&desk, &hanako).await;
    let body = json!({ "replyToken": event["replyToken"], "messages": [text("はい")] });
    let request = desk.request(Method::POST, "/v2/bot/message/reply").bearer_auth(TOKEN).json(&body);
    assert_eq!(request.header("x-line-retry-key", KEY).send().await.unwrap().status(), 400);
    assert_eq!(reply(&desk, &event["replyToken"]).await.status, 200, "the refused one didn't use it up");
}

#[tokio::test]
async fn a_standby_event_has_no_reply_token() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let event = json!({ "type": "postback", "userId": hanako, "mode": "standby", "postback": { "data": "x" } });
    assert_eq!(send(&desk, json!({ "events": [event] })).await.get("replyToken"), None);
}

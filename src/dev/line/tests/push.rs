//! Pushes: who receives them, retry keys, limits.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Desk, Got, KEY, TOKEN, flex, text};

#[tokio::test]
async fn a_friend_sees_the_message_once() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let got = desk.push_messages(&hanako, Some(KEY), json!([text("一"), text("二")])).await;
    assert_eq!(got.status, 200);
    let sent = got.json()["sentMessages"].clone();
    assert!(sent[0]["id"].as_str().unwrap().bytes().all(|b| b.is_ascii_digit()));
    assert!(sent[1]["quoteToken"].is_string());

    let phone = desk.phone(&hanako).await;
    assert_eq!(phone.len(), 2);
    assert_eq!((&phone[0]["message"], &phone[1]["message"]), (&text("一"), &text("二")));
    assert_eq!((&phone[0]["id"], &phone[0]["retryKey"]), (&sent[0]["id"], &json!(KEY)));
    assert_eq!((phone[0]["requestId"].as_str(), &phone[0]["channel"]), (got.request_id.as_deref(), &json!("main")));
}

#[tokio::test]
async fn silent_recipients_are_accepted_and_see_nothing() {
    let desk = Desk::open();
    for relation in ["blocked", "notFriend", "deleted"] {
        let user = desk.user(json!({ "relation": relation })).await;
        assert_eq!(desk.push(&user, None).await.status, 200, "{relation}");
        assert!(desk.phone(&user).await.is_empty(), "{relation}");
    }
    let pushes = desk.get("/control/pushes").await.json();
    assert_eq!((&pushes["total"], &pushes["shown"]), (&json!(3), &json!(0)));
    assert_eq!(desk.get("/v2/bot/message/quota/consumption").await.json(), json!({ "totalUsage": 0 }));
}

#[tokio::test]
async fn a_user_who_wrote_lately_is_reached_without_being_a_friend() {
    let desk = Desk::open();
    let taro = desk.user(json!({ "friend": false })).await;
    let event = json!({ "type": "message", "userId": taro, "message": { "type": "text", "id": "1", "text": "やあ" } });
    // Nothing listens there; that the user wrote is true all the same.
    let url = format!("{}/v2/nowhere", desk.line.base_url());
    desk.control(Method::POST, "/webhooks", json!({ "events": [event], "url": url })).await;
    assert_eq!(desk.push(&taro, None).await.status, 200);
    assert_eq!(desk.phone(&taro).await.len(), 1);
    desk.settings(json!({ "advanceMs": 7 * 24 * 3_600_000_i64 + 1000 })).await;
    desk.push(&taro, None).await;
    assert_eq!(desk.phone(&taro).await.len(), 1);
}

#[tokio::test]
async fn a_stranger_fails_and_a_malformed_recipient_is_distinguished() {
    let desk = Desk::open();
    for to in ["U0123456789abcdef0123456789abcdef", "C0123456789abcdef0123456789abcdef"] {
        let got = desk.push(to, None).await;
        assert_eq!((got.status, got.json()), (400, json!({ "message": "Failed to send messages" })));
    }
    let elsewhere = desk.user(json!({ "channels": ["other"] })).await;
    assert_eq!(desk.push(&elsewhere, None).await.message(), "Failed to send messages");
    for to in ["hanako", "Uabc", "U0123456789ABCDEF0123456789ABCDEF"] {
        let got = desk.push(to, None).await;
        let text = "The property, 'to', in the request body is invalid (line: -, column: -)";
        assert_eq!((got.status, got.message().as_str()), (400, text), "{to}");
    }
}

#[tokio::test]
async fn the_same_retry_key_is_a_conflict_that_repeats_the_first_answer() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let first = desk.push(&hanako, Some(KEY)).await;
    let second = desk.push(&hanako, Some(&KEY.to_uppercase())).await;
    assert_eq!((second.status, second.message().as_str()), (409, "The retry key is already accepted"));
    assert_eq!(second.accepted_request_id, first.request_id);
    assert_ne!(second.request_id, first.request_id);
    assert_eq!(second.json()["sentMessages"], first.json()["sentMessages"]);
    assert_eq!(desk.phone(&hanako).await.len(), 1);
    assert_eq!(desk.accepted().await, 1);
}

#[tokio::test]
async fn a_retry_key_belongs_to_its_channel() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let change = json!({ "accessToken": "token-of-other" });
    desk.control(Method::PATCH, "/channels/other", change).await;
    assert_eq!(desk.push(&hanako, Some(KEY)).await.status, 200);
    let other = desk.push_request(&hanako, Some(KEY), &json!([text("x")])).build().unwrap();
    let mut other = other;
    other.headers_mut().insert("authorization", "Bearer token-of-other".parse().unwrap());
    assert_eq!(desk.client.execute(other).await.unwrap().status(), 200);
    assert_eq!(desk.phone(&hanako).await.len(), 2);
}

#[tokio::test]
async fn a_retry_key_is_forgotten_after_a_day() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    desk.push(&hanako, Some(KEY)).await;
    desk.settings(json!({ "advanceMs": 24 * 3_600_000 - 60_000 })).await;
    assert_eq!(desk.push(&hanako, Some(KEY)).await.status, 409);
    desk.settings(json!({ "advanceMs": 60_000 })).await;
    assert_eq!(desk.push(&hanako, Some(KEY)).await.status, 200);
    let keys = desk.get("/control/retry-keys").await.json();
    assert_eq!(keys["retryKeys"][0]["accepted"], json!(2), "a double is seen");
}

#[tokio::test]
async fn the_control_api_distinguishes_a_repeat_from_another_message_under_the_same_key() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    desk.push(&hanako, Some(KEY)).await;
    desk.push(&hanako, Some(KEY)).await;
    desk.push_messages(&hanako, Some(KEY), json!([text("ちがう")])).await;
    let keys = desk.get("/control/retry-keys?channel=main").await.json();
    let expected = json!({ "channel": "main", "retryKey": KEY, "accepted": 1, "conflicts": 2, "changedBody": 1 });
    assert_eq!(keys["retryKeys"], json!([expected]));
}

#[tokio::test]
async fn a_retry_key_must_be_a_uuid_and_a_refused_push_doesnt_use_it_up() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    for key in ["STAMP#001", "123e4567e89b12d3a456426614174000"] {
        assert_eq!(desk.push(&hanako, Some(key)).await.status, 400, "{key}");
    }
    assert_eq!(desk.push_messages(&hanako, Some(KEY), json!([])).await.status, 400);
    assert_eq!(desk.push(&hanako, Some(KEY)).await.status, 200);
}

#[tokio::test]
async fn two_at_once_with_one_key_make_one_message() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let (one, two) = tokio::join!(desk.push(&hanako, Some(KEY)), desk.push(&hanako, Some(KEY)));
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
    assert_eq!(desk.phone(&hanako).await.len(), 1);
}

#[tokio::test]
async fn tokens_are_asked_for_in_lines_words() {
    let desk = Desk::open();
    let send = async |request: reqwest::RequestBuilder| Got::read(request.send().await.unwrap()).await;
    let none = send(desk.request(Method::POST, "/v2/bot/message/push").json(&json!({}))).await;
    assert_eq!(none.status, 401);
    assert_eq!(
        none.message(),
        "Authorization header required. Must follow the scheme, 'Authorization: Bearer <ACCESS TOKEN>'"
    );
    let wrong = send(desk.request(Method::POST, "/v2/bot/message/push").bearer_auth("x").json(&json!({}))).await;
    assert_eq!(wrong.status, 401);
    assert_eq!(
        wrong.message(),
        "Authentication failed. Confirm that the access token in the authorization header is valid."
    );
}

#[tokio::test]
async fn bodies_that_are_no_push_are_refused_by_shape() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let raw = |body: &str| {
        desk.request(Method::POST, "/v2/bot/message/push")
            .bearer_auth(TOKEN)
            .header("content-type", "application/json")
            .body(body.to_owned())
    };
    let got = Got::read(raw("{\n \"to\": }").send().await.unwrap()).await;
    assert_eq!(got.message(), "The request body could not be parsed as JSON (line: 2, column: 8)");

    for (body, detail) in [
        (json!({ "messages": [text("x")] }), ("May not be empty", "to")),
        (json!({ "to": hanako }), ("May not be empty", "messages")),
        (json!({ "to": hanako, "messages": [] }), ("Size must be between 1 and 5", "messages")),
        (json!({ "to": hanako, "messages": vec![text("x"); 6] }), ("Size must be between 1 and 5", "messages")),
        (json!({ "to": hanako, "messages": [text("x"), text("")] }), ("May not be empty", "messages[1].text")),
        (
            json!({ "to": hanako, "messages": [text(&"あ".repeat(5001))] }),
            ("Length must be between 0 and 5000", "messages[0].text"),
        ),
        (
            json!({ "to": hanako, "messages": [{ "type": "flex", "altText": "x" }] }),
            ("May not be empty", "messages[0].contents"),
        ),
    ] {
        let got = desk.post("/v2/bot/message/push", &body).await;
        assert_eq!((got.status, got.message().as_str()), (400, "The request body has 1 error(s)"), "{body}");
        assert_eq!(got.detail(), (detail.0.to_owned(), detail.1.to_owned()));
    }
    let got = desk.post("/v2/bot/message/push", &json!({ "to": hanako, "messages": [{ "type": "flux" }] })).await;
    assert!(got.detail().0.starts_with("Must be one of the following values: ["));
    assert_eq!(desk.accepted().await, 0);
}

#[tokio::test]
async fn one_bad_message_rejects_the_whole_push() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let (bubble, unknown) = (json!({ "type": "bubble" }), json!({ "type": "balloon" }));
    let messages = json!([flex(&bubble), flex(&unknown)]);
    let got = desk.push_messages(&hanako, None, messages).await;
    assert_eq!((got.status, got.message().as_str()), (400, "A message (messages[1]) in the request body is invalid"));
    assert!(desk.phone(&hanako).await.is_empty());
    let mut long = flex(&bubble);
    long["altText"] = json!("あ".repeat(1501));
    let got = desk.push_messages(&hanako, None, json!([long])).await;
    assert_eq!(got.detail(), ("Length must be between 0 and 1500".to_owned(), "messages[0].altText".to_owned()));
}

#[tokio::test]
async fn a_validated_message_is_checked_as_a_pushed_one_and_not_sent() {
    let desk = Desk::open();
    let validate = async |contents: Value| {
        desk.post("/v2/bot/message/validate/push", &json!({ "messages": [flex(&contents)] })).await
    };
    let taken = validate(json!({ "type": "carousel", "contents": [] })).await;
    assert_eq!((taken.status, taken.json()), (200, json!({})));
    let refused = validate(json!({ "type": "balloon" })).await;
    assert_eq!(refused.message(), "A message (messages[0]) in the request body is invalid");
    assert_eq!(refused.detail(), ("invalid property".to_owned(), "/type".to_owned()));
    assert_eq!(desk.accepted().await, 0);
}

#[tokio::test]
async fn more_than_two_megabytes_are_too_large() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let got = desk.push_messages(&hanako, None, json!([text(&"x".repeat(2 * 1024 * 1024))])).await;
    assert_eq!(got.status, 413);
    assert!(got.request_id.is_some());
}

#[tokio::test]
async fn other_content_types_are_unsupported() {
    let desk = Desk::open();
    let got = desk.request(Method::POST, "/v2/bot/message/push").bearer_auth(TOKEN).body("x").send().await.unwrap();
    assert_eq!(got.status(), 415);
}

#[tokio::test]
async fn the_monthly_limit_ends_with_the_month() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    desk.control(Method::PATCH, "/channels/main", json!({ "quota": 2, "used": 1 })).await;
    assert_eq!(desk.get("/v2/bot/message/quota").await.json(), json!({ "type": "limited", "value": 2 }));
    // One recipient counts once, however many messages there are.
    assert_eq!(desk.push_messages(&hanako, Some(KEY), json!([text("一"), text("二")])).await.status, 200);
    assert_eq!(desk.get("/v2/bot/message/quota/consumption").await.json(), json!({ "totalUsage": 2 }));
    let got = desk.push(&hanako, None).await;
    assert_eq!((got.status, got.message().as_str()), (429, "You have reached your monthly limit."));
    assert_eq!(desk.push(&hanako, Some(KEY)).await.status, 409, "what was accepted stays accepted");
    desk.settings(json!({ "advanceMs": 31 * 24 * 3_600_000_i64 })).await;
    assert_eq!(desk.push(&hanako, None).await.status, 200);
    desk.control(Method::PATCH, "/channels/main", json!({ "quota": null })).await;
    assert_eq!(desk.get("/v2/bot/message/quota").await.json(), json!({ "type": "none" }));
}

#[tokio::test]
async fn the_rate_limit_counts_each_attempt_by_channel_and_endpoint() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    desk.settings(json!({ "ratePerSecond": 0.001, "rateBurst": 2 })).await;
    assert_eq!(desk.push(&hanako, Some(KEY)).await.status, 200);
    assert_eq!(desk.push(&hanako, Some(KEY)).await.status, 409);
    let got = desk.push(&hanako, None).await;
    assert_eq!((got.status, got.message().as_str()), (429, "The API rate limit has been exceeded. Try again later."));
    assert_eq!(desk.get("/v2/bot/info").await.status, 200);
    desk.settings(json!({ "ratePerSecond": null })).await;
    assert_eq!(desk.push(&hanako, None).await.status, 200);
}

#[tokio::test]
async fn profile_and_info_answer_as_line_does() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let blocked = desk.user(json!({ "relation": "blocked" })).await;
    let profile = async |id: &str| desk.get(&format!("/v2/bot/profile/{id}")).await;
    let got = profile(&hanako).await.json();
    assert_eq!((&got["userId"], &got["displayName"]), (&json!(hanako), &json!("花子")));
    let gone = profile(&blocked).await;
    assert_eq!((gone.status, gone.json()), (404, json!({ "message": "Not found" })));
    assert_eq!(profile("hanako").await.status, 400);
    let info: Value = desk.get("/v2/bot/info").await.json();
    assert_eq!((&info["chatMode"], info["userId"].as_str().unwrap().len()), (&json!("bot"), 33));
}

#[tokio::test]
async fn unknown_paths_are_not_found_and_every_answer_has_a_request_id() {
    let desk = Desk::open();
    let got = desk.get("/v2/bot/nothing").await;
    assert_eq!((got.status, got.request_id.is_some()), (404, true));
    let got = desk.get("/v2/bot/message/push").await;
    assert_eq!((got.status, got.request_id.is_some()), (405, true));
}

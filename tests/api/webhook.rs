//! What LINE tells us: who follows the Official Account, and who has blocked it.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use stamp_rally::domain::time::TimeSource as _;

use super::{
    house::{Answer, CHANNEL, Fittings, House, Person, RALLY, SECRET},
    proxy::{Fault, Often},
};

/// LINE's published known answer ("Verify webhook signature").
const BODY: &str = r#"{"destination":"U8e742f61d673b39c7fff3cecb7536ef0","events":[]}"#;
const SIGNATURE: &str = "GhRKmvmHys4Pi8DxkF4+EayaH0OqtJtaZxgTD9fMDLs=";

/// LINE sends what was ordered; the statuses that it got.
async fn sends(house: &House, order: &Value) -> Vec<u64> {
    let sent = house.control(Method::POST, "/webhooks", order).await.is(200);
    sent.body["deliveries"].as_array().unwrap().iter().map(|sent| sent["status"].as_u64().unwrap()).collect()
}

/// A follow or unfollow, so many seconds after the story began.
fn event(kind: &str, who: &Person<'_>, second: i64) -> Value {
    let at = who.house.clock.now().plus_millis(second * 1000).as_millis();
    json!({"type": kind, "userId": who.id, "timestamp": at, "webhookEventId": format!("01HX{second:022}")})
}

/// What the organiser sees: follows, doesn't, or unknown.
async fn friendship(who: &Person<'_>) -> Option<bool> {
    let seen = who.house.organiser().get(&format!("/{RALLY}/users/{}", who.id)).await.is(200);
    seen.body.get("friendship").map(|friendship| friendship["following"].as_bool().unwrap())
}

/// How many follows and unfollows are stored.
async fn stored(who: &Person<'_>) -> usize {
    use aws_sdk_dynamodb::types::AttributeValue::S;
    let query = who.house.clients.table.query().table_name("line-event").key_condition_expression("PK = :pk");
    let pk = S(format!("CHANNEL#{CHANNEL}#USER#{}", who.id));
    query.expression_attribute_values(":pk", pk).send().await.unwrap().items().len()
}

#[tokio::test]
async fn lines_own_example_is_answered_200() {
    let house = House::open("known answer").await;
    let post = |signature: &str, body: &str| {
        let post =
            house.request(Method::POST, "/webhook/main").header("content-type", "application/json; charset=utf-8");
        Answer::to(post.header("X-Line-Signature", signature).body(body.to_owned()))
    };
    assert_eq!(post(SIGNATURE, BODY).await.is(200).body, json!({}));
    post(SIGNATURE, &format!("{BODY}\n")).await.refuses(401, "signature_invalid");
    post(SIGNATURE, &BODY.replace("[]", "[ ]")).await.refuses(401, "signature_invalid");
    for wrong in ["", "=", &SIGNATURE[1..], &SIGNATURE.to_lowercase(), &format!("sha256={SIGNATURE}")] {
        post(wrong, BODY).await.refuses(401, "signature_invalid");
    }
    let unsigned = house.request(Method::POST, "/webhook/main").body(BODY);
    let refused = Answer::to(unsigned).await.refuses(401, "signature_invalid");
    assert_ne!(refused.header("www-authenticate"), "");
    let twice = house.request(Method::POST, "/webhook/main").header("x-line-signature", SIGNATURE);
    Answer::to(twice.header("x-line-signature", SIGNATURE).body(BODY)).await.refuses(401, "signature_invalid");
    let bare = house.request(Method::POST, "/webhook/main").header("x-line-signature", SIGNATURE);
    Answer::to(bare.body(BODY)).await.is(200);
    house.close().await;
}

#[tokio::test]
async fn while_a_secret_is_replaced_both_are_good() {
    let secrets: &[&str] = &["the-new-secret", SECRET];
    let house = House::fitted("several secrets", Fittings { webhook_secrets: secrets, ..Fittings::default() }).await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    for (second, secret, status) in
        [(1, "the-new-secret", 200), (2, SECRET, 200), (3, "another-secret", 401), (4, "", 401)]
    {
        let kind = if second % 2 == 1 { "follow" } else { "unfollow" };
        let order = json!({"events": [event(kind, &hanako, second)], "secret": secret});
        assert_eq!(sends(&house, &order).await, [status], "{secret}");
    }
    assert_eq!((friendship(&hanako).await, stored(&hanako).await), (Some(false), 2));
    house.close().await;
}

#[tokio::test]
async fn without_a_fact_a_friendship_is_unknown() {
    let house = House::open("unknown friendship").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    assert_eq!(friendship(&hanako).await, None);
    hanako.becomes("blocked").await;
    assert_eq!(friendship(&hanako).await, Some(false));
    house.pass(Duration::from_secs(1)).await;
    hanako.becomes("friend").await;
    assert_eq!(friendship(&hanako).await, Some(true));
    house.close().await;
}

#[tokio::test]
async fn the_newest_counts_whatever_order_they_arrive_in() {
    let orders: [&[(&str, i64)]; 4] = [
        &[("follow", 1), ("unfollow", 2)],
        &[("unfollow", 2), ("follow", 1)],
        &[("unfollow", 2), ("follow", 3), ("follow", 1), ("unfollow", 4)],
        &[("unfollow", 4), ("follow", 1), ("unfollow", 2), ("follow", 3)],
    ];
    for arrivals in orders {
        let house = House::open("newest friendship").await;
        let hanako = house.hanako();
        hanako.register().await.is(201);
        for (kind, second) in arrivals {
            assert_eq!(sends(&house, &json!({"events": [event(kind, &hanako, *second)]})).await, [200]);
        }
        assert_eq!(friendship(&hanako).await, Some(false), "{arrivals:?}");
        assert_eq!(stored(&hanako).await, arrivals.len());
        house.close().await;
    }
}

#[tokio::test]
async fn what_comes_again_changes_nothing() {
    let house = House::open("redelivery").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    let (follow, unfollow) = (event("follow", &hanako, 1), event("unfollow", &hanako, 2));
    assert_eq!(sends(&house, &json!({"events": [follow], "duplicate": 2})).await, [200, 200, 200]);
    assert_eq!(sends(&house, &json!({"events": [unfollow, follow]})).await, [200]);
    assert_eq!(sends(&house, &json!({"events": [follow], "redelivery": true, "duplicate": 1})).await, [200, 200]);
    assert_eq!((friendship(&hanako).await, stored(&hanako).await), (Some(false), 2));
    house.close().await;
}

#[tokio::test]
async fn several_users_come_in_one_body_among_much_that_we_dont_know() {
    let house = House::open("several people").await;
    let (hanako, taro, jiro) = (house.hanako(), house.person("太郎"), house.person("次郎"));
    for person in [&hanako, &taro, &jiro] {
        person.register().await.is(201);
    }
    let mut standby = event("unfollow", &jiro, 3);
    standby["mode"] = json!("standby");
    let events = json!([
        {"type": "message", "userId": hanako.id, "message": {"type": "text", "id": "1", "text": "スタンプ🎉\u{0}"}},
        event("follow", &hanako, 1),
        {"type": "somethingLineInventsTomorrow", "userId": taro.id, "what": {"ever": [1, null]}},
        {"type": "join", "source": {"type": "group", "groupId": "C0123456789abcdef0123456789abcdef"}},
        {"type": "accountLink", "link": {"result": "failed", "nonce": "n"}},
        {"type": "follow", "source": {"type": "user"}},
        {"type": "follow", "source": {"type": "user", "userId": "U#"}},
        event("unfollow", &taro, 2),
        {"type": 7},
        {},
        standby,
    ]);
    assert_eq!(sends(&house, &json!({"events": events})).await, [200]);
    assert_eq!(sends(&house, &json!({"events": [json!(null), json!([]), json!("follow")], "asIs": true})).await, [200]);
    assert_eq!(friendship(&hanako).await, Some(true));
    assert_eq!(friendship(&taro).await, Some(false));
    assert_eq!(friendship(&jiro).await, Some(false));
    house.close().await;
}

#[tokio::test]
async fn a_friendship_belongs_to_its_channel() {
    let house = House::open("friendship of a channel").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    let url = format!("{}/webhook/other", house.url);
    let order = json!({"channel": "other", "url": url, "events": [event("unfollow", &hanako, 1)]});
    assert_eq!(sends(&house, &order).await, [200]);
    assert_eq!((friendship(&hanako).await, stored(&hanako).await), (None, 0), "of another account");
    let wrong_secret = json!({"channel": "main", "url": url, "events": [event("unfollow", &hanako, 2)]});
    assert_eq!(sends(&house, &wrong_secret).await, [401], "a channel's own secret signs for it alone");
    house.close().await;
}

#[tokio::test]
async fn empty_events_and_any_case_of_header_are_answered_200() {
    let house = House::open("empty events").await;
    assert_eq!(sends(&house, &json!({"events": []})).await, [200]);
    assert_eq!(sends(&house, &json!({"events": [], "headerCase": "title"})).await, [200]);
    for body in [
        "{}",
        r#"{"destination":"U1"}"#,
        r#"{"events":null}"#,
        r#" { "events" : [ ] } "#,
        r#"{"events":[],"new":1e999}"#,
    ] {
        assert_eq!(sends(&house, &json!({"rawBody": body})).await, [200], "{body}");
    }
    assert_eq!(house.wire(), [] as [&str; 0]);
    house.close().await;
}

#[tokio::test]
async fn what_is_not_lines_is_refused() {
    let house = House::open("not LINE's").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    house.wire();
    let follow = event("follow", &hanako, 1);
    assert_eq!(sends(&house, &json!({"events": [follow], "signature": "missing"})).await, [401]);
    assert_eq!(sends(&house, &json!({"events": [follow], "signature": "wrong"})).await, [401]);
    for body in ["", "events", "[]", "null", "1", r#"{"events":[}"#, r#"{"events":[]}{}"#, "{\"events\":[]"] {
        assert_eq!(sends(&house, &json!({"rawBody": body})).await, [400], "{body}");
        assert_eq!(sends(&house, &json!({"rawBody": body, "signature": "wrong"})).await, [401], "{body}");
    }
    for name in ["", "nowhere", "MAIN", "main%23", "a%2Fb", "%FF", &"a".repeat(300)] {
        let post = house.request(Method::POST, &format!("/webhook/{name}")).header("x-line-signature", SIGNATURE);
        let code = if name.is_empty() { "not_found" } else { "channel_not_found" };
        Answer::to(post.body(BODY)).await.refuses(404, code);
    }
    let huge = format!("{{\"events\":[],\"x\":\"{}\"}}", "x".repeat(1024 * 1024));
    assert_eq!(sends(&house, &json!({"rawBody": huge})).await, [413]);
    assert_eq!(house.wire(), [] as [&str; 0], "nothing of it reached the store");
    assert_eq!(friendship(&hanako).await, None);
    house.close().await;
}

#[tokio::test]
async fn a_crowd_that_follows_at_once_is_stored_whole() {
    let house = House::open("crowd follows").await;
    let crowd: Vec<_> = (0..60).map(|n| house.person(&format!("{n}番"))).collect();
    let events: Vec<_> = crowd.iter().map(|person| event("follow", person, 1)).collect();
    assert_eq!(sends(&house, &json!({"events": events})).await, [200]);
    for person in &crowd {
        assert_eq!(stored(person).await, 1);
    }
    house.close().await;
}

#[tokio::test]
async fn what_cant_be_stored_now_is_answered_503_and_stored_when_line_comes_again() {
    let house = House::open("store down for webhooks").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.register().await.is(201);
    taro.register().await.is(201);
    let order = json!({"events": [event("follow", &hanako, 1), event("follow", &taro, 1)]});
    house.wire.down();
    assert_eq!(sends(&house, &order).await, [503]);
    house.wire.up();
    assert_eq!(friendship(&hanako).await, None);

    // Of five failures one of the two gets three, and gives up; the other may get through.
    house.wire.inject("PutItem", Fault::Throttled, Often::Next(5));
    assert_eq!(sends(&house, &order).await, [503]);
    house.wire.heal();
    assert_eq!(sends(&house, &json!({"events": order["events"], "redelivery": true})).await, [200]);
    assert_eq!((friendship(&hanako).await, friendship(&taro).await), (Some(true), Some(true)));
    assert_eq!((stored(&hanako).await, stored(&taro).await), (1, 1));

    house.wire.inject("PutItem", Fault::LostAnswer, Often::Next(1));
    assert_eq!(sends(&house, &json!({"events": [event("unfollow", &hanako, 2)]})).await, [200]);
    assert_eq!((friendship(&hanako).await, stored(&hanako).await), (Some(false), 2));
    house.close().await;
}

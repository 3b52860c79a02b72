//! Whatever an organiser's program sends, it is refused by name or stored as it is; never a 5xx, never half.

use reqwest::Method;
use serde_json::{Value, json};

use crate::house::{Answer, House, RALLY, flex};

/// Messages that LINE would take or not, and that a table can keep or not.
fn messages() -> Vec<Value> {
    let with = |name: &str, value: Value| {
        let mut message = flex("やった");
        message["contents"]["body"]["contents"][0][name] = value;
        message
    };
    let mut deep = json!({"type": "text", "text": "底"});
    for _ in 0..40 {
        deep = json!({"type": "box", "layout": "vertical", "contents": [deep]});
    }
    let mut nested = json!(1);
    for _ in 0..100 {
        nested = json!({ "a": nested });
    }
    let mut deep_message = flex("深い");
    deep_message["contents"]["body"] = deep;
    let mut huge = flex("大きい");
    huge["contents"]["body"]["contents"] =
        (0..400).map(|n| json!({"type": "text", "text": format!("{n}{}", "あ".repeat(150))})).collect();
    let carousel = json!({"type": "flex", "altText": "い", "contents": {"type": "carousel", "contents": []}});
    vec![
        with("x", nested),
        with("flex", json!(-0.0)),
        with("flex", json!(1e300)),
        with("flex", json!(0.1)),
        with("flex", json!(u64::MAX)),
        with("text", json!("\u{0}")),
        with("text", json!("")),
        with("text", json!("{{")),
        with("text", json!("{{event.name}}{{event.name")),
        with("", json!("a name without letters")),
        with("text", json!(["a"])),
        with("weight", json!(null)),
        deep_message,
        huge,
        carousel,
    ]
}

#[tokio::test]
async fn a_message_is_stored_as_it_is_or_refused_by_name() {
    let house = House::open("hostile messages").await;
    let organiser = house.organiser();
    for message in messages() {
        let before = organiser.get(&format!("/{RALLY}/stamps/001")).await.is(200);
        let put = organiser.put_stamp(RALLY, "001", &json!({"flexMessageContent": message})).await;
        let event = organiser.put_event(RALLY, &json!({"completionMessageContent": message})).await;
        assert_eq!(put.status, event.status, "{put:?} {event:?}");
        let stored = organiser.get(&format!("/{RALLY}/stamps/001")).await.is(200);
        match put.status {
            200 => assert_eq!((&put.body, &stored.body["flexMessageContent"]), (&stored.body, &message)),
            400 => drop(put.refuses(400, "invalid_request")),
            _ => drop(put.refuses(422, "flex_invalid")),
        }
        if event.status != 200 {
            assert_eq!(stored.body, before.body);
        }
    }
    // The rally still runs on what is stored now.
    house.hanako().acquire("001").await.is(201);
    house.deliver().await;
}

#[tokio::test]
async fn a_body_that_is_none_is_refused_by_its_kind() {
    let house = House::open("hostile bodies").await;
    let organiser = house.organiser();
    let put = |path: &str| organiser.request(Method::PUT, path);
    for path in [format!("/{RALLY}"), format!("/{RALLY}/stamps/001"), "/new".to_owned(), format!("/{RALLY}/stamps/new")]
    {
        for body in [
            "",
            "null",
            "[]",
            "1",
            "\"a\"",
            "{",
            "{}}",
            "{\"name\":\"a\",\"name\":\"b\"}",
            "{\"name\":1}",
            "{\"name\":\"\\ud800\"}",
            "{\"order\":1e3}",
            "{\"order\":-1}",
            "{\"order\":1000}",
            "{\"isActive\":\"yes\"}",
            "{\"indexShards\":1e400}",
            "{\"startsAt\":1}",
            "{\"startsAt\":\"9999-12-31T23:59:60Z\"}",
            "{\"endsAt\":\"+10000-01-01T00:00:00Z\"}",
            "{\"name\":\"\\u0000\"}",
            "{\"name\":\"\\n\"}",
        ] {
            let request = put(&path).header("Content-Type", "application/json").body(body);
            Answer::to(request).await.refuses(400, "invalid_request");
        }
        let json = |body: Vec<u8>| put(&path).header("Content-Type", "application/json").body(body);
        Answer::to(json(b"{\"name\":\"\xff\xfe\"}".to_vec())).await.refuses(400, "invalid_request");
        Answer::to(json("[".repeat(100_000).into_bytes())).await.refuses(400, "invalid_request");
        let nested = format!("{{\"flexMessageContent\":{}", "[".repeat(100_000));
        Answer::to(json(nested.into_bytes())).await.refuses(400, "invalid_request");
        Answer::to(json(vec![b' '; 1_000_000])).await.refuses(413, "payload_too_large");
        Answer::to(put(&path).body("{}")).await.refuses(415, "unsupported_media_type");
        let form = put(&path).header("Content-Type", "application/x-www-form-urlencoded").body("name=a");
        Answer::to(form).await.refuses(415, "unsupported_media_type");
        let packed = put(&path).header("Content-Type", "application/json").header("Content-Encoding", "gzip");
        Answer::to(packed.body("{}")).await.refuses(415, "unsupported_media_type");
        for method in [Method::POST, Method::DELETE, Method::PATCH, Method::TRACE] {
            let refused = Answer::to(organiser.request(method, &path)).await.refuses(405, "method_not_allowed");
            assert!(refused.header("allow").contains("PUT"), "{refused:?}");
        }
    }
}

#[tokio::test]
async fn an_id_that_could_break_a_key_never_reaches_the_table() {
    let house = House::open("hostile ids").await;
    let organiser = house.organiser();
    house.wire();
    for id in ["a%23b", "%23", "-a", "a%00", "a%0A", "%E8%8A%B1", "a%20b", "%F0%9F%92%AE", &"a".repeat(65), "a%2Fb"] {
        for path in [format!("/{id}"), format!("/{id}/users"), format!("/{id}/users.csv"), format!("/{id}/stamps/001")]
        {
            organiser.get(&path).await.refuses(400, "invalid_request");
        }
        for path in [format!("/{RALLY}/stamps/{id}"), format!("/{RALLY}/stamps/{id}/holders")] {
            organiser.get(&path).await.refuses(400, "invalid_request");
        }
        organiser.get(&format!("/{RALLY}/users/{id}")).await.refuses(400, "invalid_request");
        organiser.put_event(id, &super::event()).await.refuses(400, "invalid_request");
    }
    assert_eq!(house.wire(), [] as [&str; 0]);
    for path in ["/", "//users", &format!("/{RALLY}/"), &format!("/{RALLY}/user"), &format!("/{RALLY}/stamps/001/x")] {
        organiser.get(path).await.refuses(404, "not_found");
    }
}

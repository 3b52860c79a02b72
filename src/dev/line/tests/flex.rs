//! LINE's rules for Flex Messages.

use serde_json::{Value, json};

use super::{Desk, flex};

fn bubble(body: &Value) -> Value {
    json!({ "type": "bubble", "body": { "type": "box", "layout": "vertical", "contents": body } })
}

fn words(words: &str) -> Value {
    json!({ "type": "text", "text": words })
}

fn button(action: &Value) -> Value {
    json!({ "type": "button", "action": action })
}

/// The details of the validate endpoint; empty if it found nothing.
async fn faults(desk: &Desk, contents: &Value) -> Vec<(String, String)> {
    let got = desk.post("/v2/bot/message/validate/push", &json!({ "messages": [flex(contents)] })).await;
    if got.status == 200 {
        assert_eq!(got.json(), json!({}));
        return Vec::new();
    }
    assert_eq!(got.message(), "A message (messages[0]) in the request body is invalid");
    let details = got.json()["details"].as_array().unwrap().clone();
    let text = |detail: &Value, name: &str| detail[name].as_str().unwrap().to_owned();
    details.iter().map(|detail| (text(detail, "message"), text(detail, "property"))).collect()
}

async fn assert_fault(desk: &Desk, contents: &Value, message: &str, property: &str) {
    assert_eq!(faults(desk, contents).await, [(message.to_owned(), property.to_owned())], "{contents}");
}

#[tokio::test]
async fn a_rich_bubble_passes() {
    let desk = Desk::open();
    let rich = json!({
        "type": "bubble", "size": "kilo", "direction": "ltr",
        "hero": {
            "type": "image", "url": "https://example.com/a.png", "size": "full", "aspectRatio": "20:13",
            "aspectMode": "cover", "action": { "type": "uri", "uri": "https://example.com/%E8%8A%B1" }
        },
        "body": {
            "type": "box", "layout": "vertical", "spacing": "md", "paddingAll": "20px", "cornerRadius": "md",
            "background": {
                "type": "linearGradient", "angle": "0deg", "startColor": "#ffffff", "endColor": "#00000080",
                "centerColor": "#FF0000", "centerPosition": "50%"
            },
            "contents": [
                { "type": "text", "text": "花", "size": "xl", "weight": "bold", "wrap": true, "maxLines": 2, "flex": 0 },
                { "type": "text", "contents": [{ "type": "span", "text": "a", "decoration": "underline" }] },
                { "type": "separator", "margin": "xxl", "color": "#AABBCC" },
                {
                    "type": "box", "layout": "baseline", "position": "absolute", "offsetTop": "10%",
                    "contents": [
                        { "type": "icon", "url": "https://example.com/i.png", "size": "3xl" },
                        { "type": "text", "text": "x" }, { "type": "filler" }
                    ]
                },
                { "type": "box", "layout": "horizontal", "contents": [], "justifyContent": "space-evenly" }
            ]
        },
        "footer": {
            "type": "box", "layout": "vertical",
            "contents": [{
                "type": "button", "style": "primary", "height": "sm", "color": "#06C755",
                "action": { "type": "uri", "label": "ひらく", "uri": "line://app/1", "altUri": { "desktop": "https://example.com" } }
            }]
        },
        "styles": { "footer": { "separator": true, "separatorColor": "#000000" } }
    });
    assert_eq!(faults(&desk, &rich).await, []);
    assert_eq!(faults(&desk, &json!({ "type": "carousel", "contents": vec![rich; 12] })).await, []);
}

#[tokio::test]
async fn the_observed_faults_have_their_texts_and_paths() {
    let desk = Desk::open();
    let empty_text = bubble(&json!([words("")]));
    assert_fault(&desk, &empty_text, "must be non-empty text", "/body/contents/0/text").await;
    let carousel = json!({ "type": "carousel", "contents": [bubble(&json!([words("a")])), empty_text] });
    assert_fault(&desk, &carousel, "must be non-empty text", "/contents/1/body/contents/0/text").await;
    for url in ["", "http://example.com/a.png", "example"] {
        let hero = json!({ "type": "bubble", "hero": { "type": "image", "url": url } });
        assert_fault(&desk, &hero, "invalid uri scheme", "/hero/url").await;
    }
    let spacer = bubble(&json!([words("a"), { "type": "spacer" }]));
    assert_fault(&desk, &spacer, "invalid property", "/body/contents/1").await;
    let image = json!({ "type": "image", "url": "https://example.com/a.png", "aspectMode": "contain" });
    assert_fault(&desk, &bubble(&json!([image])), "invalid property", "/body/contents/0/aspectMode").await;
    assert_fault(&desk, &json!({ "type": "bubble" }), "At least one block must be specified", "/").await;
}

#[tokio::test]
async fn values_outside_the_reference_are_refused() {
    let desk = Desk::open();
    for (name, value) in [
        ("color", json!("red")),
        ("color", json!("#12345")),
        ("size", json!("huge")),
        ("margin", json!(10)),
        ("margin", json!("10")),
        ("flex", json!("1")),
        ("flex", json!(1.5)),
        ("maxLines", json!(-1)),
        ("wrap", json!("true")),
        ("weight", json!("heavy")),
        ("max_lines", json!(2)),
        ("margin", Value::Null),
    ] {
        let mut component = words("a");
        component[name] = value.clone();
        assert_fault(&desk, &bubble(&json!([component])), "invalid property", &format!("/body/contents/0/{name}"))
            .await;
    }
    let tall = json!({ "type": "image", "url": "https://example.com/a.png", "aspectRatio": "1:4" });
    assert_fault(&desk, &bubble(&json!([tall])), "invalid property", "/body/contents/0/aspectRatio").await;
}

#[tokio::test]
async fn unknown_members_and_nulls_can_be_ignored() {
    let desk = Desk::open();
    let odd = bubble(&json!([{ "type": "text", "text": "a", "max_lines": 2, "margin": null }]));
    assert_eq!(faults(&desk, &odd).await.len(), 2);
    desk.settings(json!({ "unknownMembers": "ignore" })).await;
    assert_eq!(faults(&desk, &odd).await, []);
}

#[tokio::test]
async fn components_stand_only_where_they_may() {
    let desk = Desk::open();
    let icon = json!({ "type": "icon", "url": "https://example.com/i.png" });
    assert_fault(&desk, &bubble(&json!([icon])), "invalid property", "/body/contents/0").await;
    let baseline = json!({ "type": "box", "layout": "baseline", "contents": [{ "type": "separator" }] });
    assert_fault(&desk, &bubble(&json!([baseline])), "invalid property", "/body/contents/0/contents/0").await;
    assert_fault(&desk, &json!({ "type": "bubble", "body": words("a") }), "invalid property", "/body").await;

    let video = json!({
        "type": "video", "url": "https://example.com/v.mp4", "previewUrl": "https://example.com/p.png",
        "altContent": { "type": "image", "url": "https://example.com/p.png" }
    });
    let with_video = json!({ "type": "bubble", "hero": video });
    assert_eq!(faults(&desk, &with_video).await, []);
    let small = json!({ "type": "bubble", "size": "micro", "hero": video });
    assert_fault(&desk, &small, "invalid property", "/hero").await;
    let carousel = json!({ "type": "carousel", "contents": [with_video] });
    assert_fault(&desk, &carousel, "invalid property", "/contents/0/hero").await;
}

#[tokio::test]
async fn buttons_need_an_action_with_a_short_label() {
    let desk = Desk::open();
    let at = |name: &str| format!("/body/contents/0/action{name}");
    let uri = |label: &str| json!({ "type": "uri", "label": label, "uri": "https://example.com" });
    // Forty grapheme clusters, although far more code points.
    assert_eq!(faults(&desk, &bubble(&json!([button(&uri(&"👨‍👩‍👧‍👦".repeat(40)))]))).await, []);
    let long = bubble(&json!([button(&uri(&"あ".repeat(41)))]));
    assert_fault(&desk, &long, "Length must be between 0 and 40", &at("/label")).await;
    let silent = bubble(&json!([button(&json!({ "type": "uri", "uri": "https://example.com" }))]));
    assert_fault(&desk, &silent, "must be non-empty text", &at("/label")).await;
    let script = bubble(&json!([button(&json!({ "type": "uri", "label": "a", "uri": "javascript:1" }))]));
    assert_fault(&desk, &script, "invalid uri scheme", &at("/uri")).await;
    let camera = bubble(&json!([button(&json!({ "type": "camera", "label": "a" }))]));
    assert_fault(&desk, &camera, "invalid property", &at("/type")).await;
    let postback = json!({ "type": "postback", "label": "a", "data": "x".repeat(301) });
    assert_fault(&desk, &bubble(&json!([button(&postback)])), "Length must be between 0 and 300", &at("/data")).await;
}

#[tokio::test]
async fn carousels_have_twelve_bubbles_of_one_size_at_most() {
    let desk = Desk::open();
    let one = bubble(&json!([words("a")]));
    let many = json!({ "type": "carousel", "contents": vec![one.clone(); 13] });
    assert_fault(&desk, &many, "Size must be between 1 and 12", "/contents").await;
    let mut wide = one.clone();
    wide["size"] = json!("giga");
    let mixed = json!({ "type": "carousel", "contents": [one, wide] });
    assert_fault(&desk, &mixed, "invalid property", "/contents/1/size").await;
}

#[tokio::test]
async fn large_containers_are_refused_by_name_of_the_limit() {
    let desk = Desk::open();
    let of = |characters: usize| bubble(&json!([words(&"x".repeat(characters))]));
    let least = of(1).to_string().len() - 1;
    assert_eq!(faults(&desk, &of(30_000 - least)).await, []);
    let found = faults(&desk, &of(30_001 - least)).await;
    assert!(found[0].0.starts_with("Too large flex message") && found[0].0.contains("30KB"), "{found:?}");
    let carousel = json!({ "type": "carousel", "contents": vec![of(20_000); 3] });
    assert!(faults(&desk, &carousel).await[0].0.contains("50KB"));
}

#[tokio::test]
async fn one_bad_message_rejects_the_whole_push() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let messages = json!([flex(&bubble(&json!([words("a")]))), flex(&bubble(&json!([words("")])))]);
    let got = desk.push_messages(&hanako, None, messages).await;
    assert_eq!((got.status, got.message().as_str()), (400, "A message (messages[1]) in the request body is invalid"));
    assert!(desk.phone(&hanako).await.is_empty());
    let mut long = flex(&bubble(&json!([words("a")])));
    long["altText"] = json!("あ".repeat(1501));
    let got = desk.push_messages(&hanako, None, json!([long])).await;
    assert_eq!(got.detail(), ("Length must be between 0 and 1500".to_owned(), "messages[0].altText".to_owned()));
}

/// The table that the house's own rules are held against: placeholders are not for LINE.
#[tokio::test]
async fn every_row_of_the_table_of_verdicts_is_taken_or_refused() {
    let desk = Desk::open();
    let rows: Vec<Value> = serde_json::from_str(include_str!("../../../line/flex/verdicts.json")).unwrap();
    for row in rows.iter().filter(|row| row.get("template").is_none()) {
        let mut message = flex(&bubble(&json!([row.get("component").unwrap_or(&words("a"))])));
        if let Some(contents) = row.get("contents") {
            message["contents"] = contents.clone();
        }
        for (name, value) in row.get("beside").and_then(Value::as_object).into_iter().flatten() {
            message[name] = value.clone();
        }
        let message = row.get("whole").unwrap_or(&message);
        let got = desk.post("/v2/bot/message/validate/push", &json!({ "messages": [message] })).await;
        let expected = if row.get("refused").is_some() { 400 } else { 200 };
        assert_eq!(got.status, expected, "{row}: {}", got.json());
    }
}

//! Messages that LINE takes or refuses: as they are written, and with the names of the event and its stamps.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use reqwest::Method;
use serde_json::{Value, json};
use stamp_rally::store::masters::Expected;

use crate::house::{Answer, House, RALLY, flex};

#[path = "../../../src/line/flex/tests/verdicts.rs"]
#[allow(dead_code, reason = "sources and placeholders matter to the unit tests")]
mod verdicts;

/// A message whose text opens an address that is this long once `filled` characters stand for its `placeholders`.
fn opening(length: usize, placeholders: &str, filled: usize) -> Value {
    let start = "https://example.jp/";
    let address = format!("{start}{}{placeholders}", "a".repeat(length - filled - start.len()));
    let mut message = flex("{{stamp.name}}");
    message["contents"]["body"]["contents"][0]["action"] = json!({"type": "uri", "uri": address});
    message
}

/// How long a name is in an address.
fn encoded(name: &str) -> usize {
    name.chars().map(|letter| if letter.is_ascii_alphanumeric() { 1 } else { 3 * letter.len_utf8() }).sum()
}

const AT: &str = "/contents/body/contents/0/action/uri";
const LIMIT: &str = "is longer than 1000 characters: shorten the address (with the names of the event and the stamp filled in; \
                     another name helps, too)";
const EVENT: &str = "初夏のラリー";
const STAMP: &str = "第1スタンプ";

#[track_caller]
fn is_too_long(answer: Answer, place: &str) {
    let refused = answer.refuses(422, "flex_invalid");
    assert_eq!(refused.body["faults"], json!([{"path": format!("{place}{AT}"), "limit": LIMIT}]));
}

#[tokio::test]
async fn every_row_of_the_table_of_verdicts_is_stored_or_refused_by_place_and_reason() {
    let house = House::open("verdicts").await;
    let organiser = house.organiser();
    for row in verdicts::all() {
        let message = row.message();
        let of_stamp = organiser.put_stamp(RALLY, "001", &json!({"flexMessageContent": message})).await;
        let of_event = organiser.put_event(RALLY, &json!({"completionMessageContent": message})).await;
        let Some(refused) = &row.refused else {
            let (stamp, event) = (of_stamp.is(200), of_event.is(200));
            let stored = organiser.get(&format!("/{RALLY}/stamps/001")).await.is(200);
            assert_eq!(stamp.body, stored.body, "{}: {message}", row.rule);
            assert_eq!(event.body, organiser.get(&format!("/{RALLY}")).await.is(200).body, "{}: {message}", row.rule);
            continue;
        };
        let faults = json!([{"path": refused.at, "limit": refused.limit}]);
        assert_eq!(of_stamp.refuses(422, "flex_invalid").body["faults"], faults, "{}: {message}", row.rule);
        assert_eq!(of_event.refuses(422, "flex_invalid").body["faults"], faults, "{}: {message}", row.rule);
    }
}

#[tokio::test]
async fn an_address_with_names_is_stored_up_to_its_limit_and_sent_as_it_was_checked() {
    let house = House::open("addresses with names").await;
    let organiser = house.organiser();
    let names = "{{event.name}}/{{stamp.name}}";
    let filled = encoded(EVENT) + 1 + encoded(STAMP);
    let put = async |length| {
        let message = opening(length, names, filled);
        organiser.put_stamp(RALLY, "001", &json!({"flexMessageContent": message})).await
    };
    is_too_long(put(1001).await, "");
    put(1000).await.is(200);

    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    house.deliver().await;
    let shown = house.line.phone(&hanako.id).unwrap();
    let address = shown[0]["message"]["contents"]["body"]["contents"][0]["action"]["uri"].as_str().unwrap();
    assert_eq!(address.len(), 1000);
    assert!(address.ends_with(
        "%E5%88%9D%E5%A4%8F%E3%81%AE%E3%83%A9%E3%83%AA%E3%83%BC/%E7%AC%AC1%E3%82%B9%E3%82%BF%E3%83%B3%E3%83%97"
    ));
}

#[tokio::test]
async fn a_name_that_breaks_a_message_is_refused_wherever_the_message_is() {
    let house = House::open("names that break").await;
    let organiser = house.organiser();
    let longer = format!("{STAMP}。");
    let filled = encoded(EVENT) + encoded(STAMP);
    let message = opening(1000, "{{event.name}}{{stamp.name}}", filled);
    organiser.put_stamp(RALLY, "001", &json!({"flexMessageContent": message})).await.is(200);
    is_too_long(organiser.put_stamp(RALLY, "001", &json!({"name": longer})).await, "");
    let renamed = json!({"name": format!("{EVENT}。")});
    is_too_long(organiser.put_event(RALLY, &renamed).await, "/stamps/001/flexMessageContent");
    organiser.put_event(RALLY, &json!({"name": "夏"})).await.is(200);
    organiser.put_stamp(RALLY, "001", &json!({"name": longer})).await.is(200);

    // A shorter stamp first, then the name that fits no more.
    organiser.put_stamp(RALLY, "001", &json!({"name": STAMP, "flexMessageContent": flex("a")})).await.is(200);
    let completion = opening(1000, "{{stamp.name}}", encoded(STAMP));
    organiser.put_event(RALLY, &json!({"completionMessageContent": completion})).await.is(200);
    is_too_long(organiser.put_stamp(RALLY, "002", &json!({"name": longer})).await, "/completionMessageContent");
    let third = json!({"name": longer, "order": 3, "flexMessageContent": flex("a")});
    is_too_long(organiser.put_stamp(RALLY, "003", &third).await, "/completionMessageContent");
    let completion = json!({"completionMessageContent": opening(1001, "{{stamp.name}}", encoded(STAMP))});
    is_too_long(organiser.put_event(RALLY, &completion).await, "");
    let both = json!({"completionMessageContent": opening(1000, "{{event.name}}", encoded("夏")), "name": EVENT});
    is_too_long(organiser.put_event(RALLY, &both).await, "");
}

#[tokio::test]
async fn a_sender_of_the_events_name_is_refused_with_a_name_that_line_keeps() {
    let house = House::open("a sender's name").await;
    let organiser = house.organiser();
    let mut message = flex("a");
    message["sender"] = json!({"name": "{{event.name}}"});
    organiser.put_stamp(RALLY, "001", &json!({"flexMessageContent": message})).await.is(200);
    let refused = organiser.put_event(RALLY, &json!({"name": "LINEラリー"})).await.refuses(422, "flex_invalid");
    assert_eq!(refused.body["faults"][0]["path"], "/stamps/001/flexMessageContent/sender/name");
}

#[tokio::test]
async fn a_message_that_no_name_could_mend_does_not_block_a_rename() {
    let house = House::open("an article's message").await;
    let mut master = house.store.master(&RALLY.parse().unwrap(), &"001".parse().unwrap()).await.unwrap().unwrap();
    let version = Expected::Version { version: master.updated_at, others: HashMap::new() };
    master.updated_at = master.updated_at.plus_millis(1);
    master.flex_message_content = json!({"type": "flex", "altText": "{{event.name}}", "contents": {"//": "Flex"}});
    house.store.put_master(&master, version).await.unwrap();
    house.organiser().put_event(RALLY, &json!({"name": "夏"})).await.is(200);
    house.organiser().put_stamp(RALLY, "001", &json!({"name": "灯台"})).await.is(200);
}

/// Makes an attribute of a setting something that can't be read.
async fn spoil(house: &House, (pk, sk): (&str, &str), attribute: &str) {
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let update = house.clients.table.update_item().table_name("line-event").key("PK", text(pk)).key("SK", text(sk));
    let update = update.update_expression("SET #a = :v").expression_attribute_names("#a", attribute);
    update.expression_attribute_values(":v", AttributeValue::L(Vec::new())).send().await.unwrap();
}

#[tokio::test]
async fn a_stamp_that_cannot_be_read_is_left_out_of_the_check_until_it_is_mended() {
    let house = House::open("a broken stamp").await;
    let organiser = house.organiser();
    let message = opening(1000, "{{event.name}}", encoded(EVENT));
    organiser.put_stamp(RALLY, "001", &json!({"flexMessageContent": message})).await.is(200);
    let renamed = json!({"name": format!("{EVENT}。")});
    is_too_long(organiser.put_event(RALLY, &renamed).await, "/stamps/001/flexMessageContent");
    spoil(&house, (&format!("EVENT#{RALLY}#STAMP#001"), "MASTER"), "isActive").await;
    organiser.put_event(RALLY, &renamed).await.is(200);
    is_too_long(organiser.put_stamp(RALLY, "001", &json!({"isActive": true})).await, "");
    let mended = json!({"isActive": true, "flexMessageContent": flex("a")});
    organiser.put_stamp(RALLY, "001", &mended).await.is(200);
}

#[tokio::test]
async fn stamps_of_an_event_that_cannot_be_read_are_checked_with_what_can_be_read_of_it() {
    let house = House::open("a broken event").await;
    let organiser = house.organiser();
    let event = (&*format!("EVENT#{RALLY}"), "METADATA");
    let completion = opening(1000, "{{stamp.name}}", encoded(STAMP));
    organiser.put_event(RALLY, &json!({"completionMessageContent": completion})).await.is(200);
    let too_long = json!({"flexMessageContent": opening(1001, "{{event.name}}", encoded(EVENT))});
    spoil(&house, event, "startsAt").await;
    is_too_long(organiser.put_stamp(RALLY, "001", &too_long).await, "");
    is_too_long(
        organiser.put_stamp(RALLY, "001", &json!({"name": format!("{STAMP}。")})).await,
        "/completionMessageContent",
    );
    spoil(&house, event, "completionMessageContent").await;
    organiser.put_stamp(RALLY, "001", &json!({"name": format!("{STAMP}。")})).await.is(200);
    // An unknown name is as short as a name can be.
    spoil(&house, event, "name").await;
    organiser.put_stamp(RALLY, "001", &too_long).await.is(200);
    let mended = json!({"name": EVENT, "startsAt": "2026-05-01T00:00:00Z", "completionMessageContent": null});
    is_too_long(organiser.put_event(RALLY, &mended).await, "/stamps/001/flexMessageContent");
    organiser.put_stamp(RALLY, "001", &json!({"flexMessageContent": flex("a")})).await.is(200);
    organiser.put_event(RALLY, &mended).await.is(200);
}

#[tokio::test]
async fn an_event_is_mended_although_a_message_was_too_long_before() {
    let house = House::open("mended beside a long message").await;
    let event = (&*format!("EVENT#{RALLY}"), "METADATA");
    let id = RALLY.parse().unwrap();
    let mut master = house.store.master(&id, &"001".parse().unwrap()).await.unwrap().unwrap();
    let version = Expected::Version { version: master.updated_at, others: HashMap::new() };
    master.updated_at = master.updated_at.plus_millis(1);
    master.flex_message_content = opening(1001, "{{event.name}}", encoded(EVENT));
    house.store.put_master(&master, version).await.unwrap();
    spoil(&house, event, "startsAt").await;
    house.organiser().put_event(RALLY, &json!({"startsAt": "2026-05-01T00:00:00Z"})).await.is(200);
    let same_name = json!({"name": EVENT, "endsAt": "2100-01-01T00:00:00Z"});
    house.organiser().put_event(RALLY, &same_name).await.is(200);
}

#[tokio::test]
async fn a_body_in_another_encoding_is_named_and_a_byte_order_mark_is_none() {
    let house = House::open("encodings").await;
    let organiser = house.organiser();
    let put = async |body: &[u8]| {
        let request = organiser.request(Method::PUT, &format!("/{RALLY}")).header("Content-Type", "application/json");
        Answer::to(request.body(body.to_vec())).await
    };
    put("\u{feff}{\"name\": \"夏\"}".as_bytes()).await.is(200);
    let japanese = put(b"{\"name\": \"\x89\xC4\"}").await.refuses(400, "invalid_request");
    let detail = "the body is not UTF-8 (byte 89 at offset 10, line 1), it looks like Shift_JIS: send JSON as UTF-8";
    assert_eq!(japanese.body["detail"], detail);
    let wide: Vec<u8> = "\u{feff}{\"name\": \"夏\"}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let wide = put(&wide).await.refuses(400, "invalid_request");
    let detail = "the body is UTF-16, not UTF-8 (its byte order mark FF FE is at offset 0): send JSON as UTF-8";
    assert_eq!(wide.body["detail"], detail);
}

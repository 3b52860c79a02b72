//! Tables and items as the source article has them: made before this program, and served by it.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};

use crate::house::{House, RALLY};

/// The article's example items, word for word; its person may be replaced by one that LINE could know.
fn items(person: &str) -> [Value; 3] {
    let items = json!([
        {
            "PK": "EVENT#stamp-rally-202606#USER#U1234567890abcdef",
            "SK": "PROFILE",
            "entityType": "USER",
            "eventId": "stamp-rally-202606",
            "lineUserId": "U1234567890abcdef",
            "createdAt": "2026-05-23T10:00:00.000Z",
            "updatedAt": "2026-05-23T10:00:00.000Z",
            "GSI1PK": "EVENT#stamp-rally-202606#USERS",
            "GSI1SK": "2026-05-23T10:00:00.000Z#U1234567890abcdef"
        },
        {
            "PK": "EVENT#stamp-rally-202606#USER#U1234567890abcdef",
            "SK": "STAMP#001",
            "entityType": "USER_STAMP",
            "eventId": "stamp-rally-202606",
            "lineUserId": "U1234567890abcdef",
            "stampId": "001",
            "acquiredAt": "2026-05-23T11:30:00.000Z",
            "flexMessageSent": true,
            "flexMessageSentAt": "2026-05-23T11:30:02.123Z"
        },
        {
            "PK": "EVENT#stamp-rally-202606#STAMP#001",
            "SK": "MASTER",
            "entityType": "STAMP_MASTER",
            "eventId": "stamp-rally-202606",
            "stampId": "001",
            "name": "第1スタンプ",
            "order": 1,
            "isActive": true,
            "flexMessageContent": {
                "type": "flex",
                "altText": "スタンプを獲得しました！",
                "contents": {"//": "LINE Messaging API の Flex Message JSON をそのまま格納"}
            },
            "GSI1PK": "EVENT#stamp-rally-202606#STAMP_MASTERS",
            "GSI1SK": "001"
        }
    ]);
    serde_json::from_str(&items.to_string().replace("U1234567890abcdef", person)).unwrap()
}

fn attribute(value: &Value) -> AttributeValue {
    match value {
        Value::Bool(flag) => AttributeValue::Bool(*flag),
        Value::Number(number) => AttributeValue::N(number.to_string()),
        Value::Object(map) => AttributeValue::M(attributes(map)),
        Value::String(text) => AttributeValue::S(text.clone()),
        other => panic!("the article has no {other}"),
    }
}

fn attributes(map: &serde_json::Map<String, Value>) -> HashMap<String, AttributeValue> {
    map.iter().map(|(name, value)| (name.clone(), attribute(value))).collect()
}

impl House {
    async fn holds_the_articles_items(&self, person: &str) {
        for item in items(person) {
            let put = self.clients.table.put_item().table_name("line-event");
            put.set_item(Some(attributes(item.as_object().unwrap()))).send().await.unwrap();
        }
        // The article has no EVENT: an organiser adds it to continue with this program.
        let window = json!({"startsAt": "2026-05-01T00:00:00+09:00", "endsAt": "9998-12-31T00:00:00Z"});
        let mut event = super::event();
        event.as_object_mut().unwrap().extend(window.as_object().unwrap().clone());
        self.organiser().put_event(RALLY, &event).await.is(201);
    }
}

#[tokio::test]
async fn the_articles_own_items_are_listed_and_shown() {
    let house = House::empty("article's items").await;
    house.holds_the_articles_items("U1234567890abcdef").await;
    let organiser = house.organiser();

    let users = organiser.get(&format!("/{RALLY}/users?from=2026-05-23&to=2026-05-23")).await.is(200);
    assert_eq!(
        users.body,
        json!({"users": [{
            "eventId": RALLY, "lineUserId": "U1234567890abcdef",
            "createdAt": "2026-05-23T10:00:00.000Z", "updatedAt": "2026-05-23T10:00:00.000Z",
        }]})
    );
    let csv = organiser.get(&format!("/{RALLY}/users.csv")).await.is(200);
    let row = "\r\nU1234567890abcdef,2026-05-23T10:00:00.000Z,2026-05-23T10:00:00.000Z,\r\n";
    assert!(csv.body.as_str().unwrap().ends_with(row), "{:?}", csv.body);
    // Too short for an id of LINE's: such a one is read from the table and never taken from a request.
    organiser.get(&format!("/{RALLY}/users/U1234567890abcdef")).await.refuses(400, "invalid_request");

    let stamp = organiser.get(&format!("/{RALLY}/stamps/001")).await.is(200);
    assert_eq!(
        (&stamp.body["name"], &stamp.body["updatedAt"]),
        (&json!("第1スタンプ"), &json!("1970-01-01T00:00:00.000Z"))
    );
    let list = organiser.get(&format!("/{RALLY}/stamps")).await.is(200);
    assert_eq!(list.body["stamps"], json!([stamp.body]));
    // It has no version, and can be changed under an ETag all the same; only once.
    let tag = ("If-Match", stamp.header("etag"));
    let changed = organiser.change_stamp("001", tag, &json!({"name": "駅前"})).await.is(200);
    assert_eq!(changed.body["flexMessageContent"], stamp.body["flexMessageContent"], "what was left out is kept");
    organiser.change_stamp("001", tag, &json!({"name": "公園"})).await.refuses(412, "version_conflict");
}

#[tokio::test]
async fn the_card_of_a_participant_from_the_article_is_continued() {
    let house = House::empty("article's card").await;
    let hanako = house.hanako();
    house.holds_the_articles_items(&hanako.id).await;
    let card = json!({
        "eventId": RALLY, "lineUserId": hanako.id, "createdAt": "2026-05-23T10:00:00.000Z",
        "stamps": [{
            "stampId": "001", "name": "第1スタンプ", "order": 1, "acquired": true,
            "acquiredAt": "2026-05-23T11:30:00.000Z",
            "flexMessageSent": true, "flexMessageSentAt": "2026-05-23T11:30:02.123Z",
        }],
        "acquiredCount": 1, "totalCount": 1, "completed": true,
    });
    assert_eq!(hanako.card().await.is(200).body, card);
    assert_eq!(hanako.register().await.is(200).body, card, "registered long ago");
    assert_eq!(hanako.acquire("001").await.is(200).body, card["stamps"][0], "held");
    house.deliver().await;
    assert_eq!(hanako.phone(), [] as [&str; 0], "and told long ago");

    let organiser = house.organiser();
    let page = organiser.get(&format!("/{RALLY}/users/{}", hanako.id)).await.is(200);
    assert_eq!(page.body["card"], card);
    assert_eq!(page.body["facts"][1]["flexMessageSentAt"], "2026-05-23T11:30:02.123Z");
    // Holders are those the index knows: an item of the article has no place in it.
    let holders = organiser.get(&format!("/{RALLY}/stamps/001/holders")).await.is(200);
    assert_eq!(holders.body, json!({"holders": []}));
}

/// A table as the article describes it: one index, no stream.
#[tokio::test]
async fn participants_are_served_from_the_articles_table() {
    let house = House::over_the_articles_table("article's table").await;
    let (organiser, hanako) = (house.organiser(), house.hanako());
    hanako.register().await.is(201);
    hanako.acquire("001").await.is(201);
    hanako.acquire("001").await.is(200);
    assert_eq!(hanako.card().await.is(200).body["acquiredCount"], 1);
    assert_eq!(hanako.look_at("002").await.is(200).body["acquired"], false);
    let users = organiser.get(&format!("/{RALLY}/users")).await.is(200);
    assert_eq!(users.body["users"][0]["lineUserId"], hanako.id);
    organiser.get(&format!("/{RALLY}/users.csv")).await.is(200);
    organiser.get(&format!("/{RALLY}/users/{}", hanako.id)).await.is(200);
    organiser.get(&format!("/{RALLY}/deliveries?state=failed")).await.is(200);
    organiser.put_event(RALLY, &json!({"indexShards": 2})).await.refuses(409, "setting_fixed");
}

//! Events and stamps: written, read, changed.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};

use super::{event, rally, user};
use crate::house::{Answer, House, RALLY, flex};

#[tokio::test]
async fn an_event_is_made_once_and_answered_as_it_is_stored() {
    let house = House::empty("event made").await;
    let organiser = house.organiser();
    organiser.get("/autumn").await.refuses(404, "event_not_found");

    let made = organiser.change_event("autumn", ("If-None-Match", "*"), &event()).await.is(201);
    let now = house.store.event(&"autumn".parse().unwrap()).await.unwrap().unwrap().created_at.to_string();
    assert_eq!(
        made.body,
        json!({
            "eventId": "autumn", "name": "秋のラリー", "channel": "main",
            "startsAt": "2096-09-01T00:00:00.000Z", "endsAt": "2096-10-01T00:00:00.123Z",
            "timeZone": "Asia/Tokyo", "indexShards": 1, "createdAt": now, "updatedAt": now,
        }),
        "instants as UTC, and the defaults"
    );
    assert_eq!(made.header("etag"), format!("\"{now}\""));
    let read = organiser.get("/autumn").await.is(200);
    assert_eq!((read.header("etag"), &read.body), (made.header("etag"), &made.body));
    organiser.change_event("autumn", ("If-None-Match", "*"), &event()).await.refuses(412, "version_conflict");
}

#[tokio::test]
async fn a_change_names_the_version_it_is_made_to() {
    let house = House::empty("versions").await;
    let organiser = house.organiser();
    let nothing = |condition| organiser.change_event("autumn", condition, &Value::Null);
    for tag in ["*", "\"2026-05-23T10:00:00.000Z\""] {
        let refused = organiser.change_event("autumn", ("If-Match", tag), &event()).await;
        refused.refuses(412, "version_conflict");
    }
    nothing(("If-Match", "2026")).await.refuses(400, "invalid_request");

    let made = organiser.put_event("autumn", &event()).await.is(201);
    let changed = organiser
        .change_event("autumn", ("If-Match", made.header("etag")), &json!({"name": "初秋のラリー"}))
        .await
        .is(200);
    // The clock stands still: a version is at least a millisecond newer than the one before.
    let (first, second) = (updated_at(&made), updated_at(&changed));
    assert_eq!(second, first.plus_millis(1));
    let late = json!({"name": "晩秋のラリー"});
    let lost = organiser.change_event("autumn", ("If-Match", made.header("etag")), &late).await;
    lost.refuses(412, "version_conflict");
    let weak = format!("W/{}", changed.header("etag"));
    organiser.change_event("autumn", ("If-Match", &weak), &json!({})).await.refuses(412, "version_conflict");
    let several = format!("\"another\", {}", changed.header("etag"));
    organiser.change_event("autumn", ("If-Match", &several), &json!({})).await.is(200);
    let read = organiser.change_event("autumn", ("If-Match", "*"), &json!({})).await.is(200);
    assert_eq!((&read.body["name"], updated_at(&read)), (&json!("初秋のラリー"), second.plus_millis(2)));
}

fn updated_at(answer: &Answer) -> stamp_rally::domain::time::Timestamp {
    super::at(answer.body["updatedAt"].as_str().unwrap())
}

#[tokio::test]
async fn what_a_put_leaves_out_keeps_its_value_and_null_takes_away() {
    let house = House::empty("partial").await;
    let organiser = house.organiser();
    let mut whole = event();
    whole["timeZone"] = json!("Europe/Berlin");
    whole["liffId"] = json!("1000000001-AbcdEfgh");
    whole["indexShards"] = json!(4);
    whole["completionMessageContent"] = flex("{{event.name}}: {{card.total}}");
    let made = organiser.put_event("autumn", &whole).await.is(201);

    let renamed = organiser.put_event("autumn", &json!({"name": "初秋のラリー"})).await.is(200);
    let mut expected = made.body.clone();
    expected["name"] = json!("初秋のラリー");
    expected["updatedAt"] = renamed.body["updatedAt"].clone();
    assert_eq!(renamed.body, expected);

    let taken = json!({"liffId": null, "completionMessageContent": null});
    let taken = organiser.put_event("autumn", &taken).await.is(200);
    let expected = expected.as_object_mut().unwrap();
    expected.remove("liffId");
    expected.remove("completionMessageContent");
    expected["updatedAt"] = taken.body["updatedAt"].clone();
    assert_eq!(taken.body.as_object().unwrap(), expected);
    assert_eq!(organiser.get("/autumn").await.is(200).body, taken.body);

    // What cannot be missing cannot be taken away.
    for name in ["name", "startsAt", "endsAt", "timeZone", "channel", "indexShards"] {
        organiser.put_event("autumn", &json!({name: null})).await.refuses(400, "invalid_request");
    }
    // What a GET answered may be sent back whole: nothing but the version changes.
    let again = organiser.put_event("autumn", &taken.body).await.is(200);
    expected["updatedAt"] = again.body["updatedAt"].clone();
    assert_eq!(again.body.as_object().unwrap(), expected);
}

/// A setting's item: of the event, or of one of its stamps.
fn key_of(stamp: Option<&str>) -> (String, &'static str) {
    stamp.map_or_else(
        || (format!("EVENT#{RALLY}"), "METADATA"),
        |stamp| (format!("EVENT#{RALLY}#STAMP#{stamp}"), "MASTER"),
    )
}

impl House {
    async fn setting(&self, (pk, sk): (String, &str)) -> HashMap<String, AttributeValue> {
        let [pk, sk] = [pk, sk.to_owned()].map(AttributeValue::S);
        let get = self.clients.table.get_item().table_name("line-event").key("PK", pk).key("SK", sk);
        get.send().await.unwrap().item.unwrap()
    }

    /// Puts a setting's item with some attributes more, and without some others.
    async fn spoil(&self, key: (String, &str), more: &[(&str, AttributeValue)], without: &[&str]) {
        let mut item = self.setting(key).await;
        item.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        item.retain(|name, _| !without.contains(&name.as_str()));
        self.clients.table.put_item().table_name("line-event").set_item(Some(item)).send().await.unwrap();
    }
}

#[tokio::test]
async fn what_a_newer_version_keeps_of_a_setting_survives_a_put() {
    let house = House::open("newer version").await;
    let organiser = house.organiser();
    organiser.put_event(RALLY, &json!({"liffId": "1000000001-AbcdEfgh"})).await.is(200);
    let newer = AttributeValue::M([("kind".to_owned(), AttributeValue::S("gps".to_owned()))].into());
    house.spoil(key_of(None), &[("pageTheme", newer.clone())], &[]).await;
    house.spoil(key_of(Some("001")), &[("proof", newer.clone())], &[]).await;
    // This one can't be read besides.
    house.spoil(key_of(Some("002")), &[("proof", newer.clone())], &["isActive"]).await;

    let event = organiser.put_event(RALLY, &json!({"name": "夏のラリー", "liffId": null})).await.is(200);
    organiser.put_stamp(RALLY, "001", &json!({"name": "駅", "order": 9})).await.is(200);
    organiser.put_stamp(RALLY, "002", &json!({"name": "港", "isActive": true})).await.is(200);

    let item = house.setting(key_of(None)).await;
    assert_eq!((item.get("pageTheme"), item.get("liffId")), (Some(&newer), None), "null takes away what is known");
    assert_eq!((event.body.get("pageTheme"), event.body.get("liffId")), (None, None), "nothing else is answered");
    let item = house.setting(key_of(Some("001"))).await;
    let place = AttributeValue::S("009".to_owned());
    assert_eq!((item.get("proof"), item.get("GSI1SK")), (Some(&newer), Some(&place)));
    assert_eq!(house.setting(key_of(Some("002"))).await.get("proof"), Some(&newer));
}

#[tokio::test]
async fn a_setting_that_no_list_shows_is_listed_again_by_any_put() {
    let house = House::open("unlisted").await;
    let organiser = house.organiser();
    for stamp in [None, Some("001")] {
        house.spoil(key_of(stamp), &[], &["GSI1PK", "GSI1SK"]).await;
    }
    let listed = async || {
        let (events, stamps) =
            (organiser.get("").await.is(200), organiser.get(&format!("/{RALLY}/stamps")).await.is(200));
        [&events.body["events"], &stamps.body["stamps"]].map(|rows| rows.as_array().unwrap().len())
    };
    assert_eq!(listed().await, [0, 1]);
    organiser.put_event(RALLY, &json!({})).await.is(200);
    organiser.put_stamp(RALLY, "001", &json!({})).await.is(200);
    assert_eq!(listed().await, [1, 2]);
}

#[tokio::test]
async fn an_event_that_could_not_be_run_is_refused_and_nothing_is_stored() {
    let house = House::empty("impossible").await;
    let organiser = house.organiser();
    for (member, value, named) in [
        ("name", Value::Null, "name"),
        ("startsAt", json!("2096-10-01T00:00:00.123Z"), "endsAt"),
        ("endsAt", json!("2096-09-01"), "endsAt"),
        ("timeZone", json!("Japan/Kyoto"), "timeZone"),
        ("channel", json!("unconfigured"), "channel: no channel unconfigured is configured"),
        ("indexShards", json!(0), "indexShards"),
        ("eventId", json!("winter"), "eventId"),
        ("participants", json!(3), "participants"),
    ] {
        let mut wrong = event();
        wrong[member] = value;
        let refused = organiser.put_event("autumn", &wrong).await.refuses(400, "invalid_request");
        assert!(refused.body["detail"].as_str().unwrap().contains(named), "{member}: {}", refused.body);
    }
    for missing in ["name", "startsAt", "endsAt", "channel"] {
        let mut wrong = event();
        wrong.as_object_mut().unwrap().remove(missing);
        let refused = organiser.put_event("autumn", &wrong).await.refuses(400, "invalid_request");
        assert!(refused.body["detail"].as_str().unwrap().contains(missing), "{}", refused.body);
    }
    organiser.get("/autumn").await.refuses(404, "event_not_found");

    organiser.put_event("autumn", &event()).await.is(201);
    let backwards = organiser.put_event("autumn", &json!({"endsAt": "2096-08-31T00:00:00Z"})).await;
    backwards.refuses(400, "invalid_request");
    assert_eq!(organiser.get("/autumn").await.body["endsAt"], "2096-10-01T00:00:00.123Z");
}

#[tokio::test]
async fn channel_and_shards_are_fixed_once_a_participant_is_registered() {
    let house = House::open("fixed").await;
    let organiser = house.organiser();
    let free = json!({"channel": "other", "indexShards": 4});
    organiser.put_event(RALLY, &free).await.is(200);
    organiser.put_event(RALLY, &json!({"channel": "main"})).await.is(200);

    house.hanako().register().await.is(201);

    for (change, named) in [(json!({"channel": "other"}), "channel"), (json!({"indexShards": 1}), "indexShards")] {
        let refused = organiser.put_event(RALLY, &change).await.refuses(409, "setting_fixed");
        assert!(refused.body["detail"].as_str().unwrap().starts_with(named), "{}", refused.body);
    }
    let same = json!({"channel": "main", "indexShards": 4, "name": "夏のラリー"});
    assert_eq!(organiser.put_event(RALLY, &same).await.is(200).body["name"], "夏のラリー");
}

#[tokio::test]
async fn stamps_are_made_changed_and_listed_in_order() {
    let house = House::open("stamps").await;
    let organiser = house.organiser();
    organiser.put_stamp("nowhere", "003", &json!({})).await.refuses(404, "event_not_found");
    organiser.get("/nowhere/stamps").await.refuses(404, "event_not_found");
    organiser.get(&format!("/{RALLY}/stamps/003")).await.refuses(404, "stamp_not_found");
    organiser.change_stamp("003", ("If-Match", "*"), &json!({})).await.refuses(412, "version_conflict");

    let third = json!({"name": "第3スタンプ", "order": 1, "flexMessageContent": flex("{{stamp.name}}")});
    let made = organiser.change_stamp("003", ("If-None-Match", "*"), &third).await.is(201);
    let now = house.store.master(&rally(), &"003".parse().unwrap()).await.unwrap().unwrap().updated_at.to_string();
    assert_eq!(made.header("etag"), format!("\"{now}\""));
    assert_eq!(
        made.body,
        json!({
            "eventId": RALLY, "stampId": "003", "name": "第3スタンプ", "order": 1, "isActive": true,
            "flexMessageContent": flex("{{stamp.name}}"), "updatedAt": now,
        })
    );
    assert_eq!(organiser.get(&format!("/{RALLY}/stamps/003")).await.is(200).body, made.body);

    let off = organiser.change_stamp("003", ("If-Match", made.header("etag")), &json!({"isActive": false})).await;
    let off = off.is(200);
    assert_eq!((&off.body["isActive"], &off.body["name"]), (&json!(false), &json!("第3スタンプ")));
    let lost = organiser.change_stamp("003", ("If-Match", made.header("etag")), &json!({"order": 9})).await;
    lost.refuses(412, "version_conflict");

    let ids = async |query: &str| {
        let page = organiser.get(&format!("/{RALLY}/stamps{query}")).await.is(200);
        let ids = page.body["stamps"].as_array().unwrap().iter().map(|stamp| stamp["stampId"].as_str().unwrap());
        (ids.map(ToOwned::to_owned).collect::<Vec<_>>(), page.body["nextCursor"].as_str().map(ToOwned::to_owned))
    };
    // 001 and 003 share a place; the id decides. The inactive one is there, too.
    assert_eq!(ids("").await, (["001", "003", "002"].map(ToOwned::to_owned).to_vec(), None));
    assert_eq!(ids("?order=desc").await.0, ["002", "003", "001"]);
    let (first, next) = ids("?limit=2").await;
    assert_eq!(first, ["001", "003"]);
    assert_eq!(ids(&format!("?limit=2&cursor={}", next.unwrap())).await, (vec!["002".to_owned()], None));
    assert_eq!(house.hanako().register().await.body["totalCount"], 2);
}

#[tokio::test]
async fn a_change_is_what_participants_see_next_on_this_server() {
    let house = House::open("seen").await;
    let (organiser, hanako) = (house.organiser(), house.hanako());
    hanako.register().await.is(201);
    organiser.put_stamp(RALLY, "001", &json!({"name": "駅前", "isActive": false})).await.is(200);
    assert_eq!(hanako.card().await.body["totalCount"], 1);
    hanako.acquire("001").await.refuses(409, "stamp_inactive");
    organiser.put_stamp(RALLY, "001", &json!({"isActive": true})).await.is(200);
    hanako.acquire("001").await.is(201);
    let over = json!({"startsAt": "2020-01-01T00:00:00Z", "endsAt": "2020-01-02T00:00:00Z"});
    organiser.put_event(RALLY, &over).await.is(200);
    hanako.acquire("002").await.refuses(409, "event_ended");
    assert_eq!(hanako.look_at("001").await.is(200).body["name"], "駅前");
}

#[tokio::test]
async fn a_message_that_line_would_refuse_is_not_stored() {
    let house = House::open("flex").await;
    let organiser = house.organiser();
    let mut message = flex("やった");
    message["altText"] = json!("あ".repeat(1501));
    message["contents"]["body"]["contents"][0] = json!({"type": "text", "text": "{{stamp.nme}}"});
    message["contents"]["size"] = json!("enormous");

    let refused = organiser.put_stamp(RALLY, "001", &json!({"flexMessageContent": message})).await;
    let refused = refused.refuses(422, "flex_invalid");
    let faults = refused.body["faults"].as_array().unwrap();
    let paths: Vec<&str> = faults.iter().map(|fault| fault["path"].as_str().unwrap()).collect();
    for place in ["/altText", "/contents/body/contents/0/text", "/contents/size"] {
        assert!(paths.contains(&place), "{place}: {faults:?}");
    }
    assert!(faults.iter().all(|fault| !fault["limit"].as_str().unwrap().is_empty()), "{faults:?}");
    let event = organiser.put_event(RALLY, &json!({"completionMessageContent": message})).await;
    event.refuses(422, "flex_invalid");
    for nothing in [json!(null), json!({}), json!([]), json!("flex")] {
        let refused = organiser.put_stamp(RALLY, "001", &json!({"flexMessageContent": nothing})).await;
        refused.refuses(422, "flex_invalid");
    }

    let stamp = organiser.get(&format!("/{RALLY}/stamps/001")).await.is(200);
    assert_eq!(stamp.body["flexMessageContent"]["altText"], "{{stamp.name}} {{card.acquired}}/{{card.total}}");
    house.registered([(1, stamp_rally::domain::time::Timestamp::EPOCH)]).await;
    assert_eq!(organiser.people("").await, [1], "and the rally continues ({})", user(1));
}

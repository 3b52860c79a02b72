//! Items that can't be read, put by hand into a running house: each harms itself alone, and what it held up goes on when
//! it is mended.

use std::{collections::HashMap, time::Duration};

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use stamp_rally::{delivery::Outcome, domain::time::TimeSource as _};

use super::house::{Answer, CHANNEL, House, Person, RALLY, flex};

fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

fn master(stamp: &str) -> (String, &'static str) {
    (format!("EVENT#{RALLY}#STAMP#{stamp}"), "MASTER")
}

fn fact(person: &Person<'_>, sk: &'static str) -> (String, &'static str) {
    (format!("EVENT#{RALLY}#USER#{}", person.id), sk)
}

impl House {
    /// Changes one attribute of an item, or takes it away; every process knows the change when its copies have grown old.
    async fn edit(&self, (pk, sk): (String, &str), attribute: &str, value: Option<AttributeValue>) {
        let update = self.clients.table.update_item().table_name("line-event").key("PK", text(&pk)).key("SK", text(sk));
        let update = update.expression_attribute_names("#a", attribute);
        let update = match value {
            Some(value) => update.update_expression("SET #a = :v").expression_attribute_values(":v", value),
            None => update.update_expression("REMOVE #a"),
        };
        update.send().await.unwrap();
        self.pass(Duration::from_secs(31)).await;
    }

    async fn item(&self, (pk, sk): (String, &str)) -> HashMap<String, AttributeValue> {
        let get = self.clients.table.get_item().table_name("line-event").key("PK", text(&pk)).key("SK", text(sk));
        get.send().await.unwrap().item.unwrap()
    }

    /// A second rally, with one stamp.
    async fn open_autumn(&self) {
        let now = self.clock.now();
        let day = 24 * 3600 * 1000;
        let event = json!({
            "name": "秋のラリー", "channel": CHANNEL, "startsAt": now.plus_millis(-day), "endsAt": now.plus_millis(30 * day),
        });
        self.organiser().put_event("autumn", &event).await.is(201);
        let stamp = json!({"name": "紅葉", "order": 1, "flexMessageContent": flex("{{stamp.name}}")});
        self.organiser().put_stamp("autumn", "001", &stamp).await.is(201);
    }
}

async fn acquires_in_autumn(person: &Person<'_>) {
    let request = person.house.request(reqwest::Method::POST, "/api/events/autumn/me/stamps/001");
    Answer::to(request.bearer_auth(&person.token)).await.is(201);
}

async fn notice(house: &House, person: &Person<'_>, index: usize) -> (String, String) {
    let answer = house.organiser().get(&format!("/{RALLY}/users/{}", person.id)).await.is(200);
    let line = &answer.body["notices"][index];
    let word = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
    (word("state"), word("noticeReason"))
}

#[tokio::test]
async fn a_master_that_cannot_be_read_holds_its_own_notices_and_no_others() {
    let house = House::open("unreadable master, notices").await;
    house.open_autumn().await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    house.edit(master("001"), "isActive", None).await;
    hanako.acquire("002").await.is(201);
    taro.acquire("002").await.is(201);
    acquires_in_autumn(&taro).await;

    let tally = house.deliver().await;
    assert_eq!(tally.of(Outcome::Sent), 4, "{tally:?}");
    assert_eq!(
        hanako.phone(),
        ["第2スタンプ 2/2", "初夏のラリー、2個そろいました"],
        "she has every stamp there can be"
    );
    assert_eq!(taro.phone(), ["第2スタンプ 1/2", "紅葉"]);
    assert_eq!(notice(&house, &hanako, 0).await, ("held".to_owned(), "unreadable".to_owned()));

    house.change_stamp("001", &json!({"isActive": true})).await;
    house.deliver().await;
    assert_eq!(hanako.phone()[2..], ["第1スタンプ 1/2"]);
    house.deliver().await;
    assert_eq!(hanako.phone().len(), 3, "nothing is sent twice");
}

#[tokio::test]
async fn a_master_that_cannot_be_read_is_set_aside_and_a_put_mends_it() {
    let house = House::open("unreadable master, pages").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    house.edit(master("001"), "isActive", Some(text("yes"))).await;

    let card = hanako.card().await.is(200);
    assert_eq!(card.body["stamps"].as_array().unwrap().len(), 1, "{card:?}");
    assert_eq!((card.body["totalCount"].as_i64(), card.body["completed"].as_bool()), (Some(2), Some(false)));
    let public = house.request(reqwest::Method::GET, &format!("/api/events/{RALLY}/stamps"));
    let public = Answer::to(public).await.is(200);
    assert_eq!(public.body["stamps"][0]["stampId"], "002");
    let listed = house.organiser().get(&format!("/{RALLY}/stamps")).await.is(200);
    assert_eq!((listed.body["stamps"].as_array().unwrap().len(), listed.body["unreadable"].as_i64()), (1, Some(1)));
    hanako.acquire("002").await.is(201);
    hanako.acquire("001").await.refuses(500, "internal_error");

    let stamp = json!({"name": "駅"});
    let refused = house.organiser().put_stamp(RALLY, "001", &stamp).await.refuses(400, "invalid_request");
    let detail = refused.body["detail"].as_str().unwrap();
    assert!(detail.contains("isActive") && detail.contains("can't be read"), "{detail}");
    let mended = house.organiser().put_stamp(RALLY, "001", &json!({"name": "駅", "isActive": true})).await.is(200);
    assert_eq!((&mended.body["name"], &mended.body["order"]), (&json!("駅"), &json!(1)), "the rest keeps its value");
    hanako.acquire("001").await.is(201);
    assert_eq!(hanako.card().await.is(200).body["completed"], true);
}

#[tokio::test]
async fn an_acquired_stamp_stays_acquired_while_its_master_cannot_be_read() {
    let house = House::open("unreadable master, acquired").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    let acquired = hanako.acquire("001").await.is(201);
    taro.register().await.is(201);
    house.edit(master("001"), "order", None).await;

    let again = hanako.acquire("001").await.is(200);
    assert_eq!(again.body["acquiredAt"], acquired.body["acquiredAt"]);
    assert_eq!(
        (&again.body["stampId"], &again.body["name"], &again.body["order"]),
        (&json!("001"), &json!("001"), &json!(999))
    );
    let path = format!("/api/events/{RALLY}/me/stamps/001");
    let one = async |person: &Person<'_>| {
        Answer::to(house.request(reqwest::Method::GET, &path).bearer_auth(&person.token)).await
    };
    assert_eq!(one(&hanako).await.is(200).body["acquired"], true);
    one(&taro).await.refuses(500, "internal_error");
    taro.acquire("001").await.refuses(500, "internal_error");
}

#[tokio::test]
async fn a_stamp_that_lost_whether_it_is_active_is_not_made_active_by_a_put_that_does_not_say_so() {
    let house = House::open("unreadable master, activity").await;
    house.edit(master("001"), "isActive", None).await;
    let refused =
        house.organiser().put_stamp(RALLY, "001", &json!({"name": "駅"})).await.refuses(400, "invalid_request");
    assert_eq!(refused.body["detail"], "isActive: is required, because the stored value is missing or can't be read");
    let mended = house.organiser().put_stamp(RALLY, "001", &json!({"isActive": false})).await.is(200);
    assert_eq!(mended.body["isActive"], false);
}

#[tokio::test]
async fn preconditions_of_a_setting_that_cannot_be_read_see_that_it_is_there() {
    let house = House::open("unreadable master, preconditions").await;
    let version = house.organiser().get(&format!("/{RALLY}/stamps/001")).await.is(200).header("etag").to_owned();
    house.edit(master("001"), "order", None).await;
    let put = async |name: &'static str, value: &str| {
        let request = house.organiser().request(reqwest::Method::PUT, &format!("/{RALLY}/stamps/001"));
        Answer::to(request.header(name, value).json(&json!({"order": 1}))).await
    };
    put("If-None-Match", "*").await.refuses(412, "version_conflict");
    put("If-Match", &version).await.refuses(412, "version_conflict");
    put("If-Match", "*").await.is(200);
}

#[tokio::test]
async fn an_event_that_cannot_be_read_stops_no_other_rally_and_its_notices_go_out_when_it_is_mended() {
    let house = House::open("unreadable event").await;
    house.open_autumn().await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    acquires_in_autumn(&taro).await;
    house.edit((format!("EVENT#{RALLY}"), "METADATA"), "startsAt", Some(text("2026-05-01"))).await;

    hanako.card().await.refuses(500, "internal_error");
    let events = house.organiser().get("").await.is(200);
    assert_eq!((&events.body["events"][0]["eventId"], &events.body["unreadable"]), (&json!("autumn"), &json!(1)));
    let tally = house.deliver().await;
    assert_eq!(tally.of(Outcome::Sent), 1, "{tally:?}");
    assert_eq!((hanako.phone().len(), taro.phone()), (0, vec!["紅葉".to_owned()]));

    // The channel is paused and resumes: held notices of other rallies don't wait for the broken one.
    house.line_faults(json!([{"endpoint": "push", "kind": "status", "code": 403, "times": 2}])).await;
    let jiro = house.person("次郎");
    acquires_in_autumn(&jiro).await;
    house.deliver().await;
    assert_eq!(jiro.phone().len(), 0);

    house.pass(Duration::from_mins(1)).await;
    house.line_faults(json!([])).await;
    house.deliver().await;
    assert_eq!(jiro.phone(), ["紅葉"]);

    let starts_at = house.clock.now().plus_millis(-3_600_000);
    house.change_the_rally(&json!({"startsAt": starts_at})).await;
    house.deliver().await;
    assert_eq!(hanako.phone(), ["第1スタンプ 1/2"]);
    hanako.card().await.is(200);
}

#[tokio::test]
async fn a_card_that_waits_for_an_unreadable_stamp_is_completed_when_that_is_gone() {
    let house = House::open("pending completion").await;
    let third = json!({"name": "第3スタンプ", "order": 3, "flexMessageContent": flex("{{stamp.name}}")});
    house.organiser().put_stamp(RALLY, "003", &third).await.is(201);
    house.edit(master("003"), "name", Some(AttributeValue::N("3".to_owned()))).await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    hanako.acquire("002").await.is(201);
    house.deliver().await;
    house.deliver().await;
    assert_eq!(hanako.phone(), ["第1スタンプ 1/3", "第2スタンプ 2/3"]);
    assert_eq!(hanako.card().await.is(200).body["completed"], false);

    let delete = house.clients.table.delete_item().table_name("line-event");
    delete.key("PK", text(&master("003").0)).key("SK", text("MASTER")).send().await.unwrap();
    house.deliver().await;
    house.deliver().await;
    assert_eq!(hanako.phone()[2..], ["初夏のラリー、2個そろいました"]);
    assert_eq!(house.deliver().await.total(), 0, "nothing is left to do");
}

#[tokio::test]
async fn a_stamp_that_cannot_be_read_stays_acquired_and_holds_the_later_notices_of_its_participant() {
    let house = House::open("unreadable fact").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    house.deliver().await;
    let stored = house.item(fact(&hanako, "STAMP#001")).await["acquiredAt"].clone();
    house.edit(fact(&hanako, "STAMP#001"), "acquiredAt", Some(text("yesterday"))).await;

    let again = hanako.acquire("001").await.is(200);
    assert_eq!((&again.body["acquired"], again.body.get("acquiredAt")), (&json!(true), None));
    hanako.look_at("001").await.is(200);
    let card = hanako.card().await.is(200);
    assert_eq!((&card.body["acquiredCount"], &card.body["completed"]), (&json!(1), &json!(false)));
    hanako.acquire("002").await.is(201);
    taro.acquire("001").await.is(201);
    house.deliver().await;
    assert_eq!((hanako.phone().len(), taro.phone().len()), (1, 1));
    let shown = async |person: &Person<'_>| {
        let body = house.organiser().get(&format!("/{RALLY}/users/{}", person.id)).await.is(200).body;
        (body["notices"].as_array().unwrap().len(), body.get("unreadable").cloned())
    };
    assert_eq!(shown(&hanako).await, (1, Some(json!(1))), "what is left out is counted");
    assert_eq!(shown(&taro).await, (1, None));
    assert_eq!(notice(&house, &hanako, 0).await, ("held".to_owned(), "unreadable".to_owned()));

    house.edit(fact(&hanako, "STAMP#001"), "acquiredAt", Some(stored)).await;
    house.deliver().await;
    house.deliver().await;
    assert_eq!(hanako.phone()[1..], ["第2スタンプ 2/2", "初夏のラリー、2個そろいました"]);
}

#[tokio::test]
async fn a_notice_whose_item_was_written_unreadable_goes_out_when_the_item_is_mended_in_any_way() {
    let house = House::open("unreadable when written").await;
    let people = [house.hanako(), house.person("太郎"), house.person("次郎")];
    for person in &people {
        person.register().await.is(201);
    }
    let write = async |person: &Person<'_>, broken: bool| {
        let now = house.clock.now();
        let put = house.clients.table.put_item().table_name("line-event");
        let put = put
            .item("PK", text(&fact(person, "").0))
            .item("SK", text("STAMP#001"))
            .item("entityType", text("USER_STAMP"))
            .item("eventId", text(RALLY))
            .item("lineUserId", text(&person.id))
            .item("stampId", text("001"))
            .item("acquiredAt", text(&if broken { "now".to_owned() } else { now.to_string() }))
            .item("flexMessageSent", AttributeValue::Bool(false));
        put.send().await.unwrap();
    };
    for person in &people {
        write(person, true).await;
    }
    house.deliver().await;
    assert!(people.iter().all(|person| person.phone().is_empty()));

    let now = text(&house.clock.now().to_string());
    house.edit(fact(&people[0], "STAMP#001"), "acquiredAt", Some(now.clone())).await;
    write(&people[1], false).await;
    house.edit(fact(&people[2], "STAMP#001"), "acquiredAt", Some(now)).await;
    house.edit(fact(&people[2], "STAMP#001"), "someoneElses", Some(text("attribute"))).await;
    house.deliver().await;
    house.deliver().await;
    for person in &people {
        assert_eq!(person.phone(), ["第1スタンプ 1/2"]);
    }
}

#[tokio::test]
async fn a_registration_that_cannot_be_read_keeps_no_one_from_acquiring() {
    let house = House::open("unreadable registration").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    house.edit(fact(&hanako, "PROFILE"), "createdAt", Some(text("2026-05-23T10:00:00Z"))).await;
    hanako.card().await.refuses(500, "internal_error");
    hanako.register().await.refuses(500, "internal_error");
    hanako.acquire("001").await.is(201);
    let csv = house.organiser().get(&format!("/{RALLY}/users")).await.is(200);
    assert_eq!((csv.body["users"].as_array().unwrap().len(), &csv.body["unreadable"]), (0, &json!(1)));
}

#[tokio::test]
async fn a_foreign_item_among_the_stamps_is_counted_by_the_list_that_passes_it_over() {
    let house = House::open("foreign item among the stamps").await;
    let put = house.clients.table.put_item().table_name("line-event");
    let put = put.item("PK", text("NOTE")).item("SK", text("1")).item("entityType", text("NOTE"));
    let put = put.item("GSI1PK", text(&format!("EVENT#{RALLY}#STAMP_MASTERS"))).item("GSI1SK", text("001"));
    put.send().await.unwrap();
    let listed = house.organiser().get(&format!("/{RALLY}/stamps")).await.is(200);
    assert_eq!((listed.body["stamps"].as_array().unwrap().len(), listed.body["unreadable"].as_i64()), (2, Some(1)));
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    hanako.acquire("002").await.is(201);
    assert_eq!(hanako.card().await.is(200).body["completed"], true, "it is no stamp");
}

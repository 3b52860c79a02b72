//! The window `[startsAt, endsAt)`, to the millisecond.

use std::time::Duration;

use serde_json::json;

use super::{HOUR, facts, open_from_to};
use crate::house::House;

const MILLISECOND: Duration = Duration::from_millis(1);
const NEARLY_AN_HOUR: Duration = Duration::from_millis(3_599_999);

#[tokio::test]
async fn the_first_stamp_is_acquired_at_the_start_and_not_a_millisecond_earlier() {
    let house = House::open("window start").await;
    let hanako = house.hanako();
    open_from_to(&house, HOUR, 2 * HOUR).await;
    house.pass(NEARLY_AN_HOUR).await;
    hanako.again().acquire("001").await.refuses(409, "event_not_started");
    house.pass(MILLISECOND).await;
    hanako.again().acquire("001").await.is(201);
    house.close().await;
}

#[tokio::test]
async fn the_last_stamp_is_acquired_a_millisecond_before_the_end() {
    let house = House::open("window end").await;
    let hanako = house.hanako();
    open_from_to(&house, -HOUR, HOUR).await;
    house.pass(NEARLY_AN_HOUR).await;
    hanako.again().acquire("001").await.is(201);
    house.pass(MILLISECOND).await;
    hanako.again().acquire("002").await.refuses(409, "event_ended");
    house.close().await;
}

#[tokio::test]
async fn before_the_start_participants_register_and_get_no_stamp() {
    let house = House::open("before the start").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    open_from_to(&house, HOUR, 2 * HOUR).await;
    let card = hanako.register().await.is(201).body;
    assert_eq!((&card["acquiredCount"], &card["totalCount"]), (&json!(0), &json!(2)));
    hanako.acquire("001").await.refuses(409, "event_not_started");
    hanako.register().await.is(200);

    taro.acquire("001").await.refuses(409, "event_not_started");
    assert!(facts(&house, &taro).await.is_empty(), "a refused claim registers no participant");
    taro.card().await.refuses(404, "not_registered");
    let shown = taro.look_at("001").await.is(200).body;
    assert_eq!((&shown["stampId"], &shown["acquired"]), (&json!("001"), &json!(false)), "registered or not");
    assert_eq!(shown.get("acquiredAt"), None);
    house.close().await;
}

#[tokio::test]
async fn after_the_end_a_card_opens_only_for_those_who_are_registered() {
    let house = House::open("after the end").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    let first = hanako.register().await.is(201).body;
    open_from_to(&house, -HOUR, HOUR).await;
    house.pass(NEARLY_AN_HOUR).await;
    house.person("次郎").register().await.is(201);
    house.pass(MILLISECOND).await;

    let (hanako, taro) = (hanako.again(), taro.again());
    assert_eq!(hanako.register().await.is(200).body, first);
    assert_eq!(hanako.card().await.is(200).body, first);
    taro.register().await.refuses(409, "event_ended");
    taro.acquire("001").await.refuses(409, "event_ended");
    assert!(facts(&house, &taro).await.is_empty());
    taro.card().await.refuses(404, "not_registered");
    house.close().await;
}

#[tokio::test]
async fn an_inactive_stamp_is_not_given_out_and_not_counted() {
    let house = House::open("inactive").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.register().await.is(201);
    house.change_stamp("002", &json!({"isActive": false})).await;
    hanako.acquire("002").await.refuses(409, "stamp_inactive");
    taro.acquire("002").await.refuses(409, "stamp_inactive");
    assert!(facts(&house, &taro).await.is_empty(), "a refused claim registers no participant");
    assert_eq!(hanako.look_at("002").await.is(200).body["acquired"], false);
    let card = hanako.card().await.is(200).body;
    assert_eq!((card["stamps"].as_array().unwrap().len(), &card["totalCount"]), (1, &json!(1)));

    house.change_stamp("002", &json!({"isActive": true})).await;
    hanako.acquire("002").await.is(201);
    house.close().await;
}

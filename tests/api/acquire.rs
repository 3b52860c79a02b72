//! Hanako collects her stamps.

use std::time::Duration;

use serde_json::json;

use super::house::House;

#[tokio::test]
async fn hanako_acquires_a_stamp_once_and_gets_one_message() {
    let house = House::open("acquires once").await;
    let hanako = house.hanako();

    let card = hanako.register().await.is(201);
    assert_eq!(
        (&card.body["acquiredCount"], &card.body["totalCount"], &card.body["completed"]),
        (&json!(0), &json!(2), &json!(false))
    );
    let first = hanako.acquire("001").await.is(201);
    house.deliver().await;
    assert_eq!(hanako.phone(), ["第1スタンプ 1/2"]);

    house.pass(Duration::from_mins(1)).await;
    let again = hanako.acquire("001").await.is(200);
    assert_eq!(again.body["acquiredAt"], first.body["acquiredAt"], "the stored time, not a new one");
    house.deliver().await;
    assert_eq!(hanako.phone(), ["第1スタンプ 1/2"], "nothing is sent again");
    let card = hanako.card().await.is(200);
    assert_eq!(card.body["stamps"][0]["flexMessageSent"], true);
    house.close().await;
}

#[tokio::test]
async fn a_completed_card_calls_for_its_own_message_after_the_stamps() {
    let house = House::open("completes the card").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    house.pass(Duration::from_secs(1)).await;
    hanako.acquire("002").await.is(201);
    house.deliver().await;
    assert_eq!(hanako.phone(), ["第1スタンプ 1/2", "第2スタンプ 2/2", "初夏のラリー、2個そろいました"]);
    assert_eq!(hanako.card().await.is(200).body["completed"], true);
    house.deliver().await;
    assert_eq!(hanako.phone().len(), 3);
}

#[tokio::test]
async fn what_an_action_costs_is_counted_on_the_wire() {
    let house = House::open("counts on the wire").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    house.wire();

    taro.register().await.is(201);
    assert_eq!(house.wire(), ["1 × PutItem line-event", "1 × Query line-event"], "page opened the first time");
    taro.register().await.is(200);
    assert_eq!(house.wire(), ["1 × Query line-event"], "page opened again");
    taro.acquire("001").await.is(201);
    assert_eq!(house.wire(), ["1 × PutItem line-event"], "this process knows that he is registered");
    house.pass(Duration::from_secs(4)).await;
    house.person("次郎").acquire("002").await.is(201);
    assert_eq!(house.wire(), ["2 × PutItem line-event"], "no process knows him yet");
}

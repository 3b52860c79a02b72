//! What every action costs, counted on the wire, and what is known without asking.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use stamp_rally::{
    domain::{
        event::EventChange,
        setting::Name,
        stamp::{StampMasterChange, StampOrder},
        time::TimeSource as _,
    },
    store::masters::Expected,
};

use super::{HOUR, SECOND, open_from_to};
use crate::{
    house::{Answer, CHANNEL, House, RALLY, flex},
    proxy::{Calls, Fault, Often},
};

const GET: &str = "1 × GetItem line-event";
const MASTERS: &str = "1 × Query line-event/GSI1";
const PUT: &str = "1 × PutItem line-event";
const QUERY: &str = "1 × Query line-event";
const UPDATE: &str = "1 × UpdateItem line-event";

/// Asks for the rally's public list, which keeps the rally's copy fresh and costs nothing but that.
async fn stamps(house: &House) -> Vec<Value> {
    let list = Answer::to(house.request(Method::GET, &format!("/api/events/{RALLY}/stamps"))).await.is(200);
    list.body["stamps"].as_array().unwrap().iter().map(|stamp| stamp["stampId"].clone()).collect()
}

/// Lets so much time pass that this process fetches the rally anew, and forgets what that cost.
async fn wait(house: &House, time: Duration) {
    house.pass(time).await;
    stamps(house).await;
    house.wire();
}

#[tokio::test]
async fn opening_the_page_and_acquiring_stamps_cost_what_the_contract_says() {
    let house = House::open("costs of participants").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    stamps(&house).await;
    assert_eq!(house.wire(), [GET, MASTERS], "the rally, fetched once for all");

    hanako.register().await.is(201);
    assert_eq!(house.wire(), [PUT, QUERY], "opened the first time ever");
    hanako.register().await.is(200);
    assert_eq!(house.wire(), [QUERY], "opened again");
    hanako.card().await.is(200);
    assert_eq!(house.wire(), [QUERY], "the card alone");
    hanako.look_at("001").await.is(200);
    assert_eq!(house.wire(), [GET], "one stamp");
    hanako.acquire("001").await.is(201);
    assert_eq!(house.wire(), [PUT], "acquired");
    hanako.acquire("001").await.is(200);
    assert_eq!(house.wire(), [PUT], "held already: the failed condition gives it back");
    taro.acquire("001").await.is(201);
    assert_eq!(house.wire(), ["2 × PutItem line-event"], "this process doesn't know him");
    stamps(&house).await;
    assert_eq!(house.wire(), [] as [&str; 0], "the public list costs nothing");
    house.close().await;
}

#[tokio::test]
async fn refusals_cost_at_most_one_look_at_what_is_held() {
    let house = House::open("costs of refusals").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    open_from_to(&house, -2 * HOUR, -SECOND).await;
    stamps(&house).await;
    house.wire();
    hanako.acquire("001").await.is(200);
    assert_eq!(house.wire(), [GET], "held wins");
    taro.acquire("001").await.refuses(409, "event_ended");
    assert_eq!(house.wire(), [GET]);
    taro.register().await.refuses(409, "event_ended");
    assert_eq!(house.wire(), [QUERY]);
    hanako.with("nonsense").acquire("001").await.refuses(401, "token_invalid");
    hanako.with("").acquire("001").await.refuses(401, "token_missing");
    assert_eq!(house.wire(), [] as [&str; 0], "the caller isn't known");
    hanako.acquire("999").await.refuses(404, "stamp_not_found");
    assert_eq!(house.wire(), [GET], "an unknown stamp is looked up");
    hanako.acquire("998").await.refuses(404, "stamp_not_found");
    hanako.acquire("999").await.refuses(404, "stamp_not_found");
    assert_eq!(house.wire(), [GET], "and the answer is kept");
    house.close().await;
}

#[tokio::test]
async fn a_participant_is_known_to_be_registered_for_a_minute() {
    let house = House::open("known for a minute").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    wait(&house, Duration::from_millis(59_999)).await;
    hanako.acquire("001").await.is(201);
    assert_eq!(house.wire(), [PUT]);
    wait(&house, Duration::from_millis(1)).await;
    hanako.acquire("002").await.is(201);
    assert_eq!(house.wire(), ["2 × PutItem line-event"], "it may have been taken back meanwhile");
    house.close().await;
}

#[tokio::test]
async fn a_notice_costs_a_query_a_push_and_an_update() {
    let house = House::open("costs of notices").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    let mut worker = house.worker();
    taro.acquire("001").await.is(201);
    worker.run_until_idle().await.unwrap();
    hanako.acquire("001").await.is(201);
    house.wire();

    let pushes = house.asked_of_line("push").await;
    worker.run_until_idle().await.unwrap();
    // Beside the stream and its progress, a worker looks for held notices in an index, from time to time.
    let on_the_table = |house: &House| -> Vec<String> {
        house.wire().into_iter().filter(|call| call.ends_with(" line-event")).collect()
    };
    assert_eq!(on_the_table(&house), [QUERY, UPDATE]);
    assert_eq!(house.asked_of_line("push").await - pushes, 1);

    hanako.acquire("002").await.is(201);
    house.wire();
    worker.run_until_idle().await.unwrap();
    let with_completion = ["1 × PutItem line-event", "2 × Query line-event", "2 × UpdateItem line-event"];
    assert_eq!(on_the_table(&house), with_completion, "the stamp's notice, COMPLETED, and its own notice");
    assert_eq!(house.asked_of_line("push").await - pushes, 3);
    worker.stop().await;
    house.close().await;
}

/// Another process makes a stamp: ours isn't told.
async fn makes_a_stamp_elsewhere(house: &House, id: &str) {
    let change = StampMasterChange {
        name: Some(Name::try_from("新しい".to_owned()).unwrap()),
        order: Some(StampOrder::try_from(3).unwrap()),
        flex_message_content: Some(flex("新しい")),
        ..StampMasterChange::default()
    };
    let master = change.create(RALLY.parse().unwrap(), id.parse().unwrap(), house.clock.now()).unwrap();
    house.store.put_master(&master, Expected::Absent).await.unwrap();
}

#[tokio::test]
async fn a_new_stamp_appears_within_five_seconds_and_can_be_acquired_at_once() {
    let house = House::open("a new stamp").await;
    let hanako = house.hanako();
    assert_eq!(stamps(&house).await, ["001", "002"]);
    makes_a_stamp_elsewhere(&house, "003").await;
    hanako.acquire("003").await.is(201);
    assert_eq!(stamps(&house).await, ["001", "002"], "a copy is good for five seconds");
    house.pass(Duration::from_millis(5001)).await;
    assert_eq!(stamps(&house).await, ["001", "002", "003"]);
    assert_eq!(hanako.card().await.is(200).body["stamps"][2]["acquired"], true);
    house.close().await;
}

#[tokio::test]
async fn a_no_is_believed_for_two_seconds() {
    let house = House::open("a no is kept").await;
    let hanako = house.hanako();
    hanako.acquire("003").await.refuses(404, "stamp_not_found");
    let elsewhere = "/api/events/rally-of-tomorrow/stamps";
    Answer::to(house.request(Method::GET, elsewhere)).await.refuses(404, "event_not_found");
    makes_a_stamp_elsewhere(&house, "003").await;
    let (now, day) = (house.clock.now(), 24 * HOUR);
    let event = EventChange {
        name: Some(Name::try_from("明日".to_owned()).unwrap()),
        starts_at: Some(now),
        ends_at: Some(now.plus_millis(day)),
        channel: Some(CHANNEL.parse().unwrap()),
        ..EventChange::default()
    };
    let event = event.create("rally-of-tomorrow".parse().unwrap(), now).unwrap();
    house.store.put_event(&event, Expected::Absent).await.unwrap();

    house.pass(Duration::from_secs(2)).await;
    hanako.acquire("003").await.refuses(404, "stamp_not_found");
    Answer::to(house.request(Method::GET, elsewhere)).await.refuses(404, "event_not_found");
    house.pass(Duration::from_millis(1)).await;
    hanako.acquire("003").await.is(201);
    assert_eq!(Answer::to(house.request(Method::GET, elsewhere)).await.is(200).body, json!({"stamps": []}));
    house.close().await;
}

#[tokio::test]
async fn an_organisers_change_is_seen_at_once_by_the_process_that_made_it() {
    let house = House::open("own changes").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    house.change_stamp("001", &json!({"name": "改名"})).await;
    assert_eq!(hanako.card().await.is(200).body["stamps"][0]["name"], "改名");
    house.change_stamp("001", &json!({"order": 3})).await;
    assert_eq!(stamps(&house).await, ["002", "001"]);
    house.close().await;
}

#[tokio::test]
async fn while_the_store_is_ill_an_old_copy_serves_for_thirty_seconds() {
    let house = House::open("old copy").await;
    assert_eq!(stamps(&house).await.len(), 2);
    house.wire.inject(Calls::All, Fault::ServerError, Often::Always);
    house.pass(Duration::from_secs(30)).await;
    assert_eq!(stamps(&house).await.len(), 2);
    house.pass(Duration::from_millis(1)).await;
    let list = house.request(Method::GET, &format!("/api/events/{RALLY}/stamps"));
    let refused = Answer::to(list).await.refuses(503, "store_unavailable");
    assert_eq!(refused.header("retry-after"), "2");
    house.wire.heal();
    assert_eq!(stamps(&house).await.len(), 2);
    house.close().await;
}

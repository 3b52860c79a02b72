//! Repeats: a request with the same `Idempotency-Key` is answered as the first one was.

use std::time::Duration;

use super::{HOUR, SECOND, facts, open_from_to};
use crate::house::{Answer, House, Person};
use reqwest::Method;

async fn register_as(who: &Person<'_>, key: &str) -> Answer {
    Answer::to(who.request(Method::PUT, "/me").header("Idempotency-Key", key)).await
}

#[tokio::test]
async fn a_repeated_claim_is_answered_as_the_first_was() {
    let house = House::open("repeated claim").await;
    let hanako = house.hanako();
    let first = hanako.acquire_as("001", "k-1").await.is(201).body;
    house.pass(Duration::from_secs(5)).await;
    assert_eq!(hanako.acquire_as("001", "k-1").await.is(201).body, first);
    assert_eq!(hanako.acquire_as("001", "k-2").await.is(200).body, first, "another request");
    assert_eq!(hanako.acquire("001").await.is(200).body, first);
    hanako.acquire_as("002", "k-1").await.is(201);
    assert_eq!(facts(&house, &hanako).await, ["USER", "USER_STAMP", "USER_STAMP"]);
    let taro = house.person("太郎");
    taro.acquire_as("001", "k-1").await.is(201);
    house.deliver().await;
    assert_eq!((hanako.phone().len(), taro.phone().len()), (3, 1));
    house.close().await;
}

#[tokio::test]
async fn a_claim_is_still_answered_as_the_first_was_when_the_event_has_ended() {
    let house = House::open("repeated after the end").await;
    let hanako = house.hanako();
    let first = hanako.acquire_as("001", "k-1").await.is(201).body;
    open_from_to(&house, -2 * HOUR, -SECOND).await;
    assert_eq!(hanako.acquire_as("001", "k-1").await.is(201).body, first);
    assert_eq!(hanako.acquire_as("001", "k-2").await.is(200).body, first);
    hanako.acquire_as("002", "k-1").await.refuses(409, "event_ended");
    house.close().await;
}

#[tokio::test]
async fn a_repeated_registration_is_answered_as_the_first_was() {
    let house = House::open("repeated registration").await;
    let hanako = house.hanako();
    let first = register_as(&hanako, "k-1").await.is(201).body;
    house.pass(Duration::from_secs(5)).await;
    assert_eq!(register_as(&hanako, "k-1").await.is(201).body, first);
    assert_eq!(register_as(&hanako, "k-2").await.is(200).body, first);
    open_from_to(&house, -2 * HOUR, -SECOND).await;
    assert_eq!(register_as(&hanako, "k-1").await.is(201).body, first);
    assert_eq!(hanako.register().await.is(200).body, first);
    register_as(&house.person("太郎"), "k-1").await.refuses(409, "event_ended");
    house.close().await;
}

#[tokio::test]
async fn the_same_request_twice_at_once_is_one() {
    let house = House::open("same at once").await;
    let hanako = house.hanako();
    let gate = house.wire.hold("PutItem");
    let together = async {
        gate.has_waiting(2).await;
        gate.release();
    };
    let (one, two, ()) = tokio::join!(hanako.acquire_as("001", "k"), hanako.acquire_as("001", "k"), together);
    assert_eq!((one.status, two.status), (201, 201));
    assert_eq!(one.body, two.body);
    house.deliver().await;
    assert_eq!(hanako.phone().len(), 1);
    house.close().await;
}

#[tokio::test]
async fn a_refusal_is_not_remembered() {
    let house = House::open("refused then repeated").await;
    let hanako = house.hanako();
    open_from_to(&house, HOUR, 2 * HOUR).await;
    hanako.acquire_as("001", "k").await.refuses(409, "event_not_started");
    open_from_to(&house, -HOUR, HOUR).await;
    hanako.acquire_as("001", "k").await.is(201);
    house.close().await;
}

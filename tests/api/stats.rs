//! Counts are what the facts say, whatever happens to the workers.

use std::time::Duration;

use serde_json::{Value, json};

use super::house::{House, RALLY};

async fn stats(house: &House) -> Value {
    house.organiser().get(&format!("/{RALLY}/stats")).await.is(200).body
}

#[tokio::test]
async fn registrations_stamps_and_completed_cards_are_counted_once() {
    let house = House::open("counts once").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.register().await.is(201);
    hanako.acquire("001").await.is(201);
    hanako.acquire("002").await.is(201);
    taro.acquire("001").await.is(201);
    house.deliver().await;
    house.deliver().await;
    let counted = stats(&house).await;
    assert_eq!(counted["registrations"], 2);
    assert_eq!(counted["stamps"], json!({"001": 2, "002": 1}));
    assert_eq!(counted["completions"], 1);
    assert_eq!(counted["hours"].as_array().unwrap().len(), 1, "{counted:#}");
}

#[tokio::test]
async fn a_worker_whose_write_was_cut_off_counts_nothing_twice() {
    let house = House::open("counts after a cut").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    // The transaction is carried out, its answer is lost, and so are the repetitions'.
    house.wire.inject("TransactWriteItems", super::proxy::Fault::LostAnswer, super::proxy::Often::Next(2));
    let mut first = house.worker();
    first.run_until_idle().await.unwrap();
    drop(first);
    house.person("太郎").acquire("001").await.is(201);
    let mut second = house.worker();
    second.run_until_idle().await.unwrap();
    house.pass(Duration::from_mins(1)).await;
    second.run_until_idle().await.unwrap();
    let counted = stats(&house).await;
    assert_eq!((&counted["registrations"], &counted["stamps"]), (&json!(2), &json!({"001": 2})));
}

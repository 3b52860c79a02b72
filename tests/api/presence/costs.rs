//! What a claim under rules costs, counted on the wire.

use serde_json::json;

use super::{printed, taking};
use crate::house::House;

const PUT: &str = "1 × PutItem line-event";
const GET: &str = "1 × GetItem line-event";
const QUERY: &str = "1 × Query line-event";
const UPDATE: &str = "1 × UpdateItem line-event";
const TRANSACTION: &str = "1 × TransactWriteItems";

#[tokio::test]
async fn a_claim_costs_what_its_rules_ask_for_and_a_refusal_one_look_more() {
    let house = House::open("costs of proofs").await;
    house.change_stamp("001", &taking(&json!([["qr_static"], ["passcode"]]))).await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    house.wire();
    hanako.prove("001", json!({"code": "nonsense"})).await.is(422);
    let wire = house.wire();
    assert!(wire.contains(&GET.to_owned()) && !wire.iter().any(|call| call.contains("Put")), "{wire:?}");
    hanako.prove("001", json!({"passcode": "wrong"})).await.is(422);
    assert_eq!(house.wire(), [GET, UPDATE], "a try is counted before it is judged");
    hanako.prove("001", json!({"code": printed("001")})).await.is(201);
    assert_eq!(house.wire(), [PUT]);
    house.close().await;
}

#[tokio::test]
async fn a_limited_pace_costs_one_query_and_one_transaction() {
    let house = House::open("costs of a pace").await;
    house.change_the_rally(&json!({"minIntervalSeconds": 60})).await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    house.wire();
    hanako.acquire("001").await.is(201);
    let wire = house.wire();
    assert!(wire[0].starts_with(QUERY) && wire[1].starts_with(TRANSACTION) && wire.len() == 2, "{wire:?}");
    hanako.acquire("002").await.is(409);
    assert_eq!(house.wire(), [QUERY], "the facts say that it isn't held");
    house.close().await;
}

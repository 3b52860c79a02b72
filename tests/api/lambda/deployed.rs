//! What docs/deploy.md says of a deployment: the filter lets through what calls for a notice, and the role is enough.

use std::collections::BTreeSet;

use super::*;
use crate::house::RALLY;

fn page() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/deploy.md")).unwrap()
}

/// The pattern of the only filter, as an event source mapping is given it: JSON in a string.
fn pattern() -> Value {
    let page = page();
    let line = page.lines().find(|line| line.starts_with("{\"Filters\"")).unwrap();
    let criteria: Value = serde_json::from_str(line).unwrap();
    let [filter] = criteria["Filters"].as_array().unwrap().as_slice() else { panic!("{criteria}") };
    serde_json::from_str(filter["Pattern"].as_str().unwrap()).unwrap()
}

/// Whether a filter lets a record through: objects are followed, an array names the values of a leaf (AWS Lambda
/// developer guide: "Filter rule syntax").
fn lets_through(pattern: &Value, record: &Value) -> bool {
    match pattern {
        Value::Object(fields) => fields.iter().all(|(name, wanted)| lets_through(wanted, &record[name.as_str()])),
        Value::Array(values) => values.contains(record),
        _ => panic!("no pattern: {pattern}"),
    }
}

#[tokio::test]
async fn the_documented_filter_lets_what_calls_for_a_notice_through_and_none_of_our_own_marks() {
    let house = House::open("the documented filter").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    hanako.acquire("002").await.is(201);
    house.deliver().await;
    house.organiser().post(&format!("/{RALLY}/deliveries/{}/001/resend", hanako.id)).await.is(202);
    house.deliver().await;
    house.organiser().post(&format!("/{RALLY}/users/{}/completed/resend", hanako.id)).await.is(202);
    house.deliver().await;
    let (pattern, records) = (pattern(), records(&house).await);
    let through: Vec<&Value> = records.iter().filter(|record| lets_through(&pattern, record)).collect();
    let kinds: Vec<&str> =
        through.iter().map(|record| record["dynamodb"]["NewImage"]["entityType"]["S"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["USER_STAMP", "USER_STAMP", "COMPLETED", "RESEND", "RESEND_COMPLETED"]);
    assert!(records.iter().any(|record| record["eventName"] == "MODIFY"), "there are marks");
    house.close().await;
}

/// The actions that the role needs on the table whose row of that page says so.
fn promised(on: &str) -> BTreeSet<String> {
    let page = page();
    let row = page.lines().find(|line| line.starts_with("| `dynamodb:") && line.contains(on)).unwrap();
    let actions = row.split('`').filter_map(|action| action.strip_prefix("dynamodb:"));
    actions.map(ToOwned::to_owned).collect()
}

#[tokio::test]
async fn the_documented_role_is_enough_for_the_function() {
    let house = House::open("the documented role").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    hanako.acquire("002").await.is(201);
    taro.acquire("001").await.is(201);
    house.line_faults(json!([{"endpoint": "push", "kind": "status", "code": 400, "user": taro.id}])).await;
    let batch = records(&house).await;
    house.wire.forget_counts();
    let mut function = Function::of(&house).await;
    assert!(function.is_handed(&batch, MINUTE).await.is_empty());
    function.is_asked(json!({"drain": true}), MINUTE).await.unwrap();
    let calls = house.wire.forget_counts();
    let on = |table: &str| -> BTreeSet<String> {
        let calls = calls.keys().filter(|call| call.table.as_deref() == Some(table));
        calls.map(|call| call.operation.clone()).collect()
    };
    assert_eq!(on("line-event"), promised("the table and its"));
    assert_eq!(on("line-event-consumers"), promised("the consumers' table"));
    assert_eq!(hanako.phone().len(), 2);
    house.close().await;
}

#[test]
fn the_documented_role_may_write_to_the_queue_and_to_the_log() {
    let page = page();
    for action in ["sqs:SendMessage", "logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"] {
        assert!(page.contains(&format!("`{action}`")), "{action}");
    }
}

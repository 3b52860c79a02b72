//! Grants that come at once, on two servers.

use super::{Bearer, code_of, hired};
use crate::house::{House, RALLY};
use serde_json::json;

#[tokio::test]
async fn of_two_staff_and_the_participant_at_once_one_acquires_the_stamp_and_one_notice_goes_out() {
    let house = House::open("two staff and hanako").await;
    house.change_stamp("001", &json!({"proofs": [["open"], ["staff"]]})).await;
    let (server, other) = house.another_server();
    let (one, two) = (hired(&house, "staff", &["*"]).await, hired(&house, "staff", &["001"]).await);
    let hanako = house.hanako();
    hanako.register().await.is(201);
    let code = code_of(&hanako).await;
    let (one, two) = (Bearer::of(&house, &one), Bearer::of(&house, &two).at(&other));
    let gate = house.wire.hold("PutItem");
    let together = async {
        gate.has_waiting(3).await;
        gate.release();
    };
    let (first, second, own, ()) =
        tokio::join!(one.grants("001", &code), two.grants("001", &code), hanako.acquire("001"), together);
    let mut statuses = [first.status, second.status, own.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 201], "{first:?} {second:?} {own:?}");
    assert!(first.body == second.body && second.body == own.body);
    house.deliver().await;
    assert_eq!(hanako.phone(), ["第1スタンプ 1/2"]);
    let facts = house.organiser().get(&format!("/{RALLY}/users/{}", hanako.id)).await.is(200).body["facts"].clone();
    assert_eq!(facts.as_array().unwrap().iter().filter(|fact| fact["entityType"] == "USER_STAMP").count(), 1);
    tokio::task::spawn_blocking(|| drop(server)).await.unwrap();
    house.close().await;
}

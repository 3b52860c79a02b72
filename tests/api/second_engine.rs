//! The same rally on another DynamoDB engine than the embedded one, so that we don't learn that one's habits by heart.
//! The engine's address is in `STAMP_RALLY_TEST_SECOND_ENGINE`; `.ci/run` starts one (moto) and runs this:
//! `cargo test --test api second_engine -- --ignored`.

mod broken;

use serde_json::json;

use super::processes::{
    Participant, eventually,
    site::{Site, address},
};

/// The engine's address.
fn engine() -> String {
    std::env::var("STAMP_RALLY_TEST_SECOND_ENGINE").expect("the address of a DynamoDB engine")
}

#[tokio::test]
#[ignore = "needs another DynamoDB engine at STAMP_RALLY_TEST_SECOND_ENGINE"]
async fn the_rally_runs_on_a_second_engine() {
    let site = Site::at(&engine());
    site.set_up();
    site.run(&["table", "status"]);
    // Both again: nothing is to do.
    site.set_up();

    let mut server = site.start(&["serve", "--with-consumer"]);
    let api = address(&mut server).await;
    let hanako = Participant::new(&site.line, "花子").await;
    let card = hanako.register(&api).await.is(201);
    assert_eq!((&card.body["acquiredCount"], &card.body["totalCount"]), (&json!(0), &json!(2)));
    let stamp = hanako.acquire(&api, "001").await.is(201);
    hanako.is_told_of(&api, &["001"]).await;
    assert_eq!(hanako.acquire(&api, "001").await.is(200).body["acquiredAt"], stamp.body["acquiredAt"]);
    hanako.acquire(&api, "002").await.is(201);
    hanako.is_told_of(&api, &["001", "002"]).await;
    eventually("the message of the full card", async || (site.line.accepted().await == 3).then_some(())).await;
    assert_eq!(hanako.card(&api).await.is(200).body["completed"], true);
    assert_eq!(site.line.phone(&hanako.id).await.len(), 3);
    server.stops().await;

    // Stopped and started again: it continues after what was sent.
    let mut server = site.start(&["serve", "--with-consumer"]);
    let api = address(&mut server).await;
    let taro = Participant::new(&site.line, "太郎").await;
    taro.acquire(&api, "001").await.is(201);
    taro.is_told_of(&api, &["001"]).await;
    assert_eq!(site.line.accepted().await, 4);
    site.line.doubled_nothing().await;
    server.stops().await;
}

//! `delivery.pushes_per_second` is one for all workers together.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{LIMIT, four_shards, owned, person_in, shares};
use crate::fault_run::until;

#[tokio::test]
async fn two_workers_share_the_pushes_of_a_second() {
    const RATE: usize = 20;
    const NOTICES: usize = 60;
    let mut house = four_shards("two_workers_share_the_pushes").await;
    house.settings.delivery.pushes_per_second = u32::try_from(RATE).unwrap();
    house.settings.delivery.lease = Duration::from_secs(2);
    house.settings.delivery.poll_interval = Duration::from_millis(10);
    let shards = house.wire.shards();
    for n in 0..NOTICES {
        person_in(&house, &shards[n % shards.len()]).acquired("001").await;
    }
    house.clock.run();
    // Nothing is read until both have their share.
    let gate = house.wire.hold("GetRecords");
    let (mut first, mut second, stop) = (house.worker(), house.worker(), CancellationToken::new());
    let story = async {
        let both = shares([("worker-0", 2), ("worker-1", 2)]);
        until("both have their share", LIMIT, async || (owned(&house).await == both).then_some(())).await;
        gate.release();
        let sent = async || house.pushes().await.values().sum::<u64>();
        until("all are sent", LIMIT, async || (sent().await == NOTICES as u64).then_some(())).await;
        assert_eq!(owned(&house).await, both);
        stop.cancel();
    };
    let began = Instant::now();
    tokio::join!(first.run(stop.clone()), second.run(stop.clone()), story);

    let log = house.control(Method::GET, "/requests/log?endpoint=push", &Value::Null).await.body;
    let at: Vec<i64> = log["requests"].as_array().unwrap().iter().map(|push| push["at"].as_i64().unwrap()).collect();
    assert_eq!(at.len(), NOTICES);
    // A push is on its way for a moment, so a second at LINE can't be measured to the push; the whole can.
    let took = at.last().unwrap() - at[0];
    let least = i64::try_from((NOTICES - RATE) * 1000 / RATE).unwrap();
    assert!(took >= least - 200, "{NOTICES} pushes in {took} ms (the story took {:?})", began.elapsed());
}

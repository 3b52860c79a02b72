//! Restarts, several workers, leases.

use std::time::Duration;

use stamp_rally::delivery::Outcome;
use tokio_util::sync::CancellationToken;

use crate::house::House;

#[tokio::test]
async fn a_restart_continues_after_the_checkpoint() {
    let house = House::for_delivery("a_restart_continues").await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let mut first = house.worker();
    first.run_until_idle().await.unwrap();
    first.stop().await;
    let stored = house.progress().await;
    assert!(stored[0].owner.is_none(), "a graceful stop gives the shard back");
    assert!(stored[0].reached.checkpoint.is_some());
    assert_eq!(stored[0].reached.handed_out, None, "nothing was under way");
    hanako.acquired("002").await;
    let tally = house.worker().run_until_idle().await.unwrap();
    assert_eq!((tally.of(Outcome::Sent), tally.total()), (2, 2), "the first stamp is not even looked at again");
}

#[tokio::test]
async fn progress_covers_a_fact_before_it_is_handed_to_line() {
    let house = House::for_delivery("progress_covers_a_fact").await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    house.worker().run_until_idle().await.unwrap();
    let at = hanako.facts().await.stamps[0].acquired_at;
    assert!(house.progress().await[0].reached.handed_out.unwrap().contains(at));
}

#[tokio::test]
async fn of_two_workers_one_reads_and_the_other_takes_over_when_it_stops() {
    let house = House::for_delivery("of_two_workers_one_reads").await;
    let hanako = house.person("Hanako");
    let (mut first, mut second) = (house.worker(), house.worker());
    hanako.acquired("001").await;
    assert_eq!(first.run_until_idle().await.unwrap().of(Outcome::Sent), 1);
    assert_eq!(second.run_until_idle().await.unwrap().total(), 0);
    first.stop().await;
    hanako.acquired("002").await;
    assert_eq!(second.run_until_idle().await.unwrap().of(Outcome::Sent), 2);
}

#[tokio::test]
async fn a_worker_that_slept_through_its_lease_writes_nothing_any_more() {
    let house = House::for_delivery("a_worker_that_slept").await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let (mut first, mut second) = (house.worker(), house.worker());
    first.run_until_idle().await.unwrap();
    second.run_until_idle().await.unwrap();
    house.pass_a_lease().await;
    hanako.acquired("002").await;
    assert_eq!(second.run_until_idle().await.unwrap().of(Outcome::Sent), 2);
    let stored = house.progress().await;
    assert_eq!((first.run_until_idle().await.unwrap().total(), house.progress().await), (0, stored));
}

#[tokio::test]
async fn a_running_worker_delivers_and_stops_when_it_is_asked_to() {
    let house = House::for_delivery("a_running_worker_delivers").await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let (mut worker, stop) = (house.worker(), CancellationToken::new());
    let story = async {
        while hanako.phone().is_empty() {
            tokio::task::yield_now().await;
        }
        stop.cancel();
    };
    tokio::join!(worker.run(stop.clone()), story);
    assert_eq!(hanako.state("001").await, "sent", "what was begun is brought to its end");
    assert!(house.progress().await[0].owner.is_none());
}

#[tokio::test]
async fn a_running_worker_takes_over_from_one_that_died_within_the_lease() {
    let mut house = House::for_delivery("a_running_worker_takes_over").await;
    house.settings.delivery.lease = Duration::from_secs(1);
    house.settings.delivery.poll_interval = Duration::from_millis(10);
    house.clock.run();
    let hanako = house.person("Hanako");
    let (mut first, mut second, stop) = (house.worker(), house.worker(), CancellationToken::new());
    hanako.acquired("001").await;
    let dies = async { while hanako.state("001").await != "sent" {} };
    tokio::select! {
        () = first.run(stop.clone()) => panic!("it was not stopped"),
        () = dies => {}
    }
    drop(first);
    hanako.acquired("002").await;
    let (since, mut took) = (std::time::Instant::now(), Duration::ZERO);
    let story = async {
        while hanako.phone().len() < 3 {
            tokio::task::yield_now().await;
            if hanako.phone().len() < 2 {
                took = since.elapsed();
            }
        }
        stop.cancel();
    };
    tokio::join!(second.run(stop.clone()), story);
    assert_eq!(hanako.phone(), ["Stamp 001 1/2", "Stamp 002 2/2", "初夏のラリー complete with Stamp 002"]);
    assert!(took > Duration::from_millis(500), "a lease is not taken while its holder may live: {took:?}");
}

#[tokio::test]
async fn a_worker_that_comes_later_waits_for_its_turn_and_takes_over_when_the_first_one_stops() {
    let mut house = House::for_delivery("a_worker_that_comes_later").await;
    house.settings.delivery.lease = Duration::from_secs(1);
    house.settings.delivery.poll_interval = Duration::from_millis(10);
    house.clock.run();
    let hanako = house.person("Hanako");
    let (mut first, mut second) = (house.worker(), house.worker());
    let (first_stops, second_stops) = (CancellationToken::new(), CancellationToken::new());
    hanako.acquired("001").await;
    let later = async {
        while hanako.phone().is_empty() {
            tokio::task::yield_now().await;
        }
        second.run(second_stops.clone()).await;
    };
    let story = async {
        while hanako.phone().is_empty() || house.candidates().await == 0 {
            tokio::task::yield_now().await;
        }
        first_stops.cancel();
        while house.progress().await[0].owner.as_ref().is_some_and(|owner| owner.as_str() == "worker-0") {}
        hanako.acquired("002").await;
        while hanako.phone().len() < 3 {
            tokio::task::yield_now().await;
        }
        second_stops.cancel();
    };
    tokio::join!(first.run(first_stops.clone()), later, story);
    assert_eq!(hanako.phone(), ["Stamp 001 1/2", "Stamp 002 2/2", "初夏のラリー complete with Stamp 002"]);
    assert_eq!(house.pushes().await.get("409"), None, "handed over at once, with nothing under way");
}

#[tokio::test]
async fn pushes_keep_to_the_pace() {
    let mut house = House::for_delivery("pushes_keep_to_the_pace").await;
    house.settings.delivery.pushes_per_second = 20;
    let people: Vec<_> = (0..10).map(|n| house.person(&format!("Person {n}"))).collect();
    for person in &people {
        person.acquired("001").await;
    }
    let began = tokio::time::Instant::now();
    house.worker().run_until_idle().await.unwrap();
    assert!(began.elapsed() >= Duration::from_millis(400), "ten pushes at 20 a second are not made at once");
}

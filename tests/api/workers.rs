//! Many workers on one stream of several shards. Workers that are driven by hand share a clock that is turned by hand:
//! nothing moves unless the story moves it.

mod damaged;
mod elsewhere;
mod pace;
mod stream;

use std::{collections::BTreeMap, time::Duration};

use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use elsewhere::Elsewhere;

use super::{
    consumers::Worker,
    fault_run::until,
    house::{House, Person, RALLY, flex},
    proxy::{Calls, Fault, Often},
};

const LIMIT: Duration = Duration::from_mins(1);

/// A house whose stream has four shards, and leases that don't end by themselves.
async fn four_shards(story: &'static str) -> House {
    let mut house = House::for_delivery(story).await;
    house.settings.delivery.lease = Duration::from_mins(50);
    house.wire.deal(4);
    house
}

fn shard_of(house: &House, person: &Person<'_>) -> String {
    house.wire.shard_of(&format!("EVENT#{RALLY}#USER#{}", person.id))
}

/// A participant whose items lie in this shard.
fn person_in<'h>(house: &'h House, shard: &str) -> Person<'h> {
    let mut people = std::iter::repeat_with(|| house.person("Participant"));
    people.find(|person| shard_of(house, person) == shard).unwrap()
}

fn one_in_each(house: &House) -> Vec<Person<'_>> {
    house.wire.shards().iter().map(|shard| person_in(house, shard)).collect()
}

/// How many unfinished shards each worker owns; `-` are those without an owner.
async fn owned(house: &House) -> BTreeMap<String, usize> {
    let mut owned = BTreeMap::new();
    for shard in house.progress().await.iter().filter(|item| !item.reached.finished) {
        *owned.entry(shard.owner.as_ref().map_or("-", |owner| owner.as_str()).to_owned()).or_default() += 1;
    }
    owned
}

fn shares<const N: usize>(shares: [(&str, usize); N]) -> BTreeMap<String, usize> {
    shares.map(|(worker, shards)| (worker.to_owned(), shards)).into()
}

/// The first worker takes all, the second one shows itself, and gets its share.
async fn share(first: &mut Worker, second: &mut Worker) {
    for _ in 0..2 {
        first.run_until_idle().await.unwrap();
        second.run_until_idle().await.unwrap();
    }
}

#[tokio::test]
async fn two_workers_share_four_shards_and_each_delivers_its_own() {
    let house = four_shards("two_workers_share_four_shards").await;
    let people = one_in_each(&house);
    let (mut first, mut second) = (house.worker(), house.worker());
    share(&mut first, &mut second).await;
    assert_eq!(owned(&house).await, shares([("worker-0", 2), ("worker-1", 2)]));
    for person in &people {
        person.acquired("001").await;
    }
    assert_eq!(first.run_until_idle().await.unwrap().total(), 2);
    assert_eq!(second.run_until_idle().await.unwrap().total(), 2);
    assert!(people.iter().all(|person| person.phone() == ["Stamp 001 1/2"]));
}

#[tokio::test]
async fn a_dead_workers_shards_move_within_the_lease_and_not_before_it_must_have_stopped() {
    let house = four_shards("a_dead_workers_shards_move").await;
    let people = one_in_each(&house);
    let (mut dies, mut lives) = (house.worker(), house.worker());
    share(&mut dies, &mut lives).await;
    people[0].acquired("001").await;
    people[1].acquired("001").await;
    assert_eq!(dies.run_until_idle().await.unwrap().total(), 2, "its last sign of life");
    lives.run_until_idle().await.unwrap();
    drop(dies);
    people[0].acquired("002").await;

    house.pass(house.settings.delivery.lease / 2).await;
    assert_eq!(lives.run_until_idle().await.unwrap().total(), 0);
    assert_eq!(owned(&house).await, shares([("worker-0", 2), ("worker-1", 2)]), "it may still be alive");
    house.pass(house.settings.delivery.lease / 2).await;
    lives.run_until_idle().await.unwrap();
    assert_eq!(owned(&house).await, shares([("worker-1", 4)]));
    assert_eq!(people[0].phone(), ["Stamp 001 1/2", "Stamp 002 2/2", "初夏のラリー complete with Stamp 002"]);
}

#[tokio::test]
async fn a_graceful_stop_hands_over_at_once() {
    let house = four_shards("a_graceful_stop_hands_over").await;
    let people = one_in_each(&house);
    let (mut goes, mut stays) = (house.worker(), house.worker());
    share(&mut goes, &mut stays).await;
    goes.stop().await;
    assert_eq!(owned(&house).await, shares([("-", 2), ("worker-1", 2)]));
    for person in &people {
        person.acquired("001").await;
    }
    assert_eq!(stays.run_until_idle().await.unwrap().total(), 4, "no lease had to run out");
    assert_eq!(owned(&house).await, shares([("worker-1", 4)]));
}

#[tokio::test]
async fn a_release_that_the_store_throttles_is_tried_once_more() {
    let house = House::for_delivery("a_release_that_the_store_throttles").await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let mut worker = house.worker();
    worker.run_until_idle().await.unwrap();
    // As often as the SDK tries.
    house.wire.inject(Calls::Table("line-event-consumers"), Fault::Throttled, Often::Next(3));
    worker.stop().await;
    assert_eq!((house.wire.faults(), owned(&house).await), (3, shares([("-", 1)])));
}

#[tokio::test]
async fn a_worker_paused_past_its_lease_writes_no_progress_when_it_wakes() {
    let mut house = four_shards("a_worker_paused_past_its_lease").await;
    house.settings.delivery.lease = Duration::from_secs(3);
    house.settings.delivery.poll_interval = Duration::from_millis(10);
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let sleeper = Elsewhere::runs(house.worker_elsewhere());
    until("the first notice", LIMIT, async || (hanako.state("001").await == "sent").then_some(())).await;
    let pause = sleeper.pause().await;

    hanako.acquired("002").await;
    let mut other = house.worker();
    other.run_until_idle().await.unwrap();
    house.pass(house.settings.delivery.lease).await;
    other.run_until_idle().await.unwrap();
    assert_eq!(hanako.phone().len(), 3, "{:?}", hanako.phone());
    let stored = house.progress().await;
    assert!(stored.iter().all(|item| item.owner.as_ref().is_some_and(|owner| owner.as_str() == "worker-1")));

    drop(pause);
    until("it finds out", LIMIT, async || (house.candidates().await == 1).then_some(())).await;
    assert_eq!(house.progress().await, stored, "what it woke up with counts no more");
    sleeper.stop();
    assert_eq!((house.progress().await, hanako.phone().len()), (stored, 3));
}

#[tokio::test]
async fn a_parent_is_finished_before_its_children_are_read() {
    let house = four_shards("a_parent_is_finished_before").await;
    let hanako = house.person("Hanako");
    let parent = shard_of(&house, &hanako);
    hanako.acquired("001").await;
    let children = house.wire.split(&parent).await;
    hanako.acquired("002").await;
    house.pushes_fail(json!({ "kind": "status", "code": 500, "times": 3 })).await;
    house.worker().run_until_idle().await.unwrap();

    assert_eq!(hanako.phone(), ["Stamp 001 1/2", "Stamp 002 2/2", "初夏のラリー complete with Stamp 002"]);
    let item = house.progress().await.into_iter().find(|item| item.shard.as_str() == parent).unwrap();
    assert!(item.reached.finished && item.owner.is_none());
    let pages = house.wire.pages();
    let ended = pages.iter().position(|page| page.shard == parent && page.last).unwrap();
    let begun = pages.iter().position(|page| children.contains(&page.shard)).unwrap();
    assert!(ended < begun, "{pages:?}");
}

#[tokio::test]
async fn splits_while_workers_run_are_followed_even_if_the_list_lags_behind() {
    let mut house = four_shards("splits_while_workers_run").await;
    house.settings.delivery.poll_interval = Duration::from_millis(10);
    let hanako = house.person("Hanako");
    let (mut worker, stop) = (house.worker(), CancellationToken::new());
    let story = async {
        hanako.acquired("001").await;
        until("the first notice", LIMIT, async || (hanako.phone().len() == 1).then_some(())).await;
        house.wire.list_late(2);
        let children = house.wire.split(&shard_of(&house, &hanako)).await;
        assert!(children.contains(&shard_of(&house, &hanako)));
        hanako.acquired("002").await;
        until("the others, out of the child", LIMIT, async || (hanako.phone().len() == 3).then_some(())).await;
        let grandchild = house.wire.roll_over(&shard_of(&house, &hanako)).await;
        let taro = person_in(&house, &grandchild[0]);
        taro.acquired("001").await;
        until("one out of the grandchild", LIMIT, async || (taro.phone().len() == 1).then_some(())).await;
        stop.cancel();
    };
    tokio::join!(worker.run(stop.clone()), story);
    let finished = house.progress().await.iter().filter(|item| item.reached.finished).count();
    assert_eq!((finished, house.pushes().await), (2, [("200".to_owned(), 4)].into()));
}

#[tokio::test]
async fn expired_iterators_lose_nothing_and_repeat_nothing() {
    let house = four_shards("expired_iterators").await;
    let (people, mut worker) = (one_in_each(&house), house.worker());
    for (stamp, life) in [("001", None), ("002", Some(6))] {
        worker.run_until_idle().await.unwrap();
        house.wire.expire_iterators();
        if let Some(reads) = life {
            house.wire.iterators_live(reads);
        }
        for person in &people {
            person.acquired(stamp).await;
        }
        worker.run_until_idle().await.unwrap();
    }
    assert!(people.iter().all(|person| person.phone().len() == 3));
    assert_eq!(house.pushes().await, [("200".to_owned(), 12)].into());
}

#[tokio::test]
async fn trimmed_records_raise_an_alarm_and_the_shard_is_read_on() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let alarms = recorder.handle();
    let _here = metrics::set_default_local_recorder(&recorder);
    let house = four_shards("trimmed_records").await;
    let hanako = house.person("Hanako");
    let shard = shard_of(&house, &hanako);
    let (taro, jiro) = (person_in(&house, &shard), person_in(&house, &shard));
    let mut worker = house.worker();
    hanako.acquired("001").await;
    worker.run_until_idle().await.unwrap();
    hanako.acquired("002").await;
    house.wire.trim(&shard).await;
    taro.acquired("001").await;
    worker.run_until_idle().await.unwrap();
    let alarm = format!("stamp_rally_stream_lost_total{{shard=\"{shard}\"}} 1\n");
    assert!(alarms.render().contains(&alarm), "{}", alarms.render());
    assert_eq!((hanako.phone(), taro.phone()), (vec!["Stamp 001 1/2".to_owned()], vec!["Stamp 001 1/2".to_owned()]));
    assert_eq!(hanako.state("002").await, "waiting", "`reconcile` finds it");

    // A whole shard is gone before it was read to its end: its child is read all the same.
    house.wire.roll_over(&shard).await;
    house.wire.trim(&shard).await;
    jiro.acquired("001").await;
    worker.run_until_idle().await.unwrap();
    assert_eq!(jiro.phone(), ["Stamp 001 1/2"]);
}

#[tokio::test]
async fn order_is_kept_per_participant_through_faults_splits_and_handovers() {
    let house = four_shards("order_is_kept").await;
    for (id, order) in [("003", 3), ("004", 4), ("005", 5), ("006", 6)] {
        house.put_stamp(RALLY, id, order, flex("{{stamp.name}} {{card.acquired}}/{{card.total}}")).await;
    }
    house.pushes_fail(json!({ "kind": "status", "code": 500, "percent": 30, "seed": 1 })).await;
    let people: Vec<_> = (0..12).map(|n| house.person(&format!("Person {n}"))).collect();
    let (mut first, mut second) = (house.worker(), house.worker());
    share(&mut first, &mut second).await;
    let orders = [[1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1], [3, 1, 6, 2, 5, 4]];
    for n in 0..6 {
        for (person, order) in people.iter().zip(orders.iter().cycle()) {
            person.acquired(&format!("{:03}", order[n])).await;
        }
        match n {
            1 => drop(house.wire.split(&shard_of(&house, &people[0])).await),
            3 => first.stop().await,
            _ => {}
        }
        let (one, other) = tokio::join!(first.run_until_idle(), second.run_until_idle());
        one.unwrap();
        other.unwrap();
    }
    share(&mut first, &mut second).await;
    for (person, order) in people.iter().zip(orders.iter().cycle()) {
        let stamps = order.iter().enumerate().map(|(n, stamp)| format!("Stamp {stamp:03} {}/6", n + 1));
        let last = format!("初夏のラリー complete with Stamp {:03}", order[5]);
        assert_eq!(person.phone(), stamps.chain([last]).collect::<Vec<_>>());
    }
}

/// Both look at the board before either of them has a shard, as processes do that are started together.
#[tokio::test]
async fn of_two_workers_that_begin_together_one_counts_the_notices_and_it_counts_once() {
    let mut house = House::for_delivery("two_begin_together").await;
    house.clock.run();
    house.settings.delivery.lease = Duration::from_secs(6);
    house.wire.forget_counts();
    let (mut first, mut second, stop) = (house.worker(), house.worker(), CancellationToken::new());
    let looks = house.wire.hold(Calls::OperationOn("Query", "line-event-consumers"));
    let story = async {
        looks.has_waiting(2).await;
        looks.release();
        // Six rounds of a second each, and two looks of each worker in the first one.
        until("both have looked again and again", LIMIT, async || {
            (house.wire.count(Calls::OperationOn("Query", "line-event-consumers")) >= 16).then_some(())
        })
        .await;
        stop.cancel();
    };
    tokio::join!(first.run(stop.clone()), second.run(stop.clone()), story);
    assert_eq!(house.wire.count(Calls::Counts), 5, "one count for each special state of the one event");
}

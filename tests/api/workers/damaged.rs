//! Items that can't be read, in the consumers' table or an event's: each harms what it is about, for as long as a lease
//! takes to end, and reading of no shard stops.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use stamp_rally::store::progress::ShardProgress;

use super::*;

fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

/// Changes an attribute of an item of the stream's progress, or takes it away.
async fn spoil(house: &House, sort: &str, attribute: &str, value: Option<AttributeValue>) {
    let partition = partition(house).await;
    spoil_at(house, "line-event-consumers", [&partition, sort], attribute, value).await;
}

async fn spoil_at(house: &House, table: &str, key: [&str; 2], attribute: &str, value: Option<AttributeValue>) {
    let update = house.clients.table.update_item().table_name(table);
    let update = update.key("PK", text(key[0])).key("SK", text(key[1]));
    let update = update.expression_attribute_names("#a", attribute);
    let update = match value {
        Some(value) => update.update_expression("SET #a = :v").expression_attribute_values(":v", value),
        None => update.update_expression("REMOVE #a"),
    };
    update.send().await.unwrap();
}

/// Puts an item with nothing in it.
async fn put_bare(house: &House, sort: &str) {
    put_bare_in(house, &partition(house).await, sort).await;
}

async fn put_bare_in(house: &House, partition: &str, sort: &str) {
    let put = house.clients.table.put_item().table_name("line-event-consumers");
    let put = put.item("PK", text(partition)).item("SK", text(sort));
    put.item("entityType", text("SOMETHING")).send().await.unwrap();
}

async fn partition(house: &House) -> String {
    format!("CONSUMER#delivery#STREAM#{}", house.store.stream_arn().await.unwrap().unwrap())
}

async fn item_of(house: &House, shard: &str) -> ShardProgress {
    house.progress().await.into_iter().find(|item| item.shard.as_str() == shard).unwrap()
}

#[tokio::test]
async fn whatever_is_wrong_with_a_shards_item_the_others_are_read_and_it_is_read_again_within_two_leases() {
    for (attribute, value) in [
        ("fence", Some(text("seven"))),
        ("fence", Some(AttributeValue::N(u64::MAX.to_string()))),
        ("fence", None),
        ("beat", Some(text("3"))),
        ("beat", None),
        ("owner", Some(AttributeValue::N("1".to_owned()))),
        ("checkpoint", Some(text("the first"))),
        ("uncoveredFrom", Some(text("yesterday"))),
        ("doubtful", Some(text("all of it"))),
        ("finished", Some(text("no"))),
        ("updatedAt", Some(text("2026-05-01"))),
    ] {
        let house = four_shards("whatever_is_wrong_with_a_shards_item").await;
        let people = one_in_each(&house);
        let mut worker = house.worker();
        people[0].acquired("001").await;
        worker.run_until_idle().await.unwrap();
        let damaged = shard_of(&house, &people[0]);
        spoil(&house, &format!("SHARD#{damaged}"), attribute, value).await;
        for person in &people {
            person.acquired("002").await;
        }
        worker.run_until_idle().await.unwrap();
        assert!(people[1..].iter().all(|person| person.phone().len() == 1), "{attribute}: the others' come at once");

        // The owner stops when its lease ends, and then the silence must last.
        for _ in 0..3 {
            house.pass(house.settings.delivery.lease).await;
            worker.run_until_idle().await.unwrap();
        }
        let expected = ["Stamp 001 1/2", "Stamp 002 2/2", "初夏のラリー complete with Stamp 002"];
        assert_eq!(people[0].phone(), expected, "{attribute}");
        assert_eq!(house.pushes().await, [("200".to_owned(), 6)].into(), "{attribute}: nothing was pushed twice");
        assert!(house.board().await.damaged.is_empty(), "{attribute}");
        assert_eq!(owned(&house).await, shares([("worker-0", 4)]), "{attribute}");
    }
}

#[tokio::test]
async fn an_owner_mends_what_it_writes_itself_and_its_shard_is_read_on_at_once() {
    let house = four_shards("an_owner_mends_what_it_writes").await;
    let hanako = house.person("Hanako");
    let (mut worker, shard) = (house.worker(), shard_of(&house, &hanako));
    worker.run_until_idle().await.unwrap();
    let before = item_of(&house, &shard).await;
    for (attribute, value) in [
        ("parent", Some(AttributeValue::N("1".to_owned()))),
        ("shardId", None),
        ("beat", Some(text("3"))),
        ("finished", None),
        ("updatedAt", Some(text("2026-05-01"))),
    ] {
        spoil(&house, &format!("SHARD#{shard}"), attribute, value).await;
    }
    hanako.acquired("001").await;
    worker.run_until_idle().await.unwrap();
    let after = item_of(&house, &shard).await;
    assert_eq!((after.owner, after.fencing_token, after.parent), (before.owner, before.fencing_token, None));
    assert!(
        after.heartbeat > before.heartbeat,
        "observers see it move: {} after {}",
        after.heartbeat,
        before.heartbeat
    );
    assert_eq!(hanako.phone(), ["Stamp 001 1/2"]);
}

#[tokio::test]
async fn an_owner_that_slept_while_its_shard_was_begun_anew_notices_and_sends_nothing() {
    let mut house = four_shards("an_owner_that_slept_while").await;
    house.settings.delivery.lease = Duration::from_secs(3);
    house.settings.delivery.poll_interval = Duration::from_millis(10);
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let sleeper = Elsewhere::runs(house.worker_elsewhere());
    until("the first notice", LIMIT, async || (hanako.state("001").await == "sent").then_some(())).await;
    let pause = sleeper.pause().await;
    let shard = shard_of(&house, &hanako);
    let owner = item_of(&house, &shard).await.owner.unwrap();
    put_bare(&house, &format!("SHARD#{shard}")).await;
    hanako.acquired("002").await;

    let mut other = house.worker();
    for _ in 0..3 {
        other.run_until_idle().await.unwrap();
        house.pass(house.settings.delivery.lease).await;
    }
    other.run_until_idle().await.unwrap();
    assert_eq!(hanako.phone().len(), 3, "{:?}", hanako.phone());
    let stored = item_of(&house, &shard).await;
    assert!(
        stored.owner.as_ref().is_some_and(|new| *new != owner) && stored.fencing_token > 1_000_000_000_000,
        "{stored:?}"
    );

    drop(pause);
    until("it finds out", LIMIT, async || (house.candidates().await == 1).then_some(())).await;
    sleeper.stop();
    assert_eq!((item_of(&house, &shard).await, hanako.phone().len()), (stored, 3));
    assert_eq!(house.pushes().await, [("200".to_owned(), 3)].into());
}

#[tokio::test]
async fn a_notice_under_way_when_the_item_was_lost_is_pushed_again_with_its_key() {
    let house = four_shards("a_notice_under_way_when").await;
    let hanako = house.person("Hanako");
    let shard = shard_of(&house, &hanako);
    let mut worker = house.worker();
    worker.run_until_idle().await.unwrap();
    // LINE has it, and the worker died before it could mark it.
    hanako.acquired("001").await;
    house.pushes_fail(json!({ "kind": "drop_after_accept", "times": 1 })).await;
    house.wire.inject("UpdateItem", Fault::Throttled, Often::Always);
    drop(worker);
    house.wire.heal();
    put_bare(&house, &format!("SHARD#{shard}")).await;
    let mut other = house.worker();
    for _ in 0..4 {
        other.run_until_idle().await.unwrap();
        house.pass(house.settings.delivery.lease).await;
    }
    other.run_until_idle().await.unwrap();
    assert_eq!((hanako.phone(), hanako.state("001").await.as_str()), (vec!["Stamp 001 1/2".to_owned()], "sent"));
}

#[tokio::test]
async fn other_items_that_can_not_be_read_are_passed_over() {
    let house = four_shards("other_items_that_can_not_be_read").await;
    let people = one_in_each(&house);
    for sort in ["SOMETHING", "WORKER#bare", "BATCH#bare", "BATCH#12", "SHARD#of-nowhere", "RUN#bare"] {
        put_bare(&house, sort).await;
    }
    for sort in ["nobody", "stamp-rally-202606#U1"] {
        put_bare_in(&house, "PENDING_COMPLETIONS", sort).await;
    }
    let mut worker = house.worker();
    worker.run_until_idle().await.unwrap();
    let name = "WORKER#worker-1";
    spoil(&house, name, "beat", Some(text("3"))).await;
    let mut second = house.worker();
    for person in &people {
        person.acquired("001").await;
    }
    share(&mut worker, &mut second).await;
    for _ in 0..3 {
        house.pass(house.settings.delivery.lease).await;
        share(&mut worker, &mut second).await;
    }
    assert!(people.iter().all(|person| person.phone() == ["Stamp 001 1/2"]));
    assert_eq!(house.pushes().await, [("200".to_owned(), 4)].into());
    let board = house.board().await;
    let damaged: Vec<&str> = board.damaged.iter().map(|item| item.shard.as_str()).collect();
    assert_eq!(damaged, ["of-nowhere"], "what the stream doesn't know is left alone");
}

/// The hours in which an event's facts were counted.
async fn hours(house: &House) -> Vec<String> {
    let tallied = house.store.counts(&RALLY.parse().unwrap()).await.unwrap();
    tallied.hours.iter().map(|(hour, counts)| format!("{} {}", hour.as_str(), counts.registrations)).collect()
}

#[tokio::test]
async fn progress_is_written_although_the_event_of_what_is_counted_can_not_be_read() {
    let kolkata = ("timeZone", Some(text("Asia/Kolkata")));
    for (damage, hour) in [
        // At 03:00 UTC. The zone is read alone, where it can be.
        ([("startsAt", Some(text("2026-05-01"))), kolkata.clone()], "2026-05-23T08:00+05:30 1"),
        ([("startsAt", Some(text("2026-05-01"))), ("timeZone", None)], "2026-05-23T12:00+09:00 1"),
        ([("timeZone", Some(text("Tokyo"))), ("liffId", None)], "2026-05-23T12:00+09:00 1"),
    ] {
        let house = House::for_delivery("progress_is_written_although").await;
        house.person("Hanako").acquired("001").await;
        for (attribute, value) in damage {
            let key = [&*format!("EVENT#{RALLY}"), "METADATA"];
            spoil_at(&house, "line-event", key, attribute, value).await;
        }
        house.worker().run_until_idle().await.unwrap();
        assert_eq!(hours(&house).await, [hour]);
        assert!(house.progress().await.iter().all(|shard| shard.reached.checkpoint.is_some()));
    }
}

#[tokio::test]
async fn progress_is_written_although_the_counts_can_not_be_read() {
    let house = House::for_delivery("progress_is_written_although_the_counts").await;
    let (hanako, mut first) = (house.person("Hanako"), house.worker());
    hanako.acquired("001").await;
    first.run_until_idle().await.unwrap();
    first.stop().await;
    let shard = house.progress().await.remove(0).shard;
    let arn = house.store.stream_arn().await.unwrap().unwrap();
    let key = [&*format!("COUNTS#{RALLY}"), &*format!("HOUR#2026-05-23T12:00+09:00#{arn}#{shard}")];
    for (attribute, value) in [("stamps", Some(text("many"))), ("registrations", None), ("hour", Some(text("noon")))] {
        spoil_at(&house, "line-event-consumers", key, attribute, value).await;
        let tallied = house.store.counts(&RALLY.parse().unwrap()).await.unwrap();
        assert_eq!(tallied.unreadable.iter().map(|item| item.sk.as_str()).collect::<Vec<_>>(), [key[1]]);
        house.person("Taro").acquired("001").await;
        let mut next = house.worker();
        next.run_until_idle().await.unwrap();
        next.stop().await;
        // What was counted is lost to this item, and `stats rebuild` finds it missing.
        assert_eq!(hours(&house).await, ["2026-05-23T12:00+09:00 1"], "{attribute}");
    }
    assert_eq!(house.pushes().await, [("200".to_owned(), 4)].into());
}

#[tokio::test]
async fn a_checkpoint_that_is_none_of_the_shards_records_is_given_up_by_the_next_owner() {
    let house = House::for_delivery("a_checkpoint_that_is_none_of_the_shards").await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let mut worker = house.worker();
    worker.run_until_idle().await.unwrap();
    worker.stop().await;
    let damaged = house.progress().await[0].shard.clone();
    spoil(&house, &format!("SHARD#{damaged}"), "checkpoint", Some(text("99999999999999999999999999999999"))).await;

    hanako.acquired("002").await;
    let mut next = house.worker();
    next.run_until_idle().await.unwrap();
    let expected = ["Stamp 001 1/2", "Stamp 002 2/2", "初夏のラリー complete with Stamp 002"];
    assert_eq!(hanako.phone(), expected, "the second comes, the first not again");
    let checkpoint = item_of(&house, damaged.as_str()).await.reached.checkpoint.unwrap();
    assert_ne!(checkpoint.as_str(), "99999999999999999999999999999999");
}

#[tokio::test]
async fn an_item_of_a_shard_that_the_stream_does_not_know_is_left_alone() {
    let house = House::for_delivery("an_item_of_a_shard_that_is_none").await;
    let hanako = house.person("Hanako");
    let mut worker = house.worker();
    worker.run_until_idle().await.unwrap();
    put_bare(&house, "SHARD#shardId-999").await;
    hanako.acquired("001").await;
    for _ in 0..3 {
        house.pass(house.settings.delivery.lease).await;
        worker.run_until_idle().await.unwrap();
    }
    assert_eq!(hanako.phone(), ["Stamp 001 1/2"]);
    let damaged = house.board().await.damaged;
    assert_eq!(damaged.iter().map(|item| item.shard.as_str()).collect::<Vec<_>>(), ["shardId-999"]);
    let handed_out = house.store.handed_out("delivery").await.unwrap();
    assert!(!handed_out.is_empty(), "what the item may name counts as maybe sent until it is deleted: {handed_out:?}");
}

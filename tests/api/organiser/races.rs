//! Two organisers at the same time.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::event;
use crate::house::{House, RALLY};

fn named(number: u32, mut event: Value) -> Value {
    event["name"] = json!(format!("{number}番"));
    event
}

/// How many of them were answered with each status.
fn counted(statuses: impl IntoIterator<Item = u16>, status: u16) -> usize {
    statuses.into_iter().filter(|answer| *answer == status).count()
}

#[tokio::test]
async fn of_many_changes_to_the_same_version_one_is_made() {
    let house = House::open("same version").await;
    let organiser = house.organiser();
    for setting in [format!("/{RALLY}"), format!("/{RALLY}/stamps/001")] {
        let read = organiser.get(&setting).await.is(200);
        // All of them have read before the first one writes.
        let gate = house.wire.hold("PutItem");
        let puts = (0..6).map(|number| {
            let put = organiser.request(reqwest::Method::PUT, &setting).header("If-Match", read.header("etag"));
            put.json(&json!({"name": format!("{number}番")})).send()
        });
        let all_wait = async {
            gate.has_waiting(6).await;
            gate.release();
        };
        let (answers, ()) = tokio::join!(join_all(puts), all_wait);
        let mut won = Vec::new();
        let statuses: Vec<u16> = answers.iter().map(|answer| answer.as_ref().unwrap().status().as_u16()).collect();
        assert_eq!((counted(statuses.clone(), 200), counted(statuses, 412)), (1, 5), "{setting}");
        for answer in answers.into_iter().map(Result::unwrap).filter(|answer| answer.status().is_success()) {
            won.push(answer.json::<Value>().await.unwrap());
        }
        assert_eq!(organiser.get(&setting).await.body, won[0], "what the winner was answered is what stands");
    }
}

#[tokio::test]
async fn changes_without_a_condition_are_laid_over_one_another() {
    let house = House::open("merged").await;
    let organiser = house.organiser();
    let gate = house.wire.hold("PutItem");
    let (name, zone) = (json!({"name": "夏のラリー"}), json!({"timeZone": "Asia/Seoul"}));
    let both_wait = async {
        gate.has_waiting(2).await;
        gate.release();
    };
    let (name, zone, ()) =
        tokio::join!(organiser.put_event(RALLY, &name), organiser.put_event(RALLY, &zone), both_wait);
    assert_eq!((name.status, zone.status), (200, 200));
    let stored = organiser.get(&format!("/{RALLY}")).await.body;
    assert_eq!((&stored["name"], &stored["timeZone"]), (&json!("夏のラリー"), &json!("Asia/Seoul")));
}

/// More at once than two: each loses against several others, and none of their attributes is lost.
#[tokio::test]
async fn of_twelve_changes_at_once_without_a_condition_all_are_made() {
    let house = House::open("twelve at once").await;
    let organiser = house.organiser();
    let changes: Vec<Value> = (0..12)
        .map(|number| match number % 4 {
            0 => json!({"name": "夏のラリー"}),
            1 => json!({"timeZone": "Asia/Seoul"}),
            2 => json!({"liffId": "1000000001-AbcdEfgh"}),
            _ => json!({"indexShards": 4}),
        })
        .collect();
    let gate = house.wire.hold("PutItem");
    let all_wait = async {
        gate.has_waiting(12).await;
        gate.release();
    };
    let puts = join_all(changes.iter().map(|change| organiser.put_event(RALLY, change)));
    let (answers, ()) = tokio::join!(puts, all_wait);
    assert_eq!(counted(answers.iter().map(|answer| answer.status), 200), 12);
    let stored = organiser.get(&format!("/{RALLY}")).await.body;
    for change in &changes {
        for (name, value) in change.as_object().unwrap() {
            assert_eq!(&stored[name], value);
        }
    }
}

#[tokio::test]
async fn two_changes_of_one_stamp_at_once_are_both_made() {
    let house = House::open("one stamp at once").await;
    let organiser = house.organiser();
    let gate = house.wire.hold("PutItem");
    let both_wait = async {
        gate.has_waiting(2).await;
        gate.release();
    };
    let (name, order) = (json!({"name": "駅前"}), json!({"order": 7}));
    let (name, order, ()) =
        tokio::join!(organiser.put_stamp(RALLY, "001", &name), organiser.put_stamp(RALLY, "001", &order), both_wait);
    assert_eq!((name.status, order.status), (200, 200));
    let stored = organiser.get(&format!("/{RALLY}/stamps/001")).await.body;
    assert_eq!((&stored["name"], &stored["order"]), (&json!("駅前"), &json!(7)));
}

#[tokio::test]
async fn of_many_who_make_the_same_event_one_does() {
    let house = House::empty("one makes").await;
    let organiser = house.organiser();
    for (id, condition, others) in [("a", ("If-None-Match", "*"), 412), ("b", ("Accept", "*/*"), 200)] {
        let gate = house.wire.hold("PutItem");
        let events: Vec<_> = (0..4).map(|number| named(number, event())).collect();
        let puts = events.iter().map(|event| organiser.change_event(id, condition, event));
        let all_wait = async {
            gate.has_waiting(4).await;
            gate.release();
        };
        let (answers, ()) = tokio::join!(join_all(puts), all_wait);
        let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        assert_eq!((counted(statuses.clone(), 201), counted(statuses, others)), (1, 3), "{id}");
    }
}

/// The SDK repeats a write whose answer got lost; the repetition then fails on its own first success.
#[tokio::test]
async fn a_change_whose_answer_got_lost_is_a_success() {
    use crate::proxy::{Fault, Often};
    let house = House::open("lost change").await;
    let organiser = house.organiser();
    let read = organiser.get(&format!("/{RALLY}")).await;
    house.wire.inject("PutItem", Fault::LostAnswer, Often::Next(1));
    let renamed = json!({"name": "夏のラリー"});
    let changed = organiser.change_event(RALLY, ("If-Match", read.header("etag")), &renamed).await.is(200);
    assert_eq!(organiser.get(&format!("/{RALLY}")).await.header("etag"), changed.header("etag"));
    house.wire.inject("PutItem", Fault::LostAnswer, Often::Next(1));
    organiser.change_event("autumn", ("If-None-Match", "*"), &event()).await.is(201);
}

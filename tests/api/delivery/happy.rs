//! Hanako collects stamps, and her phone shows it.

use reqwest::Method;
use serde_json::json;
use stamp_rally::{
    delivery::Outcome,
    domain::notice::{NoticeStatus, Via},
};

use crate::house::{House, flex};

#[tokio::test]
async fn a_stamp_becomes_one_message_and_one_mark() {
    let house = House::for_delivery("a_stamp_becomes_one_message_and_one_mark").await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let mut worker = house.worker();
    let tally = worker.run_until_idle().await.unwrap();
    assert_eq!((tally.of(Outcome::Sent), tally.total()), (1, 1));
    assert_eq!(hanako.phone(), ["Stamp 001 1/2"]);
    let NoticeStatus::Sent { at, request_id, via } = hanako.notice("001").await else { panic!("it is marked") };
    assert_eq!(at, Some(house.now()));
    assert!(request_id.is_some(), "LINE's request id is kept");
    assert_eq!(via, Some(Via::Push));
    assert_eq!(worker.run_until_idle().await.unwrap().total(), 0, "the mark's own record is passed over");
    assert_eq!(house.pushes().await["200"], 1);
}

#[tokio::test]
async fn the_last_stamp_completes_the_card_and_its_own_message_comes_after() {
    let house = House::for_delivery("the_last_stamp_completes_the_card").await;
    let hanako = house.person("Hanako");
    hanako.acquired("002").await.acquired("001").await;
    house.worker().run_until_idle().await.unwrap();
    assert_eq!(hanako.phone(), ["Stamp 002 1/2", "Stamp 001 2/2", "初夏のラリー complete with Stamp 001"]);
    let completed = hanako.facts().await.completed.unwrap();
    assert_eq!(completed.by_stamp_id.as_str(), "001");
    assert!(completed.notice.is_sent());
}

#[tokio::test]
async fn an_event_without_a_completion_message_still_knows_who_completed_it() {
    let house = House::for_delivery("an_event_without_a_completion_message").await;
    house.put_event("quiet", "main", None).await;
    house.put_stamp("quiet", "a", 1, flex("{{stamp.name}}")).await;
    let hanako = house.person("Hanako").at("quiet");
    hanako.acquired("a").await;
    house.worker().run_until_idle().await.unwrap();
    assert_eq!(hanako.phone(), ["Stamp a"]);
    assert_eq!(hanako.facts().await.completed.unwrap().notice, NoticeStatus::None);
}

#[tokio::test]
async fn participants_do_not_wait_for_each_other_and_each_keeps_its_order() {
    let house = House::for_delivery("participants_keep_their_order").await;
    let people: Vec<_> = (0..12).map(|n| house.person(&format!("Person {n}"))).collect();
    for stamp in ["001", "002"] {
        for person in &people {
            person.acquired(stamp).await;
        }
    }
    let tally = house.worker().run_until_idle().await.unwrap();
    assert_eq!(tally.of(Outcome::Sent), 36, "two stamps and a completed card each");
    for person in &people {
        assert_eq!(person.phone(), ["Stamp 001 1/2", "Stamp 002 2/2", "初夏のラリー complete with Stamp 002"]);
    }
}

#[tokio::test]
async fn a_participant_who_blocked_the_account_gets_nothing_and_the_notice_is_accepted() {
    let house = House::for_delivery("a_participant_who_blocked_the_account").await;
    let taro = house.person("Taro");
    let relation = json!({ "relation": "blocked", "channel": "main" });
    house.control(Method::PUT, &format!("/users/{}/relation", taro.id), &relation).await.is(200);
    taro.acquired("001").await;
    house.worker().run_until_idle().await.unwrap();
    assert_eq!((taro.phone().len(), taro.state("001").await), (0, "sent".to_owned()));
}

#[tokio::test]
async fn a_resend_is_a_new_message_and_takes_the_first_notice_out_of_its_state() {
    let house = House::for_delivery("a_resend_is_a_new_message").await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    house.pushes_fail(json!({ "kind": "status", "code": 400, "body": { "message": "no" } })).await;
    let mut worker = house.worker();
    assert_eq!(worker.run_until_idle().await.unwrap().of(Outcome::Failed), 1);
    house.heal().await;
    hanako.is_resent("001", 1).await;
    assert_eq!(worker.run_until_idle().await.unwrap().of(Outcome::Sent), 1);
    assert_eq!((hanako.phone().len(), hanako.state("001").await), (1, "sent".to_owned()));
    assert!(hanako.facts().await.resends[0].notice.is_sent());
    hanako.is_resent("001", 2).await;
    worker.run_until_idle().await.unwrap();
    assert_eq!(hanako.phone().len(), 2, "every resend has a key of its own");
}

#[tokio::test]
async fn a_notice_costs_one_query_one_push_and_one_update() {
    let house = House::for_delivery("a_notice_costs_one_query").await;
    let people: Vec<_> = (0..5).map(|n| house.person(&format!("Person {n}"))).collect();
    let mut worker = house.worker();
    people[0].acquired("001").await;
    worker.run_until_idle().await.unwrap();
    for person in &people[1..] {
        person.acquired("001").await;
    }
    house.wire.forget_counts();
    worker.run_until_idle().await.unwrap();
    let counts = house.wire.counts();
    let asked = |name: &str| counts.iter().find(|(call, _)| call.to_string() == name).map(|(_, count)| *count);
    assert_eq!((asked("Query line-event"), asked("UpdateItem line-event")), (Some(4), Some(4)));
    assert_eq!((asked("PutItem line-event"), asked("GetItem line-event")), (None, None));
    assert_eq!(house.pushes().await["200"], 5);
}

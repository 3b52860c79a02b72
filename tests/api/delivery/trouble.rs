//! LINE fails, the store fails, the process dies: nothing is sent twice, nothing is forgotten.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use stamp_rally::{
    delivery::Outcome,
    domain::notice::{NoticeStatus, ParkedState},
};

use crate::house::{House, flex};
use crate::proxy::{Calls, Fault, Often};

const HOUR: Duration = Duration::from_hours(1);

#[tokio::test]
async fn a_500_is_tried_again_with_the_same_key() {
    let house = House::for_delivery("a_500_is_tried_again").await;
    house.pushes_fail(json!({ "kind": "status", "code": 500, "times": 2 })).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    assert_eq!(house.worker().run_until_idle().await.unwrap().of(Outcome::Sent), 1);
    let pushes = house.pushes().await;
    assert_eq!((pushes["500"], pushes["200"], hanako.phone().len()), (2, 1, 1));
}

#[tokio::test]
async fn a_push_whose_answer_got_lost_is_one_message() {
    let house = House::for_delivery("a_push_whose_answer_got_lost").await;
    house.pushes_fail(json!({ "kind": "drop_after_accept", "times": 1 })).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    assert_eq!(house.worker().run_until_idle().await.unwrap().of(Outcome::Sent), 1);
    assert_eq!((house.pushes().await["409"], hanako.phone().len()), (1, 1));
}

#[tokio::test]
async fn a_worker_that_dies_between_push_and_mark_leaves_one_message_and_the_next_one_marks_it() {
    let mut house = House::for_delivery("a_worker_that_dies_between_push_and_mark").await;
    house.retry.ordinary_deadline = Duration::from_mins(1);
    house.pushes_fail(json!({ "kind": "timeout_after_accept", "times": 1 })).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let mut first = house.worker();
    tokio::select! {
        _ = first.run_until_idle() => panic!("LINE has not answered"),
        () = async { while hanako.phone().is_empty() { tokio::task::yield_now().await } } => {}
    }
    drop(first);
    assert_eq!(hanako.state("001").await, "waiting");
    let mut second = house.worker();
    assert_eq!(second.run_until_idle().await.unwrap().total(), 0, "the dead worker's lease is not over");
    house.pass_a_lease().await;
    assert_eq!(second.run_until_idle().await.unwrap().of(Outcome::Sent), 1);
    assert_eq!((house.pushes().await["409"], hanako.phone().len()), (1, 1));
}

#[tokio::test]
async fn a_message_that_line_refuses_has_failed_with_lines_words() {
    let house = House::for_delivery("a_message_that_line_refuses").await;
    let taro = house.person("Taro");
    let body = json!({ "message": "Failed to send messages" });
    house.pushes_fail(json!({ "kind": "status", "code": 400, "body": body, "user": taro.id.as_str() })).await;
    taro.acquired("001").await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let tally = house.worker().run_until_idle().await.unwrap();
    assert_eq!((tally.of(Outcome::Failed), tally.of(Outcome::Sent)), (1, 1));
    let NoticeStatus::Parked(parked) = taro.notice("001").await else { panic!("it is parked") };
    let error = parked.error.unwrap();
    assert_eq!((parked.state, error.status), (ParkedState::Failed, 400));
    assert_eq!(error.message, "Failed to send messages");
}

#[tokio::test]
async fn an_unusable_template_fails_without_asking_line() {
    let house = House::for_delivery("an_unusable_template").await;
    house.put_stamp("stamp-rally-202606", "bad", 3, json!({ "type": "flex", "altText": "" })).await;
    let hanako = house.person("Hanako");
    hanako.acquired("bad").await.acquired("001").await;
    let tally = house.worker().run_until_idle().await.unwrap();
    assert_eq!((tally.of(Outcome::Failed), tally.of(Outcome::Sent)), (1, 1));
    let NoticeStatus::Parked(parked) = hanako.notice("bad").await else { panic!("it is parked") };
    assert_eq!((parked.state, parked.error.unwrap().status), (ParkedState::Failed, 0));
}

#[tokio::test]
async fn a_record_that_cannot_be_read_does_not_stop_those_after_it() {
    let house = House::for_delivery("a_record_that_cannot_be_read").await;
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let item = [("PK", text("EVENT#x#USER#y")), ("SK", text("STAMP#z")), ("entityType", text("USER_STAMP"))];
    house.put_raw(&item).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    assert_eq!(house.worker().run_until_idle().await.unwrap().of(Outcome::Sent), 1);
}

#[tokio::test]
async fn a_mark_that_the_store_throttles_is_repeated_without_another_push() {
    let house = House::for_delivery("a_mark_that_the_store_throttles").await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let mut worker = house.worker();
    let throttled = async {
        // The answer is held until the mark can't be written any more, and is released then.
        house.pushes_fail(json!({ "kind": "delay", "ms": 100 })).await;
        while !house.pushes().await.contains_key("200") {
            tokio::task::yield_now().await;
        }
        house.wire.inject(Calls::Operation("UpdateItem"), Fault::Throttled, Often::Next(6));
    };
    let (tally, ()) = tokio::join!(worker.run_until_idle(), throttled);
    assert_eq!(tally.unwrap().of(Outcome::Sent), 1);
    assert_eq!(house.pushes().await["200"], 1);
    assert_eq!(hanako.state("001").await, "sent");
}

#[tokio::test]
async fn nothing_is_tried_again_when_its_key_is_about_to_be_forgotten() {
    let mut house = House::for_delivery("nothing_is_tried_again").await;
    house.retry.ordinary_deadline = Duration::ZERO;
    house.pushes_fail(json!({ "kind": "status_after_accept", "code": 500 })).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let mut worker = house.worker();
    worker.run_until_idle().await.unwrap();
    assert_eq!(hanako.state("001").await, "held line_unavailable");
    let NoticeStatus::Parked(parked) = hanako.notice("001").await else { panic!("it is parked") };
    assert!(parked.maybe_sent_at.is_some(), "it may have been accepted");
    house.heal().await;
    house.pass(HOUR * 24).await;
    worker.run_until_idle().await.unwrap();
    assert_eq!((hanako.state("001").await.as_str(), hanako.phone().len()), ("unknown retry_key_expired", 1));
}

#[tokio::test]
async fn what_a_worker_may_have_sent_before_it_died_a_day_ago_is_unknown_and_what_it_did_not_see_is_sent() {
    let mut house = House::for_delivery("what_a_worker_may_have_sent").await;
    house.retry.ordinary_deadline = Duration::from_mins(1);
    house.pushes_fail(json!({ "kind": "timeout_after_accept", "times": 1 })).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let mut first = house.worker();
    tokio::select! {
        _ = first.run_until_idle() => panic!("LINE has not answered"),
        () = async { while hanako.phone().is_empty() { tokio::task::yield_now().await } } => {}
    }
    drop(first);
    house.pass(Duration::from_mins(1)).await;
    let taro = house.person("Taro");
    taro.acquired("001").await;
    house.pass(HOUR * 24).await;
    let mut second = house.worker();
    second.run_until_idle().await.unwrap();
    house.pass_a_lease().await;
    second.run_until_idle().await.unwrap();
    assert_eq!((hanako.state("001").await.as_str(), hanako.phone().len()), ("unknown retry_key_expired", 1));
    assert_eq!((taro.state("001").await.as_str(), taro.phone().len()), ("sent", 1));
}

#[tokio::test]
async fn what_a_drain_may_have_sent_before_it_died_a_day_ago_is_unknown() {
    let house = House::for_delivery("what_a_drain_may_have_sent").await;
    house.pushes_fail(json!({ "kind": "expired_token", "channel": "main" })).await;
    let (hanako, taro) = (house.person("Hanako"), house.person("Taro"));
    hanako.acquired("001").await;
    let mut first = house.worker();
    first.run_until_idle().await.unwrap();
    taro.acquired("001").await;
    first.run_until_idle().await.unwrap();
    house.heal().await;
    house.pass(house.settings.delivery.probe_interval).await;
    let dies = async {
        while hanako.phone().len() + taro.phone().len() == 0 {
            tokio::task::yield_now().await;
        }
    };
    house.pushes_fail(json!({ "kind": "timeout_after_accept", "times": 1 })).await;
    tokio::select! {
        _ = first.run_until_idle() => panic!("LINE has not answered"),
        () = dies => {}
    }
    drop(first);
    house.pass(HOUR * 25).await;
    let mut second = house.worker();
    second.run_until_idle().await.unwrap();
    house.pass_a_lease().await;
    second.run_until_idle().await.unwrap();
    let (mut states, mut phones) = (Vec::new(), Vec::new());
    for person in [&hanako, &taro] {
        states.push(person.state("001").await);
        phones.push(person.phone().len());
    }
    states.sort();
    assert_eq!((states, phones), (vec!["sent".to_owned(), "unknown retry_key_expired".to_owned()], vec![1, 1]));
}

#[tokio::test]
async fn a_held_notice_whose_attempt_line_refused_is_not_maybe_sent() {
    let house = House::for_delivery("an_attempt_that_line_refused").await;
    house.pushes_fail(json!({ "kind": "expired_token", "channel": "main" })).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let mut worker = house.worker();
    for _ in 0..3 {
        worker.run_until_idle().await.unwrap();
        house.pass(house.settings.delivery.probe_interval).await;
    }
    assert!(house.pushes().await["401"] >= 3, "it was tried again and again");
    let NoticeStatus::Parked(parked) = hanako.notice("001").await else { panic!("it is parked") };
    assert_eq!((parked.state.as_str(), parked.maybe_sent_at), ("held", None));
    house.heal().await;
    house.pass(HOUR * 25).await;
    worker.run_until_idle().await.unwrap();
    assert_eq!((hanako.state("001").await.as_str(), hanako.phone().len()), ("sent", 1));
}

#[tokio::test]
async fn a_stamp_of_an_event_that_is_gone_fails_and_says_so() {
    let house = House::for_delivery("a_stamp_of_an_event_that_is_gone").await;
    house.put_event("short", "main", None).await;
    house.put_stamp("short", "a", 1, flex("a")).await;
    let hanako = house.person("Hanako").at("short");
    hanako.acquired("a").await;
    let key = |name: &str, value: &str| (name.to_owned(), AttributeValue::S(value.to_owned()));
    let key = [key("PK", "EVENT#short"), key("SK", "METADATA")].into_iter().collect();
    house.clients.table.delete_item().table_name("line-event").set_key(Some(key)).send().await.unwrap();
    house.worker().run_until_idle().await.unwrap();
    let NoticeStatus::Parked(parked) = hanako.notice("a").await else { panic!("it is parked") };
    assert_eq!(parked.error.unwrap().message, "there is no such event");
}

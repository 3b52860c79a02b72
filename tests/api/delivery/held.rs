//! A channel can't send: its notices are parked, and drained by themselves when it can. The others never notice.

use std::time::Duration;

use serde_json::json;
use stamp_rally::{
    delivery::Outcome,
    domain::notice::{NoticeStatus, ParkedState},
};

use crate::house::{House, flex};

#[tokio::test]
async fn when_the_months_messages_are_used_up_notices_are_held_and_drained_when_there_are_more() {
    let house = House::for_delivery("when_the_months_messages_are_used_up").await;
    house.set_quota(1).await;
    let (hanako, taro) = (house.person("Hanako"), house.person("Taro"));
    let mut worker = house.worker();
    hanako.acquired("001").await;
    worker.run_until_idle().await.unwrap();
    taro.acquired("001").await;
    hanako.acquired("002").await;
    worker.run_until_idle().await.unwrap();
    assert_eq!(taro.state("001").await, "held monthly_limit");
    assert!(hanako.state("002").await.starts_with("held "), "{}", hanako.state("002").await);
    assert!(hanako.facts().await.completed.is_some(), "a full card is a fact, message or not");
    house.set_quota(100).await;
    assert_eq!(worker.run_until_idle().await.unwrap().total(), 0, "not probed before its time");
    house.pass(house.settings.delivery.probe_interval).await;
    worker.run_until_idle().await.unwrap();
    assert_eq!((taro.phone().len(), taro.state("001").await), (1, "sent".to_owned()));
    assert_eq!(hanako.phone(), ["Stamp 001 1/2", "Stamp 002 2/2", "初夏のラリー complete with Stamp 002"]);
}

#[tokio::test]
async fn what_a_notice_is_held_for_is_what_holds_it_now() {
    let house = House::for_delivery("what_a_notice_is_held_for").await;
    house.pushes_fail(json!({ "kind": "expired_token", "channel": "main" })).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let mut worker = house.worker();
    worker.run_until_idle().await.unwrap();
    let NoticeStatus::Parked(first) = hanako.notice("001").await else { panic!("it is parked") };
    assert_eq!(first.reason.as_deref(), Some("not_authorized"));
    house.heal().await;
    house.pushes_fail(json!({ "kind": "status", "code": 500 })).await;
    house.pass(house.settings.delivery.probe_interval).await;
    worker.run_until_idle().await.unwrap();
    let NoticeStatus::Parked(now) = hanako.notice("001").await else { panic!("it is parked") };
    assert_eq!((now.reason.as_deref(), now.since), (Some("line_unavailable"), first.since));
    house.heal().await;
    house.pass(house.settings.delivery.probe_interval).await;
    worker.run_until_idle().await.unwrap();
    assert_eq!((hanako.state("001").await.as_str(), hanako.phone().len()), ("sent", 1));
}

#[tokio::test]
async fn a_monthly_limit_that_the_quota_does_not_confirm_is_only_too_fast() {
    let house = House::for_delivery("a_monthly_limit_that_the_quota_does_not_confirm").await;
    house.pushes_fail(json!({ "kind": "monthly_limit", "times": 2 })).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    assert_eq!(house.worker().run_until_idle().await.unwrap().of(Outcome::Sent), 1);
}

#[tokio::test]
async fn a_refused_token_pauses_its_own_channel_and_no_other() {
    let house = House::for_delivery("a_refused_token_pauses_its_own_channel").await;
    house.put_event("elsewhere", "other", None).await;
    house.put_stamp("elsewhere", "a", 1, flex("elsewhere")).await;
    house.pushes_fail(json!({ "kind": "expired_token", "channel": "main" })).await;
    let (hanako, taro) = (house.person("Hanako"), house.person("Taro").at("elsewhere"));
    hanako.acquired("001").await;
    taro.acquired("a").await;
    let mut worker = house.worker();
    worker.run_until_idle().await.unwrap();
    assert_eq!(hanako.state("001").await, "held not_authorized");
    assert_eq!(taro.phone(), ["elsewhere"]);
    let asked = house.pushes().await["401"];
    hanako.acquired("002").await;
    worker.run_until_idle().await.unwrap();
    assert_eq!(house.pushes().await["401"], asked, "a paused channel is not asked again and again");
    house.heal().await;
    house.pass(house.settings.delivery.probe_interval).await;
    worker.run_until_idle().await.unwrap();
    assert_eq!(hanako.phone(), ["Stamp 001 1/2", "Stamp 002 2/2", "初夏のラリー complete with Stamp 002"]);
}

#[tokio::test]
async fn while_a_notice_is_held_the_later_ones_of_that_person_wait_behind_it() {
    let house = House::for_delivery("while_a_notice_is_held").await;
    house.pushes_fail(json!({ "kind": "rate_limited" })).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let mut worker = house.worker();
    worker.run_until_idle().await.unwrap();
    assert_eq!(hanako.state("001").await, "held line_unavailable");
    hanako.acquired("002").await;
    let asked = house.pushes().await;
    house.pushes_fail(json!({ "kind": "rate_limited", "times": 1000 })).await;
    worker.run_until_idle().await.unwrap();
    assert_eq!(hanako.state("002").await, "held earlier_held");
    assert!(house.pushes().await["429"] > asked["429"], "the first one was tried again");
    house.heal().await;
    worker.run_until_idle().await.unwrap();
    assert_eq!(hanako.phone(), ["Stamp 001 1/2", "Stamp 002 2/2", "初夏のラリー complete with Stamp 002"]);
}

#[tokio::test]
async fn what_is_held_when_the_event_ends_expires_and_what_is_on_its_way_is_sent() {
    let house = House::for_delivery("what_is_held_when_the_event_ends").await;
    house.set_quota(0).await;
    let (hanako, taro) = (house.person("Hanako"), house.person("Taro"));
    hanako.acquired("001").await;
    let mut worker = house.worker();
    worker.run_until_idle().await.unwrap();
    taro.acquired("001").await;
    house.pass(Duration::from_hours(200)).await;
    house.set_quota(None).await;
    let tally = worker.run_until_idle().await.unwrap();
    assert_eq!(tally.of(Outcome::Parked(ParkedState::Expired)), 1);
    assert_eq!((hanako.state("001").await.as_str(), hanako.phone().len()), ("expired event_ended", 0));
    assert_eq!((taro.state("001").await.as_str(), taro.phone().len()), ("sent", 1));
}

#[tokio::test]
async fn what_a_worker_held_is_drained_by_the_next_one() {
    let house = House::for_delivery("what_a_worker_held_is_drained").await;
    house.set_quota(0).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let mut first = house.worker();
    first.run_until_idle().await.unwrap();
    first.stop().await;
    house.set_quota(None).await;
    assert_eq!(house.worker().run_until_idle().await.unwrap().of(Outcome::Sent), 1);
    assert_eq!(hanako.phone().len(), 1);
}

#[tokio::test]
async fn notices_of_a_channel_that_is_not_configured_here_are_held() {
    let house = House::for_delivery("a_channel_that_is_not_configured").await;
    house.put_event("foreign", "unheard-of", None).await;
    house.put_stamp("foreign", "a", 1, flex("a")).await;
    let hanako = house.person("Hanako").at("foreign");
    hanako.acquired("a").await;
    house.worker().run_until_idle().await.unwrap();
    assert_eq!(hanako.state("a").await, "held channel_unknown");
}

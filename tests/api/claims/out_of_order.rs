//! When the store or LINE doesn't do what it should: no 2xx for anything that isn't stored, nothing stored is lost.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use super::{facts, held_on};
use crate::{
    house::{Answer, House, Person},
    proxy::{Calls, Fault, Often},
};

/// Refused for now: it tells when to come back, and nothing about the inside.
#[track_caller]
fn comes_back_later(answer: Answer) {
    let answer = answer.refuses(503, "store_unavailable");
    assert_eq!(answer.header("retry-after"), "2");
    assert_eq!(answer.body["detail"], "Nothing of the request is known to be stored. Repeating it is safe.");
}

#[tokio::test]
async fn a_claim_whose_write_lost_its_answer_is_acquired() {
    let house = House::open("lost answer of a claim").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    house.wire.inject("PutItem", Fault::LostAnswer, Often::Next(1));
    hanako.acquire("001").await.is(201);
    assert_eq!(house.wire.faults(), 1);
    house.deliver().await;
    assert_eq!(hanako.phone(), ["第1スタンプ 1/2"]);
    house.close().await;
}

#[tokio::test]
async fn a_first_claim_may_lose_the_answer_to_its_registration_too() {
    for lost in [1, 2] {
        let house = House::open("lost answer of a first claim").await;
        let hanako = house.hanako();
        house.wire.inject("PutItem", Fault::LostAnswer, Often::Next(lost));
        hanako.acquire("001").await.is(201);
        assert_eq!(house.wire.faults(), u64::from(lost));
        assert_eq!(facts(&house, &hanako).await, ["USER", "USER_STAMP"]);
        house.close().await;
    }
}

#[tokio::test]
async fn a_registration_whose_write_lost_its_answer_is_the_first() {
    let house = House::open("lost answer of a registration").await;
    let hanako = house.hanako();
    house.wire.inject("PutItem", Fault::LostAnswer, Often::Next(1));
    hanako.register().await.is(201);
    hanako.register().await.is(200);
    house.close().await;
}

#[tokio::test]
async fn an_acquired_stamp_is_answered_with_200_even_when_the_first_answer_is_lost() {
    let house = House::open("lost answer of a repeat").await;
    let hanako = house.hanako();
    let first = hanako.acquire("001").await.is(201).body;
    house.wire.inject("PutItem", Fault::LostAnswer, Often::Next(1));
    assert_eq!(hanako.acquire("001").await.is(200).body, first);
    house.close().await;
}

#[tokio::test]
async fn when_every_answer_is_lost_the_repeat_finds_what_was_stored() {
    let house = House::open("every answer lost").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    house.wire.inject("PutItem", Fault::LostAnswer, Often::Always);
    comes_back_later(hanako.acquire_as("001", "k").await);
    house.wire.heal();
    assert_eq!(held_on(&hanako.card().await.is(200).body), ["001"], "it may be stored all the same");
    let held = hanako.acquire("001").await.is(200).body;
    assert_eq!(hanako.acquire_as("001", "k").await.is(201).body, held, "the first request's own repeat");
    house.deliver().await;
    assert_eq!(hanako.phone().len(), 1);
    house.close().await;
}

#[tokio::test]
async fn a_store_that_refuses_for_long_gets_no_2xx_and_loses_nothing() {
    for fault in [Fault::Throttled, Fault::ThroughputExceeded, Fault::ServerError, Fault::LostRequest] {
        let house = House::open("refuses for long").await;
        let (hanako, taro) = (house.hanako(), house.person("太郎"));
        let first = hanako.acquire("001").await.is(201).body;
        house.wire.inject(Calls::All, fault, Often::Always);
        comes_back_later(hanako.acquire("002").await);
        comes_back_later(hanako.register().await);
        comes_back_later(hanako.card().await);
        comes_back_later(hanako.look_at("001").await);
        comes_back_later(taro.register().await);
        comes_back_later(taro.acquire("001").await);
        comes_back_later(Answer::to(house.request(Method::GET, "/readyz")).await);
        Answer::to(house.request(Method::GET, "/healthz")).await.is(200);
        house.wire.heal();
        assert_eq!(facts(&house, &hanako).await, ["USER", "USER_STAMP"], "{fault:?}");
        assert!(facts(&house, &taro).await.is_empty(), "{fault:?}");
        assert_eq!(hanako.acquire("001").await.is(200).body, first);
        hanako.acquire("002").await.is(201);
        taro.acquire("001").await.is(201);
        house.close().await;
    }
}

#[tokio::test]
async fn a_store_that_goes_down_and_comes_up_again_has_everything_that_was_acknowledged() {
    let house = House::open("down and up").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    house.wire.down();
    comes_back_later(hanako.acquire("002").await);
    comes_back_later(Answer::to(house.request(Method::GET, "/readyz")).await);
    house.wire.up();
    Answer::to(house.request(Method::GET, "/readyz")).await.is(200);
    assert_eq!(held_on(&hanako.card().await.is(200).body), ["001"]);
    hanako.acquire("002").await.is(201);
    house.deliver().await;
    assert_eq!(hanako.phone().len(), 3);
    house.close().await;
}

/// A person who comes back until they are told that the stamp is theirs.
async fn insists(who: &Person<'_>, stamp: &str) -> u32 {
    for refused in 0.. {
        let answer = who.acquire(stamp).await;
        match answer.status {
            200 | 201 => return refused,
            _ => comes_back_later(answer),
        }
    }
    unreachable!()
}

#[tokio::test]
async fn in_a_storm_nothing_acknowledged_is_missing_and_nothing_is_sent_twice() {
    let house = House::open("storm").await;
    let crowd: Vec<_> = (0..20).map(|n| house.person(&format!("{n}番"))).collect();
    for (fault, percent, seed) in [
        (Fault::LostAnswer, 25, 1),
        (Fault::Throttled, 25, 2),
        (Fault::ServerError, 15, 3),
        (Fault::LostRequest, 15, 4),
    ] {
        house.wire.inject("PutItem", fault, Often::Percent { percent, seed });
    }
    let claims = crowd.iter().map(async |person| {
        let refused = insists(person, "001").await;
        // Answered so: it is there at once, whatever else fails meanwhile.
        assert_eq!(held_on(&person.card().await.is(200).body), ["001"]);
        refused + insists(person, "002").await
    });
    let refused: u32 = futures_util::future::join_all(claims).await.into_iter().sum();
    assert!(house.wire.faults() > 40 && refused > 0, "{} faults, {refused} refusals: no storm", house.wire.faults());
    house.wire.heal();
    house.deliver().await;
    for person in &crowd {
        let card = person.card().await.is(200).body;
        assert_eq!((held_on(&card), &card["completed"]), (vec!["001", "002"], &json!(true)));
        assert_eq!(person.phone(), ["第1スタンプ 1/2", "第2スタンプ 2/2", "初夏のラリー、2個そろいました"]);
    }
    house.close().await;
}

#[tokio::test]
async fn while_line_is_down_stamps_are_acquired_and_notices_go_out_later() {
    let house = House::open("line down").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.register().await.is(201);
    house.line_faults(json!([{"endpoint": "*", "kind": "drop_before"}])).await;
    hanako.acquire("001").await.is(201);
    taro.acquire("001").await.is(201);
    assert_eq!(hanako.card().await.is(200).body["stamps"][0]["flexMessageSent"], false);
    assert!(hanako.phone().is_empty());

    house.pass(Duration::from_mins(10)).await;
    house.line_faults(json!([{"endpoint": "push", "kind": "status", "code": 500, "times": 3}])).await;
    house.deliver().await;
    assert_eq!((hanako.phone().len(), taro.phone().len()), (1, 1));
    assert_eq!(hanako.card().await.is(200).body["stamps"][0]["flexMessageSent"], true);
    house.close().await;
}

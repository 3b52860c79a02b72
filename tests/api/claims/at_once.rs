//! Two at once: one of them is first.

use serde_json::json;

use super::{facts, held_on};
use crate::house::{House, RALLY, flex};

#[tokio::test]
async fn of_two_claims_at_once_one_acquires_the_stamp_and_one_notice_goes_out() {
    let house = House::open("two claims").await;
    let hanako = house.hanako();
    let gate = house.wire.hold("PutItem");
    let together = async {
        gate.has_waiting(2).await;
        gate.release();
    };
    let (one, two, ()) = tokio::join!(hanako.acquire("001"), hanako.acquire("001"), together);
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 201], "{one:?} {two:?}");
    assert_eq!(one.body, two.body);
    assert_eq!(facts(&house, &hanako).await, ["USER", "USER_STAMP"]);
    house.deliver().await;
    assert_eq!(hanako.phone(), ["第1スタンプ 1/2"]);
    house.close().await;
}

#[tokio::test]
async fn of_two_registrations_at_once_one_is_first_and_both_show_its_time() {
    let house = House::open("two registrations").await;
    let hanako = house.hanako();
    let gate = house.wire.hold("PutItem");
    let together = async {
        // Both have found no participant.
        gate.has_waiting(2).await;
        gate.release();
    };
    let (one, two, ()) = tokio::join!(hanako.register(), hanako.register(), together);
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 201], "{one:?} {two:?}");
    assert_eq!(one.body["createdAt"], two.body["createdAt"]);
    assert_eq!(facts(&house, &hanako).await, ["USER"]);
    house.close().await;
}

#[tokio::test]
async fn both_stamps_at_once_complete_the_card_once() {
    let house = House::open("both stamps").await;
    let hanako = house.hanako();
    let (one, two, card) = tokio::join!(hanako.acquire("001"), hanako.acquire("002"), hanako.register());
    assert_eq!((one.status, two.status), (201, 201), "{one:?} {two:?}");
    assert!([200, 201].contains(&card.status), "{card:?}");
    house.deliver().await;
    let mut phone = hanako.phone();
    assert_eq!(phone.len(), 3, "{phone:?}");
    assert_eq!(phone.pop().unwrap(), "初夏のラリー、2個そろいました");
    assert_eq!(facts(&house, &hanako).await.iter().filter(|kind| *kind == "COMPLETED").count(), 1);
    house.close().await;
}

#[tokio::test]
async fn a_crowd_in_front_of_one_poster_gets_a_stamp_each() {
    let house = House::open("crowd").await;
    let crowd: Vec<_> = (0..40).map(|n| house.person(&format!("{n}番"))).collect();
    let claims = crowd.iter().flat_map(|person| [person.acquire("001"), person.acquire("001")]);
    let answers = futures_util::future::join_all(claims).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 40);
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 40);
    house.deliver().await;
    for person in &crowd {
        assert_eq!(person.phone(), ["第1スタンプ 1/2"]);
        assert_eq!(held_on(&person.card().await.is(200).body), ["001"]);
    }
    house.close().await;
}

#[tokio::test]
async fn a_stamp_that_is_claimed_while_it_is_made_is_there_or_not_yet() {
    let house = House::open("claimed while made").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    let third = json!({"name": "第3スタンプ", "order": 3, "flexMessageContent": flex("三")});
    let organiser = house.organiser();
    let (claim, made) = tokio::join!(hanako.acquire("003"), organiser.put_stamp(RALLY, "003", &third));
    made.is(201);
    assert!(claim.status == 201 || claim.body["code"] == "stamp_not_found", "{claim:?}");
    house.pass(std::time::Duration::from_millis(2001)).await;
    assert!([200, 201].contains(&hanako.acquire("003").await.status));
    house.close().await;
}

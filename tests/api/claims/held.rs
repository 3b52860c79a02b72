//! An acquired stamp is answered with 200, whatever would refuse a new claim.

use std::time::Duration;

use serde_json::{Value, json};

use super::{HOUR, SECOND, held_on, open_from_to};
use crate::{
    house::House,
    proxy::{Fault, Often},
};

/// What can be wrong with a claim when the stamp is held already.
#[derive(Clone, Copy, Debug)]
enum Hindrance {
    Ended,
    Inactive,
    NotStarted,
}

use Hindrance::{Ended, Inactive, NotStarted};

async fn put_up(house: &House, hindrance: Hindrance) {
    match hindrance {
        Ended => open_from_to(house, -2 * HOUR, -SECOND).await,
        Inactive => house.change_stamp("001", &json!({"isActive": false})).await,
        NotStarted => open_from_to(house, HOUR, 2 * HOUR).await,
    }
}

#[tokio::test]
async fn an_acquired_stamp_is_answered_with_200_whatever_would_refuse_a_new_claim() {
    for hindrances in [&[][..], &[Ended], &[NotStarted], &[Inactive], &[Inactive, Ended], &[Inactive, NotStarted]] {
        let house = House::open("held wins").await;
        let (hanako, taro) = (house.hanako(), house.person("太郎"));
        let first = hanako.acquire("001").await.is(201).body;
        for hindrance in hindrances {
            put_up(&house, *hindrance).await;
        }
        house.pass(Duration::from_secs(1)).await;
        let again = hanako.acquire("001").await.is(200).body;
        assert_eq!(again, first, "{hindrances:?}: the stored time, not a new one");
        assert_eq!(hanako.look_at("001").await.is(200).body, first, "{hindrances:?}");
        match hindrances {
            [] => drop(taro.acquire("001").await.is(201)),
            // The window is looked at before the activity.
            [.., Ended] => drop(taro.acquire("001").await.refuses(409, "event_ended")),
            [.., NotStarted] => drop(taro.acquire("001").await.refuses(409, "event_not_started")),
            _ => drop(taro.acquire("001").await.refuses(409, "stamp_inactive")),
        }
        house.deliver().await;
        assert_eq!(hanako.phone().len(), 1, "{hindrances:?}");
        house.close().await;
    }
}

#[tokio::test]
async fn a_claim_is_refused_only_when_it_is_known_that_the_stamp_isnt_held() {
    let house = House::open("not known to be held").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    put_up(&house, Ended).await;
    hanako.acquire("001").await.is(200);
    house.wire.inject("GetItem", Fault::Throttled, Often::Always);
    hanako.acquire("001").await.refuses(503, "store_unavailable");
    hanako.acquire("002").await.refuses(503, "store_unavailable");
    house.wire.heal();
    hanako.acquire("001").await.is(200);
    hanako.acquire("002").await.refuses(409, "event_ended");
    house.close().await;
}

#[tokio::test]
async fn an_acquired_stamp_stays_on_the_card_after_it_was_made_inactive() {
    let house = House::open("held and inactive").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    house.change_stamp("001", &json!({"isActive": false})).await;
    let card = hanako.card().await.is(200).body;
    assert_eq!(held_on(&card), ["001"]);
    let numbers = |card: &Value| (card["acquiredCount"].clone(), card["totalCount"].clone(), card["completed"].clone());
    assert_eq!(numbers(&card), (json!(0), json!(1), json!(false)), "only what is active counts");
    hanako.acquire("002").await.is(201);
    let card = hanako.card().await.is(200).body;
    assert_eq!((held_on(&card), numbers(&card)), (vec!["001", "002"], (json!(1), json!(1), json!(true))));
    let shown = house.request(reqwest::Method::GET, "/api/events/stamp-rally-202606/stamps");
    let shown = crate::house::Answer::to(shown).await.is(200).body;
    assert_eq!(shown, json!({"stamps": [{"stampId": "002", "name": "第2スタンプ", "order": 2}]}));
    house.close().await;
}

#[tokio::test]
async fn a_completed_card_stays_complete_when_a_stamp_is_added() {
    let house = House::open("stays complete").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    hanako.acquire("002").await.is(201);
    house.deliver().await;
    let third = json!({"name": "第3スタンプ", "order": 3, "flexMessageContent": crate::house::flex("三")});
    house.organiser().put_stamp(crate::house::RALLY, "003", &third).await.is(201);
    let card = hanako.card().await.is(200).body;
    assert_eq!((&card["acquiredCount"], &card["totalCount"]), (&json!(2), &json!(3)));
    assert_eq!(card["completed"], true, "a COMPLETED fact exists");
    house.close().await;
}

#[tokio::test]
async fn the_card_and_its_stamps_have_the_contracts_members_and_no_other() {
    let house = House::open("members").await;
    let hanako = house.hanako();
    let acquired = hanako.acquire("001").await.is(201);
    assert_eq!(acquired.header("cache-control"), "no-store");
    let at = acquired.body["acquiredAt"].clone();
    assert_eq!(
        acquired.body,
        json!({"stampId": "001", "name": "第1スタンプ", "order": 1, "acquired": true, "acquiredAt": at, "flexMessageSent": false})
    );
    house.pass(Duration::from_secs(2)).await;
    house.deliver().await;
    let card = hanako.card().await.is(200);
    assert_eq!(card.header("cache-control"), "no-store");
    let sent_at = card.body["stamps"][0]["flexMessageSentAt"].clone();
    let form = |at: &Value| at.as_str().is_some_and(|at| at.len() == 24 && at.ends_with('Z'));
    assert!(form(&at) && form(&sent_at) && sent_at.as_str() > at.as_str(), "{at} {sent_at}");
    assert_eq!(
        card.body,
        json!({
            "eventId": "stamp-rally-202606", "lineUserId": hanako.id, "createdAt": at,
            "stamps": [
                {"stampId": "001", "name": "第1スタンプ", "order": 1, "acquired": true, "acquiredAt": at,
                 "flexMessageSent": true, "flexMessageSentAt": sent_at},
                {"stampId": "002", "name": "第2スタンプ", "order": 2, "acquired": false},
            ],
            "acquiredCount": 1, "totalCount": 2, "completed": false,
        })
    );
    assert_eq!(hanako.register().await.is(200).body, card.body);
    assert_eq!(hanako.look_at("001").await.is(200).body, card.body["stamps"][0]);
    assert_eq!(hanako.acquire("001").await.is(200).body, card.body["stamps"][0]);
    house.close().await;
}

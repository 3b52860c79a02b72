//! What an organiser can look up: one participant, who holds a stamp, which notices are in a special state.

use std::time::Duration;

use serde_json::{Value, json};
use stamp_rally::domain::{
    notice::{NoticeId, NoticeKey, Parked, ParkedState},
    time::TimeSource,
};

use super::rally;
use crate::house::{House, Person, RALLY};

fn without(mut fact: Value, names: &[&str]) -> Value {
    fact.as_object_mut().unwrap().retain(|name, _| !names.contains(&name.as_str()));
    fact
}

#[tokio::test]
async fn everything_about_one_participant_is_on_one_page() {
    let house = House::open("one participant").await;
    let (organiser, hanako) = (house.organiser(), house.hanako());
    let path = format!("/{RALLY}/users/{}", hanako.id);
    organiser.get(&path).await.refuses(404, "participant_not_found");

    let registered = house.clock.now().to_string();
    hanako.register().await.is(201);
    house.pass(Duration::from_mins(1)).await;
    let first = house.clock.now().to_string();
    hanako.acquire_as("001", "in-front-of-the-station").await.is(201);
    house.deliver().await;
    let unknown = organiser.get(&path).await.is(200);
    assert_eq!(unknown.body.get("friendship"), None, "without a fact it is unknown");
    house.pass(Duration::from_mins(1)).await;
    let last = house.clock.now().to_string();
    hanako.acquire("002").await.is(201);
    house.deliver().await;
    hanako.becomes("blocked").await;

    let page = organiser.get(&path).await.is(200).body;
    let facts = page["facts"].as_array().unwrap();
    let all = json!({"eventId": RALLY, "lineUserId": hanako.id});
    let with = |more: Value| {
        let mut fact = all.clone();
        fact.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fact
    };
    let made = ["requestId", "flexMessageRequestId"];
    assert_eq!(
        facts.iter().map(|fact| without(fact.clone(), &made)).collect::<Vec<_>>(),
        [
            with(json!({"entityType": "USER", "createdAt": registered, "updatedAt": registered})),
            with(json!({
                "entityType": "USER_STAMP", "stampId": "001", "acquiredAt": first,
                "flexMessageSent": true, "flexMessageSentAt": first, "noticeVia": "push",
            })),
            with(json!({
                "entityType": "USER_STAMP", "stampId": "002", "acquiredAt": last,
                "flexMessageSent": true, "flexMessageSentAt": last, "noticeVia": "push",
            })),
            with(json!({
                "entityType": "COMPLETED", "completedAt": last, "byStampId": "002",
                "flexMessageSent": true, "flexMessageSentAt": last, "noticeVia": "push",
            })),
        ]
    );
    assert_eq!(facts[1]["requestId"], "in-front-of-the-station");
    assert!(facts[1..].iter().all(|fact| fact["flexMessageRequestId"].is_string()), "what to ask LINE about");
    assert_eq!(page["card"], hanako.card().await.body);
    assert_eq!(without(page["friendship"].clone(), &["occurredAt"]), json!({"following": false}));
    hanako.becomes("friend").await;
    assert_eq!(organiser.get(&path).await.body["friendship"]["following"], true);

    // Nothing of keys or tokens is in there.
    let text = page.to_string();
    for key in ["PK", "GSI", "EVENT#", hanako.token.as_str()] {
        assert!(!text.contains(key), "{key}");
    }
    organiser.get(&format!("/{RALLY}/users/U123")).await.refuses(400, "invalid_request");
    organiser.get(&format!("/nowhere/users/{}", hanako.id)).await.refuses(404, "event_not_found");
}

#[tokio::test]
async fn who_holds_a_stamp_is_listed_by_time() {
    for shards in [1, 4] {
        let house = House::open("holders").await;
        let organiser = house.organiser();
        organiser.put_event(RALLY, &json!({"indexShards": shards})).await.is(200);
        let people: Vec<Person> = (0..5).map(|n| house.person(&format!("参加者{n}"))).collect();
        let mut expected = Vec::new();
        for person in &people {
            house.pass(Duration::from_millis(5)).await;
            let stamp = person.acquire("001").await.is(201);
            expected.push(json!({"lineUserId": person.id, "acquiredAt": stamp.body["acquiredAt"]}));
        }
        people[0].acquire("002").await.is(201);

        let path = format!("/{RALLY}/stamps/001/holders");
        let all = organiser.get(&path).await.is(200);
        assert_eq!(all.body, json!({ "holders": expected }), "{shards} shards");
        let first = organiser.get(&format!("{path}?limit=2&order=desc")).await.is(200);
        let cursor = first.body["nextCursor"].as_str().unwrap();
        house.pass(Duration::from_millis(5)).await;
        house.hanako().acquire("001").await.is(201);
        let rest = organiser.get(&format!("{path}?limit=3&order=desc&cursor={cursor}")).await.is(200);
        expected.reverse();
        assert_eq!(first.body["holders"], json!(expected[..2]));
        assert_eq!(rest.body, json!({"holders": expected[2..]}));
        let other = organiser.get(&format!("/{RALLY}/stamps/002/holders")).await.is(200);
        assert_eq!(other.body["holders"].as_array().unwrap().len(), 1);
        organiser.get(&format!("/{RALLY}/stamps/003/holders")).await.refuses(404, "stamp_not_found");
        organiser.get("/nowhere/stamps/001/holders").await.refuses(404, "event_not_found");
        for wrong in ["from=2026-05-24", "limit=0"] {
            organiser.get(&format!("{path}?{wrong}")).await.refuses(400, "invalid_request");
        }
    }
}

#[tokio::test]
async fn a_notice_that_line_refused_is_listed_with_what_it_said() {
    let house = House::open("failed notice").await;
    let (organiser, hanako) = (house.organiser(), house.hanako());
    let refusal = json!({"message": "The request body has 1 error(s)"});
    house.line_faults(json!([{"endpoint": "push", "kind": "status", "code": 400, "body": refusal, "times": 1}])).await;
    let stamp = hanako.acquire_as("001", "k").await.is(201);
    let now = house.clock.now().to_string();
    house.deliver().await;

    let failed = organiser.get(&format!("/{RALLY}/deliveries?state=failed")).await.is(200);
    assert_eq!(
        failed.body,
        json!({"deliveries": [{
            "entityType": "USER_STAMP", "eventId": RALLY, "lineUserId": hanako.id, "stampId": "001",
            "acquiredAt": stamp.body["acquiredAt"], "requestId": "k", "flexMessageSent": false,
            "flexMessageError": {"status": 400, "message": "The request body has 1 error(s)", "at": now},
            "noticeState": "failed", "noticeSince": now,
        }]})
    );
    let held = organiser.get(&format!("/{RALLY}/deliveries?state=held")).await.is(200);
    assert_eq!(held.body, json!({"deliveries": []}));
}

#[tokio::test]
async fn each_special_state_has_a_list_with_pages() {
    let house = House::open("states").await;
    let organiser = house.organiser();
    let states =
        [ParkedState::Held, ParkedState::Failed, ParkedState::Unknown, ParkedState::Expired, ParkedState::Suppressed];
    let since = house.clock.now();
    for (number, state) in (0..).zip(states) {
        for stamp in ["001", "002"] {
            let person = house.person(&format!("{state:?} {stamp}"));
            person.acquire(stamp).await.is(201);
            let key = NoticeKey::Stamp(stamp.parse().unwrap());
            let notice = NoticeId { event_id: rally(), line_user_id: person.id.parse().unwrap(), key };
            let reason = Some(format!("reason {stamp}"));
            let since = since.plus_millis(number * 10 + i64::from(stamp == "002"));
            let parked = Parked { state, since, reason, maybe_sent_at: None, error: None };
            house.store.park(&notice, None, &parked).await.unwrap();
        }
    }
    for state in states.map(ParkedState::as_str) {
        let path = format!("/{RALLY}/deliveries?state={state}");
        let first = organiser.get(&format!("{path}&limit=1")).await.is(200);
        let cursor = first.body["nextCursor"].as_str().unwrap();
        let rest = organiser.get(&format!("{path}&limit=1&cursor={cursor}")).await.is(200);
        assert_eq!(rest.body.get("nextCursor"), None);
        for (page, stamp) in [(&first, "001"), (&rest, "002")] {
            let row = &page.body["deliveries"][0];
            assert_eq!(
                (&row["stampId"], &row["noticeState"], &row["noticeReason"]),
                (&json!(stamp), &json!(state), &json!(format!("reason {stamp}")))
            );
        }
        let newest = organiser.get(&format!("{path}&order=desc")).await.is(200);
        assert_eq!(newest.body["deliveries"], json!([rest.body["deliveries"][0], first.body["deliveries"][0]]));
    }
    for wrong in ["", "?state=", "?state=lost", "?state=HELD", "?state=sent"] {
        organiser.get(&format!("/{RALLY}/deliveries{wrong}")).await.refuses(400, "invalid_request");
    }
    organiser.get("/nowhere/deliveries?state=held").await.refuses(404, "event_not_found");
}

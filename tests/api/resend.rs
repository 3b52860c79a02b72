//! A notice that didn't arrive is sent again, once; and an operator can read what became of each.

mod completed;

use std::time::Duration;

use serde_json::{Value, json};
use stamp_rally::domain::{
    notice::{NoticeId, NoticeKey, Parked, ParkedState},
    time::TimeSource,
};

use super::{
    house::{Answer, House, Person, RALLY},
    proxy::{Calls, Fault, Often},
};

/// LINE refuses each push to this person.
fn refuses(person: &Person<'_>) -> Value {
    json!([{"endpoint": "push", "kind": "status", "code": 400, "user": person.id, "body": {"message": "not to her"}}])
}

/// LINE refuses the channel's tokens: our trouble, so everything is held.
fn refuses_us() -> Value {
    json!([{"endpoint": "push", "kind": "status", "code": 403, "body": {"message": "no"}}])
}

impl House {
    /// The operator asks for a notice of a participant to be sent again.
    async fn resend(&self, person: &Person<'_>, stamp: &str) -> Answer {
        self.resend_by("operator", person, stamp).await
    }

    async fn resend_by(&self, who: &str, person: &Person<'_>, stamp: &str) -> Answer {
        self.bearer(who).post(&format!("/{RALLY}/deliveries/{}/{stamp}/resend", person.id)).await
    }

    /// The keys of the notices in a state: `USER_STAMP 001`, `RESEND 001 2`.
    async fn listed(&self, state: &str) -> Vec<String> {
        let list = self.bearer("viewer").get(&format!("/{RALLY}/deliveries?state={state}")).await.is(200);
        list.body["deliveries"].as_array().unwrap().iter().map(name).collect()
    }

    /// What the operator reads of each of a participant's notices.
    async fn notices(&self, person: &Person<'_>) -> Vec<Value> {
        let shown = self.bearer("viewer").get(&format!("/{RALLY}/users/{}", person.id)).await.is(200);
        shown.body["notices"].as_array().unwrap().clone()
    }

    /// The same in a few words: `USER_STAMP 001: sent`.
    async fn states(&self, person: &Person<'_>) -> Vec<String> {
        let notices = self.notices(person).await;
        notices.iter().map(|notice| format!("{}: {}", name(notice), notice["state"].as_str().unwrap())).collect()
    }
}

fn name(fact: &Value) -> String {
    let parts = ["entityType", "stampId", "number"].map(|member| match &fact[member] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn notice(person: &Person<'_>, stamp: &str) -> NoticeId {
    let key = NoticeKey::Stamp(stamp.parse().unwrap());
    NoticeId { event_id: RALLY.parse().unwrap(), line_user_id: person.id.parse().unwrap(), key }
}

#[tokio::test]
async fn a_failed_notice_is_sent_again_once_and_leaves_the_list() {
    let house = House::open("failed and resent").await;
    let hanako = house.hanako();
    house.line_faults(refuses(&hanako)).await;
    hanako.acquire("001").await.is(201);
    house.deliver().await;
    assert_eq!(house.listed("failed").await, ["USER_STAMP 001"]);
    assert_eq!(house.states(&hanako).await, ["USER_STAMP 001: failed"]);
    assert_eq!(house.notices(&hanako).await[0]["flexMessageError"]["message"], "not to her", "LINE's words");

    house.line_faults(json!([])).await;
    house.pass(Duration::from_mins(1)).await;
    let asked_at = house.clock.now();
    assert_eq!(house.resend(&hanako, "001").await.is(202).body, json!({"number": 1}));
    assert_eq!(house.states(&hanako).await, ["USER_STAMP 001: failed", "RESEND 001 1: waiting"]);
    house.deliver().await;
    assert_eq!(hanako.phone(), ["第1スタンプ 1/2"]);
    assert_eq!(house.listed("failed").await, [""; 0]);
    assert_eq!(house.states(&hanako).await, ["USER_STAMP 001: sent", "RESEND 001 1: sent"]);
    let notices = house.notices(&hanako).await;
    assert_eq!(notices[0]["sentByResend"], 1);
    assert!(notices[0]["flexMessageRequestId"].is_string(), "{notices:?}");
    assert_eq!(notices[0]["flexMessageRequestId"], notices[1]["flexMessageRequestId"]);

    house.deliver().await;
    assert_eq!(hanako.phone().len(), 1, "it is not sent once more");
    let shown = house.bearer("viewer").get(&format!("/{RALLY}/users/{}", hanako.id)).await.is(200);
    let fact = &shown.body["facts"][2];
    assert_eq!((&fact["entityType"], &fact["requestedBy"]), (&json!("RESEND"), &json!("operator")));
    assert_eq!((&fact["requestedAt"], &fact["flexMessageSent"]), (&json!(asked_at.to_string()), &json!(true)));
}

#[tokio::test]
async fn operators_who_click_together_make_one_resend() {
    let house = House::open("clicked together").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    house.deliver().await;
    let (one, other) =
        tokio::join!(house.resend_by("operator", &hanako, "001"), house.resend_by("organiser", &hanako, "001"),);
    let (made, refused): (Vec<_>, Vec<_>) = [one, other].into_iter().partition(|answer| answer.status == 202);
    assert_eq!((made.len(), &made[0].body), (1, &json!({"number": 1})));
    for answer in refused {
        answer.refuses(409, "resend_pending");
    }
    house.deliver().await;
    assert_eq!(hanako.phone().len(), 2, "the first, and the one asked for");
    assert_eq!(house.states(&hanako).await, ["USER_STAMP 001: sent", "RESEND 001 1: sent"]);
}

#[tokio::test]
async fn what_is_still_on_its_way_is_not_asked_for_again() {
    let house = House::open("on its way").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    house.resend(&hanako, "001").await.refuses(409, "resend_pending");

    house.line_faults(refuses_us()).await;
    house.deliver().await;
    assert_eq!(house.states(&hanako).await, ["USER_STAMP 001: held"]);
    assert_eq!(house.notices(&hanako).await[0]["noticeReason"], "not_authorized");
    house.resend(&hanako, "001").await.refuses(409, "resend_pending");

    house.line_faults(json!([])).await;
    house.pass(Duration::from_mins(1)).await;
    house.deliver().await;
    assert_eq!(hanako.phone(), ["第1スタンプ 1/2"]);
    assert_eq!(house.resend(&hanako, "001").await.is(202).body["number"], 1, "it has arrived, and may come once more");
    house.resend(&hanako, "001").await.refuses(409, "resend_pending");
    house.deliver().await;
    assert_eq!(hanako.phone(), ["第1スタンプ 1/2", "第1スタンプ 1/2"], "the same text");
}

#[tokio::test]
async fn a_resend_that_fails_too_is_followed_by_another_and_both_leave_the_list() {
    let house = House::open("failed twice").await;
    let hanako = house.hanako();
    house.line_faults(refuses(&hanako)).await;
    hanako.acquire("001").await.is(201);
    house.deliver().await;
    house.pass(Duration::from_secs(1)).await;
    assert_eq!(house.resend(&hanako, "001").await.is(202).body["number"], 1);
    house.deliver().await;
    assert_eq!(house.listed("failed").await, ["USER_STAMP 001", "RESEND 001 1"]);
    assert_eq!(hanako.phone().len(), 0);

    house.line_faults(json!([])).await;
    house.pass(Duration::from_secs(1)).await;
    assert_eq!(house.resend(&hanako, "001").await.is(202).body["number"], 2);
    house.deliver().await;
    assert_eq!(hanako.phone(), ["第1スタンプ 1/2"]);
    assert_eq!(house.listed("failed").await, [""; 0]);
    let told: Vec<_> = house.notices(&hanako).await.iter().map(|notice| notice["sentByResend"].clone()).collect();
    assert_eq!(told, [json!(2), json!(2), Value::Null]);
}

#[tokio::test]
async fn what_may_have_arrived_is_sent_again_when_a_person_decides() {
    let house = House::open("unknown and resent").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    let unknown = Parked {
        state: ParkedState::Unknown,
        since: house.clock.now(),
        reason: Some("retry_key_expired".to_owned()),
        maybe_sent_at: None,
        error: None,
    };
    house.store.park(&notice(&hanako, "001"), None, &unknown).await.unwrap();
    house.deliver().await;
    assert_eq!((house.listed("unknown").await, hanako.phone().len()), (vec!["USER_STAMP 001".to_owned()], 0));
    house.resend(&hanako, "001").await.is(202);
    house.deliver().await;
    assert_eq!((house.listed("unknown").await, hanako.phone().len()), (vec![], 1));
}

#[tokio::test]
async fn what_expired_is_sent_when_asked_for_and_waits_for_its_channel_like_any_other() {
    let house = House::open("expired and resent").await;
    let hanako = house.hanako();
    house.line_faults(refuses_us()).await;
    hanako.acquire("001").await.is(201);
    house.deliver().await;
    let sooner = json!({"endsAt": house.clock.now().plus_millis(60_000)});
    house.organiser().put_event(RALLY, &sooner).await.is(200);
    house.pass(Duration::from_mins(1)).await;
    house.deliver().await;
    assert_eq!(house.listed("expired").await, ["USER_STAMP 001"]);

    house.resend(&hanako, "001").await.is(202);
    house.deliver().await;
    house.deliver().await;
    assert_eq!(
        house.states(&hanako).await,
        ["USER_STAMP 001: expired", "RESEND 001 1: held"],
        "it was asked for after the end, so the end doesn't stop it"
    );
    house.line_faults(json!([])).await;
    house.pass(Duration::from_mins(1)).await;
    house.deliver().await;
    assert_eq!(hanako.phone(), ["第1スタンプ 1/2"]);
    assert_eq!(house.states(&hanako).await, ["USER_STAMP 001: sent", "RESEND 001 1: sent"]);
    assert_eq!((house.listed("expired").await.len(), house.listed("held").await.len()), (0, 0));
}

#[tokio::test]
async fn a_resend_whose_marks_fail_at_first_is_still_one_message() {
    let house = House::open("resend's marks").await;
    let hanako = house.hanako();
    house.line_faults(refuses(&hanako)).await;
    hanako.acquire("001").await.is(201);
    house.deliver().await;
    house.line_faults(json!([])).await;
    house.resend(&hanako, "001").await.is(202);
    house.wire.inject(Calls::OperationOn("UpdateItem", "line-event"), Fault::Throttled, Often::Next(8));
    house.deliver().await;
    assert_eq!(hanako.phone().len(), 1);
    assert_eq!(house.states(&hanako).await, ["USER_STAMP 001: sent", "RESEND 001 1: sent"]);
}

#[tokio::test]
async fn a_resend_costs_one_query_and_one_put() {
    let house = House::open("resend on the wire").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    house.deliver().await;
    house.wire();
    house.resend(&hanako, "001").await.is(202);
    assert_eq!(house.wire(), ["1 × GetItem line-event", "1 × PutItem line-event", "1 × Query line-event"]);
}

#[tokio::test]
async fn there_is_nothing_to_send_again_where_there_is_no_notice() {
    let house = House::open("nothing to resend").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    house.deliver().await;
    house.resend(&taro, "001").await.refuses(404, "participant_not_found");
    house.resend(&hanako, "002").await.refuses(404, "delivery_not_found");
    house.resend(&hanako, "999").await.refuses(404, "delivery_not_found");
    let elsewhere = format!("/another-rally/deliveries/{}/001/resend", hanako.id);
    house.bearer("operator").post(&elsewhere).await.refuses(404, "event_not_found");
    house.resend_by("viewer", &hanako, "001").await.refuses(403, "forbidden");
    house.resend_by("neighbour", &hanako, "001").await.refuses(403, "forbidden");
    house.resend_by("stranger", &hanako, "001").await.refuses(401, "admin_token_invalid");
    assert_eq!(house.states(&hanako).await, ["USER_STAMP 001: sent"], "nothing was written");
}

#[tokio::test]
async fn sent_and_sent_to_a_participant_who_had_blocked_the_account_are_two_states() {
    let house = House::open("blocked").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    house.deliver().await;
    house.pass(Duration::from_mins(1)).await;
    hanako.becomes("blocked").await;
    house.pass(Duration::from_mins(1)).await;
    hanako.acquire("002").await.is(201);
    house.deliver().await;
    assert_eq!(hanako.phone(), ["第1スタンプ 1/2"]);
    assert_eq!(
        house.states(&hanako).await,
        ["USER_STAMP 001: sent", "USER_STAMP 002: sent_to_non_friend", "COMPLETED: sent_to_non_friend"]
    );
    let notices = house.notices(&hanako).await;
    assert!(notices[1]["unfollowedAt"].is_string() && notices[1]["flexMessageRequestId"].is_string(), "{notices:?}");

    house.pass(Duration::from_mins(1)).await;
    hanako.becomes("friend").await;
    house.pass(Duration::from_mins(1)).await;
    house.resend(&hanako, "002").await.is(202);
    house.deliver().await;
    assert_eq!(hanako.phone(), ["第1スタンプ 1/2", "第2スタンプ 2/2"]);
    assert_eq!(
        house.states(&hanako).await[1..],
        ["USER_STAMP 002: sent_to_non_friend", "COMPLETED: sent_to_non_friend", "RESEND 002 1: sent"]
    );
}

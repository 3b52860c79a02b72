//! The notice of a full card, sent again.

use aws_sdk_dynamodb::types::AttributeValue;
use stamp_rally::{
    consumer::limits::Limits,
    domain::notice::{Subject, retry_key},
};

use super::*;
use crate::house::CHANNEL;

const FULL: &str = "初夏のラリー、2個そろいました";

impl House {
    async fn resend_card(&self, person: &Person<'_>) -> Answer {
        self.resend_card_by("operator", person).await
    }

    async fn resend_card_by(&self, who: &str, person: &Person<'_>) -> Answer {
        self.bearer(who).post(&format!("/{RALLY}/users/{}/completed/resend", person.id)).await
    }

    /// The keys of the pushes that LINE has accepted.
    async fn accepted_keys(&self) -> Vec<String> {
        let keys = self.control(reqwest::Method::GET, "/retry-keys", &Value::Null).await.is(200);
        let keys = keys.body["retryKeys"].as_array().unwrap().clone();
        let accepted = keys.iter().filter(|key| key["accepted"] == 1);
        accepted.map(|key| key["retryKey"].as_str().unwrap().to_owned()).collect()
    }
}

impl Person<'_> {
    /// Fills the card, a minute between the stamps.
    async fn fills_the_card(&self) {
        self.acquire("001").await.is(201);
        self.house.pass(Duration::from_mins(1)).await;
        self.acquire("002").await.is(201);
        self.house.deliver().await;
    }
}

#[tokio::test]
async fn the_failed_notice_of_a_full_card_is_sent_again_once_and_leaves_the_list() {
    let house = House::open("full card resent").await;
    let hanako = house.hanako();
    house.line_faults(refuses(&hanako)).await;
    hanako.fills_the_card().await;
    assert_eq!(house.listed("failed").await, ["COMPLETED", "USER_STAMP 001", "USER_STAMP 002"]);

    house.line_faults(json!([])).await;
    house.pass(Duration::from_mins(1)).await;
    let asked_at = house.clock.now();
    assert_eq!(house.resend_card(&hanako).await.is(202).body, json!({"number": 1}));
    house.deliver().await;
    assert_eq!(hanako.phone(), [FULL]);
    assert_eq!(house.listed("failed").await, ["USER_STAMP 001", "USER_STAMP 002"], "those are other notices");
    let states = house.states(&hanako).await;
    assert_eq!(
        states,
        ["USER_STAMP 001: failed", "USER_STAMP 002: failed", "COMPLETED: sent", "RESEND_COMPLETED 1: sent"]
    );
    assert_eq!(house.notices(&hanako).await[2]["sentByResend"], 1);

    house.deliver().await;
    assert_eq!(hanako.phone().len(), 1, "it is not sent once more");
    let shown = house.bearer("viewer").get(&format!("/{RALLY}/users/{}", hanako.id)).await.is(200);
    let fact = &shown.body["facts"][4];
    assert_eq!((&fact["entityType"], &fact["requestedBy"]), (&json!("RESEND_COMPLETED"), &json!("operator")));
    assert_eq!((&fact["requestedAt"], &fact["number"]), (&json!(asked_at.to_string()), &json!(1)));
}

#[tokio::test]
async fn a_resent_full_card_has_the_retry_key_of_its_card_and_number() {
    let house = House::open("full card's key").await;
    let hanako = house.hanako();
    hanako.fills_the_card().await;
    house.resend_card(&hanako).await.is(202);
    house.deliver().await;
    assert_eq!(hanako.phone()[2..], [FULL, FULL], "to a friend it is a second message");
    let completed_at = hanako.facts().await.completed.unwrap().completed_at;
    let notice = NoticeId { key: NoticeKey::ResendCompleted { number: 1 }, ..notice(&hanako, "001") };
    let key = retry_key(&CHANNEL.parse().unwrap(), &notice, &Subject::Completed { completed_at }, 1);
    assert!(house.accepted_keys().await.contains(&key.to_string()));
}

#[tokio::test]
async fn a_full_cards_notice_that_is_on_its_way_is_not_asked_for_again() {
    let house = House::open("full card on its way").await;
    let hanako = house.hanako();
    house.line_faults(refuses_us()).await;
    hanako.fills_the_card().await;
    assert_eq!(house.listed("held").await.len(), 3);
    house.resend_card(&hanako).await.refuses(409, "resend_pending");

    house.line_faults(json!([])).await;
    house.pass(Duration::from_mins(1)).await;
    house.deliver().await;
    assert_eq!(hanako.phone().len(), 3);
    let (one, other) =
        tokio::join!(house.resend_card_by("operator", &hanako), house.resend_card_by("organiser", &hanako));
    let (made, refused): (Vec<_>, Vec<_>) = [one, other].into_iter().partition(|answer| answer.status == 202);
    assert_eq!((made.len(), &made[0].body), (1, &json!({"number": 1})));
    for answer in refused {
        answer.refuses(409, "resend_pending");
    }
    house.deliver().await;
    assert_eq!(hanako.phone()[2..], [FULL, FULL]);
    assert_eq!(house.resend_card(&hanako).await.is(202).body, json!({"number": 2}));
}

#[tokio::test]
async fn a_resent_full_card_is_held_with_its_channel_and_drained() {
    let house = House::open("full card held").await;
    let hanako = house.hanako();
    hanako.fills_the_card().await;
    house.line_faults(refuses_us()).await;
    house.resend_card(&hanako).await.is(202);
    house.deliver().await;
    assert_eq!(house.listed("held").await, ["RESEND_COMPLETED 1"]);
    assert_eq!(house.states(&hanako).await[2..], ["COMPLETED: sent", "RESEND_COMPLETED 1: held"]);
    house.line_faults(json!([])).await;
    house.pass(Duration::from_mins(1)).await;
    house.deliver().await;
    assert_eq!(hanako.phone()[2..], [FULL, FULL]);
    assert_eq!(house.listed("held").await, [""; 0]);
}

#[tokio::test]
async fn there_is_no_notice_of_a_card_that_is_not_full_or_that_called_for_none() {
    let house = House::open("no full card").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    house.resend_card(&taro).await.refuses(404, "participant_not_found");
    house.resend_card(&hanako).await.refuses(404, "delivery_not_found");
    house.resend_card_by("viewer", &hanako).await.refuses(403, "forbidden");
    house.resend_card_by("stranger", &hanako).await.refuses(401, "admin_token_invalid");
    let elsewhere = format!("/another-rally/users/{}/completed/resend", hanako.id);
    house.bearer("operator").post(&elsewhere).await.refuses(404, "event_not_found");

    house.change_the_rally(&json!({"completionMessageContent": null})).await;
    taro.fills_the_card().await;
    assert_eq!(house.states(&taro).await.len(), 2, "no notice of the card");
    house.change_the_rally(&json!({"completionMessageContent": crate::house::flex("そろいました")})).await;
    house.resend_card(&taro).await.refuses(404, "delivery_not_found");
}

#[tokio::test]
async fn a_full_card_whose_message_is_gone_is_not_sent_again() {
    let house = House::open("full card without a message").await;
    let hanako = house.hanako();
    hanako.fills_the_card().await;
    house.change_the_rally(&json!({"completionMessageContent": null})).await;
    house.resend_card(&hanako).await.is(202);
    house.deliver().await;
    assert_eq!(house.listed("suppressed").await, ["RESEND_COMPLETED 1"]);
    assert_eq!(hanako.phone().len(), 3);
}

#[tokio::test]
async fn a_function_takes_the_record_of_a_resent_full_card() {
    let house = House::open("full card by function").await;
    let hanako = house.hanako();
    hanako.fills_the_card().await;
    house.resend_card(&hanako).await.is(202);
    let stream = house.store.stream_arn().await.unwrap().unwrap();
    let limits = Limits::within(Duration::from_mins(1), Duration::from_secs(3));
    let handled = house.function().deliver_batch(house.records().await, &stream, limits).await;
    assert_eq!((handled.unfinished, hanako.phone().len()), (None, 4));
}

#[tokio::test]
async fn a_resent_full_card_that_can_not_be_read_holds_nobody_else_up() {
    let house = House::open("full card unreadable").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.fills_the_card().await;
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let partition = format!("EVENT#{RALLY}#USER#{}", hanako.id);
    let key = [("PK", text(&partition)), ("SK", text("RESEND_COMPLETED#001"))];
    let broken = [("entityType", text("RESEND_COMPLETED")), ("flexMessageSent", AttributeValue::Bool(false))];
    house.put_raw(&[key, broken].concat()).await;
    taro.acquire("001").await.is(201);
    house.deliver().await;
    assert_eq!((hanako.phone().len(), taro.phone().len()), (3, 1));
}

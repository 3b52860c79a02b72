//! What the stream has forgotten: found, and sent or given to a person to decide.

mod breaks;
mod live;
mod stream;

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use stamp_rally::{
    delivery::{
        Delivery, DeliverySettings, Outcome,
        reconcile::{ReconcileError, Reconciled},
    },
    domain::{
        ids::EventId,
        mode::Mode,
        notice::{NoticeId, NoticeKey, NoticeStatus, ParkedState},
        time::TimeSource,
    },
    store::progress::By,
};
use tokio_util::sync::CancellationToken;

use super::house::{House, Person, RALLY, flex};

const COMPLETE: &str = "初夏のラリー、2個そろいました";

/// A short lease: a run waits until each worker that may be alive has seen it.
fn settings() -> DeliverySettings {
    let lease = Duration::from_millis(600);
    DeliverySettings { pushes_per_second: 100_000, lease, ..crate::house::defaults().delivery }
}

/// What a run of `stamp-rally reconcile` needs.
fn delivery(house: &House) -> Delivery {
    house.delivery_at(settings())
}

async fn run(delivery: &Delivery, mode: Mode, stop: &CancellationToken) -> Result<Reconciled, ReconcileError> {
    delivery.reconcile(None, mode, &|_, _| {}, stop).await
}

async fn reconcile(house: &House) -> Reconciled {
    run(&delivery(house), Mode::ForReal, &CancellationToken::new()).await.unwrap()
}

/// How many were sent, and became unknown, in the whole run.
fn counts(done: &Reconciled) -> (usize, usize) {
    let of = |outcome| done.events.iter().map(|(_, counts)| counts.tally.of(outcome)).sum();
    (of(Outcome::Sent), of(Outcome::Parked(ParkedState::Unknown)))
}

fn rally() -> EventId {
    RALLY.parse().unwrap()
}

/// The state of one notice in a word.
async fn state(person: &Person<'_>, key: NoticeKey) -> &'static str {
    let facts = person.house.store.facts(&rally(), &person.id.parse().unwrap()).await.unwrap();
    match facts.notice(&key) {
        None => "not there",
        Some(NoticeStatus::None) => "none",
        Some(NoticeStatus::Parked(parked)) => parked.state.as_str(),
        Some(NoticeStatus::Sent { .. }) => "sent",
        Some(NoticeStatus::Pending { .. }) => "waiting",
    }
}

fn stamp(id: &str) -> NoticeKey {
    NoticeKey::Stamp(id.parse().unwrap())
}

/// Runs that the table of progress names.
async fn runs(house: &House) -> usize {
    let all = house.store.handed_out("delivery").await.unwrap();
    all.iter().filter(|out| matches!(out.by, By::Run(_))).count()
}

fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

#[tokio::test]
async fn a_worker_that_was_down_for_a_day_is_made_up_for_in_order_and_once() {
    let house = House::open("down for a day").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("002").await.is(201);
    house.deliver().await;
    house.pass(Duration::from_secs(1)).await;
    taro.acquire("001").await.is(201);
    hanako.acquire("001").await.is(201);
    house.pass_a_day().await;
    assert_eq!(house.deliver().await.total(), 0, "the stream has forgotten them");

    let done = reconcile(&house).await;
    assert_eq!((counts(&done), done.interrupted), ((3, 0), false));
    assert_eq!(hanako.phone(), ["第2スタンプ 1/2", "第1スタンプ 2/2", COMPLETE]);
    assert_eq!(taro.phone(), ["第1スタンプ 1/2"]);
    assert_eq!(state(&hanako, NoticeKey::Completed).await, "sent");

    assert_eq!(counts(&reconcile(&house).await), (0, 0), "nothing is left");
    house.deliver().await;
    assert_eq!((hanako.phone().len(), taro.phone().len()), (3, 1), "the completed card's record came too");
    assert_eq!(runs(&house).await, 0);
    house.close().await;
}

#[tokio::test]
async fn what_came_just_after_a_worker_stopped_was_certainly_never_tried() {
    let house = House::open("just after a stop").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    house.deliver().await;
    taro.acquire("001").await.is(201);
    house.pass_a_day().await;
    assert_eq!(counts(&reconcile(&house).await), (1, 0));
    assert_eq!(taro.phone(), ["第1スタンプ 1/2"]);
}

#[tokio::test]
async fn younger_notices_are_left_to_the_workers() {
    let house = House::open("younger ones").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    house.pass(Duration::from_hours(24)).await;
    assert_eq!(counts(&reconcile(&house).await), (0, 0));
    assert_eq!(hanako.phone(), [""; 0]);
    house.deliver().await;
    assert_eq!(hanako.phone(), ["第1スタンプ 1/2"]);
}

#[tokio::test]
async fn a_dry_run_reports_what_would_be_done_and_changes_nothing() {
    let house = House::open("a dry run").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    taro.acquire("001").await.is(201);
    let tried = NoticeId { event_id: rally(), line_user_id: taro.id.parse().unwrap(), key: stamp("001") };
    house.store.note_attempt(&tried, house.clock.now()).await.unwrap();
    house.pass_a_day().await;
    house.wire();

    let done = run(&delivery(&house), Mode::DryRun, &CancellationToken::new()).await.unwrap();

    assert_eq!((counts(&done), done.events[0].1.participants), ((1, 1), 2));
    let reads = ["BatchGetItem", "DescribeTable", "GetItem", "Query", "Scan"];
    let wire = house.wire();
    assert!(wire.iter().all(|call| reads.iter().any(|read| call.contains(read))), "{wire:?}");
    assert_eq!((hanako.phone().len(), taro.phone().len()), (0, 0));
    assert_eq!(counts(&reconcile(&house).await), (1, 1), "as it told");
    assert_eq!((state(&hanako, stamp("001")).await, state(&taro, stamp("001")).await), ("sent", "unknown"));
}

#[tokio::test]
async fn a_resend_and_a_completed_card_are_found_too() {
    let house = House::open("resend and completed").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    house.pass(Duration::from_secs(1)).await;
    hanako.acquire("002").await.is(201);
    taro.acquire("001").await.is(201);
    house.deliver().await;
    taro.is_resent("001", 1).await;
    // As if the message for a full card had been forgotten.
    let unmark = house.clients.table.update_item().table_name("line-event");
    let unmark = unmark.key("PK", text(&format!("EVENT#{RALLY}#USER#{}", hanako.id))).key("SK", text("COMPLETED"));
    let unmark = unmark.update_expression("SET flexMessageSent = :no REMOVE flexMessageSentAt");
    unmark.expression_attribute_values(":no", AttributeValue::Bool(false)).send().await.unwrap();
    house.pass_a_day().await;

    assert_eq!(counts(&reconcile(&house).await), (2, 0));
    assert_eq!(taro.phone(), ["第1スタンプ 1/2", "第1スタンプ 1/2"]);
    assert_eq!((state(&hanako, NoticeKey::Completed).await, hanako.phone().len()), ("sent", 4));
}

#[tokio::test]
async fn a_resent_full_card_is_found_too() {
    let house = House::open("resent full card forgotten").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    house.pass(Duration::from_secs(1)).await;
    hanako.acquire("002").await.is(201);
    house.deliver().await;
    house.organiser().post(&format!("/{RALLY}/users/{}/completed/resend", hanako.id)).await.is(202);
    house.pass_a_day().await;
    assert_eq!(house.deliver().await.total(), 0, "the stream has forgotten it");
    assert_eq!(counts(&reconcile(&house).await), (1, 0));
    assert_eq!(hanako.phone()[2..], [COMPLETE, COMPLETE]);
    assert_eq!(state(&hanako, NoticeKey::ResendCompleted { number: 1 }).await, "sent");
}

#[tokio::test]
async fn stamps_of_inactive_masters_and_of_participants_who_are_not_listed_are_found_on_every_index_shard() {
    let house = House::empty("index shards").await;
    let now = house.clock.now();
    let day = 24 * 3600 * 1000;
    let event = json!({
        "name": "市のラリー", "channel": "main", "indexShards": 3,
        "startsAt": now.plus_millis(-day), "endsAt": now.plus_millis(day / 2),
    });
    let organiser = house.organiser();
    organiser.put_event(RALLY, &event).await.is(201);
    let master = json!({"name": "駅", "order": 1, "flexMessageContent": flex("{{stamp.name}}")});
    organiser.put_stamp(RALLY, "001", &master).await.is(201);
    let people: Vec<Person> = (0..8).map(|n| house.person(&format!("{n}人目"))).collect();
    for person in &people {
        person.acquire("001").await.is(201);
        let registration = house.clients.table.delete_item().table_name("line-event");
        let registration = registration.key("PK", text(&format!("EVENT#{RALLY}#USER#{}", person.id)));
        registration.key("SK", text("PROFILE")).send().await.unwrap();
    }
    organiser.put_stamp(RALLY, "001", &json!({"isActive": false})).await.is(200);
    house.pass_a_day().await;
    assert_eq!(counts(&reconcile(&house).await), (8, 0), "the event is over, and that is no matter");
    assert!(people.iter().all(|person| person.phone() == ["駅"]));
}

#[tokio::test]
async fn one_event_alone_can_be_reconciled_and_one_that_is_not_there_is_named() {
    let house = House::open("one event").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    house.pass_a_day().await;
    let (delivery, stop) = (delivery(&house), CancellationToken::new());
    let only = async |id: &str| {
        let id: EventId = id.parse().unwrap();
        delivery.reconcile(Some(&id), Mode::ForReal, &|_, _| {}, &stop).await
    };
    let refused = only("another").await.unwrap_err();
    assert_eq!(refused.to_string(), "event \"another\" does not exist");
    assert_eq!(counts(&only(RALLY).await.unwrap()), (1, 0));
}

#[tokio::test]
async fn a_participant_who_can_not_be_read_is_reported_and_the_others_are_sent() {
    let house = House::open("unreadable").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    taro.acquire("001").await.is(201);
    let pk = format!("EVENT#{RALLY}#USER#{}", taro.id);
    house.put_raw(&[("PK", text(&pk)), ("SK", text("STAMP#x")), ("entityType", text("USER_STAMP"))]).await;
    house.pass_a_day().await;
    let done = reconcile(&house).await;
    assert_eq!((counts(&done), done.events[0].1.unreadable), ((1, 0), 1));
    assert_eq!(hanako.phone(), ["第1スタンプ 1/2"]);
}

//! The stream is read elsewhere and batches are handed over, as AWS Lambda does it: no batch is answered late, none waits
//! behind a notice that waits, and what is handed over again sends nothing again.

mod notes;
mod weather;

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use stamp_rally::{
    consumer::limits::Limits,
    delivery::{
        Outcome, Tally,
        in_time::{DrainEnd, Drained},
    },
    domain::notice::ParkedState,
    store::{
        progress::FactSpan,
        stream::{Change, Record, SequenceNumber},
    },
};

use crate::consumers::Handled;
use crate::house::{House, RALLY, flex};
use crate::proxy::{Calls, Fault, Often};

const HOUR: Duration = Duration::from_hours(1);

/// A function that may take a minute.
fn a_minute() -> Limits {
    Limits::within(Duration::from_mins(1), Duration::from_secs(3))
}

/// A function that begins nothing after so long, and may bring to its end what it has begun.
fn no_attempt_after(millis: u64) -> Limits {
    let last_attempt = Duration::from_millis(millis);
    Limits { hurry: last_attempt, last_attempt, ..a_minute() }
}

async fn handle(house: &House, records: Vec<Record>, limits: Limits) -> Handled {
    let stream = house.store.stream_arn().await.unwrap().unwrap();
    house.function().deliver_batch(records, &stream, limits).await
}

/// What a function may have handed to LINE without finishing it.
async fn maybe_sent(house: &House) -> Vec<FactSpan> {
    house.store.handed_out("delivery").await.unwrap().into_iter().map(|out| out.span).collect()
}

/// Drains what is held, and insists on its end.
async fn drained(house: &House) -> Tally {
    let Drained { tally, end } = house.function().drain_within(a_minute()).await;
    assert_eq!(end.unwrap(), DrainEnd::All);
    tally
}

/// The records that call for a notice: those of stamps and completed cards.
fn notices(records: &[Record]) -> Vec<&SequenceNumber> {
    let calls = |record: &&Record| matches!(&record.change, Change::Inserted(fact) if fact.notice().is_some());
    records.iter().filter(calls).map(|record| &record.sequence).collect()
}

#[tokio::test]
async fn a_batch_is_delivered_in_order_and_handed_over_again_sends_nothing_again() {
    let house = House::for_delivery("a_batch_is_delivered_in_order").await;
    let (hanako, taro) = (house.person("Hanako"), house.person("Taro"));
    hanako.acquired("001").await;
    taro.acquired("002").await;
    hanako.acquired("002").await;
    let mut shuffled = house.records().await;
    shuffled.reverse();

    let handled = handle(&house, shuffled, a_minute()).await;
    assert_eq!((handled.unfinished, handled.tally.of(Outcome::Sent)), (None, 3));
    assert_eq!((hanako.phone(), taro.phone().len()), (vec!["Stamp 001 1/2".to_owned(), "Stamp 002 2/2".to_owned()], 1));

    let handled = handle(&house, house.records().await, a_minute()).await;
    assert_eq!(handled.unfinished, None);
    assert_eq!((handled.tally.of(Outcome::AlreadySent), handled.tally.of(Outcome::Sent)), (3, 1), "the completed card");
    assert_eq!((hanako.phone().len(), maybe_sent(&house).await), (3, Vec::new()));
}

#[tokio::test]
async fn the_first_record_that_is_not_finished_is_reported_and_what_came_after_it_is_not_sent_again() {
    let mut house = House::for_delivery("the_first_record_that_is_not_finished").await;
    house.retry.ordinary_deadline = HOUR;
    let (hanako, taro) = (house.person("Hanako"), house.person("Taro"));
    hanako.acquired("001").await;
    taro.acquired("002").await;
    hanako.acquired("002").await;
    house.pushes_fail(json!({ "kind": "status", "code": 500, "user": hanako.id.as_str() })).await;
    let records = house.records().await;
    let first = notices(&records)[0].clone();

    let handled = handle(&house, records, no_attempt_after(1000)).await;
    assert_eq!((handled.unfinished.as_ref(), handled.tally.of(Outcome::Sent)), (Some(&first), 1));
    assert_eq!((hanako.phone().len(), taro.phone().len()), (0, 1));
    assert_eq!(hanako.state("002").await, "waiting", "her second doesn't overtake her first");
    let left = maybe_sent(&house).await;
    let acquired = hanako.facts().await.stamps.iter().map(|stamp| stamp.acquired_at).collect::<Vec<_>>();
    assert!(left.len() == 1 && acquired.iter().all(|at| left[0].contains(*at)), "{left:?}");

    house.heal().await;
    let rest = house.records().await.into_iter().filter(|record| record.sequence >= first).collect();
    let handled = handle(&house, rest, a_minute()).await;
    assert_eq!((handled.unfinished, handled.tally.of(Outcome::AlreadySent)), (None, 1));
    assert_eq!(hanako.phone()[..2], ["Stamp 001 1/2", "Stamp 002 2/2"]);
    assert_eq!(taro.phone().len(), 1);
    assert!(maybe_sent(&house).await.is_empty());
}

#[tokio::test]
async fn when_time_runs_short_a_notice_that_has_waited_is_parked_so_that_the_shard_is_read_on() {
    let mut house = House::for_delivery("when_time_runs_short").await;
    house.retry.ordinary_deadline = Duration::from_secs(3);
    house.pushes_fail(json!({ "kind": "status", "code": 500 })).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let limits = Limits { hurry: Duration::from_millis(50), ..no_attempt_after(2500) };
    let handled = handle(&house, house.records().await, limits).await;
    assert_eq!((handled.unfinished, handled.tally.of(Outcome::Parked(ParkedState::Held))), (None, 1));
    assert_eq!(hanako.state("001").await, "held line_unavailable");
}

#[tokio::test]
async fn the_notices_of_a_paused_channel_are_parked_and_a_later_call_drains_them() {
    let house = House::for_delivery("the_notices_of_a_paused_channel").await;
    house.set_quota(0).await;
    let (hanako, taro) = (house.person("Hanako"), house.person("Taro"));
    hanako.acquired("001").await;
    taro.acquired("001").await;
    let handled = handle(&house, house.records().await, a_minute()).await;
    assert_eq!((handled.unfinished, handled.tally.of(Outcome::Parked(ParkedState::Held))), (None, 2));

    // Another instance of the function, which knows nothing of this.
    assert_eq!(drained(&house).await.total(), 0, "still used up");
    house.set_quota(100).await;
    let drained = drained(&house).await;
    assert_eq!((drained.of(Outcome::Sent), hanako.phone().len(), taro.phone().len()), (2, 1, 1));
}

#[tokio::test]
async fn a_push_that_is_dropped_when_the_time_is_over_is_one_message_in_the_end() {
    let house = House::for_delivery("a_push_that_is_dropped").await;
    house.pushes_fail(json!({ "kind": "timeout_after_accept", "times": 1 })).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let records = house.records().await;
    let first = notices(&records)[0].clone();
    let limits = Limits { end: Duration::from_millis(1500), ..no_attempt_after(1000) };
    let handled = handle(&house, records, limits).await;
    assert_eq!((handled.unfinished, hanako.phone().len()), (Some(first), 1));
    assert_eq!(maybe_sent(&house).await.len(), 1);

    let handled = handle(&house, house.records().await, a_minute()).await;
    assert_eq!((handled.unfinished, handled.tally.of(Outcome::Sent)), (None, 1));
    assert_eq!((house.pushes().await["409"], hanako.phone().len()), (1, 1));
}

#[tokio::test]
async fn while_nothing_can_be_written_down_nothing_is_pushed() {
    let house = House::for_delivery("while_nothing_can_be_written_down").await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let records = house.records().await;
    let first = notices(&records)[0].clone();
    house.wire.inject(Calls::Table("line-event-consumers"), Fault::Throttled, Often::Always);
    let handled = handle(&house, records, a_minute()).await;
    assert_eq!((handled.unfinished, hanako.phone().len()), (Some(first), 0));
    house.wire.heal();
    assert_eq!(handle(&house, house.records().await, a_minute()).await.unfinished, None);
    assert_eq!(hanako.phone().len(), 1);
}

#[tokio::test]
async fn an_old_notice_is_sent_unless_a_function_that_broke_off_may_have_tried_it() {
    let house = House::for_delivery("an_old_notice_is_sent_unless").await;
    let (hanako, taro) = (house.person("Hanako"), house.person("Taro"));
    hanako.acquired("001").await;
    let tried = house.records().await;
    // Dropped before the answer: it is not known whether LINE got it.
    house.pushes_fail(json!({ "kind": "timeout_after_accept", "times": 1 })).await;
    let limits = Limits { end: Duration::from_millis(1500), ..no_attempt_after(1000) };
    handle(&house, tried, limits).await;
    taro.acquired("001").await;
    house.pass(HOUR * 24).await;
    let handled = handle(&house, house.records().await, a_minute()).await;
    assert_eq!(handled.unfinished, None);
    assert_eq!(
        (hanako.state("001").await, taro.state("001").await),
        ("unknown retry_key_expired".into(), "sent".into())
    );
    assert_eq!((hanako.phone().len(), taro.phone().len()), (1, 1));
}

#[tokio::test]
async fn a_batch_without_notices_costs_nothing() {
    let house = House::for_delivery("a_batch_without_notices").await;
    let records = house.records().await;
    assert!(!records.is_empty() && notices(&records).is_empty(), "settings");
    house.wire.forget_counts();
    let handled = house.function().deliver_batch(records, "arn", a_minute()).await;
    assert_eq!((handled, house.wire.count(Calls::All)), (Handled::default(), 0));
}

#[tokio::test]
async fn a_batch_with_notices_costs_one_write_before_and_one_after() {
    let house = House::for_delivery("a_batch_with_notices").await;
    house.person("Hanako").acquired("001").await;
    house.person("Taro").acquired("001").await;
    let records = house.records().await;
    house.wire.forget_counts();
    house.function().deliver_batch(records, "arn", a_minute()).await;
    assert_eq!(house.wire.count(Calls::Table("line-event-consumers")), 2);
}

#[tokio::test]
async fn a_drain_that_runs_out_of_time_reports_what_it_sent() {
    let house = House::for_delivery("a_drain_that_runs_out_of_time").await;
    house.set_quota(0).await;
    let people: Vec<_> = (0..10).map(|n| house.person(&format!("Person {n}"))).collect();
    for person in &people {
        person.acquired("001").await;
    }
    handle(&house, house.records().await, a_minute()).await;
    house.set_quota(100).await;
    house.pushes_fail(json!({ "kind": "timeout_after_accept", "user": people[9].id.as_str() })).await;

    let limits = Limits { end: Duration::from_millis(2500), ..no_attempt_after(2000) };
    let Drained { tally, end } = house.function().drain_within(limits).await;
    assert_eq!((end.unwrap(), tally.of(Outcome::Sent), tally.total()), (DrainEnd::OutOfTime, 9, 9));
}

#[tokio::test]
async fn a_participant_of_whom_a_fact_cannot_be_read_holds_up_no_batch_and_gets_everything_when_it_is_mended() {
    let mut house = House::for_delivery("a_participant_of_whom_a_fact").await;
    house.retry.ordinary_deadline = HOUR;
    for n in 3..=20 {
        house.put_stamp(RALLY, &format!("{n:03}"), n, flex("{{stamp.name}}")).await;
    }
    let (hanako, taro) = (house.person("Hanako"), house.person("Taro"));
    for n in 1..=20 {
        hanako.acquired(&format!("{n:03}")).await;
    }
    taro.acquired("001").await;
    let acquired = hanako.facts().await.stamps[2].acquired_at;
    hanako.stamp_has("003", "acquiredAt", AttributeValue::Bool(true)).await;

    let handled = handle(&house, house.records().await, a_minute()).await;
    assert_eq!(handled.unfinished, None, "nothing of it waits");
    let (held, sent) = (handled.tally.of(Outcome::Parked(ParkedState::Held)), handled.tally.of(Outcome::Sent));
    assert_eq!((held, sent, taro.phone().len()), (20, 1, 1));
    assert_eq!((drained(&house).await.total(), hanako.phone().len()), (0, 0), "it still can't be read");

    hanako.stamp_has("003", "acquiredAt", AttributeValue::S(acquired.to_string())).await;
    assert_eq!(drained(&house).await.of(Outcome::Sent), 20);
    let completed = handle(&house, house.records().await, a_minute()).await;
    assert_eq!((completed.unfinished, completed.tally.of(Outcome::Sent)), (None, 1), "the message for the full card");
    let phone = hanako.phone();
    assert_eq!((phone.len(), phone[2].as_str(), phone[19].as_str()), (21, "Stamp 003", "Stamp 020"), "in order");
}

//! What a function notes of a batch before it hands it to LINE: gone when all of it is finished, by any process.

use stamp_rally::store::progress::EventFacts;

use super::*;

#[tokio::test]
async fn a_note_whose_end_could_not_be_written_goes_by_the_next_batch_or_the_drain() {
    let house = House::for_delivery("a_note_whose_end_could_not_be_written").await;
    let (stream, function) = (house.store.stream_arn().await.unwrap().unwrap(), house.function());
    let fails = || house.wire.inject("DeleteItem", Fault::Throttled, Often::Always);
    let handed = async |records| function.deliver_batch(records, &stream, a_minute()).await.unfinished;
    house.person("Hanako").acquired("001").await;
    fails();
    assert_eq!(handed(house.records().await).await, None, "all is sent and marked");
    assert_eq!(maybe_sent(&house).await.len(), 1, "but that can't be written");
    house.wire.heal();

    let last = house.records().await.pop().unwrap().sequence;
    house.person("Taro").acquired("001").await;
    let next = house.records().await.into_iter().filter(|record| record.sequence > last).collect();
    assert_eq!(handed(next).await, None);
    assert_eq!(maybe_sent(&house).await, [], "the next batch deletes it");

    fails();
    house.person("Jiro").acquired("001").await;
    handed(house.records().await).await;
    assert_eq!(maybe_sent(&house).await.len(), 1);
    house.wire.heal();
    assert_eq!(function.drain_within(a_minute()).await.end.unwrap(), DrainEnd::All);
    assert_eq!(maybe_sent(&house).await, [], "and so does the drain");
}

#[tokio::test]
async fn what_is_left_of_a_batch_stays_noted_until_the_next_one_notes_it() {
    let mut house = House::for_delivery("what_is_left_of_a_batch_stays_noted").await;
    house.retry.ordinary_deadline = HOUR;
    let (stream, function) = (house.store.stream_arn().await.unwrap().unwrap(), house.function());
    let (hanako, taro) = (house.person("Hanako"), house.person("Taro"));
    hanako.acquired("001").await;
    house.pass(HOUR).await;
    taro.acquired("001").await;
    house.pushes_fail(json!({ "kind": "status", "code": 500, "user": taro.id.as_str() })).await;
    // The note before the batch is written, the one after it is not.
    let gate = house.wire.hold(Calls::OperationOn("PutItem", "line-event-consumers"));
    let throttled = async {
        gate.has_waiting(1).await;
        gate.release();
        while hanako.phone().is_empty() {
            tokio::task::yield_now().await;
        }
        house.wire.inject(Calls::Table("line-event-consumers"), Fault::Throttled, Often::Always);
    };
    let (handled, ()) =
        tokio::join!(function.deliver_batch(house.records().await, &stream, no_attempt_after(1000)), throttled);
    let next = handled.unfinished.unwrap();
    house.wire.heal();
    assert_eq!(function.drain_within(a_minute()).await.end.unwrap(), DrainEnd::All);
    let acquired = taro.facts().await.stamps[0].acquired_at;
    let left = maybe_sent(&house).await;
    assert!(left.len() == 1 && left[0].contains(acquired), "nothing else notes it yet: {left:?}");

    house.heal().await;
    let rest = house.records().await.into_iter().filter(|record| record.sequence >= next).collect();
    assert_eq!(function.deliver_batch(rest, &stream, a_minute()).await.unfinished, None);
    assert_eq!((maybe_sent(&house).await, taro.phone().len()), (Vec::new(), 1));
}

#[tokio::test]
async fn a_note_that_another_function_has_written_since_is_not_deleted() {
    let house = House::for_delivery("a_note_that_another_function_has_written").await;
    let consumers = house.store.consumers("delivery", "arn");
    let (first, of_hanako) =
        ("100000000000000000001".parse().unwrap(), EventFacts::one(house.person("Hanako").line_user_id(), house.now()));
    let (facts, span) = ([(RALLY.parse().unwrap(), of_hanako.clone())].into(), of_hanako.span);
    let ours = consumers.hand_out(&first, &facts, house.now()).await.unwrap();
    house.pass(HOUR).await;
    let theirs = consumers.hand_out(&first, &facts, house.now()).await.unwrap();
    consumers.forget_batch(&ours).await.unwrap();
    assert_eq!(maybe_sent(&house).await, [span]);
    for _ in 0..2 {
        consumers.forget_batch(&theirs).await.unwrap();
        assert_eq!(maybe_sent(&house).await, []);
    }
}

#[tokio::test]
async fn a_note_of_a_function_that_has_ended_goes_by_the_drain_of_another_when_none_of_its_notices_waits() {
    let house = House::for_delivery("a_note_of_a_function_that_has_ended").await;
    let (hanako, taro) = (house.person("Hanako"), house.person("Taro"));
    hanako.acquired("001").await;
    house.wire.inject("DeleteItem", Fault::Throttled, Often::Always);
    assert_eq!(handle(&house, house.records().await, a_minute()).await.unfinished, None);
    let last = house.records().await.pop().unwrap().sequence;
    taro.acquired("001").await;
    house.pushes_fail(json!({ "kind": "status", "code": 500, "user": taro.id.as_str() })).await;
    let next = async || house.records().await.into_iter().filter(|record| record.sequence > last).collect();
    assert!(handle(&house, next().await, no_attempt_after(200)).await.unfinished.is_some());
    house.wire.heal();
    assert_eq!(maybe_sent(&house).await.len(), 2, "of two functions");

    drained(&house).await;
    let left = maybe_sent(&house).await;
    let acquired = taro.facts().await.stamps[0].acquired_at;
    assert_eq!(left, [FactSpan { from: acquired, through: acquired }], "Hanako's is finished, Taro's is not");
    house.heal().await;
    assert_eq!(handle(&house, next().await, a_minute()).await.unfinished, None);
    assert_eq!((maybe_sent(&house).await, taro.phone().len()), (Vec::new(), 1));
}

#[tokio::test]
async fn a_note_stays_while_a_fact_of_its_participant_cannot_be_read() {
    let house = House::for_delivery("a_note_stays_while_a_fact").await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    house.wire.inject("DeleteItem", Fault::Throttled, Often::Always);
    handle(&house, house.records().await, a_minute()).await;
    house.wire.heal();
    let acquired = hanako.facts().await.stamps[0].acquired_at;
    hanako.stamp_has("001", "acquiredAt", AttributeValue::Bool(true)).await;
    drained(&house).await;
    assert_eq!(maybe_sent(&house).await.len(), 1, "it may be one that waits");
    hanako.stamp_has("001", "acquiredAt", AttributeValue::S(acquired.to_string())).await;
    drained(&house).await;
    assert_eq!(maybe_sent(&house).await, []);
}

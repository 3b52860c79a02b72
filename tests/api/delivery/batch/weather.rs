//! An event source mapping in bad weather: functions come and go, and calls to the table of progress fail.

use super::*;

/// What goes wrong while one batch is worked on.
fn strike(house: &House, chance: &mut fastrand::Rng) {
    let often = Often::Next(chance.u32(1..20));
    match chance.u8(..6) {
        0 => house.wire.inject("DeleteItem", Fault::Throttled, Often::Always),
        1 => house.wire.inject("DeleteItem", Fault::LostAnswer, often),
        2 => house.wire.inject(Calls::OperationOn("PutItem", "line-event-consumers"), Fault::Throttled, often),
        3 => house.wire.inject(Calls::OperationOn("PutItem", "line-event-consumers"), Fault::LostAnswer, often),
        4 => house.wire.inject("UpdateItem", Fault::LostAnswer, often),
        _ => {}
    }
}

/// Hands the stream over, a few records at a time, until all are finished. Some answers of the function get lost.
async fn hand_all_over(house: &House, chance: &mut fastrand::Rng) {
    let stream = house.store.stream_arn().await.unwrap().unwrap();
    let (mut function, mut done) = (house.function(), None::<SequenceNumber>);
    loop {
        let is_next = |record: &Record| done.as_ref().is_none_or(|done| record.sequence > *done);
        let mut batch: Vec<Record> = house.records().await.into_iter().filter(is_next).collect();
        batch.truncate(chance.usize(1..6));
        let sequences: Vec<SequenceNumber> = batch.iter().map(|record| record.sequence.clone()).collect();
        let Some(last) = sequences.last() else { return };
        if chance.u8(..4) == 0 {
            function = house.function();
        }
        strike(house, chance);
        let handled = function.deliver_batch(batch, &stream, no_attempt_after(500)).await;
        house.wire.heal();
        if chance.u8(..5) > 0 {
            let before = |first: SequenceNumber| sequences.iter().rfind(|sequence| **sequence < first).cloned();
            done = handled.unfinished.map_or(Some(last.clone()), before).or(done);
        }
    }
}

#[tokio::test]
async fn each_notice_is_one_message_and_no_note_outlives_its_batch_whatever_fails() {
    for seed in 0..8 {
        let (house, mut chance) =
            (House::for_delivery("an event source mapping").await, fastrand::Rng::with_seed(seed));
        let people: Vec<_> = (0..6).map(|n| house.person(&format!("Person {n}"))).collect();
        for person in &people {
            person.acquired("001").await;
        }
        for person in &people[..3] {
            person.acquired("002").await;
        }
        hand_all_over(&house, &mut chance).await;
        drained(&house).await;
        assert_eq!(maybe_sent(&house).await, [], "seed {seed}");
        let phones: Vec<usize> = people.iter().map(|person| person.phone().len()).collect();
        assert_eq!(phones, [3, 3, 3, 1, 1, 1], "seed {seed}");
    }
}

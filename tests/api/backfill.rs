//! A table made from the source article: its stamps get their keys in the index, and what was forgotten is found.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use stamp_rally::{
    delivery::{
        DeliverySettings, Outcome,
        reconcile::{Manner, Migrated, Reconciled},
    },
    domain::{ids::LineUserId, mode::Mode, notice::ParkedState, time::TimeSource},
    store::{
        backfill::{Backfill, Counts, Interrupted},
        listing::{Direction, Wanted},
    },
};
use tokio_util::sync::CancellationToken;

use super::{
    house::{House, Person, RALLY},
    proxy::{Fault, Often},
};

fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

async fn put(house: &House, item: &[(&str, AttributeValue)]) {
    let item = item.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    house.clients.table.put_item().table_name("line-event").set_item(Some(item)).send().await.unwrap();
}

/// Registration and stamp as the article's program writes them: no `requestId`, no `GSI2…`.
async fn collected_with_the_articles_program(house: &House, user: &str, stamp: &str) {
    let (pk, at) = (format!("EVENT#{RALLY}#USER#{user}"), house.clock.now().to_string());
    let common = [("PK", text(&pk)), ("eventId", text(RALLY)), ("lineUserId", text(user))];
    let profile = [
        ("SK", text("PROFILE")),
        ("entityType", text("USER")),
        ("createdAt", text(&at)),
        ("updatedAt", text(&at)),
        ("GSI1PK", text(&format!("EVENT#{RALLY}#USERS"))),
        ("GSI1SK", text(&format!("{at}#{user}"))),
    ];
    put(house, &[&common[..], &profile[..]].concat()).await;
    let stamp = [
        ("SK", text(&format!("STAMP#{stamp}"))),
        ("entityType", text("USER_STAMP")),
        ("stampId", text(stamp)),
        ("acquiredAt", text(&at)),
        ("flexMessageSent", AttributeValue::Bool(false)),
    ];
    put(house, &[&common[..], &stamp[..]].concat()).await;
}

async fn begin(house: &House) -> (Backfill, Option<Interrupted>) {
    house.store.backfill(house.clock.clone()).await.unwrap()
}

async fn fill_all(house: &House) -> Counts {
    let (mut pass, _) = begin(house).await;
    while !pass.is_over() {
        pass.step(7).await.unwrap();
    }
    pass.counts()
}

async fn holders(house: &House) -> Vec<LineUserId> {
    let event = house.store.event(&RALLY.parse().unwrap()).await.unwrap().unwrap();
    let wanted = Wanted { direction: Direction::Asc, limit: 100, after: None };
    let page = house.store.holders(&event, &"001".parse().unwrap(), &wanted).await.unwrap();
    page.rows.into_iter().map(|holder| holder.line_user_id).collect()
}

async fn reconcile(house: &House, manner: impl Into<Manner>) -> Reconciled {
    let settings = DeliverySettings { pushes_per_second: 100_000, ..crate::house::defaults().delivery };
    let stop = CancellationToken::new();
    house.delivery_at(settings).reconcile(None, manner, &|_, _| {}, &stop).await.unwrap()
}

#[tokio::test]
async fn the_articles_stamps_get_their_keys_and_their_forgotten_notices() {
    let house = House::open("the article's stamps").await;
    let people: Vec<Person> = (0..9).map(|n| house.person(&format!("{n}人目"))).collect();
    for person in &people[..8] {
        collected_with_the_articles_program(&house, &person.id, "001").await;
    }
    collected_with_the_articles_program(&house, "U1234567890abcdef", "001").await;
    people[8].acquire("001").await.is(201);
    house.pass_a_day().await;
    assert_eq!(holders(&house).await.len(), 1, "only ours");

    let counts = fill_all(&house).await;
    assert_eq!((counts.filled, counts.overtaken, counts.left), (9, 0, 0));
    assert_eq!(holders(&house).await.len(), 10);
    assert_eq!(house.deliver().await.total(), 0, "delivery passes the backfill over");
    assert!(people.iter().all(|person| person.phone().is_empty()));

    let would = reconcile(&house, Mode::DryRun).await;
    let unknown = Outcome::Parked(ParkedState::Unknown);
    let tally = &would.events[0].1.tally;
    assert_eq!((tally.of(Outcome::Sent), tally.of(unknown)), (1, 9), "the article's program may have sent its own");
    let done = reconcile(&house, Manner { mode: Mode::ForReal, migrated: Migrated::Unsent }).await;
    let tally = &done.events[0].1.tally;
    assert_eq!((tally.of(Outcome::Sent), tally.of(unknown)), (9, 0), "the operator knows that it sent none");
    assert_eq!(tally.of(Outcome::Failed), 1, "LINE knows no user with the article's short id");
    assert!(people.iter().all(|person| person.phone() == ["第1スタンプ 1/2"]));
}

#[tokio::test]
async fn an_interrupted_backfill_continues_where_it_was() {
    let house = House::open("interrupted backfill").await;
    for n in 0..10 {
        collected_with_the_articles_program(&house, &format!("U{n:032x}"), "001").await;
    }
    let (mut pass, before) = begin(&house).await;
    assert_eq!(before, None);
    pass.step(8).await.unwrap();
    let first = pass.counts();
    assert!(first.looked_at == 8 && first.filled > 0 && first.filled < 10, "{first:?}");
    house.wire.inject("UpdateItem", Fault::Throttled, Often::Always);
    pass.step(8).await.unwrap_err();
    house.wire.heal();
    drop(pass);

    let (mut pass, before) = begin(&house).await;
    assert_eq!(before, Some(Interrupted { counts: first, at: house.clock.now() }));
    while !pass.is_over() {
        pass.step(8).await.unwrap();
    }
    let all = pass.counts();
    assert_eq!((all.filled, all.overtaken, holders(&house).await.len()), (10, 0, 10));
    assert_eq!(all.looked_at, 20 + 3, "each item once: stamps, registrations, the event and its two masters");
    assert_eq!(begin(&house).await.1, None, "a pass that is over leaves nothing");
    assert_eq!(fill_all(&house).await.filled, 0, "and the next one finds nothing to do");
}

#[tokio::test]
async fn keys_that_are_there_stay_and_what_can_not_be_keyed_is_reported() {
    let house = House::open("keys that are there").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    collected_with_the_articles_program(&house, "U1234567890abcdef", "001").await;
    let (pk, sk) = ("EVENT#lost#USER#U1", "STAMP#001");
    let stamp = [
        ("PK", text(pk)),
        ("SK", text(sk)),
        ("entityType", text("USER_STAMP")),
        ("eventId", text("lost")),
        ("lineUserId", text("U1")),
        ("stampId", text("001")),
        ("acquiredAt", text("2026-05-23T10:00:00.000Z")),
        ("flexMessageSent", AttributeValue::Bool(false)),
    ];
    put(&house, &stamp).await;
    put(&house, &[("PK", text("EVENT#r#USER#U2")), ("SK", text(sk)), ("entityType", text("USER_STAMP"))]).await;
    let raw = async || {
        let get = house.clients.table.get_item().table_name("line-event");
        let get = get.key("PK", text(&format!("EVENT#{RALLY}#USER#{}", hanako.id))).key("SK", text(sk));
        get.send().await.unwrap().item.unwrap()
    };
    let before: HashMap<_, _> = raw().await;
    let (mut pass, _) = begin(&house).await;
    while !pass.is_over() {
        pass.step(7).await.unwrap();
    }
    assert_eq!(pass.missing_events(), [&"lost".parse().unwrap()]);
    let counts = pass.counts();
    assert_eq!((counts.filled, counts.left), (1, 2), "an event that isn't there, and a stamp that can't be read");
    assert_eq!(raw().await, before);
}

#[tokio::test]
async fn a_stamp_that_goes_away_meanwhile_does_not_come_back() {
    let house = House::open("gone meanwhile").await;
    collected_with_the_articles_program(&house, "U1234567890abcdef", "001").await;
    let (mut pass, _) = begin(&house).await;
    let gate = house.wire.hold("UpdateItem");
    let erasing = async {
        gate.has_waiting(1).await;
        let delete = house.clients.table.delete_item().table_name("line-event");
        let delete = delete.key("PK", text(&format!("EVENT#{RALLY}#USER#U1234567890abcdef")));
        delete.key("SK", text("STAMP#001")).send().await.unwrap();
        gate.release();
    };
    let (step, ()) = tokio::join!(pass.step(100), erasing);
    step.unwrap();
    assert_eq!((pass.counts().filled, pass.counts().overtaken), (0, 1));
    assert_eq!(holders(&house).await, []);
}

//! Settings: replaced by version, and cached.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use stamp_rally::{
    domain::{
        event::{Event, EventChange, IndexShards},
        setting::Name,
        stamp::{StampMaster, StampMasterChange},
        time::{MachineClock, Timestamp},
    },
    store::{
        StoreError,
        masters::{Expected, Replaced, Stored},
        rallies::Rallies,
    },
};

use super::{
    super::proxy::{Fault, Often},
    Desk, evening, hanako, item, master, rally, registration, text,
};

fn renamed(event: &Event, name: &str) -> Event {
    let name = Some(Name::try_from(name.to_owned()).unwrap());
    EventChange { name, ..EventChange::default() }.apply(event, evening(0)).unwrap()
}

/// A setting in this version, without attributes of newer versions of the program.
fn at_version(version: Timestamp) -> Expected {
    Expected::Version { version, others: HashMap::new() }
}

#[tokio::test]
async fn an_event_is_created_once_and_replaced_only_by_who_knows_its_version() {
    let desk = Desk::open("versions").await;
    let (first, id) = (rally(1), rally(1).event_id);
    assert_eq!(
        desk.store.put_event(&renamed(&first, "無"), at_version(first.updated_at)).await.unwrap(),
        Replaced::LostRace
    );
    assert_eq!(desk.store.event(&id).await.unwrap(), None, "an `If-Match` on nothing creates nothing");

    assert_eq!(desk.store.put_event(&first, Expected::Absent).await.unwrap(), Replaced::Done);
    let second = renamed(&first, "梅雨のラリー");
    assert_eq!(desk.store.put_event(&second, Expected::Absent).await.unwrap(), Replaced::LostRace);
    assert_eq!(desk.store.put_event(&second, at_version(first.updated_at)).await.unwrap(), Replaced::Done);
    let late = renamed(&first, "遅いラリー");
    assert_eq!(desk.store.put_event(&late, at_version(first.updated_at)).await.unwrap(), Replaced::LostRace);
    assert_eq!(desk.store.event(&id).await.unwrap(), Some(second));
}

#[tokio::test]
async fn of_two_who_replace_the_same_version_at_once_one_loses_the_race() {
    let desk = Desk::open("race").await;
    let first = rally(1);
    desk.store.put_event(&first, Expected::Absent).await.unwrap();
    let [one, other] = ["一", "二"].map(|name| renamed(&first, name));
    let version = at_version(first.updated_at);
    let (a, b) = tokio::join!(desk.store.put_event(&one, version.clone()), desk.store.put_event(&other, version));
    let won = match (a.unwrap(), b.unwrap()) {
        (Replaced::Done, Replaced::LostRace) => one,
        (Replaced::LostRace, Replaced::Done) => other,
        both => panic!("{both:?}"),
    };
    assert_eq!(desk.store.event(&first.event_id).await.unwrap(), Some(won));
}

#[tokio::test]
async fn a_setting_whose_answer_got_lost_is_done() {
    let desk = Desk::open("setting lost").await;
    desk.proxy.inject("PutItem", Fault::LostAnswer, Often::Next(1));
    assert_eq!(desk.store.put_event(&rally(1), Expected::Absent).await.unwrap(), Replaced::Done);
    let stamp = StampMaster { flex_message_content: json!({"flex": 1.0, "none": null}), ..master("001", 1) };
    desk.proxy.inject("PutItem", Fault::LostAnswer, Often::Next(1));
    assert_eq!(desk.store.put_master(&stamp, Expected::Absent).await.unwrap(), Replaced::Done);
    assert_eq!(desk.wire(), ["4 × PutItem line-event"]);
}

#[tokio::test]
async fn a_master_of_the_article_has_no_version_and_is_replaced_once_by_who_saw_that() {
    let desk = Desk::open("no version").await;
    desk.store.put_master(&master("001", 1), Expected::Absent).await.unwrap();
    desk.spoil("EVENT#rally#STAMP#001", "MASTER", "updatedAt", None).await;
    let (event, first) = ("rally".parse().unwrap(), "001".parse().unwrap());
    let article = desk.store.master(&event, &first).await.unwrap().unwrap();
    assert_eq!(article.updated_at, Timestamp::EPOCH);
    let [one, other] = [evening(0), evening(1)].map(|now| StampMasterChange::default().apply(&article, now).unwrap());
    assert_eq!(desk.store.put_master(&one, at_version(Timestamp::EPOCH)).await.unwrap(), Replaced::Done);
    assert_eq!(desk.store.put_master(&other, at_version(Timestamp::EPOCH)).await.unwrap(), Replaced::LostRace);
}

#[tokio::test]
async fn masters_come_in_order_and_ties_by_id_whatever_the_index_does_with_them() {
    let desk = Desk::open("masters").await;
    for (id, order) in [("c", 2), ("a", 2), ("z", 1), ("b", 10)] {
        desk.store.put_master(&master(id, order), Expected::Absent).await.unwrap();
    }
    desk.wire();
    let masters = desk.store.masters(&"rally".parse().unwrap()).await.unwrap();
    let ids: Vec<_> = masters.readable.iter().map(|master| master.stamp_id.as_str()).collect();
    assert_eq!(ids, ["z", "a", "c", "b"]);
    assert_eq!(desk.wire(), ["1 × Query line-event/GSI1"]);
}

#[tokio::test]
async fn masters_behind_a_full_page_are_found() {
    let desk = Desk::open("many masters").await;
    for number in 1..=30 {
        let large = json!({"altText": "x".repeat(50_000)});
        let large = StampMaster { flex_message_content: large, ..master(&format!("{number:03}"), number) };
        desk.store.put_master(&large, Expected::Absent).await.unwrap();
    }
    assert_eq!(desk.store.masters(&"rally".parse().unwrap()).await.unwrap().readable.len(), 30);
}

#[tokio::test]
async fn a_master_that_cannot_be_read_is_set_aside_and_named() {
    let desk = Desk::open("bad master").await;
    desk.store.put_master(&master("001", 1), Expected::Absent).await.unwrap();
    desk.store.put_master(&master("002", 2), Expected::Absent).await.unwrap();
    desk.spoil("EVENT#rally#STAMP#002", "MASTER", "isActive", None).await;
    let mut foreign = item("NOTE#1", "X", "NOTE");
    foreign.insert("GSI1PK".to_owned(), text("EVENT#rally#STAMP_MASTERS"));
    foreign.insert("GSI1SK".to_owned(), text("001"));
    desk.put(foreign).await;
    let masters = desk.store.masters(&"rally".parse().unwrap()).await.unwrap();
    assert_eq!(masters.readable, [master("001", 1)]);
    assert_eq!(masters.unreadable, ["002".parse().unwrap()].into(), "the foreign item is no stamp of the rally");
}

#[tokio::test]
async fn a_setting_that_cannot_be_read_is_mended_on_condition_that_it_is_unchanged() {
    let desk = Desk::open("mended master").await;
    let (rally, second) = ("rally".parse().unwrap(), "002".parse().unwrap());
    desk.store.put_master(&master("002", 2), Expected::Absent).await.unwrap();
    desk.spoil("EVENT#rally#STAMP#002", "MASTER", "order", Some(text("two"))).await;
    let found = desk.store.stored_master(&rally, &second).await.unwrap();
    let Stored::Unreadable(remains) = &found else { panic!("{found:?}") };
    assert_eq!(remains.unreadable.attribute, "order");
    assert_eq!(remains.parts.readable.name, Some(master("002", 2).name));
    assert_eq!(remains.parts.readable.order, None);

    let mended = master("002", 2);
    let expected = || found.replaced_by(|old| old.updated_at);
    desk.spoil("EVENT#rally#STAMP#002", "MASTER", "order", Some(text("three"))).await;
    assert_eq!(desk.store.put_master(&mended, expected()).await.unwrap(), Replaced::LostRace);
    desk.spoil("EVENT#rally#STAMP#002", "MASTER", "order", Some(text("two"))).await;
    assert_eq!(desk.store.put_master(&mended, expected()).await.unwrap(), Replaced::Done);
    assert_eq!(desk.store.master(&rally, &second).await.unwrap(), Some(mended));
}

/// What a later version might keep of a setting.
fn proof(kind: &str) -> AttributeValue {
    let radii = AttributeValue::L(vec![AttributeValue::N("50".to_owned()), AttributeValue::Null(true)]);
    AttributeValue::M([("kind".to_owned(), text(kind)), ("radii".to_owned(), radii)].into())
}

const FIRST: (&str, &str) = ("EVENT#rally#STAMP#001", "MASTER");

#[tokio::test]
async fn what_a_newer_version_keeps_of_a_setting_is_carried_over_by_one_write() {
    let desk = Desk::open("carried over").await;
    let event = Event { completion_message_content: Some(json!({"altText": "x"})), ..rally(1) };
    desk.store.put_event(&event, Expected::Absent).await.unwrap();
    desk.store.put_master(&master("001", 1), Expected::Absent).await.unwrap();
    let colours = AttributeValue::Ss(vec!["青".to_owned(), "赤".to_owned()]);
    desk.spoil("EVENT#rally", "METADATA", "pageTheme", Some(colours)).await;
    let newer = desk.raw("EVENT#rally", "METADATA").await.unwrap();
    desk.spoil(FIRST.0, FIRST.1, "proof", Some(proof("gps"))).await;

    let stored = desk.store.stored_event(&event.event_id).await.unwrap();
    let change = EventChange { completion_message_content: Some(None), ..EventChange::default() };
    let plain = change.apply(&event, evening(0)).unwrap();
    desk.wire();
    assert_eq!(desk.store.put_event(&plain, stored.replaced_by(|old| old.updated_at)).await.unwrap(), Replaced::Done);
    assert_eq!(desk.wire(), ["1 × PutItem line-event"]);
    let item = desk.raw("EVENT#rally", "METADATA").await.unwrap();
    assert!(item.contains_key("pageTheme"));
    assert_eq!(item.get("pageTheme"), newer.get("pageTheme"));
    assert_eq!(item.get("completionMessageContent"), None, "what the change takes away is gone");
    assert_eq!(desk.store.event(&event.event_id).await.unwrap(), Some(plain));

    let (rally, first) = ("rally".parse().unwrap(), "001".parse().unwrap());
    let stored = desk.store.stored_master(&rally, &first).await.unwrap();
    let later = StampMaster { updated_at: evening(0), ..master("001", 7) };
    assert_eq!(desk.store.put_master(&later, stored.replaced_by(|old| old.updated_at)).await.unwrap(), Replaced::Done);
    let item = desk.raw(FIRST.0, FIRST.1).await.unwrap();
    assert_eq!((item.get("proof"), item.get("GSI1SK")), (Some(&proof("gps")), Some(&text("007"))));
}

/// A master with its version, one without any, and one that can't be read.
#[tokio::test]
async fn what_a_newer_version_writes_meanwhile_is_not_overwritten_by_what_was_read() {
    let desk = Desk::open("carried over, race").await;
    let (rally, first) = ("rally".parse().unwrap(), "001".parse().unwrap());
    let wanted = StampMaster { updated_at: evening(9), ..master("001", 7) };
    desk.store.put_master(&master("001", 1), Expected::Absent).await.unwrap();
    desk.spoil(FIRST.0, FIRST.1, "proof", Some(proof("gps"))).await;
    let sound = desk.raw(FIRST.0, FIRST.1).await.unwrap();
    for (attribute, before, meanwhile) in [
        ("updatedAt", Some(text(&evening(0).to_string())), Some(text(&evening(1).to_string()))),
        ("updatedAt", None, None),
        ("order", Some(text("one")), Some(text("one"))),
    ] {
        desk.put(sound.clone()).await;
        desk.spoil(FIRST.0, FIRST.1, attribute, before.clone()).await;
        let found = desk.store.stored_master(&rally, &first).await.unwrap();
        desk.spoil(FIRST.0, FIRST.1, "proof", Some(proof("code"))).await;
        desk.spoil(FIRST.0, FIRST.1, attribute, meanwhile).await;
        let late = desk.store.put_master(&wanted, found.replaced_by(|old| old.updated_at)).await.unwrap();
        assert_eq!(late, Replaced::LostRace, "{attribute} {before:?}");

        let found = desk.store.stored_master(&rally, &first).await.unwrap();
        let again = desk.store.put_master(&wanted, found.replaced_by(|old| old.updated_at)).await.unwrap();
        assert_eq!(again, Replaced::Done, "{attribute} {before:?}");
        assert_eq!(desk.store.master(&rally, &first).await.unwrap(), Some(wanted.clone()));
        assert_eq!(desk.raw(FIRST.0, FIRST.1).await.unwrap().get("proof"), Some(&proof("code")));
    }
}

#[tokio::test]
async fn a_setting_whose_index_keys_are_missing_or_wrong_is_found_unlisted() {
    let desk = Desk::open("unlisted").await;
    let (rally, first) = ("rally".parse().unwrap(), "001".parse().unwrap());
    desk.store.put_master(&master("001", 1), Expected::Absent).await.unwrap();
    assert!(desk.store.stored_master(&rally, &first).await.unwrap().is_listed());
    let sound = desk.raw(FIRST.0, FIRST.1).await.unwrap();
    for (name, value) in [("GSI1PK", None), ("GSI1PK", Some(text("EVENTS"))), ("GSI1SK", Some(text("002")))] {
        desk.put(sound.clone()).await;
        desk.spoil(FIRST.0, FIRST.1, name, value.clone()).await;
        let found = desk.store.stored_master(&rally, &first).await.unwrap();
        assert!(found.readable().is_some() && !found.is_listed(), "{name} {value:?}");
    }
}

#[tokio::test]
async fn a_participant_is_registered_also_if_a_process_wrote_them_by_an_older_copy_of_the_event() {
    let desk = Desk::open("anybody").await;
    assert!(!desk.store.has_participants(&rally(4)).await.unwrap());
    desk.store.register(&registration(&hanako(), "r-1", evening(0)), IndexShards::ONE).await.unwrap();
    assert!(desk.store.has_participants(&rally(4)).await.unwrap());
    assert!(desk.store.has_participants(&rally(1)).await.unwrap());
}

#[tokio::test]
async fn a_rally_is_one_get_and_one_query_and_then_nothing() {
    let desk = Desk::open("rally").await;
    desk.store.put_event(&rally(1), Expected::Absent).await.unwrap();
    desk.store.put_master(&master("001", 1), Expected::Absent).await.unwrap();
    let rallies = Rallies::new(desk.store.clone(), MachineClock::start());
    let id = rally(1).event_id;
    desk.wire();
    let (one, other) = tokio::join!(rallies.rally(&id), rallies.rally(&id));
    let (one, other) = (one.unwrap().unwrap(), other.unwrap().unwrap());
    assert_eq!((&one.event, one.masters.readable.len()), (&rally(1), 1));
    assert_eq!(other.event, one.event);
    rallies.stamp(&one, &"001".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(desk.wire(), ["1 × GetItem line-event", "1 × Query line-event/GSI1"]);
}

#[tokio::test]
async fn an_unknown_rally_is_asked_for_once() {
    let desk = Desk::open("unknown rally").await;
    let rallies = Rallies::new(desk.store.clone(), MachineClock::start());
    for _ in 0..3 {
        assert!(rallies.rally(&"nowhere".parse().unwrap()).await.unwrap().is_none());
    }
    assert_eq!(desk.wire(), ["1 × GetItem line-event"]);
}

#[tokio::test]
async fn a_stamp_newer_than_the_cached_rally_is_looked_up() {
    let desk = Desk::open("new stamp").await;
    desk.store.put_event(&rally(1), Expected::Absent).await.unwrap();
    let rallies = Rallies::new(desk.store.clone(), MachineClock::start());
    let rally = rallies.rally(&rally(1).event_id).await.unwrap().unwrap();
    desk.store.put_master(&master("002", 2), Expected::Absent).await.unwrap();
    desk.wire();
    for _ in 0..2 {
        let found = rallies.stamp(&rally, &"002".parse().unwrap()).await.unwrap();
        assert_eq!(found, Some(master("002", 2)));
        assert_eq!(rallies.stamp(&rally, &"003".parse().unwrap()).await.unwrap(), None);
    }
    assert_eq!(desk.wire(), ["2 × GetItem line-event"]);
}

#[tokio::test]
async fn what_this_process_changed_it_knows_at_once() {
    let desk = Desk::open("forget").await;
    let first = rally(1);
    desk.store.put_event(&first, Expected::Absent).await.unwrap();
    let rallies = Rallies::new(desk.store.clone(), MachineClock::start());
    rallies.rally(&first.event_id).await.unwrap();
    let second = renamed(&first, "梅雨のラリー");
    desk.store.put_event(&second, at_version(first.updated_at)).await.unwrap();
    rallies.forget(&first.event_id);
    assert_eq!(rallies.rally(&first.event_id).await.unwrap().unwrap().event, second);
}

#[tokio::test]
async fn a_rally_that_cannot_be_read_is_unreadable_for_all_who_ask() {
    let desk = Desk::open("bad rally").await;
    let mut bad = item("EVENT#rally", "METADATA", "EVENT");
    bad.insert("eventId".to_owned(), text("rally"));
    bad.insert("startsAt".to_owned(), AttributeValue::Bool(true));
    desk.put(bad).await;
    let rallies = Rallies::new(desk.store.clone(), MachineClock::start());
    let id = rally(1).event_id;
    let (one, other) = tokio::join!(rallies.rally(&id), rallies.rally(&id));
    for failure in [one.unwrap_err(), other.unwrap_err()] {
        assert!(matches!(failure, StoreError::Unreadable(_)), "{failure:?}");
    }
}

//! `stamp-rally stats show|rebuild`.

use std::process::Stdio;

use stamp_rally::domain::time::MachineClock;

use super::{
    reconcile::{TARO, acquired, line_of},
    *,
};
use crate::processes::eventually;

const HOUR: &str = "2026-05-23T19:00+09:00";

#[tokio::test]
async fn what_was_never_counted_is_counted_from_the_facts_and_what_was_counted_twice_is_taken_back() {
    let mut desk = Desk::with_rally();
    let _line = line_of(&mut desk);
    let (nothing, both) =
        ("0 registrations, 0 completed cards, stamps []", "2 registrations, 0 completed cards, stamps [001: 2]");
    acquired(&desk, HANAKO, None).await;
    acquired(&desk, TARO, None).await;
    // The stream has not been consumed yet.
    assert_eq!(desk.run(&["stats", "show", ID]).done(), format!("in all  {nothing}\n"));

    let compared = desk.run(&["stats", "rebuild", ID, "--dry-run"]);
    assert_eq!(compared.code, 1, "{compared:?}");
    assert_eq!(compared.out, format!("{HOUR}  facts {both}, counted nothing: not corrected\n"));
    assert!(compared.err.contains("1 hour differs from the facts"), "{compared:?}");
    assert_eq!(desk.run(&["stats", "show", ID]).done(), format!("in all  {nothing}\n"), "a dry run writes nothing");

    let rebuilt = desk.run(&["stats", "rebuild", ID]).done();
    assert!(rebuilt.ends_with(&format!("1 hour corrected; now equal: {both}\n")), "{rebuilt}");
    assert_eq!(desk.run(&["stats", "show", ID]).done(), format!("{HOUR}  {both}\nin all  {both}\n"));
    assert_eq!(desk.run(&["stats", "rebuild", ID]).done(), format!("equal: {both}\n"));

    // Now a worker consumes it, and counts the same facts as they come.
    let twice = "4 registrations, 0 completed cards, stamps [001: 4]";
    are_counted(&desk, twice).await;
    let rebuilt = desk.run(&["stats", "rebuild", ID]).done();
    assert!(rebuilt.contains(&format!("facts {both}, counted {twice}: corrected")), "{rebuilt}");
    assert_eq!(desk.run(&["stats", "rebuild", ID]).done(), format!("equal: {both}\n"));
}

/// Both are counted by a consumer, which is gone afterwards.
async fn are_counted(desk: &Desk, words: &str) {
    let mut consumer = desk.command(&["consume"]).stderr(Stdio::null()).spawn().unwrap();
    eventually("both are counted", async || {
        desk.run(&["stats", "show", ID]).done().ends_with(&format!("in all  {words}\n")).then_some(())
    })
    .await;
    consumer.kill().unwrap();
    consumer.wait().unwrap();
}

#[tokio::test]
async fn hours_that_were_counted_in_another_time_zone_move_as_a_whole() {
    let mut desk = Desk::with_rally();
    let _line = line_of(&mut desk);
    let both = "2 registrations, 0 completed cards, stamps [001: 1]";
    acquired(&desk, HANAKO, None).await;
    let now = MachineClock::start().now();
    desk.register(TARO, &now.to_string()).await;
    are_counted(&desk, both).await;
    desk.apply(&desk.rally(&[("Asia/Tokyo", "Asia/Kolkata")])).done();
    // Taro came just now: where he is to be counted is still in motion, so nothing is taken from where he was.
    let rebuilt = desk.run(&["stats", "rebuild", ID]);
    assert_eq!(rebuilt.code, 1, "{rebuilt:?}");
    assert_eq!(rebuilt.out.matches("still in motion (of another time zone)").count(), 2, "{rebuilt:?}");
    assert!(desk.run(&["stats", "show", ID]).done().ends_with(&format!("in all  {both}\n")));
}

#[tokio::test]
async fn hours_of_another_time_zone_that_are_over_are_corrected() {
    let mut desk = Desk::with_rally();
    let _line = line_of(&mut desk);
    acquired(&desk, HANAKO, None).await;
    let one = "1 registration, 0 completed cards, stamps [001: 1]";
    are_counted(&desk, one).await;
    desk.apply(&desk.rally(&[("Asia/Tokyo", "Asia/Kolkata")])).done();
    let rebuilt = desk.run(&["stats", "rebuild", ID]).done();
    assert_eq!(
        rebuilt,
        format!(
            "2026-05-23T15:00+05:30  facts {one}, counted nothing: corrected\n\
             {HOUR}  facts nothing, counted {one}: corrected (of another time zone)\n\
             2 hours corrected; now equal: {one}\n"
        )
    );
    assert_eq!(desk.run(&["stats", "rebuild", ID]).done(), format!("equal: {one}\n"));
}

#[tokio::test]
async fn an_item_that_cannot_be_read_does_not_keep_the_others_from_being_counted() {
    let desk = Desk::with_rally();
    acquired(&desk, HANAKO, None).await;
    acquired(&desk, TARO, None).await;
    let bare = Clients::at(&desk.engine_url, &Timeouts::request()).table.update_item().table_name("line-event");
    let bare = bare.key("PK", AttributeValue::S(format!("EVENT#{ID}#USER#{TARO}")));
    let bare = bare.key("SK", AttributeValue::S("STAMP#001".to_owned()));
    bare.update_expression("REMOVE acquiredAt").send().await.unwrap();
    let rebuilt = desk.run(&["stats", "rebuild", ID]);
    assert_eq!(rebuilt.code, 1, "{rebuilt:?}");
    assert!(rebuilt.out.ends_with("now equal: 2 registrations, 0 completed cards, stamps [001: 1]\n"), "{rebuilt:?}");
    assert!(rebuilt.err.contains("1 item of this event can't be read"), "{rebuilt:?}");
    assert!(rebuilt.err.contains(&format!("`stamp-rally table check --event {ID}`")), "{rebuilt:?}");
    assert!(rebuilt.err.contains("acquiredAt"), "the log names it: {rebuilt:?}");
}

/// An item of the main table that has these attributes.
async fn is_put(desk: &Desk, attributes: &[(&str, &str)]) {
    let put = Clients::at(&desk.engine_url, &Timeouts::request()).table.put_item().table_name("line-event");
    let text = |text: &str| AttributeValue::S(text.to_owned());
    attributes.iter().fold(put, |put, (name, value)| put.item(*name, text(value))).send().await.unwrap();
}

#[tokio::test]
async fn items_that_are_no_facts_of_the_event_are_no_part_of_its_proof() {
    let desk = Desk::with_rally();
    acquired(&desk, HANAKO, None).await;
    let (own, taro) = (format!("EVENT#{ID}#STAMP#009"), format!("EVENT#other#USER#{TARO}"));
    is_put(&desk, &[("PK", "NOTE"), ("SK", "1")]).await;
    is_put(&desk, &[("PK", "EVENT#other"), ("SK", "METADATA"), ("entityType", "EVENT")]).await;
    is_put(&desk, &[("PK", &taro), ("SK", "PROFILE"), ("entityType", "USER"), ("eventId", "other")]).await;
    is_put(&desk, &[("PK", &own), ("SK", "MASTER"), ("entityType", "STAMP_MASTER"), ("eventId", ID)]).await;
    let one = "1 registration, 0 completed cards, stamps [001: 1]";
    assert!(desk.run(&["stats", "rebuild", ID]).done().ends_with(&format!("1 hour corrected; now equal: {one}\n")));

    // One that lies under a foreign key may be a fact of the event all the same.
    is_put(&desk, &[("PK", "NOTE"), ("SK", "2"), ("entityType", "USER_STAMP"), ("eventId", ID)]).await;
    let rebuilt = desk.run(&["stats", "rebuild", ID]);
    assert_eq!((rebuilt.code, rebuilt.out.as_str()), (1, format!("equal: {one}\n").as_str()), "{rebuilt:?}");
    assert!(rebuilt.err.contains("1 item of this event can't be read"), "{rebuilt:?}");
}

#[tokio::test]
async fn hours_in_motion_do_not_hide_what_could_not_be_counted() {
    let desk = Desk::with_rally();
    desk.register(HANAKO, &MachineClock::start().now().to_string()).await;
    let taro = format!("EVENT#{ID}#USER#{TARO}");
    is_put(&desk, &[("PK", &taro), ("SK", "STAMP#001"), ("entityType", "USER_STAMP")]).await;
    let rebuilt = desk.run(&["stats", "rebuild", ID]);
    assert_eq!((rebuilt.code, rebuilt.out.contains("still in motion")), (1, true), "{rebuilt:?}");
    let line = rebuilt.err.lines().last().unwrap();
    for told in ["1 hour differs from the facts", "1 item of this event can't be read", "table check --event"] {
        assert!(line.contains(told), "no {told} in {line}");
    }
}

#[tokio::test]
async fn counts_that_cannot_be_read_are_left_out_and_counted_anew_by_a_rebuild() {
    let desk = Desk::with_rally();
    acquired(&desk, HANAKO, None).await;
    let one = "1 registration, 0 completed cards, stamps [001: 1]";
    desk.run(&["stats", "rebuild", ID]).done();
    let sort = format!("HOUR#{HOUR}#CORRECTION");
    let bare =
        Clients::at(&desk.engine_url, &Timeouts::request()).table.update_item().table_name("line-event-consumers");
    let bare = bare.key("PK", AttributeValue::S(format!("COUNTS#{ID}"))).key("SK", AttributeValue::S(sort.clone()));
    bare.update_expression("REMOVE stamps").send().await.unwrap();

    let shown = desk.run(&["stats", "show", ID]).done();
    assert!(
        shown.starts_with("in all  0 registrations, 0 completed cards, stamps []\nincomplete: 1 item of"),
        "{shown}"
    );
    let compared = desk.run(&["stats", "rebuild", ID, "--dry-run"]);
    assert!(compared.out.starts_with(&format!("{sort}  stamps is missing: left out\n")), "{compared:?}");
    let rebuilt = desk.run(&["stats", "rebuild", ID]).done();
    assert!(rebuilt.starts_with(&format!("{sort}  stamps is missing: removed\n")), "{rebuilt}");
    assert_eq!(desk.run(&["stats", "show", ID]).done(), format!("{HOUR}  {one}\nin all  {one}\n"));
}

#[test]
fn counts_of_an_event_that_is_not_there_are_refused() {
    let desk = Desk::with_tables();
    for command in ["show", "rebuild"] {
        assert_eq!(
            desk.run(&["stats", command, "lost"]).err.lines().last(),
            Some("stamp-rally: event \"lost\" does not exist")
        );
    }
}

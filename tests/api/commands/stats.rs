//! `stamp-rally stats show|rebuild`.

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
    // Nobody has consumed the stream yet.
    assert_eq!(desk.run(&["stats", "show", ID]).done(), format!("in all  {nothing}\n"));

    let compared = desk.run(&["stats", "rebuild", ID, "--dry-run"]);
    assert_eq!(compared.code, 1, "{compared:?}");
    assert_eq!(compared.out, format!("{HOUR}  facts {both}, counted nothing: not corrected\n"));
    assert!(compared.err.contains("1 hours differ from the facts"), "{compared:?}");
    assert_eq!(desk.run(&["stats", "show", ID]).done(), format!("in all  {nothing}\n"), "a dry run writes nothing");

    let rebuilt = desk.run(&["stats", "rebuild", ID]).done();
    assert!(rebuilt.ends_with(&format!("1 hours corrected; now equal: {both}\n")), "{rebuilt}");
    assert_eq!(desk.run(&["stats", "show", ID]).done(), format!("{HOUR}  {both}\nin all  {both}\n"));
    assert_eq!(desk.run(&["stats", "rebuild", ID]).done(), format!("equal: {both}\n"));

    // Now somebody does consume it, and counts the same facts as they come.
    let mut consumer = desk.command(&["consume"]).spawn().unwrap();
    let twice = "4 registrations, 0 completed cards, stamps [001: 4]";
    eventually("both are counted", async || {
        desk.run(&["stats", "show", ID]).done().ends_with(&format!("in all  {twice}\n")).then_some(())
    })
    .await;
    consumer.kill().unwrap();
    consumer.wait().unwrap();
    let rebuilt = desk.run(&["stats", "rebuild", ID]).done();
    assert!(rebuilt.contains(&format!("facts {both}, counted {twice}: corrected")), "{rebuilt}");
    assert_eq!(desk.run(&["stats", "rebuild", ID]).done(), format!("equal: {both}\n"));
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

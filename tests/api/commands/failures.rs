//! What every command says when it can't.

use super::*;

#[tokio::test]
async fn without_tables_the_command_that_makes_them_is_named() {
    let desk = Desk::empty();
    for arguments in [&["event", "list"][..], &["users", "list", ID], &["deliveries", "list", ID, "--state", "held"]] {
        assert_eq!(
            desk.run(arguments).refused(),
            "stamp-rally: table line-event does not exist: make it with `stamp-rally table create`"
        );
    }
}

#[tokio::test]
async fn a_store_out_of_reach_is_one_clear_line() {
    let desk = Desk::with_tables();
    desk.proxy.down();
    for arguments in [&["event", "list"][..], &["table", "status"]] {
        let line = desk.run(arguments).refused();
        assert!(line.starts_with("stamp-rally: the store can't answer now: "), "{line}");
    }
}

#[tokio::test]
async fn an_event_that_does_not_exist_is_named() {
    let desk = Desk::with_tables();
    for arguments in [
        &["event", "show", "nowhere"][..],
        &["users", "list", "nowhere"],
        &["users", "export", "nowhere"],
        &["deliveries", "list", "nowhere", "--state", "held"],
    ] {
        assert_eq!(desk.run(arguments).refused(), "stamp-rally: event \"nowhere\" does not exist");
    }
    assert_eq!(desk.run(&["event", "show", "no#where"]).code, 2);
}

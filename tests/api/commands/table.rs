//! `stamp-rally table create|status`.

use super::*;
use crate::house::RALLY;

#[tokio::test]
async fn tables_are_made_and_made_again_without_harm() {
    let desk = Desk::empty();
    let status = desk.run(&["table", "status"]);
    assert_eq!(
        status.out,
        "line-event: the table does not exist (`stamp-rally table create` completes this)\n\
         line-event-consumers: the table does not exist (`stamp-rally table create` completes this)\n"
    );
    assert_eq!(status.refused(), "stamp-rally: 2 of 2 tables are not as defined");

    assert_eq!(desk.run(&["table", "create"]).done(), "line-event: made\nline-event-consumers: made\n");
    let as_defined = "line-event: as defined\nline-event-consumers: as defined\n";
    assert_eq!(desk.run(&["table", "create"]).done(), as_defined);
    assert_eq!(desk.run(&["table", "status"]).done(), as_defined);
}

#[tokio::test]
async fn a_table_of_the_article_is_completed() {
    let desk = Desk::empty();
    crate::tables::make_the_articles_table(&Clients::at(&desk.engine_url, &Timeouts::request())).await;
    let status = desk.run(&["table", "status"]);
    assert!(status.out.contains(
        "line-event: it has no stream, so no message would ever be sent (`stamp-rally table create` completes this)\n"
    ));
    assert_eq!(status.code, 1);
    assert_eq!(
        desk.run(&["table", "create"]).done(),
        "line-event: completed: stream switched on\nline-event: completed: items expire by `ttl`\n\
         line-event: completed: index GSI2 added\nline-event-consumers: made\n"
    );
    desk.run(&["table", "status"]).done();
}

#[tokio::test]
async fn what_only_a_person_can_mend_is_listed_and_left() {
    let desk = Desk::empty();
    crate::tables::make_another_programs_table(&Clients::at(&desk.engine_url, &Timeouts::request())).await;
    let create = desk.run(&["table", "create"]);
    assert!(create.out.contains("(left as it is: a person has to decide)\n"), "{create:?}");
    assert_eq!(create.code, 1);
    // Before it the log tells each step: an index may take hours.
    let line = create.err.lines().last().unwrap();
    assert_eq!(line, "stamp-rally: the rest is left as it is: a person has to decide on it");
}

#[tokio::test]
async fn a_backfill_before_its_event_is_applied_names_the_remedy_and_works_after_it() {
    let desk = Desk::empty();
    let client = Clients::at(&desk.engine_url, &Timeouts::request());
    crate::tables::make_the_articles_table(&client).await;
    desk.run(&["table", "create"]).done();
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let user = "U0123456789abcdef0123456789abcdef";
    let put = client.table.put_item().table_name("line-event");
    let put = put.item("PK", text(&format!("EVENT#{RALLY}#USER#{user}"))).item("SK", text("STAMP#001"));
    let put = put.item("entityType", text("USER_STAMP")).item("eventId", text(RALLY)).item("lineUserId", text(user));
    let put = put.item("stampId", text("001")).item("acquiredAt", text("2026-05-23T11:30:00.000Z"));
    put.item("flexMessageSent", AttributeValue::Bool(true)).send().await.unwrap();

    let early = desk.run(&["table", "backfill"]);
    assert_eq!((early.code, early.out.contains("1 is left as it is")), (1, true), "{early:?}");
    assert_eq!(
        early.err.lines().last().unwrap(),
        format!(
            "stamp-rally: stamps are left as they are because their events do not exist or can't be read ({RALLY}): write each with \
             `stamp-rally event apply FILE`, then run `stamp-rally table backfill` again"
        )
    );
    desk.apply(&desk.rally(&[])).done();
    assert!(desk.run(&["table", "backfill"]).done().contains("1 stamp got its GSI2 keys"));
}

#[test]
fn a_rate_of_nothing_is_refused_with_what_to_give() {
    let desk = Desk::empty();
    for pass in ["backfill", "check"] {
        for rate in ["0", "-1", "fast", "4294967296"] {
            let refused = desk.run(&["table", pass, &format!("--rate={rate}")]);
            assert_eq!(refused.code, 2, "{refused:?}");
            let told = format!("invalid value '{rate}' for '--rate <N>': must be a whole number from 1 to 4294967295");
            assert!(refused.err.contains(&told), "{refused:?}");
        }
    }
}

//! `stamp-rally reconcile` and `table backfill`.

use stamp_rally::{
    dev::line::{ChannelSettings, Memory, StandIn},
    domain::time::MachineClock,
};

use super::*;
use crate::tables::turn_the_stream;

pub const TARO: &str = "Ufedcba9876543210fedcba9876543210";

/// LINE, for a desk: it knows Hanako and Taro, and our long-lived token.
pub fn line_of(desk: &mut Desk) -> StandIn {
    let channel = ChannelSettings { access_token: Some("x".to_owned()), ..ChannelSettings::new("main", "1", "3", "s") };
    let listener = free_port();
    let line = StandIn::start(listener, &Memory::InMemory, vec![channel]).unwrap();
    for (person, name) in [(HANAKO, "花子"), (TARO, "太郎")] {
        line.keep_user(person, name).unwrap();
    }
    desk.variables.insert("STAMP_RALLY__LINE__API_BASE_URL", line.base_url());
    // Nothing else pushes, as far as a run can tell at once.
    desk.variables.insert("STAMP_RALLY__DELIVERY__LEASE_MS", "600".to_owned());
    line
}

pub async fn acquired(desk: &Desk, person: &str, maybe_sent_at: Option<Timestamp>) {
    acquired_at(desk, person, maybe_sent_at, time("2026-05-23T10:00:00.000Z")).await;
}

async fn acquired_at(desk: &Desk, person: &str, maybe_sent_at: Option<Timestamp>, at: Timestamp) {
    desk.register(person, &at.to_string()).await;
    let stamp = UserStamp {
        proof: None,
        event_id: event_id(),
        line_user_id: person.parse().unwrap(),
        stamp_id: "001".parse().unwrap(),
        acquired_at: at,
        request_id: Some(RequestId::generate()),
        notice: NoticeStatus::Pending { maybe_sent_at },
    };
    desk.store().acquire(&stamp, IndexShards::ONE).await.unwrap();
}

#[tokio::test]
async fn a_dry_run_prints_what_would_be_done_and_a_run_does_it() {
    let mut desk = Desk::with_rally();
    let line = line_of(&mut desk);
    acquired(&desk, HANAKO, None).await;
    acquired(&desk, TARO, Some(time("2026-05-23T10:00:01.000Z"))).await;

    let told = desk.run(&["reconcile", "--dry-run"]).done();
    assert_eq!(
        told,
        "event               participants  to send  unknown  held  failed  other  undecided  unreadable\n\
         stamp-rally-202606             2        1        1     0       0      0          0           0\n\
         dry run: nothing was sent, and nothing was written\n"
    );
    assert!(line.phone(HANAKO).unwrap().is_empty());

    let told = desk.run(&["reconcile", "--event", ID]).done();
    assert_eq!(
        told,
        "event               participants  sent  unknown  held  failed  other  undecided  unreadable\n\
         stamp-rally-202606             2     1        1     0       0      0          0           0\n"
    );
    assert_eq!((line.phone(HANAKO).unwrap().len(), line.phone(TARO).unwrap().len()), (1, 0));
    let unknown = desk.run(&["deliveries", "list", ID, "--state", "unknown"]).done();
    assert!(unknown.starts_with(TARO) && unknown.ends_with("1 unknown\n"), "{unknown}");
    assert_eq!(
        desk.run(&["reconcile", "--event", "lost"]).err.lines().last(),
        Some("stamp-rally: event \"lost\" does not exist")
    );
}

#[tokio::test]
async fn a_run_prints_how_many_it_left_to_the_readers_of_the_stream_and_from_when_on_it_takes_them() {
    let mut desk = Desk::with_rally();
    let line = line_of(&mut desk);
    acquired(&desk, HANAKO, None).await;
    let now = MachineClock::start().now();
    acquired_at(&desk, TARO, None, now).await;

    let printed = |out: &str, to: &str, minutes: i64| {
        let from = now.plus_millis(minutes * 60_000);
        let left = format!("{ID}: 1 left to {to}; `reconcile` takes them from {from} on\n");
        assert!(out.ends_with(&left), "no {left} in {out}");
    };
    let workers = "the workers, which may still read them";
    printed(&desk.run(&["reconcile", "--dry-run"]).done(), workers, 24 * 60 + 15);
    printed(&desk.run(&["reconcile"]).done(), workers, 24 * 60 + 15);
    let (store, function) = (desk.store(), "the function, which may still be handed them");
    let arn = store.stream_arn().await.unwrap().unwrap();
    store.consumers("delivery", &arn).note_function(now).await.unwrap();
    printed(&desk.run(&["reconcile"]).done(), function, 23 * 60);
    assert_eq!((line.phone(HANAKO).unwrap().len(), line.phone(TARO).unwrap().len()), (1, 0));

    turn_the_stream(&Clients::at(&desk.engine_url, &Timeouts::request()), false).await;
    let none = desk.run(&["reconcile"]).done();
    assert!(none.ends_with("the table has no stream: run `stamp-rally table create`\n"), "{none}");
    assert_eq!(line.phone(TARO).unwrap().len(), 1, "nothing is left to a stream that isn't there");
}

#[tokio::test]
async fn a_run_over_all_events_does_the_others_and_says_that_one_could_not_be_read() {
    let mut desk = Desk::with_rally();
    let line = line_of(&mut desk);
    acquired(&desk, HANAKO, None).await;
    desk.apply(&desk.rally(&[("stamp-rally-202606\"", "autumn\"")])).done();
    let update = Clients::at(&desk.engine_url, &Timeouts::request()).table.update_item().table_name("line-event");
    let update = update.key("PK", AttributeValue::S("EVENT#autumn".to_owned()));
    let update = update.key("SK", AttributeValue::S("METADATA".to_owned()));
    update.update_expression("REMOVE endsAt").send().await.unwrap();

    for arguments in [&["reconcile", "--dry-run"][..], &["reconcile"]] {
        let run = desk.run(arguments);
        assert_eq!(run.code, 1, "{run:?}");
        assert_eq!(
            run.err.lines().last(),
            Some(
                "stamp-rally: 1 event can't be read and was not looked at: `stamp-rally table check` names what to mend"
            )
        );
        assert!(run.out.contains("stamp-rally-202606             1     "), "the other has its row: {run:?}");
    }
    assert_eq!(line.phone(HANAKO).unwrap().len(), 1, "the other is done");
    desk.run(&["reconcile", "--event", ID]).done();
}

#[tokio::test]
async fn an_entry_of_an_index_that_names_no_participant_is_counted_and_the_log_has_its_key() {
    let mut desk = Desk::with_rally();
    let _line = line_of(&mut desk);
    let client = Clients::at(&desk.engine_url, &Timeouts::request()).table;
    let text = |text: &str| AttributeValue::S(text.to_owned());
    for (sk, index, partition) in
        [("1", "GSI1", format!("EVENT#{ID}#USERS")), ("2", "GSI2", format!("EVENT#{ID}#STAMP#001"))]
    {
        let put = client.put_item().table_name("line-event").item("PK", text(&format!("NOTE#{HANAKO}")));
        let put = put.item("SK", text(sk)).item("entityType", text("NOTE"));
        let put = put.item(format!("{index}PK"), text(&partition)).item(format!("{index}SK"), text("1"));
        put.send().await.unwrap();
    }
    let run = desk.run(&["reconcile"]);
    let row = "stamp-rally-202606             0     0        0     0       0      0          0           2\n";
    assert!(run.out.contains(row), "{run:?}");
    assert!(run.err.contains("NOTE#~") && !run.err.contains(HANAKO), "{run:?}");
    assert!(run.err.contains("GSI1SK") && run.err.contains("GSI2SK"), "{run:?}");
}

#[tokio::test]
async fn the_log_has_the_key_of_the_item_for_which_a_notice_is_held() {
    let mut desk = Desk::with_rally();
    let line = line_of(&mut desk);
    acquired(&desk, HANAKO, None).await;
    let update = Clients::at(&desk.engine_url, &Timeouts::request()).table.update_item().table_name("line-event");
    let update = update.key("PK", AttributeValue::S(format!("EVENT#{ID}#STAMP#001")));
    let update = update.key("SK", AttributeValue::S("MASTER".to_owned()));
    update.update_expression("REMOVE isActive").send().await.unwrap();
    let run = desk.run(&["reconcile"]);
    assert!(run.out.contains("stamp-rally-202606             1     0        0     1 "), "it is held: {run:?}");
    let held = run.err.lines().find(|line| line.contains("the notice is held")).unwrap();
    assert!(held.contains(&format!("item.pk=\"EVENT#{ID}#STAMP#001\" item.sk=\"MASTER\"")), "{held}");
    assert!(line.phone(HANAKO).unwrap().is_empty());
}

#[tokio::test]
async fn a_table_of_the_article_is_completed_filled_and_reconciled() {
    let mut desk = Desk::empty();
    let line = line_of(&mut desk);
    crate::tables::make_the_articles_table(&Clients::at(&desk.engine_url, &Timeouts::request())).await;
    let refused = desk.run(&["reconcile"]);
    assert!(refused.err.contains("no index GSI2"), "{refused:?}");
    for next in ["`stamp-rally table create`", "`stamp-rally table backfill`"] {
        assert!(refused.err.contains(next), "{refused:?}");
    }
    assert_eq!(refused.code, 1);

    desk.run(&["table", "create"]).done();
    desk.apply(&desk.rally(&[])).done();
    acquired(&desk, HANAKO, None).await;
    let bare = Clients::at(&desk.engine_url, &Timeouts::request()).table.update_item().table_name("line-event");
    let bare = bare.key("PK", AttributeValue::S(format!("EVENT#{ID}#USER#{HANAKO}")));
    let bare = bare.key("SK", AttributeValue::S("STAMP#001".to_owned()));
    bare.update_expression("REMOVE GSI2PK, GSI2SK, requestId").send().await.unwrap();

    assert_eq!(
        desk.run(&["table", "backfill", "--rate", "1000"]).done(),
        "5 items looked at, 1 stamp got its GSI2 keys\n"
    );
    assert_eq!(desk.run(&["table", "backfill"]).done(), "5 items looked at, 0 stamps got their GSI2 keys\n");
    // It names no request: the article's own program wrote it, and may have sent its notice.
    assert!(
        desk.run(&["reconcile", "--dry-run"]).done().contains("stamp-rally-202606             1        0        1 ")
    );
    assert!(
        desk.run(&["reconcile", "--assume-unsent"]).done().contains("stamp-rally-202606             1     1        0 ")
    );
    assert_eq!(line.phone(HANAKO).unwrap().len(), 1);
}

#[tokio::test]
async fn a_backfill_that_broke_off_says_where_the_next_one_continues() {
    let desk = Desk::with_rally();
    for n in 0..4 {
        let person = format!("U{n:032x}");
        acquired(&desk, &person, None).await;
        let bare = Clients::at(&desk.engine_url, &Timeouts::request()).table.update_item().table_name("line-event");
        let bare = bare.key("PK", AttributeValue::S(format!("EVENT#{ID}#USER#{person}")));
        let bare = bare.key("SK", AttributeValue::S("STAMP#001".to_owned()));
        bare.update_expression("REMOVE GSI2PK, GSI2SK").send().await.unwrap();
    }
    desk.proxy.inject("UpdateItem", Fault::Throttled, Often::Always);
    let broke = desk.run(&["table", "backfill", "--rate", "100"]);
    assert_eq!(broke.code, 1);
    assert!(broke.err.contains("it broke off: run it again to continue"), "{broke:?}");
    desk.proxy.heal();
    assert_eq!(
        desk.run(&["table", "backfill", "--rate", "100"]).done(),
        "11 items looked at, 4 stamps got their GSI2 keys\n"
    );
}

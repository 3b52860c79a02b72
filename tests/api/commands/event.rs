//! `stamp-rally event apply|list|show`.

mod messages;
mod settings;

use stamp_rally::store::masters::Stored;

use super::*;

#[tokio::test]
async fn a_rally_is_applied_once_and_shown() {
    let desk = Desk::with_tables();
    let rally = desk.rally(&[]);
    let told = desk.apply(&rally).done();
    assert!(told.starts_with("event stamp-rally-202606: new\n  name: スタンプラリー 2026\n  startsAt: 2026-04-30T15:00:00.000Z (2026/05/01 00:00)\n"), "{told}");
    assert!(told.contains("  stamp 001: new\n    name: 第1スタンプ\n    order: 1\n    isActive: true\n    flexMessageContent: Flex message \""), "{told}");
    assert!(told.ends_with("event stamp-rally-202606: 3 written\n"), "{told}");
    let version = desk.stored_event().await.updated_at;

    assert_eq!(
        desk.apply(&rally).done(),
        "event stamp-rally-202606: unchanged\n  stamp 001: unchanged\n  stamp 002: unchanged\n\
         event stamp-rally-202606: nothing to write\n"
    );
    assert_eq!(desk.stored_event().await.updated_at, version);

    let list = desk.run(&["event", "list"]).done();
    assert_eq!(
        list,
        "stamp-rally-202606        open     2026/05/01 00:00 to 2036/05/01 00:00 Asia/Tokyo  main      スタンプラリー 2026\n"
    );
    let show = desk.run(&["event", "show", ID]).done();
    assert!(show.starts_with("event stamp-rally-202606\n  name: スタンプラリー 2026\n"), "{show}");
    assert!(show.contains("  stamp 002\n    name: 第2スタンプ\n"), "{show}");
    assert!(show.ends_with("2 stamps, 2 of them active\n"), "{show}");
}

#[tokio::test]
async fn a_change_is_shown_and_what_the_file_does_not_name_stays() {
    let desk = Desk::with_rally();
    desk.apply(&desk.rally(&[("timeZone", "liffId = \"1234567890-AbcdEfgh\"\ntimeZone")])).done();
    let told = desk.apply(&desk.rally(&[("name = \"第1スタンプ\"", "name = \"灯台\"")])).done();
    assert_eq!(
        told,
        "event stamp-rally-202606: unchanged\n  stamp 001: changed\n    name: 第1スタンプ → 灯台\n  stamp 002: \
         unchanged\nevent stamp-rally-202606: 1 written\n"
    );
    assert_eq!(desk.stored_event().await.liff_id.unwrap().as_str(), "1234567890-AbcdEfgh");
}

#[tokio::test]
async fn a_dry_run_shows_what_would_change_and_writes_nothing() {
    let desk = Desk::with_rally();
    let version = desk.stored_event().await.updated_at;
    let changed = desk.rally(&[("スタンプラリー 2026", "夏のラリー"), ("name = \"第1スタンプ\"", "name = \"灯台\"")]);
    let looked = |more: &[&str]| {
        let mut command = desk.application(&[&changed]);
        command.args(more);
        told(command).done()
    };
    let dry = looked(&["--dry-run"]);
    assert!(dry.contains("  name: スタンプラリー 2026 → 夏のラリー\n"), "{dry}");
    assert!(dry.ends_with("event stamp-rally-202606: 2 would be written\n"), "{dry}");
    let event = desk.stored_event().await;
    assert_eq!((event.name.as_str(), event.updated_at), ("スタンプラリー 2026", version));

    let written = looked(&[]);
    assert_eq!(written, dry.replace("would be written", "written"));
    assert!(looked(&["--dry-run"]).ends_with("nothing to write\n"));
}

#[tokio::test]
async fn a_stamp_taken_out_of_the_file_is_listed_and_stays() {
    let desk = Desk::with_rally();
    let rally = desk.rally(&[]);
    let text = fs::read_to_string(desk.path(&rally)).unwrap();
    let (without, _) = text.split_once("[[stamps]]\nstampId = \"002\"").unwrap();
    fs::write(desk.path(&rally), without).unwrap();
    let told = desk.apply(&rally).done();
    assert!(told.contains("  stamp 002: in the table, not in the file: left as it is (to take it off the card: name it with isActive = false)\n"), "{told}");
    assert_eq!(desk.store().masters(&event_id()).await.unwrap().readable.len(), 2);
}

#[tokio::test]
async fn nothing_is_written_when_one_of_the_files_is_refused() {
    let desk = Desk::with_tables();
    let good = desk.rally(&[]);
    for (replace, told) in [
        (
            [
                ("eventId = \"stamp-rally-202606\"", "eventId = \"other\""),
                ("channel = \"main\"", "channel = \"nobody\""),
            ],
            "line 10, `channel`: no channel nobody is configured (line.channels has: main, other)",
        ),
        (
            [("eventId = \"stamp-rally-202606\"", "eventId = \"a#b\""), ("2026", "2026")],
            "line 3, `eventId`: must match [A-Za-z0-9][A-Za-z0-9_-]{0,63}",
        ),
        (
            [("name = \"スタンプラリー 2026\"", "name = \"other\""), ("2026", "2026")],
            "line 3, `eventId`: another file is about the same event",
        ),
    ] {
        let bad = desk.rally(&replace);
        let told_line = desk.apply_all(&[&good, &bad]).refused();
        assert_eq!(told_line, format!("stamp-rally: event file {bad}, {told}"));
    }
    assert_eq!(desk.store().event(&event_id()).await.unwrap(), None);
    assert!(desk.store().masters(&event_id()).await.unwrap().readable.is_empty());
}

#[tokio::test]
async fn a_message_line_would_refuse_is_refused_with_file_and_place() {
    let desk = Desk::with_tables();
    fs::create_dir(desk.path("flex")).unwrap();
    for name in ["stamp-acquired.json", "stamp-acquired-last.json", "rally-completed.json"] {
        fs::write(desk.path("flex").join(name), r#"{"type":"flex","altText":"","contents":{"type":"bubble"}}"#)
            .unwrap();
    }
    let rally = desk.rally(&[]);
    let line = desk.run(&["event", "apply", &rally, "--templates", "flex"]).refused();
    assert!(
        line.starts_with("stamp-rally: event file rally-1.toml, line 12, `completionTemplate`: flex/rally-completed.json: /altText: must not be empty"),
        "{line}"
    );
}

#[tokio::test]
async fn channel_and_index_shards_are_fixed_once_a_participant_is_registered() {
    let desk = Desk::with_rally();
    let other = desk.rally(&[("channel = \"main\"", "channel = \"other\"")]);
    let sharded = desk.rally(&[("channel = \"main\"", "channel = \"other\"\nindexShards = 4")]);
    desk.apply(&other).done();
    desk.register(HANAKO, "2026-05-23T10:00:00.000Z").await;
    assert_eq!(
        desk.apply(&desk.rally(&[])).refused(),
        "stamp-rally: event file rally-3.toml, line 10, `channel`: can't change any more (from other to main): a participant is registered"
    );
    assert_eq!(
        desk.apply(&sharded).refused(),
        "stamp-rally: event file rally-2.toml, line 11, `indexShards`: can't change any more (from 1 to 4): a participant is registered"
    );
    let told = desk.apply(&other).done();
    assert!(told.ends_with("nothing to write\n"), "{told}");
}

#[tokio::test]
async fn what_another_writer_changed_meanwhile_is_not_overwritten() {
    let desk = Desk::with_rally();
    let rally = desk.rally(&[("name = \"第2スタンプ\"", "name = \"灯台\""), ("スタンプラリー 2026", "夏のラリー")]);
    // The organiser has read the table, and is held just before she writes.
    let gate = desk.proxy.hold("PutItem");
    let applying = desk.applies(&rally, &gate).await;
    let store = desk.store();
    let stands = store.master(&event_id(), &"002".parse().unwrap()).await.unwrap().unwrap();
    let theirs = StampMaster { is_active: false, updated_at: stands.updated_at.plus_millis(1), ..stands.clone() };
    store
        .put_master(&theirs, Stored::Readable::<_, ()>(stands.clone().into()).replaced_by(|old| old.updated_at))
        .await
        .unwrap();
    gate.release();
    let applying = applying.await.unwrap();
    assert_eq!(
        applying.refused(),
        "stamp-rally: event stamp-rally-202606: stamp 002 was changed by another writer meanwhile and is left as that one \
         wrote it; look at it (`stamp-rally event show stamp-rally-202606`) and run this again"
    );
    let master = desk.store().master(&event_id(), &"002".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!((master.name.as_str(), master.is_active), ("第2スタンプ", false));
    assert_eq!(desk.stored_event().await.name.as_str(), "スタンプラリー 2026", "the rest isn't written");

    let told = desk.apply(&rally).done();
    assert!(told.ends_with("2 written\n"), "{told}");
}

#[tokio::test]
async fn an_apply_that_broke_off_continues_where_it_stopped_and_no_half_rally_was_seen() {
    let desk = Desk::with_tables();
    let rally = desk.rally(&[]);
    // The stamps get through, then it can't be seen whether the index shows them.
    let gate = desk.proxy.hold("PutItem");
    let broken = desk.applies(&rally, &gate).await;
    desk.proxy.inject("Query", Fault::ServerError, Often::Always);
    gate.release();
    let broken = broken.await.unwrap();
    let line = broken.refused();
    assert!(line.starts_with("stamp-rally: event stamp-rally-202606: stopped "), "{line}");
    assert!(line.contains("run it again"), "{line}");
    assert_eq!(desk.store().event(&event_id()).await.unwrap(), None, "stamps out of reach");
    assert_eq!(desk.store().masters(&event_id()).await.unwrap().readable.len(), 2);

    desk.proxy.heal();
    let told = desk.apply(&rally).done();
    assert!(
        told.ends_with("  stamp 001: unchanged\n  stamp 002: unchanged\nevent stamp-rally-202606: 1 written\n"),
        "{told}"
    );
}

#[tokio::test]
async fn a_lost_answer_to_a_write_is_no_lost_race() {
    let desk = Desk::with_tables();
    desk.proxy.inject("PutItem", Fault::LostAnswer, Often::Next(2));
    let told = desk.apply(&desk.rally(&[])).done();
    assert!(told.ends_with("3 written\n"), "{told}");
    assert_eq!(desk.proxy.faults(), 2);
}

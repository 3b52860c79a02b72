//! `stamp-rally users list|export`.

use super::*;

#[tokio::test]
async fn participants_are_listed_by_days_of_the_events_zone() {
    let desk = Desk::with_rally();
    let taro = "U00000000000000000000000000000000";
    desk.register(HANAKO, "2026-05-23T10:00:00.000Z").await;
    // Half past midnight in Tokyo, on the 24th.
    desk.register(taro, "2026-05-23T15:30:00.000Z").await;

    let all = desk.run(&["users", "list", ID]);
    assert_eq!(all.err, "2 shown, that is all\n");
    assert_eq!(
        all.out,
        format!(
            "lineUserId                         createdAt                 Asia/Tokyo\n\
             {HANAKO}  2026-05-23T10:00:00.000Z  2026/05/23 19:00\n\
             {taro}  2026-05-23T15:30:00.000Z  2026/05/24 00:30\n"
        )
    );
    let first_column = |arguments: &[&str]| {
        let told = desk.run(&[&["users", "list", ID], arguments].concat()).done();
        told.lines().skip(1).map(|line| line.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(first_column(&["--from", "2026-05-24", "--to", "2026-05-24"]), [taro]);
    assert_eq!(first_column(&["--order", "desc"]), [taro, HANAKO]);
    assert_eq!(first_column(&["--limit", "1"]), [HANAKO]);
    assert_eq!(
        desk.run(&["users", "list", ID, "--limit", "1"]).err,
        "1 shown, more follow: raise --limit, narrow --from and --to, or `stamp-rally users export stamp-rally-202606`\n"
    );
    assert_eq!(
        desk.run(&["users", "list", ID, "--from", "yesterday"]).refused(),
        "stamp-rally: --from: must be a day (2026-05-24) or an instant with an offset (2026-05-24T00:00:00+09:00)"
    );
    assert_eq!(
        desk.run(&["users", "list", ID, "--from", "2026-05-24", "--to", "2026-05-23"]).refused(),
        "stamp-rally: --to: must end after --from begins (a day ends when it is over)"
    );
    for bad in ["0", "-1", "many"] {
        let told = desk.run(&["users", "list", ID, &format!("--limit={bad}")]);
        assert_eq!(told.code, 2);
        assert!(told.err.contains("--limit") && told.err.contains("must be a whole number, 1 or more"), "{told:?}");
    }
}

#[tokio::test]
async fn thousands_of_participants_are_exported_in_order_across_pages() {
    let desk = Desk::with_rally();
    let begin = time("2026-05-23T01:00:00.000Z");
    let people = (0..2500).map(|n| {
        let person = format!("U{n:032x}").parse().unwrap();
        // Two at each moment: the order of those goes by their ids.
        User::registers(event_id(), person, RequestId::generate(), begin.plus_millis(i64::from(n / 2)))
    });
    let people: Vec<User> = people.collect();
    desk.registered(&people).await;
    let row = |user: &User| {
        let (id, at) = (user.line_user_id.as_str(), user.created_at);
        format!("{id},{at},{at},{}\r\n", user.request_id.as_ref().unwrap().as_str())
    };
    let header = "\u{feff}lineUserId,createdAt,updatedAt,requestId\r\n";
    let file = |rows: &mut dyn Iterator<Item = &User>| format!("{header}{}", rows.map(row).collect::<String>());

    let told = desk.run(&["users", "export", ID, "-o", "users.csv"]);
    assert_eq!((told.code, told.err.as_str()), (0, "2500 participants written to users.csv\n"), "{told:?}");
    assert!(fs::read_to_string(desk.path("users.csv")).unwrap() == file(&mut people.iter()));
    assert!(!desk.path("users.csv.part").exists());

    let told = desk.run(&["users", "export", ID, "--order", "desc", "--from", "2026-05-23T10:00:01+09:00"]);
    assert_eq!((told.code, told.err.as_str()), (0, ""));
    assert!(told.out == file(&mut people[2000..].iter().rev()));

    // 1,500 to list are two pages.
    let listed = desk.run(&["users", "list", ID, "--limit", "1500"]);
    assert_eq!(listed.out.lines().count(), 1501);
    assert!(
        listed
            .out
            .ends_with(&format!("{}  {}  2026/05/23 10:00\n", people[1499].line_user_id, people[1499].created_at))
    );
}

#[tokio::test]
async fn a_reader_who_has_seen_enough_is_no_failure() {
    let desk = Desk::with_rally();
    desk.register(HANAKO, "2026-05-23T10:00:00.000Z").await;
    for arguments in [
        &["users", "list", ID][..],
        &["users", "export", ID],
        &["event", "list"],
        &["event", "show", ID],
        &["deliveries", "list", ID, "--state", "held"],
        &["table", "status"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = desk.command(arguments);
        let ended = command.stdout(writer).stderr(std::process::Stdio::piped()).spawn().unwrap();
        // The command holds the end that it writes to; the other is not read.
        let ended = ended.wait_with_output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!((ended.status.code(), said.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[tokio::test]
async fn a_change_is_written_whole_when_standard_output_is_closed() {
    let desk = Desk::with_tables();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = desk.application(&[&desk.rally(&[])]);
    assert!(command.stdout(writer).status().unwrap().success());
    drop(command);
    assert_eq!(desk.store().masters(&desk.stored_event().await.event_id).await.unwrap().readable.len(), 2);
}

#[tokio::test]
async fn an_export_that_breaks_off_leaves_the_older_file() {
    let desk = Desk::with_rally();
    fs::write(desk.path("users.csv"), "yesterday").unwrap();
    desk.proxy.inject("Query", Fault::ServerError, Often::Always);
    let line = desk.run(&["users", "export", ID, "-o", "users.csv"]).refused();
    assert!(line.starts_with("stamp-rally: the store can't answer now: "), "{line}");
    assert_eq!(fs::read_to_string(desk.path("users.csv")).unwrap(), "yesterday");
    assert!(!desk.path("users.csv.part").exists());
}

#[cfg(unix)]
#[tokio::test]
async fn an_interrupted_export_leaves_nothing_half_done() {
    let desk = Desk::with_rally();
    let gate = desk.proxy.hold("Query");
    let mut command = desk.command(&["users", "export", ID, "-o", "users.csv"]);
    let export = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    gate.has_waiting(1).await;
    assert!(desk.path("users.csv.part").exists());
    assert!(Command::new("kill").args(["-INT", &export.id().to_string()]).status().unwrap().success());
    let ended = export.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    assert_eq!(String::from_utf8(ended.stderr).unwrap(), "stamp-rally: interrupted: nothing is written to users.csv\n");
    assert!(!desk.path("users.csv.part").exists() && !desk.path("users.csv").exists());
}

//! What an organiser does at a terminal: the real binary, an environment of its own, the embedded engine.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
};

use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use stamp_rally::{
    dev::engine::{Engine, Storage},
    domain::{
        event::{Event, IndexShards},
        fact::{Completed, User, UserStamp},
        ids::{EventId, LineUserId, RequestId},
        notice::{NoticeId, NoticeKey, NoticeStatus, Parked, ParkedState, PushRefused},
        stamp::StampMaster,
        time::Timestamp,
    },
    store::{
        Store,
        client::{Clients, Pace},
        table::TableNames,
    },
};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::proxy::{Fault, Gate, Often, Proxy};

const ID: &str = "stamp-rally-202606";
const HANAKO: &str = "U0123456789abcdef0123456789abcdef";

/// An organiser's desk: a terminal, a folder, an account of her own.
struct Desk {
    _engine: Engine,
    engine_url: String,
    proxy: Proxy,
    folder: TempDir,
    variables: BTreeMap<&'static str, String>,
}

/// What a command said.
#[derive(Debug)]
struct Told {
    code: i32,
    out: String,
    err: String,
}

impl Told {
    #[track_caller]
    fn done(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.out
    }

    /// The one line of an error.
    #[track_caller]
    fn refused(self) -> String {
        assert_eq!(self.code, 1, "{self:?}");
        let lines: Vec<_> = self.err.lines().collect();
        let [line] = lines.as_slice() else { panic!("one line: {self:?}") };
        line.to_string()
    }
}

impl Desk {
    fn empty() -> Self {
        let engine = Engine::start(TcpListener::bind("127.0.0.1:0").unwrap(), Storage::Memory).unwrap();
        let engine_url = engine.endpoint_url();
        let proxy = Proxy::start(&engine_url).unwrap();
        let channels = r#"{"main":{"login_channel_ids":["1"],"access_token":"x"},"other":{"login_channel_ids":["2"],"access_token":"y"}}"#;
        let variables = BTreeMap::from([
            ("AWS_ENDPOINT_URL", proxy.endpoint_url()),
            ("AWS_REGION", "ap-northeast-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", "local".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "local".to_owned()),
            ("STAMP_RALLY__LINE__CHANNELS", channels.to_owned()),
        ]);
        Self { _engine: engine, engine_url, proxy, folder: tempfile::tempdir().unwrap(), variables }
    }

    fn with_tables() -> Self {
        let desk = Self::empty();
        desk.run(&["table", "create"]).done();
        desk
    }

    fn with_rally() -> Self {
        let desk = Self::with_tables();
        desk.apply(&desk.rally(&[])).done();
        desk
    }

    fn run(&self, arguments: &[&str]) -> Told {
        told(self.command(arguments))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stamp-rally"));
        command.args(arguments).env_clear().envs(&self.variables).current_dir(self.folder.path());
        command
    }

    fn apply(&self, file: &str) -> Told {
        self.apply_all(&[file])
    }

    fn apply_all(&self, files: &[&str]) -> Told {
        told(self.application(files))
    }

    fn application(&self, files: &[&str]) -> Command {
        let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("flex_templates");
        let mut command = self.command(&["event", "apply", "--templates"]);
        command.arg(templates).args(files);
        command
    }

    /// Begins to apply a file, and returns when that is held at the gate.
    async fn applies(&self, file: &str, gate: &Gate) -> JoinHandle<Told> {
        let application = self.application(&[file]);
        let mut applying = tokio::task::spawn_blocking(move || told(application));
        tokio::select! {
            () = gate.has_waiting(1) => applying,
            told = &mut applying => panic!("it didn't come to the gate: {told:?}"),
        }
    }

    /// A file of its own with the demo rally, these words replaced.
    fn rally(&self, replace: &[(&str, &str)]) -> String {
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/events/stamp-rally-202606.toml");
        let text = fs::read_to_string(demo).unwrap();
        let text = replace.iter().fold(text, |text, (old, new)| {
            assert!(text.contains(old), "{old}");
            text.replace(old, new)
        });
        let number = fs::read_dir(self.folder.path()).unwrap().count();
        fs::write(self.path(&format!("rally-{number}.toml")), text).unwrap();
        format!("rally-{number}.toml")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The store as the server sees it, past the proxy.
    fn store(&self) -> Store {
        Store::new(Clients::at(&self.engine_url, &Pace::request()).table, TableNames::default())
    }

    async fn stored_event(&self) -> Event {
        self.store().event(&event_id()).await.unwrap().unwrap()
    }

    /// Many at once; only the table's own items are quick enough for thousands.
    async fn registered(&self, people: &[User]) {
        let client = Clients::at(&self.engine_url, &Pace::request()).table;
        for some in people.chunks(25) {
            let puts = some.iter().map(|user| {
                let (person, at) = (user.line_user_id.as_str(), user.created_at.to_string());
                let item = [
                    ("PK", format!("EVENT#{ID}#USER#{person}")),
                    ("SK", "PROFILE".to_owned()),
                    ("GSI1PK", format!("EVENT#{ID}#USERS")),
                    ("GSI1SK", format!("{at}#{person}")),
                    ("entityType", "USER".to_owned()),
                    ("eventId", ID.to_owned()),
                    ("lineUserId", person.to_owned()),
                    ("createdAt", at.clone()),
                    ("updatedAt", at),
                    ("requestId", user.request_id.as_ref().unwrap().to_string()),
                ];
                let item = item.into_iter().map(|(name, text)| (name.to_owned(), AttributeValue::S(text))).collect();
                let put = PutRequest::builder().set_item(Some(item)).build().unwrap();
                WriteRequest::builder().put_request(put).build()
            });
            let batch = client.batch_write_item().request_items("line-event", puts.collect());
            assert!(batch.send().await.unwrap().unprocessed_items().is_none_or(HashMap::is_empty));
        }
    }

    async fn register(&self, person: &str, at: &str) {
        let user = User::registers(event_id(), LineUserId::stored(person).unwrap(), RequestId::made(), time(at));
        self.store().register(&user, IndexShards::ONE).await.unwrap();
    }
}

fn told(mut command: Command) -> Told {
    let run = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Told { code: run.status.code().unwrap(), out: text(run.stdout), err: text(run.stderr) }
}

fn event_id() -> EventId {
    ID.parse().unwrap()
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

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
    super::tables::make_the_articles_table(&Clients::at(&desk.engine_url, &Pace::request())).await;
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
    super::tables::make_another_programs_table(&Clients::at(&desk.engine_url, &Pace::request())).await;
    let create = desk.run(&["table", "create"]);
    assert!(create.out.contains("(left as it is: a person has to decide)\n"), "{create:?}");
    assert_eq!(create.code, 1);
    // Before it the log tells each step: an index may take hours.
    let line = create.err.lines().last().unwrap();
    assert_eq!(line, "stamp-rally: the rest is left as it is: a person has to decide on it");
}

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
async fn a_change_is_told_and_what_the_file_does_not_name_stays() {
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
async fn a_stamp_taken_out_of_the_file_is_told_and_stays() {
    let desk = Desk::with_rally();
    let rally = desk.rally(&[]);
    let text = fs::read_to_string(desk.path(&rally)).unwrap();
    let (without, _) = text.split_once("[[stamps]]\nstampId = \"002\"").unwrap();
    fs::write(desk.path(&rally), without).unwrap();
    let told = desk.apply(&rally).done();
    assert!(told.contains("  stamp 002: in the table, not in the file: left as it is (to take it off the card: name it with isActive = false)\n"), "{told}");
    assert_eq!(desk.store().masters(&event_id()).await.unwrap().len(), 2);
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
    assert!(desk.store().masters(&event_id()).await.unwrap().is_empty());
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
async fn channel_and_index_shards_are_fixed_once_somebody_is_registered() {
    let desk = Desk::with_rally();
    let other = desk.rally(&[("channel = \"main\"", "channel = \"other\"")]);
    let sharded = desk.rally(&[("channel = \"main\"", "channel = \"other\"\nindexShards = 4")]);
    desk.apply(&other).done();
    desk.register(HANAKO, "2026-05-23T10:00:00.000Z").await;
    assert_eq!(
        desk.apply(&desk.rally(&[])).refused(),
        "stamp-rally: event file rally-3.toml, line 10, `channel`: can't change any more (from other to main): somebody is registered"
    );
    assert_eq!(
        desk.apply(&sharded).refused(),
        "stamp-rally: event file rally-2.toml, line 11, `indexShards`: can't change any more (from 1 to 4): somebody is registered"
    );
    let told = desk.apply(&other).done();
    assert!(told.ends_with("nothing to write\n"), "{told}");
}

#[tokio::test]
async fn what_somebody_else_changed_meanwhile_is_not_overwritten() {
    let desk = Desk::with_rally();
    let rally = desk.rally(&[("name = \"第2スタンプ\"", "name = \"灯台\""), ("スタンプラリー 2026", "夏のラリー")]);
    // The organiser has read the table, and is held just before she writes.
    let gate = desk.proxy.hold("PutItem");
    let applying = desk.applies(&rally, &gate).await;
    let store = desk.store();
    let stands = store.master(&event_id(), &"002".parse().unwrap()).await.unwrap().unwrap();
    let theirs = StampMaster { is_active: false, updated_at: stands.updated_at.plus_millis(1), ..stands.clone() };
    store.put_master(&theirs, Some(stands.updated_at)).await.unwrap();
    gate.release();
    let applying = applying.await.unwrap();
    assert_eq!(
        applying.refused(),
        "stamp-rally: event stamp-rally-202606: stamp 002 was changed by somebody else meanwhile and is left as they \
         want it; look at it (`stamp-rally event show stamp-rally-202606`) and run this again"
    );
    let master = desk.store().master(&event_id(), &"002".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!((master.name.as_str(), master.is_active), ("第2スタンプ", false));
    assert_eq!(desk.stored_event().await.name.as_str(), "スタンプラリー 2026", "the rest isn't written");

    let told = desk.apply(&rally).done();
    assert!(told.ends_with("2 written\n"), "{told}");
}

#[tokio::test]
async fn an_apply_that_broke_off_goes_on_where_it_stopped_and_nobody_met_half_a_rally() {
    let desk = Desk::with_tables();
    let rally = desk.rally(&[]);
    // The stamps get through, then nobody can see whether the index shows them.
    let gate = desk.proxy.hold("PutItem");
    let broken = desk.applies(&rally, &gate).await;
    desk.proxy.inject("Query", Fault::ServerError, Often::Always);
    gate.release();
    let broken = broken.await.unwrap();
    let line = broken.refused();
    assert!(line.starts_with("stamp-rally: event stamp-rally-202606: stopped "), "{line}");
    assert!(line.contains("run it again"), "{line}");
    assert_eq!(desk.store().event(&event_id()).await.unwrap(), None, "stamps that nobody can reach");
    assert_eq!(desk.store().masters(&event_id()).await.unwrap().len(), 2);

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
        "stamp-rally: --to: must be later than --from"
    );
}

#[tokio::test]
async fn thousands_of_participants_are_exported_in_order_across_pages() {
    let desk = Desk::with_rally();
    let begin = time("2026-05-23T01:00:00.000Z");
    let store = desk.store();
    let people = (0..2500).map(|n| {
        let person = format!("U{n:032x}").parse().unwrap();
        // Two at each moment: the order of those goes by their ids.
        User::registers(event_id(), person, RequestId::made(), begin.plus_millis(i64::from(n / 2)))
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
async fn an_export_that_breaks_off_leaves_the_older_file() {
    let desk = Desk::with_rally();
    fs::write(desk.path("users.csv"), "yesterday").unwrap();
    desk.proxy.inject("Query", Fault::ServerError, Often::Always);
    let line = desk.run(&["users", "export", ID, "-o", "users.csv"]).refused();
    assert!(line.starts_with("stamp-rally: the store can't answer now: "), "{line}");
    assert_eq!(fs::read_to_string(desk.path("users.csv")).unwrap(), "yesterday");
    assert!(!desk.path("users.csv.part").exists());
}

#[tokio::test]
async fn deliveries_tell_who_waits_for_what_since_when_and_why() {
    let desk = Desk::with_rally();
    let (store, now) = (desk.store(), time("2026-05-23T10:00:00.000Z"));
    desk.register(HANAKO, "2026-05-23T10:00:00.000Z").await;
    let hanako: LineUserId = HANAKO.parse().unwrap();
    let waiting = NoticeStatus::Waiting { tried_at: None };
    let stamp = UserStamp {
        event_id: event_id(),
        line_user_id: hanako.clone(),
        stamp_id: "001".parse().unwrap(),
        acquired_at: now,
        request_id: Some(RequestId::made()),
        notice: waiting.clone(),
    };
    store.acquire(&stamp, IndexShards::ONE).await.unwrap();
    let (by_stamp_id, line_user_id) = (stamp.stamp_id.clone(), hanako.clone());
    let completed = Completed { event_id: event_id(), line_user_id, completed_at: now, by_stamp_id, notice: waiting };
    store.complete(&completed).await.unwrap();
    let notice = |key| NoticeId { event_id: event_id(), line_user_id: hanako.clone(), key };
    let held = Parked {
        state: ParkedState::Held,
        since: now.plus_millis(60_000),
        reason: Some("monthly_limit".to_owned()),
        tried_at: None,
        error: None,
    };
    let error = PushRefused { status: 400, message: "The property, 'to',\nis invalid".to_owned(), at: now };
    let failed = Parked { state: ParkedState::Failed, reason: None, error: Some(error), ..held.clone() };
    store.park(&notice(NoticeKey::Stamp(stamp.stamp_id.clone())), None, &held).await.unwrap();
    store.park(&notice(NoticeKey::Completed), None, &failed).await.unwrap();

    let list = |state| desk.run(&["deliveries", "list", ID, "--state", state]).done();
    assert_eq!(
        list("held"),
        format!("{HANAKO}  stamp 001             since 2026/05/23 19:01  monthly_limit\n1 held\n")
    );
    assert_eq!(
        list("failed"),
        format!(
            "{HANAKO}  completed card        since 2026/05/23 19:01  LINE answered 400: The property, 'to', is invalid\n1 failed\n"
        )
    );
    assert_eq!(list("unknown"), "0 unknown\n");
    assert_eq!(desk.run(&["deliveries", "list", ID, "--state", "lost"]).code, 2);
}

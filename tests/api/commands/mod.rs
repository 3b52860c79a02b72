//! What an organiser does at a terminal: the real binary, an environment of its own, the embedded engine.

mod check;
mod codes;
mod deliveries;
mod event;
mod failures;
mod reconcile;
mod staff;
mod stats;
mod table;
mod users;

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use stamp_rally::{
    dev::engine::{Engine, Storage},
    domain::{
        event::{Event, IndexShards},
        fact::{Completed, Friendship, Resend, ResendCompleted, User, UserStamp},
        ids::{EventId, LineUserId, RequestId},
        notice::{NoticeId, NoticeKey, NoticeStatus, Parked, ParkedState, PushRefused, Via},
        stamp::StampMaster,
        time::{TimeZone, Timestamp},
    },
    store::{
        Store,
        client::{Clients, Timeouts},
        notices::Sending,
    },
};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::house::{free_port, store_of};
use crate::proxy::{Fault, Gate, Often, Proxy};

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
struct Output {
    code: i32,
    out: String,
    err: String,
}

impl Output {
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
        let engine = Engine::start(free_port(), Storage::Memory).unwrap();
        let engine_url = engine.endpoint_url();
        let proxy = Proxy::start(&engine_url).unwrap();
        let channels = r#"{"main":{"login_channel_ids":["1"],"access_token":"x"},"other":{"login_channel_ids":["2"],"access_token":"y"}}"#;
        let variables = BTreeMap::from([
            ("AWS_ENDPOINT_URL", proxy.endpoint_url()),
            ("AWS_REGION", "ap-northeast-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", "local".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "local".to_owned()),
            ("USER", "yamada".to_owned()),
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

    fn run(&self, arguments: &[&str]) -> Output {
        told(self.command(arguments))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stamp-rally"));
        command.args(arguments).env_clear().envs(&self.variables).current_dir(self.folder.path());
        command
    }

    fn apply(&self, file: &str) -> Output {
        self.apply_all(&[file])
    }

    fn apply_all(&self, files: &[&str]) -> Output {
        told(self.application(files))
    }

    fn application(&self, files: &[&str]) -> Command {
        let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("flex_templates");
        let mut command = self.command(&["event", "apply", "--templates"]);
        command.arg(templates).args(files);
        command
    }

    /// Begins to apply a file, and returns when that is held at the gate.
    async fn applies(&self, file: &str, gate: &Gate) -> JoinHandle<Output> {
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
        store_of(&Clients::at(&self.engine_url, &Timeouts::request()))
    }

    async fn stored_event(&self) -> Event {
        self.store().event(&event_id()).await.unwrap().unwrap()
    }

    /// Many at once; only the table's own items are quick enough for thousands.
    async fn registered(&self, people: &[User]) {
        let client = Clients::at(&self.engine_url, &Timeouts::request()).table;
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
        let user = User::registers(event_id(), LineUserId::stored(person).unwrap(), RequestId::generate(), time(at));
        self.store().register(&user, IndexShards::ONE).await.unwrap();
    }
}

fn told(mut command: Command) -> Output {
    let run = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Output { code: run.status.code().unwrap(), out: text(run.stdout), err: text(run.stderr) }
}

fn event_id() -> EventId {
    ID.parse().unwrap()
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

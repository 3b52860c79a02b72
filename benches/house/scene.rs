//! What a measure is taken in: an engine, a stand-in LINE, a rally, and the real binary before them.

use std::{
    fmt::Write as _,
    fs::{self, File},
    future::Future,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use stamp_rally::store::client::{Clients, Timeouts};
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::{items, process::Process, roles::Role};

pub const ACCESS_TOKEN: &str = "long-lived";
pub const CHANNEL: &str = "main";
pub const EVENT: &str = "speed";
pub const LOGIN_CHANNEL: &str = "1000000001";
pub const TABLE: &str = "line-event";

/// The key of codes: bytes 0 to 31, in base64url.
pub const PROOF_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

/// What the organiser signs in with.
const ORGANISER: &str = "organiser";

/// Until a server answers at last.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// Between two looks at something that is waited for.
const LOOK: Duration = Duration::from_millis(20);

/// An engine and a stand-in LINE, both new and in memory.
pub struct Scene {
    pub engine: Role,
    pub line: Role,
    pub clients: Clients,
    pub http: reqwest::Client,
    folder: TempDir,
}

/// The real binary, serving or consuming.
pub struct Server {
    pub process: Process,
    /// Empty for one that only consumes.
    pub url: String,
}

impl Scene {
    /// With a rally of so many stamps.
    pub fn set(stamps: usize) -> anyhow::Result<Self> {
        let (engine, line) = (Role::start("engine", &[])?, Role::start("line", &[])?);
        let scene = Self {
            clients: Clients::at(&engine.ready, &patient()),
            engine,
            line,
            http: reqwest::Client::builder().no_proxy().tcp_nodelay(true).build()?,
            folder: tempfile::tempdir()?,
        };
        let file = scene.folder.path().join("event.toml");
        fs::write(&file, event_file(stamps))?;
        scene.command(&["table", "create"])?;
        let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("flex_templates").display().to_string();
        scene.command(&["event", "apply", &file.display().to_string(), "--templates", &templates])?;
        Ok(scene)
    }

    /// Runs a command of the real binary to its end.
    fn command(&self, arguments: &[&str]) -> anyhow::Result<()> {
        let done = self.binary(arguments).output()?;
        ensure!(
            done.status.success(),
            "stamp-rally {}: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&done.stderr)
        );
        Ok(())
    }

    /// The real binary, with this scene for AWS and LINE, and nothing else of the machine's environment.
    fn binary(&self, arguments: &[&str]) -> Command {
        let digest = Sha256::digest(ORGANISER).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        let channel =
            json!({"login_channel_ids": [LOGIN_CHANNEL], "access_token": ACCESS_TOKEN, "channel_secrets": ["secret"]});
        let organiser = json!([{"name": "organiser", "role": "admin", "sha256": digest, "events": ["*"]}]);
        let mut command = Command::new(env!("CARGO_BIN_EXE_stamp-rally"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .envs([("AWS_REGION", "us-east-1"), ("AWS_ACCESS_KEY_ID", "local"), ("AWS_SECRET_ACCESS_KEY", "local")])
            .env("AWS_ENDPOINT_URL", &self.engine.ready)
            .env("STAMP_RALLY__HTTP__BIND", "127.0.0.1:0")
            .env("STAMP_RALLY__LINE__API_BASE_URL", &self.line.ready)
            .env("STAMP_RALLY__LINE__CHANNELS__MAIN", channel.to_string())
            .env("STAMP_RALLY__ADMIN__TOKENS", organiser.to_string())
            .env("STAMP_RALLY__PROOFS__KEYS", PROOF_KEY)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        command
    }

    /// Starts the real binary with settings over the usual ones, and waits until it serves (or consumes). Its log goes
    /// into a file, as it would anywhere.
    pub async fn start(&self, arguments: &[&str], settings: &[(&str, &str)]) -> anyhow::Result<Server> {
        let log = self.folder.path().join("stamp-rally.log");
        let mut command = self.binary(arguments);
        command.envs(settings.iter().copied()).stderr(File::create(&log)?);
        let mut process = Process::start(&mut command)?;
        for _ in 0..START_TIMEOUT.as_millis() / LOOK.as_millis() {
            let said = fs::read_to_string(&log)?;
            if let Some((_, address)) = said.split_once("http.bind=") {
                let address = address.split_whitespace().next().unwrap_or_default();
                return Ok(Server { process, url: format!("http://{address}") });
            }
            if said.contains("reading a shard") {
                return Ok(Server { process, url: String::new() });
            }
            if let Some(ended) = process.child().try_wait()? {
                bail!("stamp-rally {}: {ended}: {said}", arguments.join(" "));
            }
            tokio::time::sleep(LOOK).await;
        }
        bail!("stamp-rally {} isn't ready: {}", arguments.join(" "), fs::read_to_string(&log)?)
    }

    /// Asks the stand-in's control API.
    pub async fn control(&self, method: reqwest::Method, path: &str, body: &Value) -> anyhow::Result<Value> {
        let answer = self.http.request(method, format!("{}/control{path}", self.line.ready)).json(body).send().await?;
        Ok(answer.error_for_status()?.json().await?)
    }

    /// So many users, friends of the account.
    pub async fn people(&self, count: usize) -> anyhow::Result<Arc<Vec<String>>> {
        let made = self.control(reqwest::Method::POST, "/users", &json!({"count": count})).await?;
        Ok(Arc::new(serde_json::from_value(made["users"].clone())?))
    }

    /// An ID token for each of them, never seen before.
    pub async fn tokens(&self, people: &Arc<Vec<String>>) -> anyhow::Result<Arc<Vec<String>>> {
        let tokens = Arc::new(people.iter().map(|_| std::sync::OnceLock::new()).collect::<Vec<_>>());
        let (http, line, people, places) = (self.http.clone(), self.line.ready.clone(), people.clone(), tokens.clone());
        all(people.len(), 16, move |n| {
            let (request, places) = (http.get(format!("{line}/control/users/{}/id-token", people[n])), places.clone());
            async move {
                let token = request.send().await?.error_for_status()?.text().await?;
                places[n].set(token).map_err(|_| anyhow::anyhow!("minted twice"))
            }
        })
        .await?;
        Ok(Arc::new(tokens.iter().map(|token| token.get().cloned().unwrap_or_default()).collect()))
    }

    /// How many pushes the stand-in has accepted.
    async fn accepted(&self) -> anyhow::Result<usize> {
        let url = format!("{}/control/requests", self.line.ready);
        let answer: Value = self.http.get(url).send().await?.error_for_status()?.json().await?;
        Ok(serde_json::from_value(answer["endpoints"]["push"]["200"].clone()).unwrap_or_default())
    }

    /// Waits until so many pushes are accepted; it is an error if that takes longer than `timeout`.
    pub async fn until_accepted(&self, count: usize, timeout: Duration) -> anyhow::Result<()> {
        let look = Duration::from_millis(100);
        for _ in 0..timeout.as_millis() / look.as_millis() {
            if self.accepted().await? >= count {
                return Ok(());
            }
            tokio::time::sleep(look).await;
        }
        bail!("only {} of {count} pushes came", self.accepted().await?)
    }

    /// Who was pushed to, and when (ms since 1970), in order.
    pub async fn pushes(&self) -> anyhow::Result<Vec<(String, i64)>> {
        let url = format!("{}/control/pushes?messages=false", self.line.ready);
        let answer: Value = self.http.get(url).send().await?.error_for_status()?.json().await?;
        let pushes = answer["pushes"].as_array().context("no list of pushes")?.iter();
        let read = |push: &Value| Some((push["userId"].as_str()?.to_owned(), push["acceptedAt"].as_i64()?));
        pushes.map(|push| read(push).context("a push without user or time")).collect()
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Server {
    /// A request to the participant's API.
    pub fn request(&self, http: &reqwest::Client, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        http.request(method, format!("{}/api/events/{EVENT}{path}", self.url))
    }

    /// A request of the organiser.
    pub fn organiser(&self, http: &reqwest::Client, path: &str) -> reqwest::RequestBuilder {
        http.get(format!("{}/admin/api/events/{EVENT}{path}", self.url)).bearer_auth(ORGANISER)
    }
}

/// What is prepared and counted is not waited for, and the machine may have much else to do.
fn patient() -> Timeouts {
    let timeout = Duration::from_mins(1);
    Timeouts { item_attempt: timeout, operation: timeout, ..Timeouts::request() }
}

/// A rally with the template that ships.
fn event_file(stamps: usize) -> String {
    let mut file = format!(
        "eventId = \"{EVENT}\"\nname = \"スタンプラリー\"\nstartsAt = 2026-01-01T00:00:00+09:00\n\
         endsAt = 2099-01-01T00:00:00+09:00\ntimeZone = \"Asia/Tokyo\"\nchannel = \"{CHANNEL}\"\n"
    );
    for n in 1..=stamps {
        let id = items::stamp_id(n);
        let _ = write!(
            file,
            "\n[[stamps]]\nstampId = \"{id}\"\nname = \"第{n}スタンプ\"\norder = {n}\nisActive = true\ntemplate = \"stamp-acquired.json\"\n"
        );
    }
    file
}

/// Does `work` for 0, 1, … up to `count`, `at_once` at a time.
pub async fn all<F>(
    count: usize,
    at_once: usize,
    work: impl Fn(usize) -> F + Clone + Send + 'static,
) -> anyhow::Result<()>
where
    F: Future<Output = anyhow::Result<()>> + Send,
{
    let next = Arc::new(AtomicUsize::new(0));
    let mut hands = JoinSet::new();
    for _ in 0..at_once {
        let (next, work) = (next.clone(), work.clone());
        hands.spawn(async move {
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= count {
                    return anyhow::Ok(());
                }
                work(n).await?;
            }
        });
    }
    while let Some(hand) = hands.join_next().await {
        hand??;
    }
    Ok(())
}

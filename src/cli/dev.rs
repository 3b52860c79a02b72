//! `dev`: everything on this machine, in one process: the API, the consumer, an embedded DynamoDB engine, a stand-in of
//! the LINE platform, and a demo rally. Ignores the machine's AWS settings.

mod demo;
mod prepare;

use std::{
    env,
    ffi::OsString,
    fs,
    io::{self, Write},
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
};

use anyhow::Context;

use crate::dev::{
    engine::{Engine, Storage},
    line::{ChannelSettings, Memory, StandIn},
};
use crate::http;
use crate::store::client::{Clients, Timeouts};

use super::{admin, config::Settings, logging, service};
use demo::DEMO_EVENT;
use prepare::Prepared;

/// A participant to play with, and what the demo's organiser signs in with. Both are worth nothing elsewhere.
const HANAKO: &str = "U00000000000000000000000000000001";
const DEMO_ADMIN: &str = "demo-admin";

/// Everything on this machine: API, consumer, DynamoDB engine, stand-in LINE, demo rally
#[derive(Clone, Debug, clap::Args)]
pub struct DevArgs {
    /// Configuration file, laid over the defaults; `admin.tokens` and channel `main` are the demo's own
    #[arg(long, env = "STAMP_RALLY_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where the engine and the stand-in keep their files between runs
    #[arg(long, value_name = "DIR", default_value = "data")]
    data: PathBuf,
    /// Where the stand-in of the LINE platform listens (port 0: any free one)
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8081")]
    line: SocketAddr,
    /// Where the DynamoDB engine listens (port 0: any free one)
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    engine: SocketAddr,
}

impl DevArgs {
    /// Those of a call without a command, which may name a configuration file all the same.
    pub(super) fn alone(config: Option<PathBuf>) -> Self {
        let parsed = <DevAlone as clap::Parser>::parse_from(["stamp-rally"]);
        Self { config: config.or(parsed.command.config), ..parsed.command }
    }
}

#[derive(clap::Parser)]
struct DevAlone {
    #[command(flatten)]
    command: DevArgs,
}

/// Runs until the process is asked to stop.
pub async fn execute(command: DevArgs) -> anyhow::Result<()> {
    let mut settings = settings(&command)?;
    logging::start(settings.log.format)?;
    let at_line = service::listen(command.line, "`stamp-rally dev --line ADDRESS`")?;
    let listener = service::listen(settings.http.bind, service::HTTP_BIND)?;
    // Port 0 means any free one; what is used and printed is the one it became.
    settings.line.api_base_url = line_url(at_line.local_addr()?).parse()?;
    settings.http.bind = listener.local_addr()?;
    let line = start_line(&command, &settings, at_line)?;
    let engine = start_engine(&command)?;
    let parts = service::Builder::of_this_process(&settings)?;
    let shutdown = service::shutdown_signal()?;

    let prepared = prepare::prepare(&engine, &command.data, &settings, &shutdown).await?;
    if prepared == Prepared::AskedToStop {
        line.stop();
        return Ok(engine.stop()?);
    }
    line.keep_user(HANAKO, "花子")?;

    let clients = Clients::at(&engine.endpoint_url(), &Timeouts::request());
    let worker = parts.worker(&Clients::at(&engine.endpoint_url(), &Timeouts::worker()))?;
    let app = parts.app(&clients);
    write_welcome(
        &mut io::stdout().lock(),
        &Welcome {
            api: settings.http.public_url(),
            line: line.base_url(),
            engine: engine.endpoint_url(),
            data: &command.data,
        },
    )?;
    let server = http::serve(listener, app, shutdown.clone());
    let ended = service::run(server, Some(worker), service::Tables::There, shutdown).await;
    line.stop();
    engine.stop()?;
    ended
}

/// A developer looks on: a killed run's shards are taken over after six seconds, not fifteen, and held notices are soon
/// tried again. The demo's codes are made with a key that everybody knows.
const DEFAULTS: &str = "\
[delivery]
lease_ms = 6000
hold_probe_ms = 5000
[proofs]
keys = [\"c3RhbXAtcmFsbHkgZGVtbyBrZXk6IG5vIHNlY3JldCE\"]
";

/// The settings as they are given, with the stand-in for LINE and the demo's organiser laid over them.
fn settings(command: &DevArgs) -> anyhow::Result<Settings> {
    let digest = admin::hex_sha256(DEMO_ADMIN);
    let laid_over = [
        ("STAMP_RALLY__LINE__API_BASE_URL", line_url(command.line)),
        ("STAMP_RALLY__LINE__CHANNELS__MAIN", demo_channel()),
        (
            "STAMP_RALLY__ADMIN__TOKENS",
            format!(r#"[{{"name":"demo","role":"admin","sha256":"{digest}","events":["*"]}}]"#),
        ),
    ];
    let pair = |(key, value): (&str, String)| (OsString::from(key), OsString::from(value));
    let environment = env::vars_os().chain(laid_over.map(pair));
    let file = command.config.as_deref().filter(|path| !path.as_os_str().is_empty());
    Ok(Settings::load_over(DEFAULTS, file, environment)?)
}

fn line_url(address: SocketAddr) -> String {
    format!("http://{address}")
}

const LOGIN_CHANNEL: &str = "1000000001";
const MESSAGING_CHANNEL: &str = "2000000001";
const CHANNEL_SECRET: &str = "stand-in-channel-secret";

fn demo_channel() -> String {
    format!(
        r#"{{"login_channel_ids":["{LOGIN_CHANNEL}"],"messaging_channel_id":"{MESSAGING_CHANNEL}","channel_secrets":["{CHANNEL_SECRET}"]}}"#
    )
}

fn start_line(command: &DevArgs, settings: &Settings, listener: TcpListener) -> anyhow::Result<StandIn> {
    fs::create_dir_all(&command.data).with_context(|| format!("the data folder {}", command.data.display()))?;
    let channel = ChannelSettings {
        webhook_url: Some(format!("{}/webhook/main", settings.http.public_url())),
        ..ChannelSettings::new("main", LOGIN_CHANNEL, MESSAGING_CHANNEL, CHANNEL_SECRET)
    };
    Ok(StandIn::start(listener, &Memory::File(command.data.join("line.db")), vec![channel])?)
}

fn start_engine(command: &DevArgs) -> anyhow::Result<Engine> {
    let listener = service::listen(command.engine, "`stamp-rally dev --engine ADDRESS`")?;
    let engine = Engine::start(listener, Storage::File(command.data.join("engine.db")))?;
    tracing::info!(dev.data = %command.data.display(), "opened the data of the embedded engine");
    Ok(engine)
}

struct Welcome<'a> {
    api: String,
    line: String,
    engine: String,
    data: &'a Path,
}

/// What was started, where, and what to do with it.
fn write_welcome(out: &mut impl Write, at: &Welcome<'_>) -> io::Result<()> {
    let Welcome { api, line, engine, data } = at;
    let rally = format!("{api}/api/events/{DEMO_EVENT}");
    let token = format!("\"Authorization: Bearer $(curl -s '{line}/control/users/{HANAKO}/id-token?channel=main')\"");
    writeln!(
        out,
        "\
stamp-rally runs on this machine.

  API             {api}  (described in {api}/openapi.json)
  LINE, stand-in  {line}  (users, phones, faults below {line}/control)
  DynamoDB        {engine}  (the embedded engine; any credentials)
  data            {data}  (kept between runs)
  demo rally      {DEMO_EVENT}; organiser: curl -H 'Authorization: Bearer {DEMO_ADMIN}' {api}/admin/api/events

Paste into another terminal, one after the other:

# 1. Hanako registers
curl -sS -w '\\n' -X PUT {rally}/me -H {token}

# 2. Hanako acquires the first stamp
curl -sS -w '\\n' -X POST {rally}/me/stamps/001 -H {token}

# 3. What her phone shows, a moment later
sleep 1; curl -sS -w '\\n' {line}/control/users/{HANAKO}/phone

Ctrl-C stops.",
        data = data.display()
    )?;
    out.flush()
}

//! `cargo run`: what it starts, what it prints, and that this works.

use std::{fs, path::Path};

use reqwest::Method;
use serde_json::json;

use super::{Line, Participant, Process, client, eventually};
use crate::house::{Answer, RALLY};

/// The whole thing in one process, on ports of its own.
pub struct Skeleton {
    pub process: Process,
    pub api: String,
    pub line: Line,
    /// The three commands to paste.
    pub commands: Vec<String>,
}

impl Skeleton {
    /// On a machine that has nothing set; its data in `folder`, as in a fresh clone.
    pub async fn start(folder: &Path) -> Self {
        Self::start_on(folder, &[]).await
    }

    async fn start_on(folder: &Path, machine: &[(&str, String)]) -> Self {
        let variables = [&[("STAMP_RALLY__HTTP__BIND", "127.0.0.1:0".to_owned())], machine].concat();
        let mut process = Process::start(folder, &["dev", "--line", "127.0.0.1:0"], &variables);
        let address =
            |line: String| line.split_whitespace().find(|word| word.starts_with("http://")).unwrap().to_owned();
        let api = address(process.prints("  API ").await);
        let line = Line::at(&address(process.prints("  LINE, stand-in ").await));
        let mut commands = Vec::new();
        for _ in 0..3 {
            commands.push(process.prints("curl -sS ").await);
        }
        process.prints("Ctrl-C stops.").await;
        Self { process, api, line, commands }
    }

    /// Does what one of the printed commands would do.
    async fn paste(&self, number: usize) -> Answer {
        let command = &self.commands[number - 1];
        let words: Vec<&str> = command.split_whitespace().collect();
        let method = words.iter().position(|word| *word == "-X").map_or("GET", |place| words[place + 1]);
        let url = words.iter().find(|word| word.starts_with("http://")).unwrap();
        let mut request = client().request(method.parse().unwrap(), *url);
        if let Some((_, rest)) = command.split_once("Authorization: Bearer $(curl -s '") {
            let token = Answer::to(client().get(rest.split_once("')").unwrap().0)).await.is(200);
            request = request.bearer_auth(token.body.as_str().unwrap());
        }
        Answer::to(request).await
    }
}

const HANAKO: &str = "U00000000000000000000000000000001";

#[tokio::test]
async fn the_three_printed_commands_do_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let here = Skeleton::start(folder.path()).await;

    let card = here.paste(1).await.is(201);
    assert_eq!((&card.body["acquiredCount"], &card.body["totalCount"]), (&json!(0), &json!(2)));
    let stamp = here.paste(2).await.is(201);
    assert_eq!(stamp.body["acquired"], true);
    let phone = eventually("the phone shows the message", async || {
        let phone = here.paste(3).await.is(200);
        (!phone.body["messages"].as_array().unwrap().is_empty()).then_some(phone)
    })
    .await;
    assert_eq!(phone.body["messages"][0]["message"]["type"], "flex");
    let hanako = Participant::known(&here.line, HANAKO).await;
    hanako.is_told_of(&here.api, &["001"]).await;

    // Once more: the same stamp, the first time, and no second message.
    assert_eq!(here.paste(1).await.is(200).body["acquiredCount"], 1);
    assert_eq!(here.paste(2).await.is(200).body["acquiredAt"], stamp.body["acquiredAt"]);
    hanako.acquire(&here.api, "002").await.is(201);
    hanako.is_told_of(&here.api, &["001", "002"]).await;
    eventually("the message of the full card", async || (here.line.accepted().await == 3).then_some(())).await;
    let before = here.line.phone(HANAKO).await;
    here.process.stops().await;

    // Stopped and started again: nothing is lost, nothing is sent again.
    let here = Skeleton::start(folder.path()).await;
    let taro = Participant::new(&here.line, "太郎").await;
    taro.acquire(&here.api, "001").await.is(201);
    taro.is_told_of(&here.api, &["001"]).await;
    let card = here.paste(1).await.is(200);
    assert_eq!((&card.body["completed"], &card.body["acquiredCount"]), (&json!(true), &json!(2)));
    assert_eq!(here.line.phone(HANAKO).await, before);
    assert_eq!(here.line.accepted().await, 4);
    here.line.doubled_nothing().await;
    here.process.stops().await;
}

/// As in a clone where the demo was given a stamp more, with a template of its own.
#[tokio::test]
async fn the_demo_is_that_of_the_folder_it_is_started_in_and_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let (clone, shipped) = (folder.path(), Path::new(env!("CARGO_MANIFEST_DIR")));
    for place in ["config/events", "flex_templates"] {
        fs::create_dir_all(clone.join(place)).unwrap();
        for file in fs::read_dir(shipped.join(place)).unwrap().map(Result::unwrap) {
            fs::copy(file.path(), clone.join(place).join(file.file_name())).unwrap();
        }
    }
    let event = format!("config/events/{RALLY}.toml");
    let mine = "\n[[stamps]]\nstampId = \"003\"\nname = \"灯台\"\norder = 3\ntemplate = \"mine.json\"\n";
    let text = fs::read_to_string(clone.join(&event)).unwrap() + mine;
    fs::write(clone.join(&event), text).unwrap();
    fs::copy(clone.join("flex_templates/stamp-acquired.json"), clone.join("flex_templates/mine.json")).unwrap();

    let here = Skeleton::start(clone).await;
    assert_eq!(here.paste(1).await.is(201).body["totalCount"], 3);
    here.process.stops().await;
    // The rally is in the table now: its files may be in the middle of being edited.
    fs::remove_file(clone.join("flex_templates/mine.json")).unwrap();
    let here = Skeleton::start(clone).await;
    assert_eq!(here.paste(1).await.is(200).body["totalCount"], 3);
    here.process.stops().await;
}

#[tokio::test]
async fn the_demo_has_an_organiser_pages_for_machines_and_a_webhook() {
    let folder = tempfile::tempdir().unwrap();
    let here = Skeleton::start(folder.path()).await;
    let get =
        async |path: &str| Answer::to(client().get(format!("{}{path}", here.api)).bearer_auth("demo-admin")).await;
    assert_eq!(get("/admin/api/events").await.is(200).body["events"][0]["eventId"], RALLY);
    for path in ["/healthz", "/readyz", "/metrics", "/openapi.json"] {
        get(path).await.is(200);
    }
    let metrics = get("/metrics").await.body.as_str().unwrap().to_owned();
    for reason in ["audience", "expired", "unavailable", "unknown_key"] {
        let from_nothing = format!("id_tokens_refused_total{{reason=\"{reason}\"}} 0");
        assert!(metrics.contains(&from_nothing), "no {from_nothing} in {metrics}");
    }
    let hanako = Participant::known(&here.line, HANAKO).await;
    hanako.acquire(&here.api, "001").await.is(201);
    let block = json!({"relation": "blocked", "webhook": true});
    let told = here.line.control(Method::PUT, &format!("/users/{HANAKO}/relation"), &block).await;
    assert_eq!(told.body["deliveries"][0]["status"], 200);
    let page = get(&format!("/admin/api/events/{RALLY}/users/{HANAKO}")).await.is(200);
    assert_eq!(page.body["friendship"]["following"], false);
}

/// Whatever account this machine is signed in to, the demo never goes near it.
#[tokio::test]
async fn the_machines_aws_settings_are_nothing_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let elsewhere = format!("http://{}", unused.local_addr().unwrap());
    let machine = [
        ("AWS_ENDPOINT_URL", elsewhere.clone()),
        ("AWS_ENDPOINT_URL_DYNAMODB", elsewhere),
        ("AWS_PROFILE", "production".to_owned()),
        ("AWS_REGION", "eu-north-1".to_owned()),
        ("AWS_ACCESS_KEY_ID", "real".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "real".to_owned()),
        ("HTTP_PROXY", "http://127.0.0.1:1".to_owned()),
    ];
    let here = Skeleton::start_on(folder.path(), &machine).await;
    let hanako = Participant::known(&here.line, HANAKO).await;
    hanako.acquire(&here.api, "001").await.is(201);
    hanako.is_told_of(&here.api, &["001"]).await;
    unused.set_nonblocking(true).unwrap();
    assert!(unused.accept().is_err(), "no request came there");
}

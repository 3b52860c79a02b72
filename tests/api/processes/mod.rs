//! The program as the machine runs it: processes that are started, killed, asked to stop, and started again.

mod followed;
mod kills;
mod permissions;
mod refusals;
mod serve;
pub mod site;
mod skeleton;
mod stream;
mod traces;

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedReceiver};

use super::house::{Answer, RALLY};

/// Longer than anything here takes on the slowest machine.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Asks again and again until there is an answer worth having.
pub async fn eventually<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let mut heartbeat = tokio::time::interval(Duration::from_millis(20));
    let asking = async {
        loop {
            heartbeat.tick().await;
            if let Some(answer) = ask().await {
                return answer;
            }
        }
    };
    tokio::time::timeout(TIMEOUT, asking).await.unwrap_or_else(|_| panic!("waited in vain: {what}"))
}

/// A running `stamp-rally`. Killed when it is dropped.
pub struct Process {
    child: Child,
    out: UnboundedReceiver<String>,
    err: UnboundedReceiver<String>,
    said: String,
}

impl Process {
    /// Starts it in a folder, with these variables and no others.
    pub fn start(folder: &Path, arguments: &[&str], variables: &[(&str, String)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stamp-rally"));
        command.args(arguments).env_clear().envs(variables.iter().cloned()).current_dir(folder);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (out, err) = (lines_of(child.stdout.take().unwrap()), lines_of(child.stderr.take().unwrap()));
        Self { child, out, err, said: String::new() }
    }

    /// Waits for a line of stdout that has this in it.
    pub async fn prints(&mut self, words: &str) -> String {
        next_with(&mut self.out, words, &mut self.said).await
    }

    /// Waits for a line of stderr, where the log goes, that has this in it.
    pub async fn logs(&mut self, words: &str) -> String {
        next_with(&mut self.err, words, &mut self.said).await
    }

    /// `kill -9`: no time for anything. Returns when it is gone.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM: asks it to stop.
    pub fn ask_to_stop(&self) {
        let kill = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(kill.unwrap().success());
    }

    /// Waits until it ends: how, and everything on stderr that wasn't waited for.
    pub async fn ends(mut self) -> (ExitStatus, String) {
        let rest = async {
            let mut rest = Vec::new();
            while let Some(line) = self.err.recv().await {
                rest.push(line);
            }
            rest.join("\n")
        };
        let rest = tokio::time::timeout(TIMEOUT, rest).await.expect("it should end");
        // Its stderr is closed: it has ended, or is about to.
        (self.child.wait().unwrap(), rest)
    }

    /// Asks it to stop, insists on a good end, and returns all that it printed and logged.
    pub async fn whole_log(self) -> String {
        let said = self.said.clone();
        self.ask_to_stop();
        let (status, rest) = self.ends().await;
        assert_eq!(status.code(), Some(0), "{rest}");
        said + &rest
    }

    /// Asks it to stop, and insists on a good end.
    pub async fn stops(self) {
        self.ask_to_stop();
        let (status, log) = self.ends().await;
        assert_eq!(status.code(), Some(0), "{log}");
        assert!(!log.contains("ERROR"), "{log}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of a pipe. A thread reads them, so that the process never waits for us.
fn lines_of(pipe: impl Read + Send + 'static) -> UnboundedReceiver<String> {
    let (tell, told) = mpsc::unbounded_channel();
    thread::spawn(move || {
        // The reader may be gone; it is read all the same.
        BufReader::new(pipe).lines().map_while(Result::ok).for_each(|line| drop(tell.send(line)));
    });
    told
}

async fn next_with(lines: &mut UnboundedReceiver<String>, words: &str, said: &mut String) -> String {
    let reading = async {
        while let Some(line) = lines.recv().await {
            said.push_str(&line);
            said.push('\n');
            if line.contains(words) {
                return line;
            }
        }
        panic!("it ended without a line with {words:?}; it said:\n{said}")
    };
    tokio::time::timeout(TIMEOUT, reading).await.unwrap_or_else(|_| panic!("no line with {words:?}"))
}

/// A stand-in of LINE by its control API, in any process.
pub struct Line {
    pub url: String,
    client: reqwest::Client,
}

impl Line {
    pub fn at(url: &str) -> Self {
        Self { url: url.to_owned(), client: client() }
    }

    async fn control(&self, method: Method, path: &str, body: &Value) -> Answer {
        let answer = Answer::to(self.client.request(method, format!("{}/control{path}", self.url)).json(body)).await;
        assert!((200..300).contains(&answer.status), "{path}: {answer:?}");
        answer
    }

    /// A new user, a friend of the account: their id.
    pub async fn person(&self, name: &str) -> String {
        let made = self.control(Method::POST, "/users", &json!({"name": name})).await;
        made.body["userId"].as_str().unwrap().to_owned()
    }

    pub async fn id_token(&self, id: &str) -> String {
        let token = self.control(Method::GET, &format!("/users/{id}/id-token"), &json!({})).await;
        token.body.as_str().unwrap().to_owned()
    }

    pub async fn faults(&self, rules: Value) {
        self.control(Method::PUT, "/faults", &json!({ "rules": rules })).await;
    }

    /// How many messages LINE has accepted.
    pub async fn accepted(&self) -> u64 {
        let pushes = self.control(Method::GET, "/pushes?messages=false", &json!({})).await;
        pushes.body["total"].as_u64().unwrap()
    }

    /// What a phone shows: the texts, oldest first.
    pub async fn phone(&self, id: &str) -> Vec<String> {
        let phone = self.control(Method::GET, &format!("/users/{id}/phone"), &json!({})).await;
        let messages = phone.body["messages"].as_array().unwrap().clone();
        messages.iter().map(|shown| shown["message"]["altText"].as_str().unwrap().to_owned()).collect()
    }

    /// Insists that no message was accepted twice, or under one key with two contents.
    pub async fn doubled_nothing(&self) {
        let keys = self.control(Method::GET, "/retry-keys", &json!({})).await;
        for key in keys.body["retryKeys"].as_array().unwrap() {
            assert_eq!((&key["accepted"], &key["changedBody"]), (&json!(1), &json!(0)), "{key}");
        }
    }
}

pub fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// A participant of a rally that some process serves.
#[derive(Clone)]
pub struct Participant {
    pub id: String,
    token: String,
    client: reqwest::Client,
}

impl Participant {
    pub async fn new(line: &Line, name: &str) -> Self {
        let id = line.person(name).await;
        Self::known(line, &id).await
    }

    /// A participant whom the stand-in knows already, with a fresh token.
    pub async fn known(line: &Line, id: &str) -> Self {
        Self { id: id.to_owned(), token: line.id_token(id).await, client: client() }
    }

    fn request(&self, api: &str, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("{api}/api/events/{RALLY}{path}")).bearer_auth(&self.token)
    }

    pub async fn register(&self, api: &str) -> Answer {
        Answer::to(self.request(api, Method::PUT, "/me")).await
    }

    pub async fn acquire(&self, api: &str, stamp: &str) -> Answer {
        Answer::to(self.request(api, Method::POST, &format!("/me/stamps/{stamp}"))).await
    }

    /// The same, or nothing when no answer comes.
    pub async fn tries_to_acquire(&self, api: &str, stamp: &str, key: &str) -> Option<u16> {
        let request = self.request(api, Method::POST, &format!("/me/stamps/{stamp}")).header("Idempotency-Key", key);
        request.send().await.ok().map(|answer| answer.status().as_u16())
    }

    pub async fn card(&self, api: &str) -> Answer {
        Answer::to(self.request(api, Method::GET, "/me")).await
    }

    /// Waits until the card says that these stamps' notices were sent, and no others.
    pub async fn is_told_of(&self, api: &str, stamps: &[&str]) {
        eventually("the card says that the notices were sent", async || {
            let card = self.card(api).await.is(200);
            let sent = card.body["stamps"].as_array().unwrap().iter().filter(|stamp| stamp["flexMessageSent"] == true);
            let sent: Vec<&str> = sent.map(|stamp| stamp["stampId"].as_str().unwrap()).collect();
            (sent == stamps).then_some(())
        })
        .await;
    }
}

//! One child: the real program, what it logs, and the signals that it gets.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs::File,
    io::{BufRead, BufReader, Write},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
    thread::JoinHandle,
};

use serde_json::Value;

/// So many of its last lines are shown when the run fails.
const TAIL: usize = 40;

/// A running child. It is killed when it is dropped.
pub struct Process {
    name: String,
    child: Child,
    told: Arc<Mutex<Output>>,
    reader: Option<JoinHandle<()>>,
}

/// What a process has said so far.
#[derive(Default)]
pub struct Output {
    /// The name under which a consumer holds its shards.
    pub worker: Option<String>,
    /// Where a server listens.
    pub address: Option<String>,
    /// Warnings and errors, by their text.
    pub complaints: BTreeMap<String, u64>,
    /// Keys of items that can't be read, as the log shows them.
    pub unreadable: BTreeSet<(String, String)>,
    tail: VecDeque<String>,
}

impl Process {
    pub fn start(name: &str, arguments: &[&str], variables: &BTreeMap<&'static str, String>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stamp-rally"));
        command.args(arguments).env_clear().envs(variables);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (told, lines) = (Arc::new(Mutex::new(Output::default())), BufReader::new(child.stderr.take().unwrap()));
        let mut kept = std::env::var("STAMP_RALLY_FAULT_RUN_LOGS")
            .ok()
            .map(|folder| File::create(format!("{folder}/{name}-{}.log", child.id())).unwrap());
        let listener = Arc::clone(&told);
        let reader = std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                if let Some(file) = &mut kept {
                    writeln!(file, "{line}").unwrap();
                }
                listener.lock().unwrap().hears(line);
            }
        });
        Self { name: name.to_owned(), child, told, reader: Some(reader) }
    }

    /// Looks at what it has said.
    pub fn told<T>(&self, look: impl FnOnce(&Output) -> T) -> T {
        look(&self.told.lock().unwrap())
    }

    /// SIGKILL; what it had said is still there.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.heard_all();
    }

    /// SIGTERM, SIGSTOP, SIGCONT…
    pub fn signal(&self, signal: &str) {
        // The shell's own `kill`: there need not be another one.
        let arguments = ["-c", r#"kill -s "$1" "$2""#, "sh", signal, &self.child.id().to_string()];
        assert!(Command::new("sh").args(arguments).status().unwrap().success(), "kill -s {signal} {}", self.name);
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        let ended = self.child.try_wait().unwrap();
        if ended.is_some() {
            self.heard_all();
        }
        ended
    }

    fn heard_all(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            let told = self.told.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            super::tell(&format!("the last words of {}:", self.name));
            told.tail.iter().for_each(|line| super::tell(line));
        }
    }
}

impl Output {
    fn hears(&mut self, line: String) {
        let said: Value = serde_json::from_str(&line).unwrap_or_default();
        if let Some(worker) = said["worker.id"].as_str() {
            self.worker = Some(worker.to_owned());
        }
        if let Some(address) = said["http.bind"].as_str() {
            self.address = Some(address.to_owned());
        }
        if let (Some(pk), Some(sk)) = (said["item.pk"].as_str(), said["item.sk"].as_str()) {
            self.unreadable.insert((pk.to_owned(), sk.to_owned()));
        }
        if let (Some("WARN" | "ERROR"), Some(message)) = (said["level"].as_str(), said["message"].as_str()) {
            let text = format!("{} {message}", said["level"].as_str().unwrap_or_default());
            *self.complaints.entry(text).or_default() += 1;
        }
        if self.tail.len() == TAIL {
            self.tail.pop_front();
        }
        self.tail.push_back(line);
    }
}

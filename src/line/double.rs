//! A double of the platform for this folder's tests: a real HTTP server on its own port that
//! answers as each test says and counts what it was asked, and a clock that is turned by hand.

use std::{
    collections::HashMap,
    error::Error,
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::Value;

use super::{Platform, answer::REQUEST_ID};
use crate::domain::time::{Clock, TimeSource, Timestamp};

/// One request as it arrived.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) path: String,
    /// By lower-case name.
    pub(super) headers: HashMap<String, String>,
    pub(super) body: String,
}

/// What the double does with a request.
pub(super) enum Say {
    /// Answers as LINE does, with a request id: status, headers, body.
    Answer(u16, Vec<(&'static str, String)>, String),
    /// Closes the connection without an answer.
    Close,
    /// Never answers.
    Hang,
    /// A proxy answers in LINE's place, without its request id: status, headers, body.
    Proxy(u16, Vec<(&'static str, String)>, String),
    /// Sends this and closes the connection.
    Raw(String),
    /// Sends this and then nothing more, the connection open.
    RawAndHang(String),
}

impl Say {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self::Answer(status, vec![("content-type", "application/json".to_owned())], body.to_string())
    }

    pub(super) fn text(status: u16, body: &str) -> Self {
        Self::Answer(status, Vec::new(), body.to_owned())
    }

    pub(super) fn proxy(status: u16, body: &str) -> Self {
        Self::Proxy(status, Vec::new(), body.to_owned())
    }

    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        if let Self::Answer(_, headers, _) | Self::Proxy(_, headers, _) = &mut self {
            headers.push((name, value.to_owned()));
        }
        self
    }
}

/// The double. Its threads end with the test's process.
pub(super) struct Double {
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Double {
    /// Starts it; `answers` is called for every request.
    pub(super) fn start(answers: impl Fn(&Asked) -> Say + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answers, log) = (Arc::new(answers), Arc::clone(&asked));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (answers, log) = (Arc::clone(&answers), Arc::clone(&log));
                thread::spawn(move || serve(&stream.unwrap(), &*answers, &log));
            }
        });
        Self { address, asked }
    }

    /// The platform at the double's address, with a time-out that no test meets by accident.
    pub(super) fn platform(&self) -> Platform {
        self.platform_within(Duration::from_secs(20))
    }

    pub(super) fn platform_within(&self, timeout: Duration) -> Platform {
        platform_at(&self.address, timeout)
    }

    /// What it was asked at a path, in order.
    pub(super) fn asked(&self, path: &str) -> Vec<Asked> {
        self.asked.lock().unwrap().iter().filter(|asked| asked.path == path).cloned().collect()
    }

    pub(super) fn count(&self, path: &str) -> usize {
        self.asked(path).len()
    }
}

/// A platform where nobody listens.
pub(super) fn nobody() -> Platform {
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    platform_at(&format!("http://{address}"), Duration::from_secs(20))
}

fn platform_at(address: &str, timeout: Duration) -> Platform {
    Platform::new(&address.parse().unwrap(), timeout).unwrap()
}

fn serve(stream: &TcpStream, answers: &dyn Fn(&Asked) -> Say, log: &Mutex<Vec<Asked>>) {
    let mut reader = BufReader::new(stream);
    while let Some(asked) = read(&mut reader) {
        log.lock().unwrap().push(asked.clone());
        let (answer, open) = match answers(&asked) {
            Say::Answer(status, headers, body) => (response(status, &with_request_id(headers), &body), true),
            Say::Proxy(status, headers, body) => (response(status, &headers, &body), true),
            Say::Close => return,
            Say::Hang => return until_closed(stream),
            Say::Raw(text) => (text, false),
            Say::RawAndHang(text) => {
                let mut out = stream;
                let _ = out.write_all(text.as_bytes());
                return until_closed(stream);
            }
        };
        let mut out = stream;
        if out.write_all(answer.as_bytes()).is_err() || !open {
            return;
        }
    }
}

fn until_closed(mut stream: &TcpStream) {
    let _ = stream.read(&mut [0]);
}

fn read(reader: &mut impl BufRead) -> Option<Asked> {
    let mut line = String::new();
    let mut head = Vec::new();
    while reader.read_line(&mut line).ok()? > 0 && line != "\r\n" {
        head.push(line.trim_end().to_owned());
        line.clear();
    }
    let (method, path) = head.first()?.strip_suffix(" HTTP/1.1")?.split_once(' ')?;
    let headers: HashMap<_, _> = head[1..]
        .iter()
        .filter_map(|line| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned())))
        .collect();
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (method, path) = (method.to_owned(), path.to_owned());
    Some(Asked { method, path, headers, body: String::from_utf8(body).unwrap() })
}

/// Every answer of LINE's has a request id; some stories name their own.
fn with_request_id(mut headers: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
    if headers.iter().all(|(name, _)| *name != REQUEST_ID) {
        headers.push((REQUEST_ID, "f70dd685-499a-4231-a441-f24b8d4fba21".to_owned()));
    }
    headers
}

fn response(status: u16, headers: &[(&str, String)], body: &str) -> String {
    let lines = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
    let headers = lines.collect::<Vec<_>>().concat();
    format!("HTTP/1.1 {status} Said\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}

/// Everything that an error shows, to people and to developers, down to its last cause.
pub(super) fn shown(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes.map(|error| format!("{error:?} {error}")).collect::<Vec<_>>().join(" ")
}

/// A clock that is turned by hand, from half past eight in the evening, 23 May 2026, in Tokyo.
pub(super) struct HandClock(AtomicU64);

impl HandClock {
    pub(super) fn start() -> Arc<Self> {
        Arc::new(Self(AtomicU64::new(0)))
    }

    pub(super) fn turn(&self, by: Duration) {
        self.0.fetch_add(u64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }

    pub(super) fn clock(self: &Arc<Self>) -> Clock {
        Arc::clone(self) as Clock
    }
}

impl TimeSource for HandClock {
    fn now(&self) -> Timestamp {
        let start: Timestamp = "2026-05-23T11:30:00.000Z".parse().unwrap();
        start.plus_millis(i64::try_from(self.0.load(Ordering::SeqCst)).unwrap())
    }

    fn uptime(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst))
    }
}

//! A stub of any HTTP server, for unit tests: it answers on a port of its own as each test says, and keeps what it was
//! asked.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use serde_json::Value;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Request line and headers as they came.
    pub(crate) head: String,
    /// By lower-case name.
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
}

/// What the stub does with a request.
pub(crate) enum Reply {
    /// Answers: status, headers, body.
    Answer(u16, Vec<(&'static str, String)>, String),
    /// Closes the connection without an answer.
    Close,
    /// Never answers.
    Hang,
    /// Sends this and closes the connection.
    Raw(String),
    /// Sends this and then nothing more, the connection open.
    RawAndHang(String),
}

impl Reply {
    /// Returns an answer in JSON.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::text(status, &body.to_string()).with("content-type", "application/json")
    }

    /// Returns an answer without headers of its own.
    pub(crate) fn text(status: u16, body: &str) -> Self {
        Self::Answer(status, Vec::new(), body.to_owned())
    }

    /// Adds a header to an answer.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        if let Self::Answer(_, headers, _) = &mut self {
            headers.push((name, value.to_owned()));
        }
        self
    }
}

/// The stub. Its threads end with the test's process.
pub(crate) struct Stub {
    url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Stub {
    /// Starts it; `replies` is called for every request.
    pub(crate) fn start(replies: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (replies, requests) = (Arc::new(replies), Arc::<Mutex<Vec<Request>>>::default());
        let kept = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (replies, kept) = (Arc::clone(&replies), Arc::clone(&kept));
                thread::spawn(move || serve(&stream.unwrap(), &*replies, &kept));
            }
        });
        Self { url, requests }
    }

    /// Starts it with answers in their order; the last one is repeated.
    pub(crate) fn in_order(answers: &[(u16, &str)]) -> Self {
        let answers: Vec<_> = answers.iter().map(|(status, body)| (*status, (*body).to_owned())).collect();
        let asked = AtomicUsize::new(0);
        Self::start(move |_| {
            let (status, body) = &answers[asked.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1)];
            Reply::text(*status, body)
        })
    }

    /// Returns where it listens: `http://127.0.0.1:…`.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns what it was asked, in order.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

/// Returns an address where nothing listens.
pub(crate) fn unreachable_url() -> String {
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    format!("http://{address}")
}

fn serve(stream: &TcpStream, replies: &dyn Fn(&Request) -> Reply, kept: &Mutex<Vec<Request>>) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        kept.lock().unwrap().push(request.clone());
        let (text, then) = match replies(&request) {
            Reply::Answer(status, headers, body) => (response(status, &headers, &body), Then::NextRequest),
            Reply::Close => return,
            Reply::Hang => (String::new(), Then::Silence),
            Reply::Raw(text) => (text, Then::End),
            Reply::RawAndHang(text) => (text, Then::Silence),
        };
        let sent = { stream }.write_all(text.as_bytes());
        match then {
            Then::NextRequest if sent.is_ok() => {}
            Then::NextRequest | Then::End => return,
            // Until the client closes.
            Then::Silence => return drop({ stream }.read(&mut [0])),
        }
    }
}

/// What follows what was sent.
enum Then {
    End,
    NextRequest,
    Silence,
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
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
    Some(Request { method, path, head: head.join("\r\n"), headers, body: String::from_utf8(body).unwrap() })
}

fn response(status: u16, headers: &[(&str, String)], body: &str) -> String {
    let lines = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
    let headers = lines.collect::<Vec<_>>().concat();
    format!("HTTP/1.1 {status} Said\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}

//! Requests byte by byte: no client in between that mends what is wrong with them.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::{Shutdown, TcpStream},
    time::Duration,
};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// So long an answer may take on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A request as it goes over the wire.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub target: String,
    headers: Vec<u8>,
    body: Vec<u8>,
    is_sized: bool,
}

impl Request {
    pub fn new(method: &str, target: &str) -> Self {
        let (method, target) = (method.to_owned(), target.to_owned());
        Self { method, target, headers: Vec::new(), body: Vec::new(), is_sized: false }
    }

    /// The same with another method.
    pub fn by(self, method: &str) -> Self {
        Self { method: method.to_owned(), ..self }
    }

    /// The same to another target.
    pub fn at(self, target: &str) -> Self {
        Self { target: target.to_owned(), ..self }
    }

    pub fn header(self, name: &str, value: &str) -> Self {
        self.raw_header(name, value.as_bytes())
    }

    /// A header whose value needn't be text.
    pub fn raw_header(mut self, name: &str, value: &[u8]) -> Self {
        self.headers.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        self
    }

    /// A body and its length.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.is_sized = true;
        self
    }

    /// Bytes after the head, whatever the head says.
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.body = bytes.to_vec();
        self
    }

    pub fn json(self, body: &str) -> Self {
        self.header("content-type", "application/json").body(body)
    }

    /// For a failed test: no token is worth hiding here, but long ones are no help.
    pub fn shown(&self) -> String {
        let head = format!("{} {}\n{}", self.method, self.target, String::from_utf8_lossy(&self.headers));
        let body = String::from_utf8_lossy(&self.body);
        format!("{}…\n\n{}…", head.chars().take(400).collect::<String>(), body.chars().take(200).collect::<String>())
    }

    fn bytes_on_the_wire(&self) -> Vec<u8> {
        let mut bytes =
            format!("{} {} HTTP/1.1\r\nhost: rally\r\nconnection: close\r\n", self.method, self.target).into_bytes();
        bytes.extend(&self.headers);
        if self.is_sized {
            bytes.extend(format!("content-length: {}\r\n", self.body.len()).into_bytes());
        }
        bytes.extend(b"\r\n");
        bytes.extend(&self.body);
        bytes
    }
}

/// What came back.
#[derive(Debug, Default)]
pub struct Got {
    /// 0: nothing.
    pub status: u16,
    headers: Vec<(String, String)>,
    /// As text; a chunked one with its chunks.
    pub body: String,
}

impl Got {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// All headers; the first of a name.
    pub fn header_map(&self) -> HeaderMap {
        let parsed = |(name, value): &(String, String)| -> (HeaderName, HeaderValue) {
            (name.parse().unwrap(), value.parse().unwrap())
        };
        self.headers.iter().rev().map(parsed).collect()
    }

    /// The problem's code.
    pub fn code(&self) -> String {
        let problem: serde_json::Value = serde_json::from_str(&self.body).unwrap_or_default();
        problem["code"].as_str().unwrap_or_default().to_owned()
    }

    fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix("HTTP/1.1 100 Continue\r\n\r\n").unwrap_or(&text);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or_default();
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        Self { status, headers, body: body.to_owned() }
    }
}

/// Sends these bytes on a connection of their own and reads until the other side closes.
pub async fn send(url: &str, bytes: Vec<u8>) -> Got {
    let address = url.trim_start_matches("http://").to_owned();
    tokio::task::spawn_blocking(move || exchange(&address, &bytes)).await.unwrap()
}

/// Sends one request after the other, each on a connection of its own.
pub async fn talk(url: &str, requests: Vec<Request>) -> Vec<(Request, Got)> {
    let address = url.trim_start_matches("http://").to_owned();
    let talking = move || -> Vec<(Request, Got)> {
        let all = requests.into_iter();
        all.map(|request| {
            let got = exchange(&address, &request.bytes_on_the_wire());
            (request, got)
        })
        .collect()
    };
    tokio::task::spawn_blocking(talking).await.unwrap()
}

fn exchange(address: &str, bytes: &[u8]) -> Got {
    let mut connection = TcpStream::connect(address).unwrap();
    connection.set_read_timeout(Some(TIMEOUT)).unwrap();
    // A server that has seen enough may close; what it said before is still there to read.
    let sent = connection.write_all(bytes);
    if sent.is_ok() {
        let _ = connection.shutdown(Shutdown::Write);
    }
    let mut answer = Vec::new();
    let ended = connection.read_to_end(&mut answer);
    // Closed, whichever way; a connection that stays open is one that others don't get.
    let is_open = ended.is_err_and(|error| matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock));
    assert!(!is_open, "still open: {}", String::from_utf8_lossy(&bytes[..bytes.len().min(400)]));
    Got::read(&answer)
}

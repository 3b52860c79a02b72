//! A DynamoDB that says what it is told to: for answers no emulator gives.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Answers in the order they were given; the last one for ever.
pub(crate) struct Canned {
    endpoint: String,
    answers: Arc<Mutex<Vec<(u16, String)>>>,
    requests: Arc<AtomicUsize>,
}

impl Canned {
    pub fn answer(status: u16, body: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let canned = Self { endpoint, answers: Arc::default(), requests: Arc::default() }.then(status, body);
        let (answers, requests) = (Arc::downgrade(&canned.answers), Arc::clone(&canned.requests));
        thread::spawn(move || {
            for connection in listener.incoming() {
                let Some(answers) = answers.upgrade() else { return };
                let asked = requests.fetch_add(1, Ordering::SeqCst);
                let answers = answers.lock().unwrap();
                let (status, body) = &answers[asked.min(answers.len() - 1)];
                reply(connection.unwrap(), *status, body);
            }
        });
        canned
    }

    pub fn then(self, status: u16, body: &str) -> Self {
        self.answers.lock().unwrap().push((status, body.to_owned()));
        self
    }

    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

/// Its last connection tells the thread to end.
impl Drop for Canned {
    fn drop(&mut self) {
        self.answers = Arc::default();
        let _ = TcpStream::connect(self.endpoint.trim_start_matches("http://"));
    }
}

fn reply(connection: TcpStream, status: u16, body: &str) {
    let mut request = BufReader::new(connection);
    let mut length = 0;
    let mut line = String::new();
    while request.read_line(&mut line).unwrap() > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    request.read_exact(&mut vec![0; length]).unwrap();
    let head = format!(
        "HTTP/1.1 {status} Canned\r\ncontent-type: application/x-amz-json-1.0\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    request.into_inner().write_all((head + body).as_bytes()).unwrap();
}

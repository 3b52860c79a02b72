//! A request can be followed to its push: each line about its notice names it, and no line names the participant.

use std::{
    io,
    sync::{Arc, LazyLock, Mutex},
};

use serde_json::{Value, json};
use stamp_rally::domain::notice::NoticeStatus;
use tracing::{Dispatch, Level, subscriber::DefaultGuard};

use crate::house::House;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What this test's thread logs, from now on.
struct Log {
    lines: Lines,
    _guard: DefaultGuard,
}

impl Log {
    fn begin() -> Self {
        // With one subscriber alone, `tracing` would ask the thread that comes to a line first whether the line is wanted,
        // and remember the answer; that thread can be another test's, which has none.
        static ANOTHER: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(tracing_subscriber::registry()));
        LazyLock::force(&ANOTHER);
        let (lines, log) = (Lines::default(), tracing_subscriber::fmt().json().flatten_event(true));
        let writer = lines.clone();
        let log = log.with_max_level(Level::INFO).with_writer(move || writer.clone());
        Self { lines, _guard: tracing::subscriber::set_default(log.finish()) }
    }

    fn text(&self) -> String {
        String::from_utf8(self.lines.0.lock().unwrap().clone()).unwrap()
    }

    /// The lines that `grep` finds.
    fn grep(&self, id: &str) -> Vec<Value> {
        self.text().lines().filter(|line| line.contains(id)).map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn messages(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["message"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_request_id_shows_each_attempt_the_push_and_the_mark() {
    let log = Log::begin();
    let house = House::for_delivery("a_request_id_shows_each_attempt").await;
    house.pushes_fail(json!({ "kind": "drop_after_accept", "times": 1 })).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    house.worker().run_until_idle().await.unwrap();
    let NoticeStatus::Sent { request_id: line_id, .. } = hanako.notice("001").await else { panic!("it is marked") };
    let request_id = hanako.facts().await.stamps[0].request_id.clone().unwrap();
    let lines = log.grep(request_id.as_str());
    let wanted = ["a notice is taken up", "an attempt failed", "LINE accepted the push", "the notice is marked"];
    assert_eq!(messages(&lines), wanted);
    assert_eq!([&lines[1]["attempt"], &lines[2]["attempt"]], [1, 2]);
    assert!(lines[1]["error"].as_str().unwrap().contains("may have accepted"), "{}", lines[1]);
    let line_id = json!(line_id.unwrap());
    assert_eq!([&lines[2]["line.request_id"], &lines[3]["line.request_id"]], [&line_id; 2]);
    assert_eq!(lines[3]["outcome"], "sent");
    let span = &lines[0]["span"];
    assert_eq!((&span["event.id"], &span["notice.id"]), (&json!("stamp-rally-202606"), &json!("STAMP#001")));
    assert_eq!(span["channel"], "main");
    assert!(!log.text().contains(hanako.id.as_str()), "the user id is hashed");
}

#[tokio::test]
async fn a_resend_and_a_full_card_bear_the_request_of_their_stamp() {
    let log = Log::begin();
    let house = House::for_delivery("a_resend_and_a_full_card_bear_the_request").await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await.acquired("002").await;
    let mut worker = house.worker();
    worker.run_until_idle().await.unwrap();
    hanako.is_resent("002", 1).await;
    worker.run_until_idle().await.unwrap();
    let request_id = hanako.facts().await.stamps[1].request_id.clone().unwrap();
    let marked = log.grep(request_id.as_str()).into_iter().filter(|line| line["message"] == "the notice is marked");
    let marked: Vec<Value> = marked.map(|line| line["span"]["notice.id"].clone()).collect();
    assert_eq!(marked, ["STAMP#002", "COMPLETED", "RESEND#002#001"]);
}

#[tokio::test]
async fn a_notice_that_is_parked_says_why() {
    let log = Log::begin();
    let house = House::for_delivery("a_notice_that_is_parked_says_why").await;
    house.pushes_fail(json!({ "kind": "expired_token", "channel": "main" })).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    house.worker().run_until_idle().await.unwrap();
    let request_id = hanako.facts().await.stamps[0].request_id.clone().unwrap();
    let lines = log.grep(request_id.as_str());
    let parked = lines.last().unwrap();
    let parked = ["message", "outcome", "reason"].map(|field| parked[field].as_str().unwrap());
    assert_eq!(parked, ["the notice is parked", "held", "not_authorized"]);
    assert!(messages(&lines).contains(&"a channel is paused: its notices are parked"), "{lines:?}");
}

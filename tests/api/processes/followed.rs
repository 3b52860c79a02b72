//! One id, searched for in the logs of all processes, shows a request and what became of it.

use serde_json::{Value, json};

use super::{
    Participant, Process,
    site::{Site, engine},
};

/// What Hanako's client calls her request: the `requestId` of her stamp.
const KEY: &str = "hanako-at-the-first-poster";

/// The lines of a log in JSON that `grep` finds.
fn grep(log: &str, id: &str) -> Vec<Value> {
    log.lines().filter(|line| line.contains(id)).map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn address(server: &mut Process) -> String {
    let line: Value = serde_json::from_str(&server.logs("serving").await).unwrap();
    format!("http://{}", line["http.bind"].as_str().unwrap())
}

#[tokio::test]
async fn one_id_shows_request_record_attempts_push_and_mark_in_the_logs_of_both_processes() {
    let engine = engine();
    let mut site = Site::at(&engine.endpoint_url());
    site.set_up();
    site.set("STAMP_RALLY__LOG__FORMAT", "json");
    let (mut server, consumer) = (site.start(&["serve"]), site.start(&["consume"]));
    let api = address(&mut server).await;
    let hanako = Participant::new(&site.line, "花子").await;
    site.line.faults(json!([{"endpoint": "push", "kind": "status", "code": 500, "times": 1}])).await;
    assert_eq!(hanako.tries_to_acquire(&api, "001", KEY).await, Some(201));
    hanako.is_told_of(&api, &["001"]).await;
    let (request_log, notice_log) = (server.whole_log().await, consumer.whole_log().await);

    let request = grep(&request_log, KEY);
    assert_eq!(request.len(), 1, "{request_log}");
    let request = &request[0];
    assert_eq!((&request["message"], &request["idempotency.key"]), (&json!("answered"), &json!(KEY)));
    assert_eq!(request["http.route"], "/api/events/{eventId}/me/stamps/{stampId}");
    assert_eq!((&request["http.method"], &request["http.status"]), (&json!("POST"), &json!(201)));

    let notice = grep(&notice_log, KEY);
    let messages: Vec<&str> = notice.iter().map(|line| line["message"].as_str().unwrap()).collect();
    let [record, failed, pushed, marked] = &notice[..] else { panic!("{messages:?}") };
    let wanted = ["a notice is taken up", "an attempt failed", "LINE accepted the push", "the notice is marked"];
    assert_eq!(messages, wanted);
    for line in &notice {
        let (job, span) = (&line["spans"][0], &line["span"]);
        assert_eq!((&job["name"], &job["effect"]), (&json!("consumer.job"), &json!("notices")), "{line}");
        assert!(job["shard.id"].is_string() && job["sequence"].is_string(), "it names the record: {line}");
        assert_eq!((&span["name"], &span["request.id"]), (&json!("delivery.notice"), &json!(KEY)), "{line}");
        assert_eq!((&span["notice.id"], &span["channel"]), (&json!("STAMP#001"), &json!("main")), "{line}");
    }
    assert_eq!(record["notice.path"], "Ordinary");
    assert_eq!([&failed["attempt"], &pushed["attempt"]], [1, 2]);
    assert!(failed["error"].as_str().unwrap().contains("500"), "with its cause: {failed}");
    assert!(pushed["line.request_id"].as_str().is_some_and(|id| !id.is_empty()), "{pushed}");
    assert_eq!((&marked["line.request_id"], &marked["outcome"]), (&pushed["line.request_id"], &json!("sent")));

    let texts = site.line.phone(&hanako.id).await;
    assert_eq!(texts.len(), 1);
    for secret in
        [&hanako.id, &hanako.token, "花子", "a-channel-secret"].into_iter().chain(texts.iter().map(|text| &**text))
    {
        assert!(!request_log.contains(secret) && !notice_log.contains(secret), "{secret} is in the log");
    }
}

//! The participants as a file.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use reqwest::{Method, Response};
use serde_json::json;
use stamp_rally::domain::{fact::User, time::Timestamp};

use super::{at, rally, user};
use crate::{
    house::{House, RALLY},
    proxy::{Calls, Fault, Often},
};

const HEADER: &str = "\u{feff}lineUserId,createdAt,updatedAt,requestId\r\n";

impl House {
    async fn file(&self, query: &str) -> Response {
        let request = self.organiser().request(Method::GET, &format!("/{RALLY}/users.csv{query}"));
        request.send().await.unwrap()
    }

    async fn file_text(&self, query: &str) -> String {
        let file = self.file(query).await;
        assert_eq!(file.status(), 200);
        file.text().await.unwrap()
    }

    /// Many people at once, as the table holds them.
    async fn many_registered(&self, people: &[User]) {
        for some in people.chunks(25) {
            let puts = some.iter().map(|user| {
                let put = PutRequest::builder().set_item(Some(item(user))).build().unwrap();
                WriteRequest::builder().put_request(put).build()
            });
            let batch = self.clients.table.batch_write_item().request_items("line-event", puts.collect());
            assert!(batch.send().await.unwrap().unprocessed_items().is_none_or(HashMap::is_empty));
        }
    }
}

fn item(user: &User) -> HashMap<String, AttributeValue> {
    let (event, person, at) = (user.event_id.as_str(), user.line_user_id.as_str(), user.created_at.to_string());
    let attributes = [
        ("PK", format!("EVENT#{event}#USER#{person}")),
        ("SK", "PROFILE".to_owned()),
        ("GSI1PK", format!("EVENT#{event}#USERS")),
        ("GSI1SK", format!("{at}#{person}")),
        ("entityType", "USER".to_owned()),
        ("eventId", event.to_owned()),
        ("lineUserId", person.to_owned()),
        ("createdAt", at.clone()),
        ("updatedAt", at),
        ("requestId", user.request_id.as_ref().unwrap().to_string()),
    ];
    attributes.map(|(name, text)| (name.to_owned(), AttributeValue::S(text))).into()
}

/// So many people, two at each moment.
fn crowd(people: u32) -> Vec<User> {
    let begin = at("2026-05-23T01:00:00.000Z");
    let request = |n: u32| format!("request-{n}").parse().unwrap();
    let person = |n| User::registers(rally(), user(n), request(n), begin.plus_millis(i64::from(n / 2)));
    (0..people).map(person).collect()
}

fn row(user: &User) -> String {
    let (id, at) = (user.line_user_id.as_str(), user.created_at);
    format!("{id},{at},{at},{}\r\n", user.request_id.as_ref().unwrap().as_str())
}

#[tokio::test]
async fn thousands_of_participants_are_one_file_in_order() {
    let house = House::open("big file").await;
    let people = crowd(2500);
    house.many_registered(&people).await;
    house.wire();

    let file = house.file("").await;
    let header = |name: &str| file.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "text/csv; charset=utf-8");
    assert_eq!(header("content-disposition"), format!("attachment; filename=\"{RALLY}-users.csv\""));
    assert_eq!(header("cache-control"), "no-store");
    let expected = format!("{HEADER}{}", people.iter().map(row).collect::<String>());
    // The header begins with a byte order mark, for Excel.
    assert!(file.bytes().await.unwrap() == expected);
    assert_eq!(house.wire(), ["1 × GetItem line-event", "3 × Query line-event/GSI1"], "page by page");

    let part = house.file_text("?order=desc&from=2026-05-23T10:00:01%2B09:00&to=2026-05-23").await;
    let expected = people[2000..].iter().rev().map(row).collect::<String>();
    assert!(part.ends_with(&expected) && part.lines().count() == 501);
}

#[tokio::test]
async fn the_file_of_a_spread_out_event_is_in_order_too() {
    let house = House::open("spread file").await;
    house.organiser().put_event(RALLY, &json!({"indexShards": 4})).await.is(200);
    house.registered((0..40).map(|n| (n, at("2026-05-23T01:00:00.000Z").plus_millis(i64::from(n))))).await;
    let ids = |text: &str| text.lines().skip(1).map(|line| super::number(&line[..33])).collect::<Vec<_>>();
    assert_eq!(ids(&house.file_text("").await), (0..40).collect::<Vec<_>>());
    assert_eq!(ids(&house.file_text("?order=desc").await), (0..40).rev().collect::<Vec<_>>());
    assert_eq!(ids(&house.file_text("?from=2026-06-01").await), [] as [u32; 0], "a header and no row");
}

#[tokio::test]
async fn a_cell_that_a_spreadsheet_would_run_is_defused() {
    let house = House::open("formula").await;
    let hanako = house.hanako();
    let key = "=HYPERLINK(\"http://evil.example\",\"prize\")";
    let register = hanako.request(Method::PUT, "/me").header("Idempotency-Key", key);
    crate::house::Answer::to(register).await.is(201);
    let file = house.file_text("").await;
    assert!(file.ends_with(",\"'=HYPERLINK(\"\"http://evil.example\"\",\"\"prize\"\")\"\r\n"), "{file}");
}

/// A file that ends early must never look complete.
#[tokio::test]
async fn a_store_that_fails_in_the_middle_breaks_the_connection() {
    let house = House::open("broken file").await;
    house.many_registered(&crowd(2500)).await;
    house.wire.inject(Calls::Index("GSI1"), Fault::ServerError, Often::After(1));
    let mut file = house.file("").await;
    assert_eq!(file.status(), 200, "it began well");
    let mut read = Vec::new();
    let broken = loop {
        match file.chunk().await {
            Ok(Some(chunk)) => read.extend_from_slice(&chunk),
            Ok(None) => panic!("a clean end after {} bytes", read.len()),
            Err(error) => break error,
        }
    };
    assert!(broken.is_body() || broken.is_decode(), "{broken:?}");
    assert!(read.starts_with(HEADER.as_bytes()), "what came until then was read: {} bytes", read.len());

    house.wire.heal();
    assert_eq!(house.file_text("").await.lines().count(), 2501, "again, and whole");
}

#[tokio::test]
async fn a_store_that_is_down_before_the_first_row_is_a_problem_document() {
    let house = House::open("no file").await;
    house.registered([(1, Timestamp::EPOCH)]).await;
    for (calls, fault) in [
        (Calls::Index("GSI1"), Fault::ServerError),
        (Calls::Index("GSI1"), Fault::Throttled),
        (Calls::Operation("GetItem"), Fault::LostRequest),
    ] {
        house.wire.inject(calls, fault, Often::Always);
        let organiser = house.organiser();
        let refused = organiser.get(&format!("/{RALLY}/users.csv")).await.refuses(503, "store_unavailable");
        assert_eq!(refused.header("retry-after"), "2");
        organiser.get(&format!("/{RALLY}/users")).await.refuses(503, "store_unavailable");
        house.wire.heal();
    }
    let organiser = house.organiser();
    for query in ["limit=1", "cursor=x", "order=up", "from=2026-05-24&to=2026-05-23"] {
        organiser.get(&format!("/{RALLY}/users.csv?{query}")).await.refuses(400, "invalid_request");
    }
    organiser.get("/no-such-rally/users.csv").await.refuses(404, "event_not_found");
}

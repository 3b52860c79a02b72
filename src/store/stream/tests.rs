use std::{borrow::Cow, time::Duration};

use serde_json::{Value, json};

use super::*;
use crate::store::{
    StoreError,
    client::{Clients, Timeouts},
};
use crate::stub::Stub;

fn reader(stub: &Stub, story: &'static str) -> StreamReader {
    let timeouts = Timeouts {
        budget: Cow::Borrowed(story),
        first_backoff: Duration::from_millis(1),
        attempts: 1,
        ..Timeouts::worker()
    };
    StreamReader::new(Clients::at(stub.url(), &timeouts).streams, "arn:aws:dynamodb:x".to_owned())
}

async fn records_of(answer: Value, story: &'static str) -> RecordsPage {
    let stub = Stub::in_order(&[(200, &answer.to_string())]);
    reader(&stub, story).records(&Iterator("i".to_owned()), 1000).await.unwrap()
}

fn record(name: &str, image: &Value) -> Value {
    let dynamodb = json!({ "SequenceNumber": "100", "ApproximateCreationDateTime": 1_779_530_400, "NewImage": image });
    json!({ "eventName": name, "dynamodb": dynamodb })
}

fn stamp(acquired_at: &str) -> Value {
    let text = |text: &str| json!({ "S": text });
    json!({
        "PK": text("EVENT#e#USER#U0123456789abcdef0123456789abcdef"),
        "SK": text("STAMP#001"),
        "entityType": text("USER_STAMP"),
        "eventId": text("e"),
        "lineUserId": text("U0123456789abcdef0123456789abcdef"),
        "stampId": text("001"),
        "acquiredAt": text(acquired_at),
        "flexMessageSent": { "BOOL": false },
    })
}

#[tokio::test]
async fn every_failure_says_what_its_reader_can_do() {
    let cases = [
        ("ExpiredIteratorException", "expired"),
        ("ResourceNotFoundException", "gone"),
        ("TrimmedDataAccessException", "trimmed"),
        ("ValidationException", "misplaced"),
        ("LimitExceededException", "wait"),
        // Not in the model of the streams' API.
        ("ThrottlingException", "wait"),
        ("AccessDeniedException", "call a person"),
    ];
    for (code, expected) in cases {
        let body = json!({ "__type": format!("com.amazonaws.dynamodb.v20120810#{code}"), "message": "no" });
        let stub = Stub::in_order(&[(400, &body.to_string())]);
        let found = match reader(&stub, code).records(&Iterator("i".to_owned()), 1000).await {
            Ok(_) => "fine",
            Err(StreamError::Expired) => "expired",
            Err(StreamError::Misplaced(_)) => "misplaced",
            Err(StreamError::ShardGone) => "gone",
            Err(StreamError::Store(StoreError::Unavailable(_))) => "wait",
            Err(StreamError::Store(_)) => "call a person",
            Err(StreamError::Trimmed) => "trimmed",
        };
        assert_eq!(found, expected, "{code}");
    }
}

#[tokio::test]
async fn an_inserted_fact_is_read_and_its_mark_is_passed_over() {
    let image = stamp("2026-05-23T10:00:00.000Z");
    let answer = json!({ "Records": [record("INSERT", &image), record("MODIFY", &image)], "NextShardIterator": "j" });
    let page = records_of(answer, "an_inserted_fact").await;
    assert!(matches!(&page.records[0].change, Change::Inserted(_)));
    assert!(matches!(&page.records[1].change, Change::Passed));
    assert_eq!(page.records[0].at.to_string(), "2026-05-23T10:00:00.000Z");
    assert!(page.next.is_some());
}

#[tokio::test]
async fn a_fact_that_cannot_be_read_keeps_its_place() {
    let answer = json!({ "Records": [record("INSERT", &stamp("yesterday"))] });
    let page = records_of(answer, "a_fact_that_cannot_be_read").await;
    assert!(matches!(&page.records[0].change, Change::Unreadable(why) if why.attribute == "acquiredAt"));
    assert!(page.next.is_none(), "no iterator any more: the shard has ended");
}

#[tokio::test]
async fn items_that_are_no_facts_are_passed_over() {
    let image = json!({ "PK": { "S": "EVENT#e" }, "SK": { "S": "METADATA" }, "entityType": { "S": "EVENT" } });
    let page = records_of(json!({ "Records": [record("INSERT", &image)] }), "items_that_are_no_facts").await;
    assert!(matches!(&page.records[0].change, Change::Passed));
}

#[tokio::test]
async fn shards_come_page_by_page_and_only_children_are_children() {
    let shards = json!([
        { "ShardId": "s1", "SequenceNumberRange": { "StartingSequenceNumber": "1" } },
        { "ShardId": "s2", "ParentShardId": "s1" },
        { "ShardId": "s3", "ParentShardId": "s0" },
    ]);
    let description = json!({ "StreamDescription": { "Shards": shards, "LastEvaluatedShardId": "s3" } });
    let stub = Stub::in_order(&[(200, &description.to_string())]);
    let page = reader(&stub, "shards_come_page_by_page").shards(None).await.unwrap();
    let id = |id: &str| ShardId::from(id.to_owned());
    assert_eq!((page.shards.len(), page.next), (3, Some(id("s3"))));
    let children = reader(&stub, "only_children").children(&id("s1")).await.unwrap();
    assert_eq!(children, [ListedShard { id: id("s2"), parent: Some(id("s1")) }]);
}

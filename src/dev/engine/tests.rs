//! The embedded engine, as the SDK and a killed process meet it.

mod data;

use std::{
    io::{Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
};

use aws_sdk_dynamodb::{
    Client as Table,
    config::{BehaviorVersion, Credentials, Region},
    types::{
        AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType,
        StreamSpecification, StreamViewType, TimeToLiveSpecification,
    },
};
use aws_sdk_dynamodbstreams::{
    Client as Streams,
    types::{Record, ShardIteratorType},
};

use super::*;

const DAY: Duration = Duration::from_hours(24);

fn somewhere() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

fn engine(storage: Storage) -> Engine {
    Engine::start(somewhere(), storage).unwrap()
}

/// Hanako's phone, the spots and the organiser, as far as the engine is concerned.
struct Rally {
    table: Table,
    streams: Streams,
}

impl Rally {
    fn at(engine: &Engine) -> Self {
        let plain = aws_smithy_http_client::Builder::new().build_http();
        let any = Credentials::new("a", "b", None, None, "test");
        let table = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .credentials_provider(any.clone())
            .endpoint_url(engine.endpoint_url())
            .http_client(plain.clone());
        let streams = aws_sdk_dynamodbstreams::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .credentials_provider(any)
            .endpoint_url(engine.endpoint_url())
            .http_client(plain);
        Self { table: Table::from_conf(table.build()), streams: Streams::from_conf(streams.build()) }
    }

    async fn make_table(&self) {
        let string = |name| {
            let attribute = AttributeDefinition::builder().attribute_name(name);
            attribute.attribute_type(ScalarAttributeType::S).build().unwrap()
        };
        let key = |name, kind| KeySchemaElement::builder().attribute_name(name).key_type(kind).build().unwrap();
        let stream = StreamSpecification::builder().stream_enabled(true);
        let stream = stream.stream_view_type(StreamViewType::NewAndOldImages).build().unwrap();
        self.table
            .create_table()
            .table_name("rally")
            .billing_mode(BillingMode::PayPerRequest)
            .attribute_definitions(string("PK"))
            .attribute_definitions(string("SK"))
            .key_schema(key("PK", KeyType::Hash))
            .key_schema(key("SK", KeyType::Range))
            .stream_specification(stream)
            .send()
            .await
            .unwrap();
        let ttl = TimeToLiveSpecification::builder().enabled(true).attribute_name("ttl").build().unwrap();
        self.table.update_time_to_live().table_name("rally").time_to_live_specification(ttl).send().await.unwrap();
    }

    async fn stamp(&self, stamp: &str) {
        self.put(stamp, &[]).await;
    }

    async fn put(&self, stamp: &str, more: &[(&str, AttributeValue)]) {
        let mut put = self.table.put_item().table_name("rally");
        put = put.item("PK", AttributeValue::S("HANAKO".into())).item("SK", AttributeValue::S(stamp.into()));
        for (name, value) in more {
            put = put.item(*name, value.clone());
        }
        put.send().await.unwrap();
    }

    async fn stamps(&self) -> Vec<String> {
        let query = self.table.query().table_name("rally").consistent_read(true);
        let query = query.key_condition_expression("PK = :hanako");
        let page = query.expression_attribute_values(":hanako", AttributeValue::S("HANAKO".into())).send().await;
        page.unwrap().items().iter().map(|item| item["SK"].as_s().unwrap().clone()).collect()
    }

    async fn stream(&self) -> String {
        let table = self.table.describe_table().table_name("rally").send().await.unwrap().table.unwrap();
        table.latest_stream_arn.unwrap()
    }

    /// All records behind `after`, or all there are.
    async fn records(&self, after: Option<&str>) -> Vec<Record> {
        let stream = self.stream().await;
        let shards = self.streams.describe_stream().stream_arn(&stream).send().await.unwrap();
        let shard = shards.stream_description.unwrap().shards.unwrap().remove(0).shard_id.unwrap();
        let start =
            if after.is_some() { ShardIteratorType::AfterSequenceNumber } else { ShardIteratorType::TrimHorizon };
        let iterator = self.streams.get_shard_iterator().stream_arn(stream).shard_id(shard);
        let iterator = iterator.shard_iterator_type(start).set_sequence_number(after.map(str::to_owned)).send().await;
        let page = self.streams.get_records().set_shard_iterator(iterator.unwrap().shard_iterator).send().await;
        page.unwrap().records.unwrap()
    }
}

fn sequence(record: &Record) -> String {
    record.dynamodb().unwrap().sequence_number().unwrap().to_owned()
}

fn stamp_of(record: &Record) -> String {
    record.dynamodb().unwrap().keys().unwrap()["SK"].as_s().unwrap().clone()
}

#[tokio::test]
async fn a_restart_keeps_items_stream_and_positions() {
    let folder = tempfile::tempdir().unwrap();
    let storage = Storage::File(folder.path().join("data/engine.db"));
    let before = engine(storage.clone());
    let rally = Rally::at(&before);
    rally.make_table().await;
    rally.stamp("001").await;
    rally.stamp("002").await;
    let (stream, records) = (rally.stream().await, rally.records(None).await);
    before.stop().unwrap();

    let after = engine(storage);
    let rally = Rally::at(&after);
    assert_eq!(rally.stamps().await, ["001", "002"]);
    assert_eq!(rally.stream().await, stream);
    rally.stamp("003").await;
    let news = rally.records(Some(&sequence(&records[0]))).await;
    assert_eq!(news.iter().map(stamp_of).collect::<Vec<_>>(), ["002", "003"]);
    assert!(sequence(&news[1]) > sequence(&records[1]));
}

#[tokio::test]
async fn a_killed_engine_has_lost_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("engine.db");
    let running = engine(Storage::File(path.clone()));
    let rally = Rally::at(&running);
    rally.make_table().await;
    for number in 0..50 {
        rally.stamp(&format!("{number:03}")).await;
    }

    // What a killed process leaves on the disk is what is there now, in the middle of its life.
    let left = folder.path().join("left.db");
    for end in ["", "-wal"] {
        std::fs::copy(with(&path, end), with(&left, end)).unwrap();
    }
    let again = engine(Storage::File(left));
    let rally = Rally::at(&again);
    assert_eq!(rally.stamps().await.len(), 50);
    assert_eq!(rally.records(None).await.len(), 50);
}

fn with(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

#[test]
fn a_second_engine_on_one_file_is_refused_until_the_first_has_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("engine.db");
    let first = engine(Storage::File(path.clone()));

    let refused = Engine::start(somewhere(), Storage::File(path.clone())).unwrap_err();
    let path_in_words = path.display();
    assert_eq!(
        refused.to_string(),
        format!(
            "{path_in_words} is in use by another stamp-rally: stop it, or choose another folder by `stamp-rally dev --data DIR`"
        )
    );

    first.stop().unwrap();
    engine(Storage::File(path)).stop().unwrap();
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("engine.db");
    std::fs::write(&path, "Dear diary, today I collected three stamps.".repeat(100)).unwrap();
    let refused = Engine::start(somewhere(), Storage::File(path)).unwrap_err();
    assert!(matches!(refused, EngineError::Data { .. }), "{refused:?}");
}

#[test]
fn a_half_sent_request_does_not_hold_the_stop() {
    let folder = tempfile::tempdir().unwrap();
    let storage = Storage::File(folder.path().join("engine.db"));
    let running = engine(storage.clone());
    let mut phone = TcpStream::connect(running.address).unwrap();
    phone.write_all(b"POST / HTTP/1.1\r\nhost: engine\r\ncontent-length: 100\r\n\r\n{\"Tab").unwrap();
    // A second request that is answered shows that the first one has arrived.
    let mut other = TcpStream::connect(running.address).unwrap();
    other.write_all(b"GET / HTTP/1.1\r\nhost: engine\r\n\r\n").unwrap();
    other.read_exact(&mut [0; 12]).unwrap();

    running.stop().unwrap();
    engine(storage).stop().unwrap();
}

#[tokio::test]
async fn a_sweep_deletes_expired_items_and_records_older_than_a_day() {
    let folder = tempfile::tempdir().unwrap();
    for storage in [Storage::Memory, Storage::File(folder.path().join("engine.db"))] {
        let engine = engine(storage);
        let rally = Rally::at(&engine);
        rally.make_table().await;
        let now = SystemTime::now();
        let expires = |time: SystemTime| {
            AttributeValue::N(time.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs().to_string())
        };
        rally.put("expired", &[("ttl", expires(now - DAY))]).await;
        rally.put("fresh", &[("ttl", expires(now + DAY))]).await;

        assert_eq!(engine.sweep(now).unwrap(), Swept { items: 1, records: 0 });
        assert_eq!(rally.stamps().await, ["fresh"]);
        let records = rally.records(None).await;
        assert_eq!(records.len(), 3, "two puts and the removal");

        assert_eq!(engine.sweep(now + DAY + Duration::from_mins(1)).unwrap(), Swept { items: 0, records: 3 });
        assert!(rally.records(None).await.is_empty());
        rally.stamp("later").await;
        assert!(sequence(&rally.records(None).await[0]) > sequence(&records[2]), "numbers never start again");
    }
}

#[tokio::test]
async fn engines_in_memory_share_nothing() {
    let (one, other) = (engine(Storage::Memory), engine(Storage::Memory));
    Rally::at(&one).make_table().await;
    let tables = Rally::at(&other).table.list_tables().send().await.unwrap();
    assert!(tables.table_names().is_empty());
}

#[test]
fn a_dropped_engine_frees_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("engine.db");
    drop(engine(Storage::File(path.clone())));
    drop(engine(Storage::File(path)));
}

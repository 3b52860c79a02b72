//! The delivery as an AWS Lambda: the real binary, invoked through a stand-in of the Lambda runtime API with the records
//! of the embedded engine's stream in the form that Lambda gives them.

mod deployed;
mod runtime;

use std::{
    fs::{self, File},
    process::{Child, Command},
    time::Duration,
};

use aws_sdk_dynamodbstreams::types::{Record, ShardIteratorType};
use serde_dynamo::Item;
use serde_json::{Value, json};
use tempfile::TempDir;

use self::runtime::{Answer, RuntimeApi};
use super::house::{CHANNEL, House, RALLY, SECRET};

const MINUTE: Duration = Duration::from_mins(1);

/// The function, deployed for a house.
struct Function {
    process: Child,
    api: RuntimeApi,
    folder: TempDir,
}

impl Function {
    async fn of(house: &House) -> Self {
        let (api, folder) = (RuntimeApi::start().await, tempfile::tempdir().unwrap());
        let log = File::create(folder.path().join("log")).unwrap();
        let process = command().envs(environment(house, &api.address)).stderr(log).spawn().unwrap();
        Self { process, api, folder }
    }

    /// Asks it once, and insists on an answer.
    async fn is_asked(&mut self, event: Value, time: Duration) -> Answer {
        let answer = tokio::time::timeout(MINUTE, self.api.invoke(event, time)).await;
        answer.unwrap_or_else(|_| panic!("no answer: {}", self.log()))
    }

    /// Hands a batch over; the sequence numbers that it reports.
    async fn is_handed(&mut self, records: &[Value], time: Duration) -> Vec<String> {
        let answer = self.is_asked(json!({ "Records": records }), time).await.unwrap();
        let failures = answer["batchItemFailures"].as_array().unwrap();
        failures.iter().map(|failure| failure["itemIdentifier"].as_str().unwrap().to_owned()).collect()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        let _gone = self.process.kill();
        let _waited = self.process.wait();
    }
}

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stamp-rally"));
    command.arg("lambda").env_clear();
    command
}

fn environment(house: &House, runtime_api: &str) -> Vec<(&'static str, String)> {
    let mut channel = json!({
        "login_channel_ids": ["1000000001"], "messaging_channel_id": "2000000001", "channel_secrets": [SECRET]
    });
    if let Some(pushes) = house.settings.line.channels[&CHANNEL.parse().unwrap()].monthly_pushes {
        channel["monthly_pushes"] = json!(pushes);
    }
    vec![
        ("AWS_LAMBDA_RUNTIME_API", runtime_api.to_owned()),
        ("AWS_LAMBDA_FUNCTION_NAME", "deliver".to_owned()),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256".to_owned()),
        ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST".to_owned()),
        ("AWS_REGION", "ap-northeast-1".to_owned()),
        ("AWS_ACCESS_KEY_ID", "local".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "local".to_owned()),
        ("AWS_ENDPOINT_URL", house.wire.endpoint_url()),
        ("STAMP_RALLY__LINE__API_BASE_URL", house.line.base_url()),
        ("STAMP_RALLY__LINE__CHANNELS", json!({ CHANNEL: channel }).to_string()),
        ("STAMP_RALLY__DELIVERY__HOLD_PROBE_MS", "100".to_owned()),
    ]
}

/// All records of the house's stream, as Lambda would hand them over.
async fn records(house: &House) -> Vec<Value> {
    let (streams, arn) = (&house.clients.streams, house.store.stream_arn().await.unwrap().unwrap());
    let described = streams.describe_stream().stream_arn(&arn).send().await.unwrap();
    let shard = described.stream_description.unwrap().shards.unwrap().remove(0).shard_id.unwrap();
    let from = streams.get_shard_iterator().stream_arn(&arn).shard_id(shard);
    let from = from.shard_iterator_type(ShardIteratorType::TrimHorizon).send().await.unwrap();
    let page = streams.get_records().set_shard_iterator(from.shard_iterator).send().await.unwrap();
    page.records.unwrap().into_iter().map(|record| as_lambda_has_it(record, &arn)).collect()
}

fn as_lambda_has_it(record: Record, arn: &str) -> Value {
    let change = record.dynamodb.unwrap();
    let image = |image: Option<_>| image.map(|image| serde_json::to_value(Item::from(image)).unwrap());
    let mut entry = json!({
        "eventID": record.event_id,
        "eventName": record.event_name.unwrap().as_str(),
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "ap-northeast-1",
        "dynamodb": {
            "ApproximateCreationDateTime": change.approximate_creation_date_time.unwrap().as_secs_f64(),
            "SequenceNumber": change.sequence_number,
            "SizeBytes": change.size_bytes.unwrap_or_default(),
            "StreamViewType": "NEW_AND_OLD_IMAGES"
        },
        "eventSourceARN": arn
    });
    let images = [("Keys", change.keys), ("NewImage", change.new_image), ("OldImage", change.old_image)];
    for (name, attributes) in images.into_iter().filter_map(|(name, map)| Some((name, image(map)?))) {
        entry["dynamodb"][name] = attributes;
    }
    entry
}

fn sequence(record: &Value) -> &str {
    record["dynamodb"]["SequenceNumber"].as_str().unwrap()
}

fn is_of(record: &Value, kind: &str) -> bool {
    record["dynamodb"]["NewImage"]["entityType"]["S"] == kind
}

#[tokio::test]
async fn a_lambda_brings_a_batch_to_line_and_says_that_nothing_is_left() {
    let house = House::open("lambda brings a batch").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    taro.acquire("001").await.is(201);
    hanako.acquire("002").await.is(201);
    let mut function = Function::of(&house).await;

    assert!(function.is_handed(&records(&house).await, MINUTE).await.is_empty(), "{}", function.log());
    assert_eq!(
        (hanako.phone(), taro.phone()),
        (texts(&["第1スタンプ 1/2", "第2スタンプ 2/2"]), texts(&["第1スタンプ 1/2"]))
    );
    assert!(function.is_handed(&records(&house).await, MINUTE).await.is_empty(), "with our own marks in it");
    let arn = house.store.stream_arn().await.unwrap().unwrap();
    let board = house.store.consumers("delivery", &arn).board().await.unwrap();
    assert!(board.function.is_some(), "`reconcile` knows that it leaves nothing to workers");
    assert_eq!(hanako.phone().last().unwrap(), "初夏のラリー、2個そろいました");
    assert_eq!((hanako.phone().len(), taro.phone().len()), (3, 1));

    let log = function.log();
    for secret in [SECRET, &hanako.id, "スタンプ"] {
        assert!(!log.contains(secret), "{log}");
    }
    house.close().await;
}

#[tokio::test]
async fn a_lambda_reports_the_first_record_that_line_did_not_take_in_time() {
    let house = House::open("lambda reports").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    taro.acquire("001").await.is(201);
    house.line_faults(json!([{"endpoint": "push", "kind": "status", "code": 500, "user": taro.id}])).await;
    let records = records(&house).await;
    let stamp = records.iter().filter(|record| is_of(record, "USER_STAMP")).nth(1).unwrap();
    let mut function = Function::of(&house).await;
    let before = records.iter().position(|record| sequence(record) == sequence(stamp)).unwrap();
    assert!(function.is_handed(&records[..before], MINUTE).await.is_empty(), "Hanako's, and it is warm");

    let reported = function.is_handed(&records, Duration::from_secs(3)).await;
    assert_eq!(reported, [sequence(stamp)], "{}", function.log());
    assert_eq!((hanako.phone().len(), taro.phone().len()), (1, 0));

    house.line_faults(json!([])).await;
    let from = records.iter().position(|record| sequence(record) == reported[0]).unwrap();
    assert!(function.is_handed(&records[from..], MINUTE).await.is_empty());
    assert_eq!((hanako.phone().len(), taro.phone().len()), (1, 1));
    house.close().await;
}

#[tokio::test]
async fn a_lambda_passes_over_what_it_cannot_read() {
    let house = House::open("lambda passes over").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    let mut records = records(&house).await;
    let (mut broken, mut no_form) = (records[0].clone(), records[0].clone());
    broken["dynamodb"]["NewImage"] = json!({"PK": {"S": "X"}, "SK": {"S": "Y"}, "entityType": {"S": "USER_STAMP"}});
    no_form["dynamodb"]["NewImage"] = json!("nonsense");
    records.splice(0..0, [json!({"eventSource": "aws:dynamodb"}), broken, no_form]);
    let mut function = Function::of(&house).await;
    assert!(function.is_handed(&records, MINUTE).await.is_empty());
    assert_eq!(hanako.phone().len(), 1);
    let log = function.log();
    let named = |words: &str| log.matches(words).count();
    assert_eq!((named("a record is passed over"), named("a record can't be read")), (1, 2), "{log}");
    house.close().await;
}

#[tokio::test]
async fn a_lambda_drains_held_notices_when_it_is_asked_to() {
    let house = House::open("lambda drains").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    house.line_faults(json!([{"endpoint": "push", "kind": "expired_token"}])).await;
    let mut function = Function::of(&house).await;
    assert!(function.is_handed(&records(&house).await, MINUTE).await.is_empty(), "parked, not left");
    assert_eq!(hanako.phone().len(), 0);

    house.line_faults(json!([])).await;
    let mut drained = json!(0);
    while drained == 0 {
        drained = function.is_asked(json!({"drain": true}), MINUTE).await.unwrap()["drained"].clone();
    }
    assert_eq!((drained, hanako.phone().len()), (json!(1), 1));
    house.close().await;
}

#[tokio::test]
async fn lambdas_keep_to_the_months_pushes_together() {
    let mut house = House::open("lambdas and the budget").await;
    house.set_budget(2);
    let people = [house.hanako(), house.person("太郎"), house.person("次郎")];
    for person in &people {
        person.acquire("001").await.is(201);
    }
    let batch = records(&house).await;
    for _ in 0..2 {
        let mut function = Function::of(&house).await;
        assert!(function.is_handed(&batch, MINUTE).await.is_empty(), "sent or held, not left");
        assert_eq!(function.is_asked(json!({"drain": true}), MINUTE).await.unwrap(), json!({"drained": 0}));
    }
    let shown: usize = people.iter().map(|person| person.phone().len()).sum();
    assert_eq!((shown, house.reserved().await), (2, 2));
    let held = house.bearer("viewer").get(&format!("/{RALLY}/deliveries?state=held")).await.is(200);
    assert_eq!(held.body["deliveries"][0]["noticeReason"], "budget");
    house.close().await;
}

#[tokio::test]
async fn a_lambda_refuses_what_is_not_its_business_and_lives_on() {
    let house = House::open("lambda refuses").await;
    let mut function = Function::of(&house).await;
    let foreign = json!({"Records": [{"messageId": "1", "eventSource": "aws:sqs", "body": "secret"}]});
    for event in [foreign, json!({}), json!({"drain": false}), json!("hello")] {
        let error = function.is_asked(event, MINUTE).await.unwrap_err();
        assert!(!error["errorMessage"].as_str().unwrap().contains("secret"), "{error}");
    }
    assert!(function.is_handed(&[], MINUTE).await.is_empty());
    house.close().await;
}

#[test]
fn outside_of_lambda_the_command_says_so() {
    let told = command().env("AWS_REGION", "ap-northeast-1").output().unwrap();
    let err = String::from_utf8(told.stderr).unwrap();
    assert_eq!(told.status.code(), Some(1));
    assert!(err.lines().last().unwrap().ends_with("AWS_LAMBDA_RUNTIME_API is not set"), "{err}");
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

//! The proxy itself: it must do what the other stories rely on.

use aws_sdk_dynamodb::{
    error::SdkError,
    operation::put_item::PutItemError,
    types::{AttributeValue, ReturnValuesOnConditionCheckFailure},
};
use stamp_rally::{
    dev::engine::Engine,
    store::{
        StoreError,
        client::{Clients, Timeouts},
    },
};

use super::{
    house::{Dynamo, hurried},
    proxy::{Calls, Fault, Often, Proxy},
};

/// An engine with tables, the wire to it, and a client on the wire.
struct Line {
    clients: Clients,
    proxy: Proxy,
    engine: Engine,
}

impl Line {
    async fn open(story: &'static str) -> Self {
        let Dynamo { wire: proxy, clients, engine } = Dynamo::with_tables(&hurried(story)).await;
        Self { clients, proxy, engine }
    }

    async fn put(&self, request_id: &str) -> Result<(), SdkError<PutItemError>> {
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let put = self.clients.table.put_item().table_name("line-event");
        let put = put.item("PK", text("HANAKO")).item("SK", text("STAMP#001")).item("requestId", text(request_id));
        let put = put.condition_expression("attribute_not_exists(PK)");
        let put = put.return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        put.send().await.map(drop)
    }

    async fn holds_the_stamp(&self) -> bool {
        // Past the proxy.
        let key = |text: &str| AttributeValue::S(text.to_owned());
        let table = Clients::at(&self.engine.endpoint_url(), &Timeouts::request()).table;
        let get = table.get_item().table_name("line-event").key("PK", key("HANAKO")).key("SK", key("STAMP#001"));
        get.send().await.unwrap().item.is_some()
    }
}

#[tokio::test]
async fn calls_are_counted_by_operation_table_and_index() {
    let line = Line::open("counted").await;
    line.put("1").await.unwrap();
    let query = line.clients.table.query().table_name("line-event").index_name("GSI1");
    let query = query.key_condition_expression("GSI1PK = :pk");
    query.expression_attribute_values(":pk", AttributeValue::S("EVENTS".into())).send().await.unwrap();

    let counts: Vec<_> = line.proxy.counts().iter().map(|(call, count)| format!("{count} × {call}")).collect();
    assert_eq!(counts, ["1 × PutItem line-event", "1 × Query line-event/GSI1"]);
    assert_eq!(line.proxy.count(Calls::All), 2);
    assert_eq!(line.proxy.count(Calls::Index("GSI1")), 1);
    assert_eq!(line.proxy.count(Calls::Table("line-event-consumers")), 0);
}

#[tokio::test]
async fn the_sdk_gets_over_a_throttled_call() {
    let passing =
        [Fault::LimitExceeded, Fault::LostRequest, Fault::ServerError, Fault::ThroughputExceeded, Fault::Throttled];
    for fault in passing {
        let line = Line::open("throttled").await;
        line.proxy.inject("PutItem", fault, Often::Next(2));
        line.put("1").await.unwrap();
        assert_eq!((line.proxy.count("PutItem"), line.proxy.faults()), (3, 2), "{fault:?}");
    }
}

#[tokio::test]
async fn a_store_that_stays_throttled_is_unavailable_and_nothing_was_stored() {
    let line = Line::open("always").await;
    line.proxy.inject(Calls::All, Fault::Throttled, Often::Always);
    let failure = StoreError::from(line.put("1").await.unwrap_err());
    assert!(matches!(failure, StoreError::Unavailable(_)), "{failure:?}");
    assert!(!line.holds_the_stamp().await);
    line.proxy.heal();
    line.put("1").await.unwrap();
}

/// The trap that request ids are for: the SDK repeats a write whose answer got lost, and the repetition fails on the
/// first one's success.
#[tokio::test]
async fn after_a_lost_answer_the_repetition_meets_its_own_item() {
    let line = Line::open("lost answer").await;
    line.proxy.inject("PutItem", Fault::LostAnswer, Often::Next(1));
    let failure = line.put("mine").await.unwrap_err().into_service_error();
    let PutItemError::ConditionalCheckFailedException(lost) = failure else { panic!("{failure:?}") };
    assert_eq!(lost.item().unwrap()["requestId"].as_s().unwrap(), "mine");
    assert_eq!(line.proxy.count("PutItem"), 2);
}

#[tokio::test]
async fn what_is_down_comes_up_again() {
    let line = Line::open("down").await;
    line.proxy.down();
    let failure = StoreError::from(line.put("1").await.unwrap_err());
    assert!(matches!(failure, StoreError::Unavailable(_)), "{failure:?}");
    line.proxy.up();
    line.put("1").await.unwrap();
}

#[tokio::test]
async fn a_held_call_waits_and_others_pass() {
    let line = Line::open("held").await;
    let gate = line.proxy.hold("PutItem");
    let watcher = async {
        gate.has_waiting(1).await;
        let before = line.holds_the_stamp().await;
        line.clients.table.list_tables().send().await.unwrap();
        gate.release();
        before
    };
    let (put, before) = tokio::join!(line.put("1"), watcher);
    put.unwrap();
    assert!(!before, "it was held before it was carried out");
    assert!(line.holds_the_stamp().await);
}

#[tokio::test]
async fn the_same_seed_throttles_the_same_calls() {
    let mut runs = Vec::new();
    for seed in [7, 7, 8] {
        let line = Line::open("seeded").await;
        let once = Clients::at(&line.proxy.endpoint_url(), &Timeouts { attempts: 1, ..hurried("seeded") });
        line.proxy.inject("ListTables", Fault::Throttled, Often::Percent { percent: 30, seed });
        let mut run = Vec::new();
        for _ in 0..60 {
            run.push(once.table.list_tables().send().await.is_ok());
        }
        runs.push(run);
    }
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0], runs[2]);
    let passed = runs[0].iter().filter(|passed| **passed).count();
    assert!((25..60).contains(&passed), "{passed} of 60 passed");
}

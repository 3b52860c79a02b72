//! `stamp-rally table create` and `status` against a real engine.

use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection,
    ProjectionType, ScalarAttributeType, StreamSpecification, StreamViewType,
};
use stamp_rally::{
    dev::engine::Engine,
    store::{
        StoreError,
        client::Clients,
        table::{Difference, TableNames, TableReport, create, status, stream},
    },
};

use super::{
    house::{Dynamo, defaults, hurried},
    proxy::{Fault, Often, Proxy},
};

struct Account {
    clients: Clients,
    names: TableNames,
    proxy: Proxy,
    _engine: Engine,
}

impl Account {
    fn empty(story: &'static str) -> Self {
        let Dynamo { wire: proxy, clients, engine } = Dynamo::empty(&hurried(story));
        Self { clients, names: defaults().store, proxy, _engine: engine }
    }

    /// A table as the source article describes it.
    async fn with_the_articles_table(story: &'static str) -> Self {
        let account = Self::empty(story);
        make_the_articles_table(&account.clients).await;
        account
    }

    async fn differences(&self) -> Vec<Vec<Difference>> {
        let reports = status(&self.clients.table, &self.names).await.unwrap();
        reports.into_iter().map(|report| report.differences).collect()
    }

    fn changes(&self) -> u64 {
        ["CreateTable", "UpdateTable", "UpdateTimeToLive"].into_iter().map(|change| self.proxy.count(change)).sum()
    }
}

/// A table as the source article describes it: GSI1 and nothing more.
pub(super) async fn make_the_articles_table(clients: &Clients) {
    let attribute = |name| AttributeDefinition::builder().attribute_name(name).attribute_type(ScalarAttributeType::S);
    let keys = |partition, sort| {
        let key = |name, kind| KeySchemaElement::builder().attribute_name(name).key_type(kind).build().unwrap();
        Some(vec![key(partition, KeyType::Hash), key(sort, KeyType::Range)])
    };
    let gsi1 = GlobalSecondaryIndex::builder().index_name("GSI1").set_key_schema(keys("GSI1PK", "GSI1SK"));
    let gsi1 = gsi1.projection(Projection::builder().projection_type(ProjectionType::All).build());
    let names = ["PK", "SK", "GSI1PK", "GSI1SK"];
    let create = clients.table.create_table().table_name("line-event");
    create
        .billing_mode(BillingMode::PayPerRequest)
        .set_attribute_definitions(Some(names.map(|name| attribute(name).build().unwrap()).to_vec()))
        .set_key_schema(keys("PK", "SK"))
        .global_secondary_indexes(gsi1.build().unwrap())
        .send()
        .await
        .unwrap();
}

/// What `UpdateTable` turns off or on. A stream that is turned on is another one than before.
pub(super) async fn turn_the_stream(clients: &Clients, on: bool) {
    let view = on.then_some(StreamViewType::NewAndOldImages);
    let stream = StreamSpecification::builder().stream_enabled(on).set_stream_view_type(view).build().unwrap();
    let update = clients.table.update_table().table_name("line-event").stream_specification(stream);
    update.send().await.unwrap();
}

/// A table of our name with keys that are not ours.
pub(super) async fn make_another_programs_table(clients: &Clients) {
    let attribute = AttributeDefinition::builder().attribute_name("id").attribute_type(ScalarAttributeType::N);
    let key = KeySchemaElement::builder().attribute_name("id").key_type(KeyType::Hash);
    let theirs = clients.table.create_table().table_name("line-event").billing_mode(BillingMode::PayPerRequest);
    let theirs = theirs.attribute_definitions(attribute.build().unwrap()).key_schema(key.build().unwrap());
    theirs.send().await.unwrap();
}

#[tokio::test]
async fn create_makes_both_tables_as_defined() {
    let account = Account::empty("both");
    assert_eq!(account.differences().await, [[Difference::TableMissing], [Difference::TableMissing]]);
    assert_eq!(stream(&account.clients.table, "line-event").await.unwrap(), None);

    let reports = create(&account.clients.table, &account.names).await.unwrap();

    assert!(reports.iter().all(TableReport::is_as_defined), "{reports:?}");
    assert_eq!(account.differences().await, [[], []]);
    let arn = stream(&account.clients.table, "line-event").await.unwrap().unwrap().arn;
    account.clients.streams.describe_stream().stream_arn(arn).send().await.unwrap();
    assert_eq!(stream(&account.clients.table, "line-event-consumers").await.unwrap(), None);
}

#[tokio::test]
async fn create_again_changes_nothing() {
    let account = Account::empty("again");
    create(&account.clients.table, &account.names).await.unwrap();
    account.proxy.forget_counts();
    create(&account.clients.table, &account.names).await.unwrap();
    assert_eq!(account.changes(), 0, "{:?}", account.proxy.counts());
}

#[tokio::test]
async fn a_table_of_the_article_is_completed_and_keeps_its_items() {
    let account = Account::with_the_articles_table("article").await;
    let put = account.clients.table.put_item().table_name("line-event");
    let put = [("PK", "EVENT#r#USER#U1"), ("SK", "STAMP#001"), ("GSI2PK", "EVENT#r#STAMP#001"), ("GSI2SK", "now#U1")]
        .into_iter()
        .fold(put, |put, (name, value)| put.item(name, AttributeValue::S(value.into())));
    put.send().await.unwrap();

    create(&account.clients.table, &account.names).await.unwrap();

    assert_eq!(account.differences().await, [[], []]);
    let holders = account.clients.table.query().table_name("line-event").index_name("GSI2");
    let holders = holders.key_condition_expression("GSI2PK = :stamp");
    let holders = holders.expression_attribute_values(":stamp", AttributeValue::S("EVENT#r#STAMP#001".into()));
    assert_eq!(holders.send().await.unwrap().count(), 1);
}

#[tokio::test]
async fn an_interrupted_create_continues_where_it_stopped() {
    let account = Account::with_the_articles_table("interrupted").await;
    account.proxy.inject("UpdateTimeToLive", Fault::ServerError, Often::Next(3));
    let stopped = create(&account.clients.table, &account.names).await.unwrap_err();
    assert!(matches!(stopped, StoreError::Unavailable(_)), "{stopped:?}");
    assert!(!account.differences().await[0].is_empty());

    create(&account.clients.table, &account.names).await.unwrap();
    assert_eq!(account.differences().await, [[], []]);
}

#[tokio::test]
async fn a_lost_answer_to_a_change_is_no_failure() {
    for change in ["CreateTable", "UpdateTable", "UpdateTimeToLive"] {
        let account = Account::with_the_articles_table("lost change").await;
        account.proxy.inject(change, Fault::LostAnswer, Often::Next(1));
        create(&account.clients.table, &account.names).await.unwrap();
        assert_eq!(account.proxy.faults(), 1);
        assert_eq!(account.differences().await, [[], []]);
    }
}

#[tokio::test]
async fn two_that_create_at_once_meet_in_the_same_tables() {
    for account in [Account::empty("two"), Account::with_the_articles_table("two").await] {
        let both = [&account.clients.table, &account.clients.table].map(|client| create(client, &account.names));
        for reports in futures_util::future::join_all(both).await {
            assert!(reports.unwrap().iter().all(TableReport::is_as_defined));
        }
        assert_eq!(account.differences().await, [[], []]);
    }
}

#[tokio::test]
async fn the_table_of_another_program_is_left_alone() {
    let account = Account::empty("other");
    make_another_programs_table(&account.clients).await;

    let reports = create(&account.clients.table, &account.names).await.unwrap();
    assert_eq!(
        reports[0].to_string(),
        "line-event: its keys are id (N), not PK (S), SK (S): another program's table? (left as it is: a person has to decide)"
    );
    assert!(reports[1].is_as_defined());
    assert_eq!(account.proxy.count("UpdateTable"), 0);
}

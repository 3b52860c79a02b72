use std::slice::from_ref;

use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, BillingModeSummary, GlobalSecondaryIndexDescription, IndexStatus,
    KeySchemaElement, KeyType, Projection, ProjectionType, ScalarAttributeType, StreamSpecification, StreamViewType,
    TableDescription, TableStatus, TimeToLiveDescription, TimeToLiveStatus, builders::TableDescriptionBuilder,
};

use super::{
    Difference, Found, Remedy, TableReport,
    create::{Step, next_step},
    definition::MAIN,
    difference::between,
};

fn attribute(name: &str, kind: ScalarAttributeType) -> AttributeDefinition {
    AttributeDefinition::builder().attribute_name(name).attribute_type(kind).build().unwrap()
}

fn keys(partition: &str, sort: &str) -> Vec<KeySchemaElement> {
    let key = |name, kind| KeySchemaElement::builder().attribute_name(name).key_type(kind).build().unwrap();
    vec![key(partition, KeyType::Hash), key(sort, KeyType::Range)]
}

fn index(name: &str, projection: ProjectionType, status: IndexStatus) -> GlobalSecondaryIndexDescription {
    GlobalSecondaryIndexDescription::builder()
        .index_name(name)
        .set_key_schema(Some(keys(&format!("{name}PK"), &format!("{name}SK"))))
        .projection(Projection::builder().projection_type(projection).build())
        .index_status(status)
        .build()
}

fn stream(view: StreamViewType) -> StreamSpecification {
    StreamSpecification::builder().stream_enabled(true).stream_view_type(view).build().unwrap()
}

fn ttl(attribute: &str, status: TimeToLiveStatus) -> TimeToLiveDescription {
    TimeToLiveDescription::builder().attribute_name(attribute).time_to_live_status(status).build()
}

fn on_demand() -> BillingModeSummary {
    BillingModeSummary::builder().billing_mode(BillingMode::PayPerRequest).build()
}

/// A table as the source article makes it: one index, and nothing else.
fn of_the_article() -> TableDescriptionBuilder {
    let names = ["PK", "SK", "GSI1PK", "GSI1SK"];
    TableDescription::builder()
        .table_status(TableStatus::Active)
        .set_attribute_definitions(Some(names.map(|name| attribute(name, ScalarAttributeType::S)).to_vec()))
        .set_key_schema(Some(keys("PK", "SK")))
        .global_secondary_indexes(index("GSI1", ProjectionType::All, IndexStatus::Active))
        .billing_mode_summary(on_demand())
}

/// A table that has everything.
fn complete() -> TableDescriptionBuilder {
    of_the_article()
        .attribute_definitions(attribute("GSI2PK", ScalarAttributeType::S))
        .attribute_definitions(attribute("GSI2SK", ScalarAttributeType::S))
        .global_secondary_indexes(index("GSI2", ProjectionType::KeysOnly, IndexStatus::Active))
        .stream_specification(stream(StreamViewType::NewAndOldImages))
}

fn differences(table: TableDescriptionBuilder) -> Vec<Difference> {
    with_ttl(table, Some(ttl("ttl", TimeToLiveStatus::Enabled)))
}

fn with_ttl(table: TableDescriptionBuilder, ttl: Option<TimeToLiveDescription>) -> Vec<Difference> {
    between(&MAIN, Some(&Found { table: table.build(), ttl }))
}

#[test]
fn a_complete_table_differs_in_nothing() {
    assert_eq!(differences(complete()), []);
    assert_eq!(with_ttl(complete(), Some(ttl("ttl", TimeToLiveStatus::Enabling))), []);
}

#[test]
fn a_table_of_the_article_lacks_what_create_completes() {
    let lacks = with_ttl(of_the_article(), None);
    let ttl_off = Difference::TtlOff("ttl".into());
    assert_eq!(lacks, [Difference::StreamOff, ttl_off, Difference::IndexMissing("GSI2".into())]);
    assert!(lacks.iter().all(|lack| lack.remedy() == Remedy::Create));
}

#[test]
fn what_cannot_be_changed_is_left_to_a_person() {
    let numbers = complete().set_attribute_definitions(Some(vec![attribute("PK", ScalarAttributeType::N)]));
    let other_index = GlobalSecondaryIndexDescription::builder()
        .index_name("GSI2")
        .set_key_schema(Some(keys("GSI2PK", "SK")))
        .projection(Projection::builder().projection_type(ProjectionType::All).build())
        .index_status(IndexStatus::Active)
        .build();
    let other_index = of_the_article()
        .attribute_definitions(attribute("GSI2PK", ScalarAttributeType::S))
        .global_secondary_indexes(other_index)
        .stream_specification(stream(StreamViewType::KeysOnly));
    let other_ttl = Some(ttl("expires", TimeToLiveStatus::Enabled));
    for (found, said) in [
        (
            differences(complete().set_key_schema(Some(keys("PK", "order")))),
            vec!["its keys are PK (S), order (?), not PK (S), SK (S): another program's table?"],
        ),
        (differences(numbers), vec!["its keys are PK (N), SK (?), not PK (S), SK (S): another program's table?"]),
        (
            differences(other_index),
            vec![
                "its stream holds KEYS_ONLY, not NEW_AND_OLD_IMAGES; a stream can't be changed, only switched off and \
                 made anew",
                "index GSI2 has the keys GSI2PK (S), SK (S), not GSI2PK (S), GSI2SK (S); an index can't be changed, only \
                 replaced",
                "index GSI2 copies ALL, not KEYS_ONLY; an index can't be changed, only replaced",
            ],
        ),
        (with_ttl(complete(), other_ttl), vec!["items expire by `expires`, not by `ttl`"]),
        (
            differences(complete().set_billing_mode_summary(None)),
            vec!["it is billed as PROVISIONED, not on demand: beyond its capacity a rush is throttled"],
        ),
        (differences(complete().table_status(TableStatus::Archived)), vec!["the table is ARCHIVED, not ACTIVE"]),
    ] {
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), said);
        assert!(found.iter().all(|difference| difference.remedy() == Remedy::Person), "{found:?}");
        assert_eq!(next_step(&found), Step::Done, "nothing there is changed");
    }
}

#[test]
fn one_change_at_a_time_and_indexes_last() {
    let (off, missing) = (Difference::StreamOff, Difference::IndexMissing("GSI2".into()));
    let filling = Difference::IndexNotReady("GSI1".into(), "CREATING".into());
    let busy = Difference::NotReady("UPDATING".into());

    assert_eq!(next_step(&[]), Step::Done);
    assert_eq!(next_step(&[Difference::TableMissing]), Step::Change(&Difference::TableMissing));
    assert_eq!(next_step(&[busy.clone(), off.clone(), missing.clone()]), Step::Wait(&busy));
    assert_eq!(next_step(&[off.clone(), filling.clone(), missing.clone()]), Step::Change(&off));
    assert_eq!(next_step(&[filling.clone(), missing.clone()]), Step::Wait(&filling));
    assert_eq!(next_step(from_ref(&missing)), Step::Change(&missing));
    assert_eq!(next_step(from_ref(&filling)), Step::Wait(&filling));
}

#[test]
fn a_report_says_in_words_what_differs_and_who_mends_it() {
    let report = |differences| TableReport { table: "line-event".into(), differences };
    assert_eq!(report(vec![]).to_string(), "line-event: as defined");
    assert_eq!(
        report(vec![Difference::StreamOff, Difference::Billing("PROVISIONED".into())]).to_string(),
        "line-event: it has no stream, so no message would ever be sent (`stamp-rally table create` completes this)\n\
         line-event: it is billed as PROVISIONED, not on demand: beyond its capacity a rush is throttled (left as it \
         is: a person has to decide)"
    );
    assert!(!report(vec![Difference::TableMissing]).exists());
}

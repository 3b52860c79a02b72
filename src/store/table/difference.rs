//! How a table that exists differs from its definition, in plain words.

use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndexDescription, IndexStatus, KeySchemaElement, KeyType,
    ScalarAttributeType, TableDescription, TimeToLiveDescription, TimeToLiveStatus,
};
use derive_more::Display;

use super::definition::{Definition, Index, Keys};

/// What DynamoDB says of a table.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) table: TableDescription,
    pub(super) ttl: Option<TimeToLiveDescription>,
}

/// What is there, and what should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// What is there.
    pub found: String,
    /// What should be.
    pub wanted: String,
}

/// One thing in which a table differs from its definition. The first value of an index's is its name.
#[derive(Clone, Debug, Display, PartialEq, Eq)]
pub enum Difference {
    /// The table is not there.
    #[display("the table does not exist")]
    TableMissing,
    /// Other keys (with their types): another program's table, most likely. Nothing else is compared then.
    #[display("its keys are {}, not {}: another program's table?", _0.found, _0.wanted)]
    Keys(Other),
    /// The table is being made, changed or deleted, or can't be used at all: DynamoDB's word for it.
    #[display("the table is {_0}, not ACTIVE")]
    NotReady(String),
    /// There is no stream: no participant would get a message.
    #[display("it has no stream, so no message would ever be sent")]
    StreamOff,
    /// The stream holds something else than both images of an item.
    #[display(
        "its stream holds {}, not {}; a stream can't be changed, only switched off and made anew",
        _0.found,
        _0.wanted
    )]
    StreamView(Other),
    /// Expired items stay: the attribute that should hold the time.
    #[display("items do not expire (TTL by `{_0}` is off)")]
    TtlOff(String),
    /// Items expire by another attribute.
    #[display("items expire by `{}`, not by `{}`", _0.found, _0.wanted)]
    TtlAttribute(Other),
    /// An index is not there.
    #[display("index {_0} does not exist")]
    IndexMissing(String),
    /// An index of that name has other keys.
    #[display(
        "index {_0} has the keys {}, not {}; an index can't be changed, only replaced",
        _1.found,
        _1.wanted
    )]
    IndexKeys(String, Other),
    /// An index copies other attributes.
    #[display("index {_0} copies {}, not {}; an index can't be changed, only replaced", _1.found, _1.wanted)]
    IndexProjection(String, Other),
    /// An index is being filled, changed or deleted: DynamoDB's word for it.
    #[display("index {_0} is {_1}, not ACTIVE")]
    IndexNotReady(String, String),
    /// The table is not billed on demand (but so): it works, but a rush is throttled at the provisioned capacity.
    #[display("it is billed as {_0}, not on demand: beyond its capacity a rush is throttled")]
    Billing(String),
}

/// Who can put a difference right.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq)]
pub enum Remedy {
    /// `stamp-rally table create` does.
    #[display("`stamp-rally table create` completes this")]
    Create,
    /// Only a person: data, money or another program may depend on what is there.
    #[display("left as it is: a person has to decide")]
    Person,
    /// It passes by itself.
    #[display("passes by itself")]
    Wait,
}

impl Difference {
    /// Returns who can put it right.
    #[must_use]
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::TableMissing | Self::StreamOff | Self::TtlOff(_) | Self::IndexMissing(_) => Remedy::Create,
            Self::NotReady(state) | Self::IndexNotReady(_, state) if passes(state) => Remedy::Wait,
            Self::NotReady(_)
            | Self::IndexNotReady(..)
            | Self::Billing(_)
            | Self::Keys(_)
            | Self::StreamView(_)
            | Self::TtlAttribute(_)
            | Self::IndexKeys(..)
            | Self::IndexProjection(..) => Remedy::Person,
        }
    }
}

/// Returns whether a state passes by itself. The other states of a table (archived, key not accessible) need a person.
fn passes(state: &str) -> bool {
    matches!(state, "CREATING" | "UPDATING" | "DELETING")
}

/// Returns everything in which `found` differs, in the order in which it is put right: what is quick comes before an
/// index, which may take hours to fill.
pub(super) fn between(wanted: &Definition, found: Option<&Found>) -> Vec<Difference> {
    let Some(found) = found else { return vec![Difference::TableMissing] };
    let attributes = found.table.attribute_definitions();
    if let Some(other) = other_keys(wanted.keys, found.table.key_schema(), attributes) {
        return vec![Difference::Keys(other)];
    }
    let mut differences = Vec::new();
    differences.extend(not_ready(found));
    differences.extend(stream(wanted, found));
    differences.extend(ttl(wanted, found.ttl.as_ref()));
    for index in wanted.indexes {
        differences.extend(index_differences(index, found));
    }
    differences.extend(billing(found));
    differences
}

fn other_keys(wanted: Keys, schema: &[KeySchemaElement], attributes: &[AttributeDefinition]) -> Option<Other> {
    let wanted = format!("{} (S), {} (S)", wanted.partition, wanted.sort);
    let found = keys_found(schema, attributes);
    (found != wanted).then_some(Other { found, wanted })
}

/// Returns the key attributes with their types, partition key first: `PK (S), SK (S)`.
fn keys_found(schema: &[KeySchemaElement], attributes: &[AttributeDefinition]) -> String {
    let kind = |name: &str| {
        let attribute = attributes.iter().find(|attribute| attribute.attribute_name() == name);
        attribute.map_or("?", |attribute| match attribute.attribute_type() {
            ScalarAttributeType::S => "S",
            ScalarAttributeType::N => "N",
            ScalarAttributeType::B => "B",
            _ => "?",
        })
    };
    let of = |key: KeyType| schema.iter().filter(move |element| *element.key_type() == key);
    let elements = of(KeyType::Hash).chain(of(KeyType::Range));
    let words: Vec<_> = elements.map(|e| format!("{} ({})", e.attribute_name(), kind(e.attribute_name()))).collect();
    words.join(", ")
}

fn not_ready(found: &Found) -> Option<Difference> {
    let state = found.table.table_status()?.as_str();
    (state != "ACTIVE").then(|| Difference::NotReady(state.to_owned()))
}

fn stream(wanted: &Definition, found: &Found) -> Option<Difference> {
    let wanted = wanted.stream.as_ref()?;
    let Some(stream) = found.table.stream_specification().filter(|stream| stream.stream_enabled()) else {
        return Some(Difference::StreamOff);
    };
    let view = stream.stream_view_type()?;
    (view != wanted).then(|| Difference::StreamView(Other { found: view.to_string(), wanted: wanted.to_string() }))
}

fn ttl(wanted: &Definition, found: Option<&TimeToLiveDescription>) -> Option<Difference> {
    let wanted = wanted.ttl?.to_owned();
    let on = |ttl: &&TimeToLiveDescription| {
        matches!(ttl.time_to_live_status(), Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling))
    };
    match found.filter(on).and_then(TimeToLiveDescription::attribute_name) {
        None => Some(Difference::TtlOff(wanted)),
        Some(found) if found == wanted => None,
        Some(found) => Some(Difference::TtlAttribute(Other { found: found.to_owned(), wanted })),
    }
}

fn index_differences(wanted: &Index, found: &Found) -> Vec<Difference> {
    let index = wanted.name.to_owned();
    let indexes = found.table.global_secondary_indexes();
    let Some(there) = indexes.iter().find(|there| there.index_name() == Some(wanted.name)) else {
        return vec![Difference::IndexMissing(index)];
    };
    let mut differences = Vec::new();
    let other = other_keys(wanted.keys, there.key_schema(), found.table.attribute_definitions());
    differences.extend(other.map(|other| Difference::IndexKeys(index.clone(), other)));
    differences.extend(projection(wanted, there));
    if let Some(state) = there.index_status().map(IndexStatus::as_str).filter(|state| *state != "ACTIVE") {
        differences.push(Difference::IndexNotReady(index, state.to_owned()));
    }
    differences
}

fn projection(wanted: &Index, there: &GlobalSecondaryIndexDescription) -> Option<Difference> {
    let found = there.projection()?.projection_type()?;
    (*found != wanted.projection).then(|| {
        let (found, wanted_one) = (found.to_string(), wanted.projection.to_string());
        Difference::IndexProjection(wanted.name.to_owned(), Other { found, wanted: wanted_one })
    })
}

/// Judges how the table is billed. One that was never on demand has no summary at all.
fn billing(found: &Found) -> Option<Difference> {
    let mode = found.table.billing_mode_summary().and_then(|summary| summary.billing_mode());
    let mode = mode.cloned().unwrap_or(BillingMode::Provisioned);
    (mode != BillingMode::PayPerRequest).then(|| Difference::Billing(mode.to_string()))
}

//! The two tables: what they are made of, how they are made, and how a table that exists differs.

mod create;
mod definition;
mod difference;
mod label;

#[cfg(test)]
mod tests;

use std::fmt;

use aws_sdk_dynamodb::{
    Client,
    operation::describe_table::DescribeTableError,
    types::{IndexStatus, StreamSpecification, TableDescription},
};
use serde::{Deserialize, Deserializer, de::Error as _};

pub use create::create;
pub use difference::{Difference, Other, Remedy};

use difference::Found;

use super::{Store, StoreError};
use crate::domain::{config_value::text, time::Timestamp};
use definition::Definition;

/// The names of the two tables (configuration section `store`).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableNames {
    /// The table of facts and settings; its stream brings them to the consumers.
    #[serde(rename = "table", deserialize_with = "name")]
    pub main: String,
    /// Who reads which shard of that stream, and how far. In the main table this would feed the stream it follows.
    #[serde(rename = "consumer_table", deserialize_with = "name")]
    pub consumers: String,
}

impl TableNames {
    fn with_definitions(&self) -> [(&str, &'static Definition); 2] {
        [(&self.main, &definition::MAIN), (&self.consumers, &definition::CONSUMERS)]
    }
}

/// Amazon DynamoDB's naming rules: 3 to 255 of letters, digits, `_`, `-` and `.`.
fn name<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let name = text(from)?;
    let usable = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    if usable && (3..=255).contains(&name.len()) {
        return Ok(name);
    }
    Err(D::Error::custom(format!(
        "`{name}` is no table name: use 3 to 255 letters, digits, underscores, hyphens and dots"
    )))
}

/// How one table compares with its definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableReport {
    /// The table's name.
    pub table: String,
    /// What differs, the gravest first; nothing = as defined.
    pub differences: Vec<Difference>,
}

impl TableReport {
    /// Returns whether the table is there at all.
    #[must_use]
    pub fn exists(&self) -> bool {
        !self.differences.contains(&Difference::TableMissing)
    }

    /// Returns whether the table is exactly as defined.
    #[must_use]
    pub fn is_as_defined(&self) -> bool {
        self.differences.is_empty()
    }
}

/// One line a difference, for operators.
impl fmt::Display for TableReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_as_defined() {
            return write!(out, "{}: as defined", self.table);
        }
        for (line, difference) in self.differences.iter().enumerate() {
            let end = if line == 0 { "" } else { "\n" };
            write!(out, "{end}{}: {difference} ({})", self.table, difference.remedy())?;
        }
        Ok(())
    }
}

/// Compares both tables with their definitions; the main table comes first. Changes nothing.
pub async fn status(client: &Client, names: &TableNames) -> Result<Vec<TableReport>, StoreError> {
    let mut reports = Vec::new();
    for (table, definition) in names.with_definitions() {
        let differences = difference::between(definition, look_at(client, table).await?.as_ref());
        reports.push(TableReport { table: table.to_owned(), differences });
    }
    Ok(reports)
}

/// Returns a table's stream as it is now; `None` where the table has no stream or is not there.
///
/// A stream that is switched off and on again has a new ARN.
pub async fn stream(client: &Client, table: &str) -> Result<Option<TableStream>, StoreError> {
    let Some(description) = describe(client, table).await? else { return Ok(None) };
    let on = description.stream_specification().is_some_and(StreamSpecification::stream_enabled);
    // The ARN of a stream that was switched off is still in the description.
    let arn = description.latest_stream_arn().filter(|_| on);
    let began = description.latest_stream_label().and_then(label::began);
    Ok(arn.map(|arn| TableStream { arn: arn.to_owned(), began }))
}

/// The stream of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableStream {
    /// Its ARN.
    pub arn: String,
    /// When it was asked for, by DynamoDB's clock: it has no record of a change before that. `None` if its label can't
    /// be read.
    pub began: Option<Timestamp>,
}

/// Whether an index can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexState {
    /// It is being filled with what the table holds: it would show only a part.
    Filling,
    /// There is no such index.
    Missing,
    /// It shows everything that has its keys, a moment after the table.
    Ready,
}

impl Store {
    /// Returns whether the index of the stamps' holders (`GSI2`) can be read: a table made from the article has none.
    #[tracing::instrument(name = "store.holders_index", level = "debug", skip_all)]
    pub async fn holders_index(&self) -> Result<IndexState, StoreError> {
        let Some(description) = describe(&self.client, &self.tables.main).await? else {
            return Err(StoreError::broken(format!("there is no table {}", self.tables.main)));
        };
        let found = description.global_secondary_indexes().iter().find(|index| index.index_name() == Some("GSI2"));
        Ok(match found {
            None => IndexState::Missing,
            Some(index) if index.index_status() == Some(&IndexStatus::Active) && index.backfilling() != Some(true) => {
                IndexState::Ready
            }
            Some(_) => IndexState::Filling,
        })
    }
}

async fn look_at(client: &Client, table: &str) -> Result<Option<Found>, StoreError> {
    let Some(description) = describe(client, table).await? else { return Ok(None) };
    let ttl = client.describe_time_to_live().table_name(table).send().await?.time_to_live_description;
    Ok(Some(Found { table: description, ttl }))
}

async fn describe(client: &Client, table: &str) -> Result<Option<TableDescription>, StoreError> {
    match client.describe_table().table_name(table).send().await {
        Ok(answer) => Ok(answer.table),
        Err(failure) if failure.as_service_error().is_some_and(DescribeTableError::is_resource_not_found_exception) => {
            Ok(None)
        }
        Err(failure) => Err(failure.into()),
    }
}

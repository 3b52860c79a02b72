//! What a request asks for, and which requests one means.

use std::fmt;

use hyper::HeaderMap;

/// What one request asks for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// `PutItem`, `GetRecords`, …
    pub operation: String,
    /// The table it names, if it names exactly one.
    pub table: Option<String>,
    /// The index a Query or Scan reads.
    pub index: Option<String>,
    /// Whether a Query or Scan asks for a number alone.
    pub counts: bool,
}

/// `Query line-event/GSI1`, `Query line-event/GSI1 (count)`
impl fmt::Display for Call {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.operation)?;
        self.table.iter().try_for_each(|table| write!(out, " {table}"))?;
        self.index.iter().try_for_each(|index| write!(out, "/{index}"))?;
        if self.counts { out.write_str(" (count)") } else { Ok(()) }
    }
}

/// Which calls a rule or a count is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// Every one.
    All,
    /// Reads that ask for a number alone.
    Counts,
    /// Reads of this index.
    Index(&'static str),
    /// This operation, whatever its table.
    Operation(&'static str),
    /// This operation on this table.
    OperationOn(&'static str, &'static str),
    /// Every call that names this table.
    Table(&'static str),
}

/// An operation by its name.
impl From<&'static str> for Calls {
    fn from(operation: &'static str) -> Self {
        Self::Operation(operation)
    }
}

impl Calls {
    pub(super) fn include(self, call: &Call) -> bool {
        match self {
            Self::All => true,
            Self::Counts => call.counts,
            Self::Index(index) => call.index.as_deref() == Some(index),
            Self::Operation(operation) => call.operation == operation,
            Self::OperationOn(operation, table) => call.operation == operation && call.table.as_deref() == Some(table),
            Self::Table(table) => call.table.as_deref() == Some(table),
        }
    }
}

impl Call {
    pub(super) fn read(headers: &HeaderMap, body: &[u8]) -> Self {
        #[derive(Default, serde::Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Names {
            table_name: Option<String>,
            index_name: Option<String>,
            select: Option<String>,
        }
        // DynamoDB_20120810.PutItem
        let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
        let names: Names = serde_json::from_slice(body).unwrap_or_default();
        Self {
            operation: target.rsplit('.').next().unwrap_or_default().to_owned(),
            table: names.table_name,
            index: names.index_name,
            counts: names.select.as_deref() == Some("COUNT"),
        }
    }
}

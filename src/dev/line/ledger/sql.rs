//! Statements of the ledger, each prepared once.

use rusqlite::{Connection, OptionalExtension, Params, Result, Row};

/// Runs a statement that changes something.
pub fn run(db: &Connection, sql: &str, params: impl Params) -> Result<()> {
    db.prepare_cached(sql)?.execute(params).map(drop)
}

/// Returns the first row that a query finds, read.
pub fn first<T>(
    db: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&Row<'_>) -> Result<T>,
) -> Result<Option<T>> {
    db.prepare_cached(sql)?.query_row(params, read).optional()
}

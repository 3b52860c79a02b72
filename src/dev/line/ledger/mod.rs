//! What the stand-in remembers: one `SQLite` database, every change one transaction, committed
//! before the request is answered. Times are milliseconds since 1970.

mod push;
mod pushes;
mod replies;
mod retry_keys;
mod sql;
mod users;

pub(super) use push::{Acceptance, NewPush, Rate, Way};
pub(super) use pushes::{PushFilter, With};
pub(super) use replies::{ReplyToken, TokenState};
pub(super) use users::Relation;

use std::{fs, path::Path, time::Duration};

use rusqlite::{Connection, ErrorCode, params};

use super::{
    keys::{OldKeys, SigningKey},
    settings::{Memory, StartError},
};

/// Changes with [`SCHEMA`]; a file of another version is refused, not misread.
const VERSION: i64 = 1;

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS signing_keys (number INTEGER PRIMARY KEY, pkcs8 BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS users (
    user_id TEXT PRIMARY KEY, name TEXT NOT NULL, made_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS relations (
    channel TEXT NOT NULL, user_id TEXT NOT NULL, relation TEXT NOT NULL, wrote_at INTEGER,
    PRIMARY KEY (channel, user_id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pushes (
    ordinal INTEGER PRIMARY KEY, channel TEXT NOT NULL, user_id TEXT NOT NULL, kind TEXT NOT NULL,
    request_id TEXT NOT NULL, retry_key TEXT, accepted_at INTEGER NOT NULL, shown INTEGER NOT NULL,
    messages TEXT NOT NULL, sent_messages TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS pushes_by_user ON pushes (user_id);
CREATE TABLE IF NOT EXISTS retry_keys (
    channel TEXT NOT NULL, retry_key TEXT NOT NULL, push INTEGER NOT NULL, accepted_at INTEGER NOT NULL,
    conflicts INTEGER NOT NULL DEFAULT 0, changed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (channel, retry_key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS usage (
    channel TEXT NOT NULL, month TEXT NOT NULL, used INTEGER NOT NULL, PRIMARY KEY (channel, month)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reply_tokens (
    token TEXT PRIMARY KEY, channel TEXT NOT NULL, target TEXT NOT NULL, happened_at INTEGER NOT NULL,
    received_at INTEGER NOT NULL, used INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
";

/// The open database, with the only connection to it.
pub(super) struct Ledger {
    db: Connection,
    next_ordinal: i64,
}

impl Ledger {
    pub(super) fn open(memory: &Memory) -> Result<Self, StartError> {
        let (path, opened) = match memory {
            Memory::InMemory => (Path::new("(none)"), Connection::open_in_memory()),
            Memory::File(path) => {
                if let Some(folder) = path.parent() {
                    fs::create_dir_all(folder).map_err(|cause| unusable(path, cause))?;
                }
                (path.as_path(), Connection::open(path))
            }
        };
        let db = opened.map_err(|cause| refused(path, cause))?;
        let version = lock(&db).map_err(|cause| refused(path, cause))?;
        if version != 0 && version != VERSION {
            return Err(unusable(path, "another version of the stand-in made it; remove it to begin anew"));
        }
        Self::prepare(db).map_err(|cause| refused(path, cause))
    }

    fn prepare(db: Connection) -> rusqlite::Result<Self> {
        db.set_prepared_statement_cache_capacity(64);
        db.execute_batch(&format!("BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version={VERSION}; COMMIT;"))?;
        let last: Option<i64> = db.query_row("SELECT max(ordinal) FROM pushes", [], |row| row.get(0))?;
        Ok(Self { db, next_ordinal: last.unwrap_or(0) + 1 })
    }

    /// Returns a value kept under a name: token key, token epochs.
    pub(super) fn note(&self, name: &str) -> rusqlite::Result<Option<String>> {
        sql::first(&self.db, "SELECT value FROM notes WHERE name = ?1", [name], |row| row.get(0))
    }

    pub(super) fn keep_note(&self, name: &str, value: &str) -> rusqlite::Result<()> {
        sql::run(&self.db, "INSERT OR REPLACE INTO notes VALUES (?1, ?2)", [name, value])
    }

    /// Returns the published signing keys as PKCS #8, oldest first.
    pub(super) fn signing_keys(&self) -> rusqlite::Result<Vec<Vec<u8>>> {
        let mut found = self.db.prepare("SELECT pkcs8 FROM signing_keys ORDER BY number")?;
        found.query_map([], |row| row.get(0))?.collect()
    }

    pub(super) fn add_signing_key(&mut self, key: &SigningKey, old: OldKeys) -> rusqlite::Result<()> {
        let change = self.db.transaction()?;
        if matches!(old, OldKeys::Withdraw) {
            change.execute("DELETE FROM signing_keys", [])?;
        }
        change.execute("INSERT INTO signing_keys (pkcs8) VALUES (?1)", params![key.pkcs8])?;
        change.commit()
    }

    /// Forgets users, phones, keys and counts; signing keys and tokens stay good.
    pub(super) fn forget(&mut self) -> rusqlite::Result<()> {
        self.next_ordinal = 1;
        self.db.execute_batch(
            "BEGIN IMMEDIATE; DELETE FROM users; DELETE FROM relations; DELETE FROM pushes; DELETE FROM retry_keys;
             DELETE FROM usage; DELETE FROM reply_tokens; COMMIT;",
        )
    }
}

/// Takes the exclusive lock and holds it, so a second process is refused at its start; returns the
/// schema's version. WAL with `synchronous=NORMAL` keeps what is committed when the process is
/// killed (not when the machine is).
fn lock(db: &Connection) -> rusqlite::Result<i64> {
    db.busy_timeout(Duration::ZERO)?;
    db.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    db.query_row("PRAGMA journal_mode=WAL", [], |_| Ok(()))?;
    db.pragma_update(None, "synchronous", "NORMAL")?;
    db.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn unusable(path: &Path, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StartError {
    StartError::MemoryUnusable { path: path.to_owned(), source: cause.into() }
}

fn refused(path: &Path, cause: rusqlite::Error) -> StartError {
    match cause.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StartError::MemoryInUse(path.to_owned()),
        _ => unusable(path, cause),
    }
}

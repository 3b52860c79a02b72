//! The engine's data, and what dynoxide leaves to the program that embeds it: an index on the records of the streams, fewer
//! waits for the disk, sweeping, and one engine a file.

use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use dynoxide::Database;
use rusqlite::Connection;

use super::error::{EngineError, no};

/// AWS keeps a stream's records for 24 hours.
const RECORDS_LIVE: Duration = Duration::from_hours(24);

/// dynoxide looks up the last record at every write, and the next ones at every read, without an index: both become
/// slower with every record (3.5 ms a write at 30,000). The second one serves reads, the first one writes.
const INDEXES: &str = "
    CREATE INDEX IF NOT EXISTS stamp_rally_by_table
        ON _stream_records(table_name, CAST(sequence_number AS INTEGER));
    CREATE INDEX IF NOT EXISTS stamp_rally_by_shard
        ON _stream_records(table_name, shard_id, CAST(sequence_number AS INTEGER));";

/// Where the engine keeps its tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// In this file, made if it is not there (its folder too). Tables, items, streams and positions in them survive a
    /// restart. One engine at a time.
    File(PathBuf),
    /// In memory, until the engine stops.
    Memory,
}

/// What a sweep deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Items whose time to live was over.
    pub items: usize,
    /// Records of streams.
    pub records: usize,
}

/// The database, a second way into it, and the lock that keeps others out. Dropped in this order.
pub(super) struct Data {
    database: Database,
    /// dynoxide's private tables can only be reached past it.
    behind: Connection,
    _lock: Option<File>,
}

impl Data {
    pub fn open(storage: &Storage) -> Result<Self, EngineError> {
        let lock = match storage {
            Storage::File(path) => Some(lock(path)?),
            Storage::Memory => None,
        };
        let place = place(storage)?;
        let unusable = |source: Box<dyn std::error::Error + Send + Sync>| {
            let path = match storage {
                Storage::File(path) => path.display().to_string(),
                Storage::Memory => "memory".to_owned(),
            };
            EngineError::Data { path, source }
        };
        let database = Database::new(&place).map_err(|error| unusable(error.into()))?;
        // Ends a bulk load, says its name; what it does is `synchronous = NORMAL`, which is not set any other way from
        // outside. With SQLite's default, FULL, each write waits for the disk (4 ms, 300 writes a second in all). With
        // NORMAL a killed process loses nothing; a power cut may lose the last commits, which is fine on a developer's
        // machine.
        database.disable_bulk_loading().map_err(|error| unusable(error.into()))?;
        let behind = Connection::open(&place).map_err(|error| unusable(error.into()))?;
        behind.execute_batch(INDEXES).map_err(|error| unusable(error.into()))?;
        Ok(Self { database, behind, _lock: lock })
    }

    /// Another handle on the same database.
    pub fn database(&self) -> Database {
        self.database.clone()
    }

    pub fn sweep(&self, now: SystemTime) -> Result<Swept, EngineError> {
        let failed = |source| EngineError::Data { path: "the table of records".to_owned(), source };
        let items = self.database.sweep_ttl().map_err(|error| failed(error.into()))?;
        let horizon = now.duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(RECORDS_LIVE).as_secs();
        let records = self
            .behind
            .execute("DELETE FROM _stream_records WHERE created_at < ?1", [i64::try_from(horizon).unwrap_or(i64::MAX)])
            .map_err(|error| failed(error.into()))?;
        Ok(Swept { items, records })
    }

    #[cfg(test)]
    pub fn behind(&self) -> &Connection {
        &self.behind
    }
}

/// dynoxide lets two engines open one file, and each would believe its own copy of the tables' settings. So we lock a
/// file beside it; the machine frees the lock when the process ends, however it ends.
fn lock(path: &Path) -> Result<File, EngineError> {
    let beside = beside(path);
    let what = || beside.display().to_string();
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|source| no(&folder.display().to_string(), source))?;
    }
    let file = File::options().create(true).truncate(false).write(true).open(&beside);
    let file = file.map_err(|source| no(&what(), source))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(EngineError::InUse(path.to_owned())),
        Err(TryLockError::Error(source)) => Err(no(&format!("lock on {}", what()), source)),
    }
}

/// `engine.db` → `engine.db.lock`.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// What `SQLite` calls it. Memory gets a name of its own, so that a second connection finds it.
fn place(storage: &Storage) -> Result<String, EngineError> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    match storage {
        Storage::File(path) => path.to_str().map(str::to_owned).ok_or_else(|| EngineError::Data {
            path: path.display().to_string(),
            source: "the path is not UTF-8".into(),
        }),
        Storage::Memory => Ok(format!("file:/stamp-rally-{}?vfs=memdb", NEXT.fetch_add(1, Ordering::Relaxed))),
    }
}

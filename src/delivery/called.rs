//! What a record calls for: the same for everybody who is brought records.

use crate::domain::{notice::NoticeId, time::Timestamp};
use crate::store::{
    keys::ItemKey,
    stream::{Change, Record},
    unreadable::{Unreadable, hashed},
};

use super::pending::{Path, PendingNotice};

/// A notice that a record calls for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// Which.
    pub notice: NoticeId,
    /// When its fact happened; when its record was made, where the fact can't be read.
    pub at: Timestamp,
    /// When its record was made. The older of both: clocks differ, and the stream need not tell.
    pub since: Timestamp,
    /// Whether it can be sent, or only parked.
    pub path: Path,
}

/// Records that can't be read.
pub(super) fn unreadable() -> metrics::Counter {
    metrics::counter!("stamp_rally_records_unreadable_total")
}

impl Called {
    /// The notice, if the record calls for one. A record that can't be read is logged, and must not stop the others: if its
    /// key names a notice, that one is to be parked. `source` names where it comes from.
    #[must_use]
    pub fn by(record: &Record, source: &str) -> Option<Self> {
        match &record.change {
            Change::Inserted(fact) => {
                let (notice, at) = (PendingNotice::named_by(fact)?, fact.at());
                let since = if record.at == Timestamp::EPOCH { at } else { record.at.min(at) };
                Some(Self { notice, at, since, path: Path::Ordinary })
            }
            Change::Damaged(_) | Change::Passed => None,
            Change::Unreadable(why) => {
                let Unreadable { pk, sk, attribute, problem } = why.as_ref();
                tracing::error!(
                    shard = source,
                    sequence = record.sequence.as_str(),
                    item.pk = hashed(pk),
                    item.sk = hashed(sk),
                    item.attribute = attribute,
                    problem = hashed(problem),
                    "a record can't be read: its notice is held until its item is mended"
                );
                unreadable().increment(1);
                let Some(ItemKey::Notice(notice)) = ItemKey::parse(pk, sk) else { return None };
                Some(Self { notice, at: record.at, since: record.at, path: Path::Unreadable })
            }
        }
    }
}

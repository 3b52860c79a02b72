//! What a record calls for: the same for everybody who is brought records.

use crate::domain::{notice::NoticeId, time::Timestamp};
use crate::store::stream::{Change, Record};

use super::handler::Call;

/// A notice that a record calls for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// Which.
    pub notice: NoticeId,
    /// When its fact happened.
    pub at: Timestamp,
    /// When its record was made. The older of both: clocks differ, and the stream need not tell.
    pub since: Timestamp,
}

/// Records that can't be read.
pub(super) fn unreadable() -> metrics::Counter {
    metrics::counter!("stamp_rally_records_unreadable_total")
}

impl Called {
    /// The notice, if the record calls for one. A record that can't be read is told and passed over: it must not stop
    /// the others. `source` names where it comes from.
    #[must_use]
    pub fn by(record: &Record, source: &str) -> Option<Self> {
        match &record.change {
            Change::Inserted(fact) => {
                let (notice, at) = (Call::named_by(fact)?, fact.at());
                let since = if record.at == Timestamp::EPOCH { at } else { record.at.min(at) };
                Some(Self { notice, at, since })
            }
            Change::Passed => None,
            Change::Unreadable(why) => {
                let error = why.as_ref() as &dyn std::error::Error;
                let sequence = record.sequence.as_str();
                tracing::error!(shard = source, sequence, error, "a record can't be read: it is passed over");
                unreadable().increment(1);
                None
            }
        }
    }
}

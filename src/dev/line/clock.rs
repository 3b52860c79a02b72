//! The stand-in's own clock: the machine's, moved by an offset that the control API sets.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

use chrono::{DateTime, FixedOffset};

/// Milliseconds since 1970, moved.
#[derive(Debug, Default)]
pub(super) struct Clock(AtomicI64);

impl Clock {
    pub(super) fn now_ms(&self) -> i64 {
        machine_ms() + self.offset_ms()
    }

    pub(super) fn offset_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn set_offset_ms(&self, offset: i64) {
        self.0.store(offset, Ordering::Relaxed);
    }
}

fn machine_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The month a quota counts in, `2026-05`. LINE counts days in UTC+9; that months turn there too is
/// our guess (facts sheet, 2.6).
pub(super) fn month(now_ms: i64) -> String {
    let tokyo = FixedOffset::east_opt(9 * 3600);
    match (DateTime::from_timestamp_millis(now_ms), tokyo) {
        (Some(instant), Some(tokyo)) => instant.with_timezone(&tokyo).format("%Y-%m").to_string(),
        _ => "1970-01".to_owned(),
    }
}

//! Time that passes when a story says so.

use std::{
    sync::Mutex,
    time::{Duration, SystemTime},
};

use stamp_rally::domain::time::{TimeSource, Timestamp};

/// A clock that stands until it is turned.
pub struct HandClock {
    start: Timestamp,
    turned: Mutex<Duration>,
}

impl HandClock {
    pub(super) fn at_now() -> Self {
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let start = Timestamp::from_millis(i64::try_from(since_1970.as_millis()).unwrap()).unwrap();
        Self { start, turned: Mutex::new(Duration::ZERO) }
    }

    pub(super) fn turn(&self, by: Duration) {
        *self.turned.lock().unwrap() += by;
    }
}

impl TimeSource for HandClock {
    fn now(&self) -> Timestamp {
        self.start.plus_millis(i64::try_from(self.uptime().as_millis()).unwrap())
    }

    fn uptime(&self) -> Duration {
        *self.turned.lock().unwrap()
    }
}

//! Participants known to be registered, so that a stamp needn't write the USER again.

use std::time::Duration;

use lru::LruCache;
use parking_lot::Mutex;

use crate::domain::ids::{EventId, LineUserId};

/// How long that is relied on: a participant may be erased on request.
const VALID: Duration = Duration::from_mins(1);

/// How many are remembered, the latest ones.
const MOST: usize = 100_000;

/// The participants that this process saw registered, each with the uptime at which it did.
pub struct KnownParticipants(Mutex<LruCache<(EventId, LineUserId), Duration>>);

impl KnownParticipants {
    pub fn new() -> Self {
        // Grows as it fills: `LruCache::new` would take the memory of all at once.
        Self(Mutex::new(LruCache::unbounded()))
    }

    /// Returns whether a participant was seen registered less than a minute before `uptime`.
    pub fn contains(&self, event_id: &EventId, line_user_id: &LineUserId, uptime: Duration) -> bool {
        let participant = (event_id.clone(), line_user_id.clone());
        self.0.lock().get(&participant).is_some_and(|since| uptime.saturating_sub(*since) < VALID)
    }

    /// Remembers that a participant was registered at `uptime`.
    pub fn remember(&self, event_id: &EventId, line_user_id: &LineUserId, uptime: Duration) {
        let mut seen = self.0.lock();
        seen.put((event_id.clone(), line_user_id.clone()), uptime);
        if seen.len() > MOST {
            seen.pop_lru();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_participant_is_known_for_a_minute_and_in_their_own_event() {
        let known = KnownParticipants::new();
        let (spring, autumn) = ("spring".parse().unwrap(), "autumn".parse().unwrap());
        let hanako = "U0123456789abcdef0123456789abcdef".parse().unwrap();
        let seconds = Duration::from_secs;
        assert!(!known.contains(&spring, &hanako, seconds(1)));
        known.remember(&spring, &hanako, seconds(1));
        assert!(known.contains(&spring, &hanako, seconds(60)));
        assert!(!known.contains(&spring, &hanako, seconds(61)));
        assert!(!known.contains(&autumn, &hanako, seconds(2)));
    }
}

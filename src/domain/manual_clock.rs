//! A clock that tests and benchmarks move by hand.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use super::time::{TimeSource, Timestamp};

/// A clock that stays where it is until it is set or advanced, or runs once it is started.
#[derive(Debug)]
pub struct ManualClock(Mutex<State>);

#[derive(Debug)]
struct State {
    /// What the wall clock showed at an uptime of zero.
    started_at: Timestamp,
    advanced: Duration,
    runs_since: Option<Instant>,
}

impl ManualClock {
    /// Creates a clock that shows `now`, with an uptime of zero.
    #[must_use]
    pub fn at(now: Timestamp) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State { started_at: now, advanced: Duration::ZERO, runs_since: None })))
    }

    /// Moves wall clock and uptime forward.
    pub fn advance(&self, by: Duration) {
        self.0.lock().advanced += by;
    }

    /// Sets the wall clock, forward or back; the uptime stays.
    pub fn set(&self, now: Timestamp) {
        let mut state = self.0.lock();
        state.started_at = now.plus_millis(-state.uptime_millis());
    }

    /// Lets the clock run with the machine's from now on. It can still be set and advanced.
    pub fn run(&self) {
        self.0.lock().runs_since.get_or_insert_with(Instant::now);
    }
}

impl State {
    fn uptime(&self) -> Duration {
        self.advanced + self.runs_since.map(|since| since.elapsed()).unwrap_or_default()
    }

    fn uptime_millis(&self) -> i64 {
        i64::try_from(self.uptime().as_millis()).unwrap_or(i64::MAX)
    }
}

impl TimeSource for ManualClock {
    fn now(&self) -> Timestamp {
        let state = self.0.lock();
        state.started_at.plus_millis(state.uptime_millis())
    }

    fn uptime(&self) -> Duration {
        self.0.lock().uptime()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_manual_clock_stays_until_it_is_advanced() {
        let clock = ManualClock::at(at("2026-05-23T10:00:00.000Z"));
        assert_eq!((clock.now(), clock.uptime()), (at("2026-05-23T10:00:00.000Z"), Duration::ZERO));
        clock.advance(Duration::from_secs(90));
        assert_eq!((clock.now(), clock.uptime()), (at("2026-05-23T10:01:30.000Z"), Duration::from_secs(90)));
    }

    #[test]
    fn a_wall_clock_that_is_set_leaves_the_uptime_alone() {
        let clock = ManualClock::at(at("2026-05-23T10:00:00.000Z"));
        clock.advance(Duration::from_secs(90));
        clock.set(at("2026-05-23T09:00:00.000Z"));
        assert_eq!((clock.now(), clock.uptime()), (at("2026-05-23T09:00:00.000Z"), Duration::from_secs(90)));
    }

    #[test]
    fn a_clock_that_runs_moves_by_itself_and_can_still_be_advanced() {
        let clock = ManualClock::at(Timestamp::EPOCH);
        clock.run();
        let before = clock.uptime();
        while clock.uptime() == before {}
        clock.advance(Duration::from_hours(1));
        assert!(clock.uptime() > Duration::from_hours(1));
    }
}

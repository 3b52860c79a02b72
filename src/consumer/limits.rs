//! Work with a time by which it must be answered: pure.

use std::time::Duration;

/// The time kept for writing down what is left, and for the answer itself.
const CLOSING: Duration = Duration::from_secs(3);

/// How long the store's part of a job may take after the push.
const MARKING: Duration = Duration::from_secs(4);

/// What the time until the answer allows for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From now on there is backpressure: what waits must not wait long.
    pub hurry: Duration,
    /// From now on no attempt is begun.
    pub last_attempt: Duration,
    /// Now everything that runs is dropped.
    pub end: Duration,
    /// Now the answer must be given.
    pub answer: Duration,
}

impl Limits {
    /// Divides the time that is `left` when one push may take as long as `longest_push`.
    #[must_use]
    pub fn within(left: Duration, longest_push: Duration) -> Self {
        let end = left.saturating_sub(CLOSING.min(left / 4));
        // An attempt that is begun in time comes to its end; where there is too little time for that, half is for it.
        let last_attempt = end.saturating_sub(longest_push + MARKING).max(end / 2);
        Self { hurry: last_attempt / 2, last_attempt, end, answer: left.saturating_sub(CLOSING.min(left / 4) / 3) }
    }

    /// Returns whether a push that is begun in time may still be dropped.
    #[must_use]
    pub fn are_tight(self, longest_push: Duration) -> bool {
        self.last_attempt + longest_push + MARKING > self.end
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PUSH: Duration = Duration::from_secs(10);

    #[test]
    fn a_minute_leaves_room_for_a_whole_attempt_after_the_last_one_is_begun() {
        let limits = Limits::within(Duration::from_mins(1), PUSH);
        assert_eq!([limits.last_attempt, limits.end, limits.answer].map(|time| time.as_secs()), [43, 57, 59]);
        assert!(!limits.are_tight(PUSH));
    }

    #[test]
    fn half_a_minute_is_tight() {
        assert!(Limits::within(Duration::from_secs(30), PUSH).are_tight(PUSH));
        assert!(!Limits::within(Duration::from_secs(32), PUSH).are_tight(PUSH));
    }

    proptest! {
        #[test]
        fn limits_come_one_after_the_other_within_the_time(left in 0u64..900_000) {
            let left = Duration::from_millis(left);
            let limits = Limits::within(left, PUSH);
            prop_assert!(limits.hurry <= limits.last_attempt);
            prop_assert!(limits.last_attempt <= limits.end);
            prop_assert!(limits.end <= limits.answer && limits.answer <= left);
        }
    }
}

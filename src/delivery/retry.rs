//! Retrying: how fast and for how long a notice is attempted again.

use std::{sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use crate::domain::time::Timestamp;
use crate::line::RetryAfter;

/// No push is repeated when its first attempt, or its record, is older than this: LINE forgets a retry key after 24
/// hours (Messaging API: "Retrying an API request"), and a repetition would be a second message.
pub(super) const RETRY_LIMIT: Duration = Duration::from_hours(23);

/// How fast a notice is attempted again, and for how long before it is parked.
#[derive(Clone)]
pub struct RetrySettings {
    /// The longest first pause; it doubles each time.
    pub first_backoff: Duration,
    /// No pause is longer.
    pub longest_backoff: Duration,
    /// How long a notice that a record brought may wait for LINE: the stream waits behind it.
    pub ordinary_deadline: Duration,
    /// How long a held notice is attempted in one go.
    pub held_deadline: Duration,
    /// Returns a part from 0 to 1, anew each time: pauses are multiplied by it.
    pub jitter: Arc<dyn Fn() -> f64 + Send + Sync>,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self {
            first_backoff: Duration::from_millis(200),
            longest_backoff: Duration::from_secs(10),
            ordinary_deadline: Duration::from_secs(30),
            held_deadline: Duration::from_secs(5),
            jitter: Arc::new(fastrand::f64),
        }
    }
}

impl RetrySettings {
    /// Returns how long a `Retry-After` is obeyed: as long as it says, `longest_backoff` (10 s) at most.
    ///
    /// The most is the longest pause of our own. It is a third of the time that a notice may wait on the stream, so that
    /// one wrong value (a day, a date in another century) costs an attempt, and neither parks a notice nor stalls its
    /// channel. The least is our own pause, which [`Delivery::deliver`](super::Delivery::deliver) keeps in any case: a
    /// zero or a date in the past speeds nothing up.
    pub(super) fn bounded_wait(&self, asked: Option<RetryAfter>, now: Timestamp) -> Duration {
        asked.map_or(Duration::ZERO, |asked| asked.wait(now)).min(self.longest_backoff)
    }

    /// Returns the backoff after attempt `n`, from 1: exponential, with full jitter (AWS Architecture Blog:
    /// "Exponential Backoff And Jitter"), never zero.
    pub(super) fn backoff(&self, n: u32) -> Duration {
        let most = self.first_backoff.saturating_mul(1 << n.saturating_sub(1).min(16)).min(self.longest_backoff);
        most.mul_f64((self.jitter)().clamp(0.0, 1.0)).max(Duration::from_millis(1))
    }
}

/// Pauses; returns true if the pause was cut short because the process stops.
pub(super) async fn stopped_during(pause: Duration, stop: &CancellationToken) -> bool {
    tokio::select! {
        () = stop.cancelled() => true,
        () = tokio::time::sleep(pause) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_after_is_obeyed_for_ten_seconds_at_most() {
        let settings = RetrySettings::default();
        let now: Timestamp = "2026-05-23T10:00:00.000Z".parse().unwrap();
        let wait = |asked| settings.bounded_wait(asked, now).as_secs();
        for (seconds, obeyed) in [(0, 0), (1, 1), (10, 10), (11, 10), (86_400, 10), (u64::MAX, 10)] {
            assert_eq!(wait(Some(RetryAfter::Seconds(seconds))), obeyed);
        }
        assert_eq!(wait(Some(RetryAfter::At(now.plus_millis(3_000)))), 3);
        assert_eq!(wait(Some(RetryAfter::At("9999-12-31T00:00:00.000Z".parse().unwrap()))), 10);
        assert_eq!(wait(Some(RetryAfter::At(Timestamp::EPOCH))), 0);
        assert_eq!(wait(None), 0);
    }

    #[test]
    fn a_pause_doubles_up_to_the_longest_and_is_never_zero() {
        let pauses = |part: f64| {
            let settings = RetrySettings { jitter: Arc::new(move || part), ..RetrySettings::default() };
            [1, 2, 6, 7, 100].map(|n| settings.backoff(n).as_millis())
        };
        assert_eq!(pauses(1.0), [200, 400, 6_400, 10_000, 10_000]);
        assert_eq!(pauses(0.0), [1; 5]);
    }
}

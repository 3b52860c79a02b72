//! Whether a channel can send: pure, time is handed in.

use std::time::Duration;

/// So many failures in a row, for at least [`FAILING`], and a channel is paused: what comes is parked at once.
const FAILURES: u32 = 50;

/// See [`FAILURES`]. A fast channel makes fifty failures of one hiccup.
const FAILING: Duration = Duration::from_secs(10);

/// Why a channel is paused, or a notice is held (`noticeReason`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseReason {
    /// The month's pushes that the configuration allows are used up (`monthly_pushes`); the channel isn't paused.
    Budget,
    /// No channel of that name is configured here.
    ChannelUnknown,
    /// An earlier notice of the same participant is held, and order is kept.
    EarlierHeld,
    /// LINE has not answered for long.
    LineUnavailable,
    /// The month's messages are used up.
    MonthlyLimit,
    /// LINE refuses our channel access token.
    NotAuthorized,
    /// Something of the participant in the store can't be read.
    Unreadable,
}

impl PauseReason {
    /// Returns its name, as `noticeReason` spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::ChannelUnknown => "channel_unknown",
            Self::EarlierHeld => "earlier_held",
            Self::LineUnavailable => "line_unavailable",
            Self::MonthlyLimit => "monthly_limit",
            Self::NotAuthorized => "not_authorized",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Whether a push may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// LINE, or a gateway before it, asked for some time without pushes (`Retry-After`): so much of it is left.
    Later(Duration),
    /// The channel is paused.
    Paused(PauseReason),
    /// The channel is paused, and this push is the one that finds out whether it still must be.
    Probe,
    /// The channel can send.
    Push,
}

/// The health of a channel.
#[derive(Debug, Clone, Default)]
pub struct Health {
    paused: Option<Paused>,
    /// Failures in a row.
    pub(super) failures: u32,
    /// The uptime of the first of them.
    pub(super) failing_since: Duration,
    /// No push before this uptime.
    wait_until: Duration,
}

#[derive(Debug, Clone, Copy)]
struct Paused {
    reason: PauseReason,
    probe_at: Duration,
}

impl Health {
    /// Asks for a push. A probe is admitted once per `every`.
    pub fn admit(&mut self, now: Duration, every: Duration) -> Admission {
        let wait = self.wait_until.saturating_sub(now);
        match &mut self.paused {
            None if wait.is_zero() => Admission::Push,
            None => Admission::Later(wait),
            Some(paused) if now < paused.probe_at || !wait.is_zero() => Admission::Paused(paused.reason),
            Some(paused) => {
                paused.probe_at = now + every;
                Admission::Probe
            }
        }
    }

    /// Returns whether a push would be admitted now.
    #[must_use]
    pub fn would_admit(&self, now: Duration) -> bool {
        now >= self.wait_until && self.paused.is_none_or(|paused| now >= paused.probe_at)
    }

    /// Takes note that LINE answered about a message: the channel can send, whatever one push was asked to wait. Returns
    /// true if that resumed it.
    pub fn answered(&mut self) -> bool {
        (self.failures, self.wait_until) = (0, Duration::ZERO);
        self.paused.take().is_some()
    }

    /// Makes no push for this long: LINE, or a gateway before it, asks for that.
    pub fn wait(&mut self, now: Duration, time: Duration) {
        self.wait_until = self.wait_until.max(now + time);
    }

    /// Takes note that an attempt failed in a way that passes. Returns true if that paused the channel.
    pub fn failed(&mut self, now: Duration, every: Duration) -> bool {
        if self.failures == 0 {
            self.failing_since = now;
        }
        self.failures = self.failures.saturating_add(1);
        let enough = self.failures >= FAILURES && now.saturating_sub(self.failing_since) >= FAILING;
        enough && self.pause(PauseReason::LineUnavailable, now, every)
    }

    /// Pauses the channel, which can't send. Returns true if it wasn't paused before.
    pub fn pause(&mut self, reason: PauseReason, now: Duration, every: Duration) -> bool {
        self.paused.replace(Paused { reason, probe_at: now + every }).is_none()
    }

    /// Returns why it is paused, if it is.
    #[must_use]
    pub fn paused(&self) -> Option<PauseReason> {
        self.paused.map(|paused| paused.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROBE: Duration = Duration::from_secs(30);

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_paused_channel_is_probed_once_an_interval_and_resumed_when_line_answers() {
        let mut health = Health::default();
        assert!(health.pause(PauseReason::MonthlyLimit, at(0), PROBE));
        assert_eq!(health.admit(at(29), PROBE), Admission::Paused(PauseReason::MonthlyLimit));
        assert_eq!(health.admit(at(30), PROBE), Admission::Probe);
        assert_eq!(health.admit(at(30), PROBE), Admission::Paused(PauseReason::MonthlyLimit), "one probe at a time");
        assert!(health.answered() && !health.answered());
        assert_eq!(health.admit(at(31), PROBE), Admission::Push);
    }

    #[test]
    fn fifty_failures_within_a_hiccup_pause_nothing() {
        let mut health = Health::default();
        assert!((0..100).all(|_| !health.failed(at(1), PROBE)));
        assert_eq!(health.admit(at(1), PROBE), Admission::Push);
    }

    #[test]
    fn a_channel_that_has_failed_fifty_times_and_for_ten_seconds_is_paused() {
        let mut health = Health::default();
        let paused = (0..60).map(|n| health.failed(at(n / 3), PROBE)).position(|paused| paused);
        assert_eq!(paused, Some(49));
        assert_eq!(health.admit(at(20), PROBE), Admission::Paused(PauseReason::LineUnavailable));
    }

    #[test]
    fn a_channel_that_is_asked_to_wait_is_used_when_the_time_is_over_and_not_before() {
        let mut health = Health::default();
        health.wait(at(1), at(5));
        health.wait(at(2), at(1));
        assert_eq!(health.admit(at(4), PROBE), Admission::Later(at(2)));
        assert!(!health.would_admit(at(5)) && health.would_admit(at(6)));
        assert_eq!(health.admit(at(6), PROBE), Admission::Push);
    }

    #[test]
    fn a_push_that_goes_through_ends_the_wait_of_the_channel() {
        let mut health = Health::default();
        health.wait(at(1), at(5));
        assert!(!health.answered());
        assert_eq!(health.admit(at(2), PROBE), Admission::Push);
    }

    #[test]
    fn a_paused_channel_that_is_asked_to_wait_is_not_probed_meanwhile() {
        let mut health = Health::default();
        health.pause(PauseReason::LineUnavailable, at(0), PROBE);
        health.wait(at(28), at(5));
        assert_eq!(health.admit(at(32), PROBE), Admission::Paused(PauseReason::LineUnavailable));
        assert_eq!(health.admit(at(33), PROBE), Admission::Probe);
    }

    #[test]
    fn one_success_ends_the_row_of_failures() {
        let mut health = Health::default();
        (0..49).for_each(|n| assert!(!health.failed(at(n), PROBE)));
        health.answered();
        assert!(!health.failed(at(49), PROBE));
    }
}

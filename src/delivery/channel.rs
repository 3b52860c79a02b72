//! One channel: whether it can send, how fast, and how many at once. Channels never wait for one another.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::Semaphore, time::Instant};

use crate::domain::ids::ChannelName;
use crate::line::messaging::{Messenger, PushError};

use super::{
    DeliverySettings,
    pace::{Pace, Share, Turn},
};

/// So many failures in a row, for at least [`FAILING`], and a channel is held: what comes is parked at once.
const FAILURES: u32 = 50;

/// See [`FAILURES`]. A fast channel makes fifty failures of one hiccup.
const FAILING: Duration = Duration::from_secs(10);

/// So many failures in a row are told: one alone is a hiccup.
const TOLD: u32 = 3;

/// Why a notice is held (`noticeReason`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldReason {
    /// No channel of that name is configured here.
    ChannelUnknown,
    /// An earlier notice of the same person is held, and order is kept.
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

impl HoldReason {
    /// As `noticeReason` spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ChannelUnknown => "channel_unknown",
            Self::EarlierHeld => "earlier_held",
            Self::LineUnavailable => "line_unavailable",
            Self::MonthlyLimit => "monthly_limit",
            Self::NotAuthorized => "not_authorized",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Whether a push may be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Try {
    /// LINE, or a gateway before it, asked for some time without pushes (`Retry-After`): so much of it is left.
    Later(Duration),
    /// The channel is held.
    No(HoldReason),
    /// The channel is held, and this push is the one that finds out whether it still must be.
    Probe,
    /// The channel is well.
    Yes,
}

/// Whether a channel can send: pure, time is handed in.
#[derive(Debug, Clone, Default)]
pub struct Health {
    held: Option<Held>,
    failures: u32,
    failing_since: Duration,
    /// No push before this uptime.
    wait_until: Duration,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    reason: HoldReason,
    probe_at: Duration,
}

impl Health {
    /// Asks for a push. A probe is given out once per `every`.
    pub fn may_try(&mut self, now: Duration, every: Duration) -> Try {
        let wait = self.wait_until.saturating_sub(now);
        match &mut self.held {
            None if wait.is_zero() => Try::Yes,
            None => Try::Later(wait),
            Some(held) if now < held.probe_at || !wait.is_zero() => Try::No(held.reason),
            Some(held) => {
                held.probe_at = now + every;
                Try::Probe
            }
        }
    }

    /// Whether a push would be tried now.
    #[must_use]
    pub fn would_try(&self, now: Duration) -> bool {
        now >= self.wait_until && self.held.is_none_or(|held| now >= held.probe_at)
    }

    /// LINE answered about a message: the channel is well, whatever one push was asked to wait. True if it was held.
    pub fn answered(&mut self) -> bool {
        (self.failures, self.wait_until) = (0, Duration::ZERO);
        self.held.take().is_some()
    }

    /// We are asked to make no push for this long.
    pub fn wait(&mut self, now: Duration, time: Duration) {
        self.wait_until = self.wait_until.max(now + time);
    }

    /// An attempt failed in a way that passes. True if the channel is held now and was not.
    pub fn failed(&mut self, now: Duration, every: Duration) -> bool {
        if self.failures == 0 {
            self.failing_since = now;
        }
        self.failures = self.failures.saturating_add(1);
        let enough = self.failures >= FAILURES && now.saturating_sub(self.failing_since) >= FAILING;
        enough && self.hold(HoldReason::LineUnavailable, now, every)
    }

    /// The channel can't send. True if it wasn't held before.
    pub fn hold(&mut self, reason: HoldReason, now: Duration, every: Duration) -> bool {
        self.held.replace(Held { reason, probe_at: now + every }).is_none()
    }

    /// Why it is held, if it is.
    #[must_use]
    pub fn held(&self) -> Option<HoldReason> {
        self.held.map(|held| held.reason)
    }
}

/// A channel of the configuration, as delivery uses it.
pub struct Channel {
    /// Its name.
    pub name: ChannelName,
    /// Its way to LINE.
    pub messenger: Messenger,
    /// How many of its notices may be worked on.
    pub permits: Semaphore,
    health: Mutex<Health>,
    every: Duration,
    pace: Mutex<Pace>,
    queue: tokio::sync::Mutex<()>,
    started: Instant,
}

impl Channel {
    fn new(name: ChannelName, messenger: Messenger, settings: &DeliverySettings) -> Self {
        held_gauge(&name).set(0);
        failing_gauge(&name).set(0);
        retries(&name).increment(0);
        Self {
            name,
            messenger,
            permits: Semaphore::new(settings.concurrency.max(1)),
            health: Mutex::default(),
            every: settings.hold_probe,
            pace: Mutex::default(),
            queue: tokio::sync::Mutex::default(),
            started: Instant::now(),
        }
    }

    /// Waits until a push may be made; first come, first served, one sleeper for all who wait.
    pub async fn turn(&self) {
        let _first = self.queue.lock().await;
        loop {
            let turn = locked(&self.pace).at(self.started.elapsed());
            match turn {
                Turn::Go => return,
                // The share may have grown meanwhile.
                Turn::Wait(time) => tokio::time::sleep(time.min(Duration::from_millis(200))).await,
            }
        }
    }

    /// Changes its share of pushes a second (see [`Pace::set_share`]).
    pub fn set_share(&self, share: impl Into<Share>, after: Duration) {
        locked(&self.pace).set_share(share, self.started.elapsed(), after);
    }

    /// Asks for a push; `uptime` as the clock tells it.
    pub fn may_try(&self, uptime: Duration) -> Try {
        locked(&self.health).may_try(uptime, self.every)
    }

    /// Whether a push would be tried now.
    pub fn would_try(&self, uptime: Duration) -> bool {
        locked(&self.health).would_try(uptime)
    }

    /// Why it is held, if it is.
    pub fn held(&self) -> Option<HoldReason> {
        locked(&self.health).held()
    }

    /// LINE answered about a message. True if the channel was held until now.
    pub fn answered(&self) -> bool {
        let (had_failed, goes_on) = {
            let mut health = locked(&self.health);
            (health.failures > 0, health.answered())
        };
        if had_failed {
            failing_gauge(&self.name).set(0);
        }
        if goes_on {
            held_gauge(&self.name).set(0);
            tracing::info!(channel = %self.name, "the channel goes on");
        }
        goes_on
    }

    /// We are asked to make no push for this long (within the bounds of `Patience::bounded_wait`).
    pub fn wait(&self, uptime: Duration, time: Duration) {
        locked(&self.health).wait(uptime, time);
    }

    /// An attempt failed in a way that passes.
    pub fn failed(&self, uptime: Duration, error: &PushError) {
        let (is_held_now, failing_since, failures) = {
            let mut health = locked(&self.health);
            (health.failed(uptime, self.every), health.failing_since, health.failures)
        };
        if failures == TOLD {
            let error = error as &dyn std::error::Error;
            tracing::warn!(channel = %self.name, error, "LINE takes no push now: notices are tried again");
        }
        failing_gauge(&self.name).set(uptime.saturating_sub(failing_since).as_secs_f64());
        if is_held_now {
            self.tell_held(HoldReason::LineUnavailable);
        }
    }

    /// This process pushes nothing any more: whoever does finds out anew how the channel is.
    pub fn forget(&self) {
        *locked(&self.health) = Health::default();
        held_gauge(&self.name).set(0);
        failing_gauge(&self.name).set(0);
    }

    /// The channel can't send.
    pub fn hold(&self, reason: HoldReason, uptime: Duration) {
        if locked(&self.health).hold(reason, uptime, self.every) {
            self.tell_held(reason);
        }
    }

    fn tell_held(&self, reason: HoldReason) {
        held_gauge(&self.name).set(1);
        tracing::error!(channel = %self.name, reason = reason.as_str(), "the channel is held: its notices are parked");
    }
}

/// Pushes that are made once more.
pub(super) fn retries(channel: &ChannelName) -> metrics::Counter {
    metrics::counter!("stamp_rally_push_retries_total", "channel" => channel.to_string())
}

fn failing_gauge(channel: &ChannelName) -> metrics::Gauge {
    metrics::gauge!("stamp_rally_channel_failing_seconds", "channel" => channel.to_string())
}

fn held_gauge(channel: &ChannelName) -> metrics::Gauge {
    metrics::gauge!("stamp_rally_channel_held", "channel" => channel.to_string())
}

/// All channels of the configuration.
pub struct Channels(HashMap<ChannelName, Channel>);

impl Channels {
    /// Channels by their messengers.
    #[must_use]
    pub fn new(messengers: HashMap<ChannelName, Messenger>, settings: &DeliverySettings) -> Self {
        let channel =
            |(name, messenger): (ChannelName, Messenger)| (name.clone(), Channel::new(name, messenger, settings));
        Self(messengers.into_iter().map(channel).collect())
    }

    /// The channel of this name, if it is configured.
    #[must_use]
    pub fn find(&self, name: &ChannelName) -> Option<&Channel> {
        self.0.get(name)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Channel> {
        self.0.values()
    }

    /// See [`Channel::forget`].
    pub fn forget(&self) {
        self.0.values().for_each(Channel::forget);
    }

    /// Changes the share of all of them.
    pub fn set_share(&self, share: impl Into<Share>, after: Duration) {
        let share = share.into();
        self.0.values().for_each(|channel| channel.set_share(share, after));
    }
}

/// A lock whose holder panicked still holds plain values that are whole.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROBE: Duration = Duration::from_secs(30);

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_process_that_pushes_no_more_knows_nothing_of_the_channel() {
        let platform = crate::line::Platform::new(&"http://127.0.0.1:1".parse().unwrap(), at(1)).unwrap();
        let access = crate::line::Access::LongLived("token".to_owned().into());
        let messenger = Messenger::new(platform, access, crate::domain::time::MachineClock::start());
        let settings = DeliverySettings {
            pushes_per_second: 100,
            poll_interval: at(1),
            concurrency: 32,
            lease: at(15),
            hold_probe: at(30),
        };
        let channel = Channel::new("main".parse().unwrap(), messenger, &settings);
        channel.hold(HoldReason::NotAuthorized, at(1));
        assert_eq!(channel.held(), Some(HoldReason::NotAuthorized));
        channel.forget();
        assert!(channel.held().is_none() && channel.would_try(at(1)));
    }

    #[test]
    fn a_held_channel_is_tried_once_a_probe_and_goes_on_when_line_answers() {
        let mut health = Health::default();
        assert!(health.hold(HoldReason::MonthlyLimit, at(0), PROBE));
        assert_eq!(health.may_try(at(29), PROBE), Try::No(HoldReason::MonthlyLimit));
        assert_eq!(health.may_try(at(30), PROBE), Try::Probe);
        assert_eq!(health.may_try(at(30), PROBE), Try::No(HoldReason::MonthlyLimit), "one probe at a time");
        assert!(health.answered() && !health.answered());
        assert_eq!(health.may_try(at(31), PROBE), Try::Yes);
    }

    #[test]
    fn fifty_failures_within_a_hiccup_hold_nothing() {
        let mut health = Health::default();
        assert!((0..100).all(|_| !health.failed(at(1), PROBE)));
        assert_eq!(health.may_try(at(1), PROBE), Try::Yes);
    }

    #[test]
    fn a_channel_that_has_failed_fifty_times_and_for_ten_seconds_is_held() {
        let mut health = Health::default();
        let held = (0..60).map(|n| health.failed(at(n / 3), PROBE)).position(|held| held);
        assert_eq!(held, Some(49));
        assert_eq!(health.may_try(at(20), PROBE), Try::No(HoldReason::LineUnavailable));
    }

    #[test]
    fn a_channel_that_is_asked_to_wait_is_tried_when_the_time_is_over_and_not_before() {
        let mut health = Health::default();
        health.wait(at(1), at(5));
        health.wait(at(2), at(1));
        assert_eq!(health.may_try(at(4), PROBE), Try::Later(at(2)));
        assert!(!health.would_try(at(5)) && health.would_try(at(6)));
        assert_eq!(health.may_try(at(6), PROBE), Try::Yes);
    }

    #[test]
    fn a_push_that_goes_through_ends_the_wait_of_the_channel() {
        let mut health = Health::default();
        health.wait(at(1), at(5));
        assert!(!health.answered());
        assert_eq!(health.may_try(at(2), PROBE), Try::Yes);
    }

    #[test]
    fn a_paused_channel_that_is_asked_to_wait_is_not_probed_meanwhile() {
        let mut health = Health::default();
        health.hold(HoldReason::LineUnavailable, at(0), PROBE);
        health.wait(at(28), at(5));
        assert_eq!(health.may_try(at(32), PROBE), Try::No(HoldReason::LineUnavailable));
        assert_eq!(health.may_try(at(33), PROBE), Try::Probe);
    }

    #[test]
    fn one_success_ends_the_row_of_failures() {
        let mut health = Health::default();
        (0..49).for_each(|n| assert!(!health.failed(at(n), PROBE)));
        health.answered();
        assert!(!health.failed(at(49), PROBE));
    }
}

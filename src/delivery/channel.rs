//! One channel: its health, its rate, its budget, and how many of its notices are worked on at once. Channels never wait for
//! one another.

use std::{collections::HashMap, num::NonZeroU32, sync::Mutex, time::Duration};

use tokio::{sync::Semaphore, time::Instant};

use crate::domain::{causes::Causes, ids::ChannelName};
use crate::line::messaging::{Messenger, PushError};

use super::{
    DeliverySettings,
    budget::{Budget, BudgetParts},
    health::{Admission, Health, PauseReason},
    lock::locked,
    rate::{RateLimit, Share, Turn},
};

/// So many failures in a row are logged: one alone is a hiccup.
const LOGGED: u32 = 3;

/// A channel of the configuration, as delivery uses it.
pub struct Channel {
    /// Its name.
    pub name: ChannelName,
    /// Its way to LINE.
    pub messenger: Messenger,
    /// How many of its notices may be worked on.
    pub permits: Semaphore,
    /// The month's pushes, if it is configured how many there are.
    pub budget: Option<Budget>,
    health: Mutex<Health>,
    probe_interval: Duration,
    rate: Mutex<RateLimit>,
    queue: tokio::sync::Mutex<()>,
    started: Instant,
}

impl Channel {
    fn new(name: ChannelName, messenger: Messenger, settings: &DeliverySettings) -> Self {
        paused_gauge(&name).set(0);
        failing_gauge(&name).set(0);
        retries(&name).increment(0);
        Self {
            name,
            messenger,
            permits: Semaphore::new(settings.concurrency.max(1)),
            budget: None,
            health: Mutex::default(),
            probe_interval: settings.probe_interval,
            rate: Mutex::default(),
            queue: tokio::sync::Mutex::default(),
            started: Instant::now(),
        }
    }

    /// Waits until its rate allows for a push; first come, first served.
    pub async fn turn(&self) {
        let _first = self.queue.lock().await;
        loop {
            let turn = locked(&self.rate).at(self.started.elapsed());
            match turn {
                Turn::Go => return,
                // The share may have grown meanwhile.
                Turn::Wait(time) => tokio::time::sleep(time.min(Duration::from_millis(200))).await,
            }
        }
    }

    /// Asks for a push.
    pub fn admit(&self, uptime: Duration) -> Admission {
        locked(&self.health).admit(uptime, self.probe_interval)
    }

    /// Returns whether a push would be admitted now, by its health and by its budget.
    pub fn would_admit(&self, uptime: Duration) -> bool {
        locked(&self.health).would_admit(uptime) && self.budget.as_ref().is_none_or(Budget::would_admit)
    }

    /// Returns whether one notice is to find out at first whether the others can be sent.
    pub fn is_held_up(&self) -> bool {
        self.paused().is_some() || self.budget.as_ref().is_some_and(Budget::is_used_up)
    }

    /// Returns why it is paused, if it is.
    pub fn paused(&self) -> Option<PauseReason> {
        locked(&self.health).paused()
    }

    /// Takes note that LINE answered about a message. Returns true if that resumed the channel.
    pub fn answered(&self) -> bool {
        let (had_failed, is_resumed) = {
            let mut health = locked(&self.health);
            (health.failures > 0, health.answered())
        };
        if had_failed {
            failing_gauge(&self.name).set(0);
        }
        if is_resumed {
            paused_gauge(&self.name).set(0);
            tracing::info!(channel = %self.name, "a channel is resumed");
        }
        is_resumed
    }

    /// Makes no push for this long (within the bounds of `RetrySettings::bounded_wait`).
    pub fn wait(&self, uptime: Duration, time: Duration) {
        locked(&self.health).wait(uptime, time);
    }

    /// Takes note that an attempt failed in a way that passes.
    pub fn failed(&self, uptime: Duration, error: &PushError) {
        let (is_paused_now, failing_since, failures) = {
            let mut health = locked(&self.health);
            (health.failed(uptime, self.probe_interval), health.failing_since, health.failures)
        };
        if failures == LOGGED {
            tracing::warn!(channel = %self.name, error = %Causes(error), "LINE takes no push now: notices are attempted again");
        }
        failing_gauge(&self.name).set(uptime.saturating_sub(failing_since).as_secs_f64());
        if is_paused_now {
            self.report_paused(PauseReason::LineUnavailable);
        }
    }

    /// Forgets its health: this process pushes nothing any more, and finds out anew when it does again.
    pub fn forget(&self) {
        *locked(&self.health) = Health::default();
        paused_gauge(&self.name).set(0);
        failing_gauge(&self.name).set(0);
    }

    /// Pauses the channel, which can't send.
    pub fn pause(&self, reason: PauseReason, uptime: Duration) {
        if locked(&self.health).pause(reason, uptime, self.probe_interval) {
            self.report_paused(reason);
        }
    }

    fn report_paused(&self, reason: PauseReason) {
        paused_gauge(&self.name).set(1);
        tracing::error!(channel = %self.name, reason = reason.as_str(), "a channel is paused: its notices are parked");
    }
}

pub(super) fn retries(channel: &ChannelName) -> metrics::Counter {
    metrics::counter!("stamp_rally_push_retries_total", "channel" => channel.to_string())
}

fn failing_gauge(channel: &ChannelName) -> metrics::Gauge {
    metrics::gauge!("stamp_rally_channel_failing_seconds", "channel" => channel.to_string())
}

fn paused_gauge(channel: &ChannelName) -> metrics::Gauge {
    metrics::gauge!("stamp_rally_channel_paused", "channel" => channel.to_string())
}

/// All channels of the configuration.
pub struct Channels(HashMap<ChannelName, Channel>);

impl Channels {
    /// Makes channels of their messengers.
    #[must_use]
    pub fn new(messengers: HashMap<ChannelName, Messenger>, settings: &DeliverySettings) -> Self {
        let channel =
            |(name, messenger): (ChannelName, Messenger)| (name.clone(), Channel::new(name, messenger, settings));
        Self(messengers.into_iter().map(channel).collect())
    }

    /// Gives the channels that have one their budget.
    #[must_use]
    pub fn with_budgets(mut self, monthly: &HashMap<ChannelName, NonZeroU32>, parts: &BudgetParts<'_>) -> Self {
        for channel in self.0.values_mut() {
            let limit = monthly.get(&channel.name);
            channel.budget = limit.map(|limit| Budget::new(channel.name.clone(), *limit, parts));
        }
        self
    }

    /// Returns the channel of this name, if it is configured.
    #[must_use]
    pub fn find(&self, name: &ChannelName) -> Option<&Channel> {
        self.0.get(name)
    }

    /// Returns all of them.
    pub fn all(&self) -> impl Iterator<Item = &Channel> {
        self.0.values()
    }

    /// Forgets the health of all of them (see [`Channel::forget`]).
    pub fn forget(&self) {
        self.0.values().for_each(Channel::forget);
    }

    /// Changes the share of all of them in pushes a second (see [`RateLimit::set_share`]).
    pub fn set_share(&self, share: impl Into<Share>, after: Duration) {
        let share = share.into();
        let set = |channel: &Channel| locked(&channel.rate).set_share(share, channel.started.elapsed(), after);
        self.0.values().for_each(set);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            probe_interval: at(30),
        };
        let channel = Channel::new("main".parse().unwrap(), messenger, &settings);
        channel.pause(PauseReason::NotAuthorized, at(1));
        assert_eq!(channel.paused(), Some(PauseReason::NotAuthorized));
        channel.forget();
        assert!(channel.paused().is_none() && channel.would_admit(at(1)));
    }
}

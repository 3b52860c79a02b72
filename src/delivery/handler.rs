//! Delivery out of its parts: brings notices to LINE.
//!
//! The same code serves the polling worker, the drain of held notices, `reconcile` and a Lambda function: it is given a
//! notice, and returns what became of it.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use crate::domain::{ids::ChannelName, time::Clock};
use crate::line::messaging::Messenger;
use crate::store::{Store, rallies::Rallies};

use super::{DeliverySettings, Outcome, RetrySettings, called, channel::Channels, message::Templates, rate::Share};

/// What delivery needs to work.
pub struct DeliveryParts {
    /// The one table.
    pub store: Store,
    /// Events and masters, cached.
    pub rallies: Rallies,
    /// The configured channels.
    pub messengers: HashMap<ChannelName, Messenger>,
    /// Time.
    pub clock: Clock,
    /// The configuration.
    pub settings: DeliverySettings,
    /// How fast and for how long a notice is attempted again.
    pub retry: RetrySettings,
}

/// Brings notices to LINE. Clones share everything.
#[derive(Clone)]
pub struct Delivery {
    pub(super) parts: Arc<Parts>,
}

pub(super) struct Parts {
    pub store: Store,
    pub rallies: Rallies,
    pub channels: Channels,
    pub templates: Templates,
    pub clock: Clock,
    pub settings: DeliverySettings,
    pub retry: RetrySettings,
    /// Counts the drains that met a paused channel.
    pub probes: AtomicUsize,
    /// Notified when a channel is resumed: what is held can be drained.
    pub resumed: tokio::sync::Notify,
    /// Notes of finished batches that could not be deleted.
    pub unforgotten: super::batch::AllUnforgotten,
}

/// The lease of a shard, as those see it that work on its notices. Clones are one.
#[derive(Debug, Clone)]
pub struct Standing(Arc<Told>);

#[derive(Debug)]
struct Told {
    /// Until this uptime (ms) the lease is certainly ours.
    until: AtomicU64,
    /// So much is waiting that nothing more of the shard can be read.
    crowded: AtomicBool,
}

impl Standing {
    /// Good until this uptime, on our own monotonic clock.
    #[must_use]
    pub fn until(uptime: Duration) -> Self {
        Self(Arc::new(Told { until: AtomicU64::new(millis(uptime)), crowded: AtomicBool::new(false) }))
    }

    /// For those who need no shard.
    #[must_use]
    pub fn always() -> Self {
        Self::until(Duration::MAX)
    }

    /// Is good until this uptime from now on.
    pub fn extend(&self, uptime: Duration) {
        self.0.until.store(millis(uptime), Ordering::Release);
    }

    /// Whether it is good at this uptime. If not, the shard may be somebody else's, and nothing may be begun for it.
    #[must_use]
    pub fn is_good(&self, uptime: Duration) -> bool {
        millis(uptime) < self.0.until.load(Ordering::Acquire)
    }

    /// Whether waiting notices stand in the way of others.
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        self.0.crowded.load(Ordering::Relaxed)
    }

    /// See [`Standing::is_crowded`].
    pub fn tell_crowded(&self, crowded: bool) {
        self.0.crowded.store(crowded, Ordering::Relaxed);
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Delivery {
    /// Makes delivery out of its parts.
    #[must_use]
    pub fn new(parts: DeliveryParts) -> Self {
        let channels = Channels::new(parts.messengers, &parts.settings);
        Outcome::register();
        called::unreadable().increment(0);
        Self {
            parts: Arc::new(Parts {
                store: parts.store,
                rallies: parts.rallies,
                channels,
                templates: Templates::default(),
                clock: parts.clock,
                settings: parts.settings,
                retry: parts.retry,
                probes: AtomicUsize::new(0),
                resumed: tokio::sync::Notify::new(),
                unforgotten: super::batch::AllUnforgotten::default(),
            }),
        }
    }

    /// Returns the configuration that it was given.
    #[must_use]
    pub fn settings(&self) -> &DeliverySettings {
        &self.parts.settings
    }

    /// Changes how many pushes this worker may make on each channel; more only `after` this long.
    pub fn set_share(&self, share: impl Into<Share>, after: Duration) {
        self.parts.channels.set_share(share, after);
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.parts.clock
    }
}

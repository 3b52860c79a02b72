//! Delivery out of its parts: brings notices to LINE.
//!
//! The same code serves the polling worker, the drain of held notices, `reconcile` and a Lambda function: it is given a
//! notice, and returns what became of it.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use crate::domain::{ids::ChannelName, time::Clock};
use crate::line::messaging::Messenger;
use crate::store::{Store, rallies::Rallies};

use super::{
    DeliverySettings, Outcome, RetrySettings, budget::BudgetParts, channel::Channels, message::Templates, rate::Share,
};

/// What delivery needs to work.
pub struct DeliveryParts {
    /// The one table.
    pub store: Store,
    /// Events and masters, cached.
    pub rallies: Rallies,
    /// The configured channels.
    pub messengers: HashMap<ChannelName, Messenger>,
    /// How many pushes a month the channels with a budget may make.
    pub monthly_pushes: HashMap<ChannelName, NonZeroU32>,
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
    /// When this process last looked for notes that functions left behind.
    pub notes_looked_at: std::sync::Mutex<Option<tokio::time::Instant>>,
}

impl Delivery {
    /// Makes delivery out of its parts.
    #[must_use]
    pub fn new(parts: DeliveryParts) -> Self {
        let probe_interval = parts.settings.probe_interval;
        let budget = BudgetParts { store: &parts.store, clock: &parts.clock, probe_interval };
        let channels = Channels::new(parts.messengers, &parts.settings).with_budgets(&parts.monthly_pushes, &budget);
        Outcome::register();
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
                notes_looked_at: std::sync::Mutex::default(),
            }),
        }
    }

    /// Returns the configuration that it was given.
    #[must_use]
    pub fn settings(&self) -> &DeliverySettings {
        &self.parts.settings
    }

    /// Returns the events and masters that it knows.
    #[must_use]
    pub fn rallies(&self) -> &Rallies {
        &self.parts.rallies
    }

    /// Changes how many pushes this worker may make on each channel; more only `after` this long.
    pub fn set_share(&self, share: impl Into<Share>, after: Duration) {
        self.parts.channels.set_share(share, after);
    }

    /// Gives back the pushes that are reserved and not needed: where nothing is at hand, and of a month that is over.
    pub async fn give_back_pushes(&self) {
        for budget in self.parts.channels.all().filter_map(|channel| channel.budget.as_ref()) {
            budget.rest().await;
        }
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.parts.clock
    }
}

//! What operators see of what waits, and of what may still be sent: reported by the worker that leads, so that one asks and
//! not all.

use std::{collections::HashMap, time::Duration};

use futures_util::future::BoxFuture;
use metrics::Gauge;
use tokio_util::sync::CancellationToken;

use crate::consumer::{effect::LeaderWork, lease::Lead};
use crate::domain::{
    causes::Causes,
    event::Event,
    ids::{ChannelName, EventId},
    notice::ParkedState,
};
use crate::store::{StoreError, listing::Wanted, paging::Pages};

use super::Delivery;

/// How often it is reported.
const EVERY: Duration = Duration::from_mins(1);

/// The notices of an event that has been over for so long are history: they are reported as none.
const HISTORY_MS: i64 = 7 * 24 * 3600 * 1000;

/// Counts parked notices, asks LINE for the quotas, and says what is left of the budgets.
pub(super) struct Report {
    delivery: Delivery,
    reported: tokio::sync::Mutex<Reported>,
}

impl Report {
    pub fn new(delivery: Delivery) -> Self {
        Self { delivery, reported: tokio::sync::Mutex::default() }
    }
}

impl LeaderWork for Report {
    fn interval(&self) -> Duration {
        EVERY
    }

    fn only_looks(&self) -> bool {
        true
    }

    /// If no shard is owned, it begins two rounds later: of several workers that begin together each leads then, and all
    /// but one see within a round that another one does.
    fn delay(&self, lead: Lead, round: Duration) -> Duration {
        if lead == Lead::Vacant { 2 * round } else { Duration::ZERO }
    }

    fn run<'a>(&'a self, stop: &'a CancellationToken) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let mut reported = self.reported.lock().await;
            tokio::select! {
                // A LINE that is silent must not hold up the end: nothing is lost when a report breaks off.
                () = stop.cancelled() => {}
                () = reported.all(&self.delivery) => {}
            }
        })
    }

    fn resign(&self) {
        // Nothing runs now: it is called between two runs.
        if let Ok(mut reported) = self.reported.try_lock() {
            reported.forget();
        }
    }
}

/// What was reported last. The gauges of a worker that doesn't lead any more must not keep it.
#[derive(Default)]
struct Reported {
    notices: HashMap<(EventId, ParkedState), Gauge>,
    quotas: HashMap<ChannelName, Gauge>,
    budgets: HashMap<ChannelName, Gauge>,
}

impl Reported {
    async fn all(&mut self, delivery: &Delivery) {
        if let Err(error) = self.notices(delivery).await {
            tracing::warn!(error = %Causes(&error), "parked notices can't be counted now");
        }
        self.budgets(delivery).await;
        self.quotas(delivery).await;
    }

    /// Counts the notices of each event in each parked state.
    async fn notices(&mut self, delivery: &Delivery) -> Result<(), StoreError> {
        let (store, mut pages) = (&delivery.parts.store, Pages::default());
        while let Some(page) = pages.next(async |after| store.events(&Wanted::oldest_first(after)).await).await? {
            for event in &page.rows {
                self.notices_of(delivery, event).await?;
            }
        }
        Ok(())
    }

    async fn notices_of(&mut self, delivery: &Delivery, event: &Event) -> Result<(), StoreError> {
        let is_history = event.window.is_over(delivery.clock().now().plus_millis(-HISTORY_MS));
        for state in ParkedState::ALL {
            let count = if is_history { 0 } else { delivery.parts.store.count_parked(&event.event_id, state).await? };
            let key = (event.event_id.clone(), state);
            // Most events have no notice in most states: what was never there isn't reported.
            if count > 0 || self.notices.contains_key(&key) {
                self.notices.entry(key).or_insert_with(|| notices(&event.event_id, state)).set(count);
            }
        }
        Ok(())
    }

    /// Asks how many of the month's messages each channel has left.
    async fn quotas(&mut self, delivery: &Delivery) {
        for channel in delivery.parts.channels.all() {
            let left = match channel.messenger.quota().await {
                Ok(quota) => quota.left().map_or(f64::INFINITY, f64::from),
                Err(error) => {
                    tracing::warn!(channel = %channel.name, error = %Causes(&error), "the quota can't be read from LINE now");
                    f64::NAN
                }
            };
            self.quotas.entry(channel.name.clone()).or_insert_with(|| quota(&channel.name)).set(left);
        }
    }

    /// Says how many of the month's pushes are left to be reserved on each channel that has a budget.
    async fn budgets(&mut self, delivery: &Delivery) {
        for channel in delivery.parts.channels.all() {
            let Some(budget) = &channel.budget else { continue };
            let left = budget.left().await.map_or_else(|error| {
                tracing::warn!(channel = %channel.name, error = %Causes(&error), "the month's reserved pushes can't be read now");
                f64::NAN
            }, f64::from);
            self.budgets.entry(channel.name.clone()).or_insert_with(|| budget_left(&channel.name)).set(left);
        }
    }

    fn forget(&mut self) {
        self.notices.drain().for_each(|(_, gauge)| gauge.set(0));
        self.quotas.drain().for_each(|(_, gauge)| gauge.set(f64::NAN));
        self.budgets.drain().for_each(|(_, gauge)| gauge.set(f64::NAN));
    }
}

fn notices(event_id: &EventId, state: ParkedState) -> Gauge {
    metrics::gauge!("stamp_rally_notices", "event" => event_id.to_string(), "state" => state.as_str())
}

fn quota(channel: &ChannelName) -> Gauge {
    metrics::gauge!("stamp_rally_line_quota_left", "channel" => channel.to_string())
}

fn budget_left(channel: &ChannelName) -> Gauge {
    metrics::gauge!("stamp_rally_push_budget_left", "channel" => channel.to_string())
}

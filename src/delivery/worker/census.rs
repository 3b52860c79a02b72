//! What operators see of what waits: reported by the worker that leads, so that one asks and not all.

use std::{collections::HashMap, time::Duration};

use metrics::Gauge;
use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::delivery::{Delivery, lease::Lead};
use crate::domain::{
    event::Event,
    ids::{ChannelName, EventId},
    notice::ParkedState,
};
use crate::store::{
    StoreError,
    listing::{Direction, Wanted},
};

/// How often it is reported.
const EVERY: Duration = Duration::from_mins(1);

/// Rows a page of the list of events.
const PAGE: usize = 200;

/// An event that ended so long ago is history: nobody is to be called for it any more.
const HISTORY_MS: i64 = 7 * 24 * 3600 * 1000;

/// What was reported last. The gauges of a worker that doesn't lead any more must not keep it.
#[derive(Default)]
struct Reported {
    notices: HashMap<(EventId, ParkedState), Gauge>,
    quotas: HashMap<ChannelName, Gauge>,
}

/// Counts every minute while this worker leads. The first time is at once if it holds the first shard. If no shard is
/// held, it is two rounds later: of several workers that begin together each leads then, and all but one see within a
/// round that another one does.
pub(super) async fn report_while(
    delivery: Delivery,
    mut leading: watch::Receiver<Lead>,
    round: Duration,
    shutdown: CancellationToken,
) {
    let (mut reported, mut reported_at) = (Reported::default(), None);
    loop {
        let lead = *leading.borrow_and_update();
        if !lead.leads() {
            reported.forget();
            reported_at = None;
        }
        let due = due(lead, reported_at, round);
        tokio::select! {
            () = shutdown.cancelled() => return,
            changed = leading.changed() => if changed.is_err() { return },
            () = tokio::time::sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                tokio::select! {
                    // A LINE that is silent must not hold up whoever stops: nothing is lost when a report breaks off.
                    () = shutdown.cancelled() => return,
                    () = reported.all(&delivery) => reported_at = Some(Instant::now()),
                }
            }
        }
    }
}

/// When the next count is due; `reported_at` is the time of the last one since this worker leads.
fn due(lead: Lead, reported_at: Option<Instant>, round: Duration) -> Option<Instant> {
    match (lead, reported_at) {
        (Lead::Others, _) => None,
        (Lead::Mine | Lead::Vacant, Some(at)) => Some(at + EVERY),
        (Lead::Mine, None) => Some(Instant::now()),
        (Lead::Vacant, None) => Some(Instant::now() + 2 * round),
    }
}

impl Reported {
    async fn all(&mut self, delivery: &Delivery) {
        if let Err(error) = self.notices(delivery).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "parked notices can't be counted now");
        }
        self.quotas(delivery).await;
    }

    /// How many notices of each event are in which special state.
    async fn notices(&mut self, delivery: &Delivery) -> Result<(), StoreError> {
        let mut wanted = Wanted { direction: Direction::Asc, limit: PAGE, after: None };
        loop {
            let page = delivery.parts.store.events(&wanted).await?;
            for event in &page.rows {
                self.notices_of(delivery, event).await?;
            }
            wanted.after = page.next;
            if wanted.after.is_none() {
                return Ok(());
            }
        }
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

    /// How many of the month's messages each channel has left.
    async fn quotas(&mut self, delivery: &Delivery) {
        for channel in delivery.parts.channels.all() {
            let left = match channel.messenger.quota().await {
                Ok(quota) => quota.left().map_or(f64::INFINITY, f64::from),
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(channel = %channel.name, error, "LINE doesn't tell the quota now");
                    f64::NAN
                }
            };
            self.quotas.entry(channel.name.clone()).or_insert_with(|| quota(&channel.name)).set(left);
        }
    }

    fn forget(&mut self) {
        self.notices.drain().for_each(|(_, gauge)| gauge.set(0));
        self.quotas.drain().for_each(|(_, gauge)| gauge.set(f64::NAN));
    }
}

fn notices(event_id: &EventId, state: ParkedState) -> Gauge {
    metrics::gauge!("stamp_rally_notices", "event" => event_id.to_string(), "state" => state.as_str())
}

fn quota(channel: &ChannelName) -> Gauge {
    metrics::gauge!("stamp_rally_line_quota_left", "channel" => channel.to_string())
}

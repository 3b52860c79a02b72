//! Counts of a rally.

use std::collections::BTreeMap;

use actix_web::{
    HttpResponse,
    web::{Data, Path},
};
use serde::Serialize;

use crate::domain::{
    counts::{self, Counts, Hour},
    ids::EventId,
};
use crate::http::{app::App, auth::Viewer, problem::ApiError};
use crate::store::counts::Tallied;

/// `GET …/{eventId}/stats`: registrations, stamps, completed cards; in all, and by hour of the event's zone.
pub async fn show(_viewer: Viewer, app: Data<App>, event_id: Path<EventId>) -> Result<HttpResponse, ApiError> {
    app.stored_event(&event_id).await?;
    let Tallied { hours, unreadable, .. } = app.store.counts(&event_id).await?;
    let total = counts::total(&hours);
    let view = StatsView {
        event_id: event_id.as_str(),
        total: CountsView::of(&total),
        hours: hours.iter().filter(|(_, counts)| !counts.is_zero()).map(HourView::of).collect(),
        incomplete: (!unreadable.is_empty()).then_some(true),
    };
    Ok(HttpResponse::Ok().json(view))
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct StatsView<'a> {
    event_id: &'a str,
    #[serde(flatten)]
    total: CountsView<'a>,
    hours: Vec<HourView<'a>>,
    /// Items of the counts can't be read, and are left out: `stats rebuild` mends that.
    #[serde(skip_serializing_if = "Option::is_none")]
    incomplete: Option<bool>,
}

#[derive(Debug, Serialize)]
struct HourView<'a> {
    hour: &'a str,
    #[serde(flatten)]
    counts: CountsView<'a>,
}

#[derive(Debug, Serialize)]
struct CountsView<'a> {
    registrations: i64,
    stamps: BTreeMap<&'a str, i64>,
    completions: i64,
}

impl<'a> HourView<'a> {
    fn of((hour, counts): (&'a Hour, &'a Counts)) -> Self {
        Self { hour: hour.as_str(), counts: CountsView::of(counts) }
    }
}

impl<'a> CountsView<'a> {
    fn of(counts: &'a Counts) -> Self {
        Self {
            registrations: counts.registrations,
            stamps: counts.stamps.iter().map(|(stamp_id, count)| (stamp_id.as_str(), *count)).collect(),
            completions: counts.completions,
        }
    }
}

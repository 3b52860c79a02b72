//! Refused claims, as organisers read them.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path},
};
use serde::Serialize;

use crate::domain::{
    counts::Hour,
    ids::EventId,
    refusals::{RefusalCounts, RefusedFor},
    time::Span,
};
use crate::http::{app::App, auth::Viewer, problem::ApiError};

use super::list::Parameters;

/// `GET …/{eventId}/refusals`: how often claims were refused, by hour, stamp and reason. Each server writes its own every
/// ten seconds.
pub async fn list(
    _viewer: Viewer,
    req: HttpRequest,
    app: Data<App>,
    event_id: Path<EventId>,
) -> Result<HttpResponse, ApiError> {
    let parameters = Parameters::of(&req, &["from", "to"])?;
    let event = app.stored_event(&event_id).await?;
    let span = parameters.span(event.time_zone)?;
    let hours = app.store.refusals(&event_id).await?;
    let rows = hours.iter().filter(|(hour, _)| is_within(hour, span)).flat_map(rows).collect();
    Ok(HttpResponse::Ok().json(RefusalsView { refusals: rows }))
}

/// Returns whether an hour has an instant of the span.
fn is_within(hour: &Hour, span: Span) -> bool {
    let Some(start) = hour.start() else { return false };
    span.to.is_none_or(|to| start < to) && span.from.is_none_or(|from| from < start.plus_millis(3_600_000))
}

fn rows<'a>((hour, counts): (&'a Hour, &'a RefusalCounts)) -> impl Iterator<Item = RefusalView<'a>> {
    counts.0.iter().map(move |(RefusedFor { stamp_id, reason }, count)| RefusalView {
        hour: hour.as_str(),
        stamp_id: stamp_id.as_str(),
        reason,
        count: *count,
    })
}

#[derive(Debug, Serialize)]
struct RefusalsView<'a> {
    refusals: Vec<RefusalView<'a>>,
}

/// How often one stamp was refused for one reason in one hour.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RefusalView<'a> {
    hour: &'a str,
    stamp_id: &'a str,
    reason: &'a str,
    count: u64,
}

//! Notices in a special state.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path},
};

use crate::domain::{Malformed, ids::EventId, notice::ParkedState};
use crate::http::{app::App, auth::Viewer, problem::ApiError};

use super::{
    list::{ListQuery, Parameters},
    view::FactView,
};

/// `GET …/{eventId}/deliveries?state=`: the facts whose notices are in that state, by the time they got there.
pub async fn list(
    _viewer: Viewer,
    req: HttpRequest,
    app: Data<App>,
    event_id: Path<EventId>,
) -> Result<HttpResponse, ApiError> {
    let parameters = Parameters::of(&req, &["state", "order", "limit", "cursor"])?;
    let state = parameters.one("state").ok_or_else(|| Malformed::new("state", "is required"))?;
    let state: ParkedState = state.parse()?;
    let query = ListQuery::read(&parameters, &["deliveries", event_id.as_str(), state.as_str()])?;
    let wanted = query.wanted()?;
    app.stored_event(&event_id).await?;
    let page = app.store.parked(&event_id, state, &wanted).await?;
    query.answer("deliveries", page.rows.iter().map(FactView::of).collect(), page.next)
}

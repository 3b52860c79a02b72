//! Notices in a special state, and notices sent again.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path},
};
use serde::Serialize;

use crate::domain::{
    ids::{EventId, LineUserId, StampId},
    mode::Mode,
    notice::ParkedState,
    resend::{Chain, ResendOrder},
};
use crate::http::{
    app::App,
    auth::{Operator, Viewer},
    body::NoBody,
    problem::ApiError,
};

use super::{
    list::{ListQuery, Parameters, Part},
    view::FactView,
};

/// `GET …/{eventId}/deliveries?state=`: the facts whose notices are in that state, by the time they came into it.
pub async fn list(
    _viewer: Viewer,
    req: HttpRequest,
    app: Data<App>,
    event_id: Path<EventId>,
) -> Result<HttpResponse, ApiError> {
    let parameters = Parameters::of(&req, &["state", "order", "limit", "cursor"])?;
    let state: ParkedState = parameters.one("state").unwrap_or_default().parse()?;
    let query = ListQuery::read(&parameters, &["deliveries", event_id.as_str(), state.as_str()])?;
    let wanted = query.wanted()?;
    app.stored_event(&event_id).await?;
    let page = app.store.parked(&event_id, state, &wanted).await?;
    query.answer("deliveries", Part::of(&page, FactView::of))
}

/// `202 {"number":1}`: the resend of this number is on its way.
#[derive(Debug, Serialize)]
struct ResendView {
    number: u16,
}

/// `POST …/{eventId}/deliveries/{lineUserId}/{stampId}/resend`: orders a stamp's notice to be sent again.
///
/// Of operators who order one at once, one is answered 202 and the others 409.
pub async fn resend(
    operator: Operator,
    app: Data<App>,
    path: Path<(EventId, LineUserId, StampId)>,
    _: NoBody,
) -> Result<HttpResponse, ApiError> {
    let (event_id, who, stamp_id) = path.into_inner();
    let number = order(&operator, &app, (&event_id, &who), &Chain::Stamp(stamp_id.clone())).await?;
    tracing::info!(event.id = %event_id, stamp.id = %stamp_id, resend.number = number, "a notice is sent again");
    Ok(HttpResponse::Accepted().json(ResendView { number }))
}

/// `POST …/{eventId}/users/{lineUserId}/completed/resend`: orders the notice of a full card to be sent again, as
/// [`resend`] does that of a stamp.
pub async fn resend_completed(
    operator: Operator,
    app: Data<App>,
    path: Path<(EventId, LineUserId)>,
    _: NoBody,
) -> Result<HttpResponse, ApiError> {
    let (event_id, who) = path.into_inner();
    let number = order(&operator, &app, (&event_id, &who), &Chain::Completed).await?;
    tracing::info!(event.id = %event_id, resend.number = number, "the notice of a full card is sent again");
    Ok(HttpResponse::Accepted().json(ResendView { number }))
}

/// Records that a notice of a participant is to be sent again, and returns which resend of it that is.
async fn order(
    operator: &Operator,
    app: &App,
    (event_id, who): (&EventId, &LineUserId),
    of: &Chain,
) -> Result<u16, ApiError> {
    app.stored_event(event_id).await?;
    let facts = app.store.facts(event_id, who).await?;
    if facts.is_empty() {
        return Err(ApiError::ParticipantNotFound);
    }
    let (requested_by, requested_at) = (operator.name(), app.clock.now());
    let order = ResendOrder { of, requested_by, requested_at, only_in: None };
    Ok(app.store.resend(&facts, &order, Mode::ForReal).await??.number())
}

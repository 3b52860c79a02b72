//! Stamps that staff grant: they scan the code that the participant's phone shows.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path},
};
use serde::Deserialize;

use crate::domain::{
    claim::{Claim, Evidence, NoKeys, Refusal, Report, person_of},
    event::Event,
    ids::{EventId, LineUserId, RequestId, StampId},
};

use super::{
    app::App,
    body::{Body, Input},
    claim,
    participant::Text,
    problem::ApiError,
};

/// `{"code"}`: the participant's, as it was scanned.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GrantInput {
    code: Text,
}

impl Input for GrantInput {
    const LIMIT: usize = 16 * 1024;
}

/// `POST /staff/api/events/{eventId}/stamps/{stampId}/grants`: the participant acquires the stamp by the word of staff.
pub(super) async fn grant(
    req: HttpRequest,
    app: Data<App>,
    path: Path<(EventId, StampId)>,
    request_id: RequestId,
    input: Body<GrantInput>,
) -> Result<HttpResponse, ApiError> {
    let (event_id, stamp_id) = path.into_inner();
    let rally = app.rally(&event_id).await?;
    let granter = app.granter(&req, (&event_id, &stamp_id)).await?;
    app.stamp(&rally, &stamp_id).await?;
    let line_user_id = whose(&app, (&rally.event, &stamp_id), input.0.code.as_str())?;
    if !claim::is_registered(&app, &event_id, &line_user_id).await? {
        return Err(ApiError::ParticipantNotFound);
    }
    let evidence = Evidence { report: Some(Report::Staff(granter.witness)), ..Evidence::default() };
    claim::answer(&app, &rally, &stamp_id, &Claim { line_user_id, request_id, evidence }).await
}

/// Returns whose code was scanned. A server without a key can't judge any: our trouble.
fn whose(app: &App, (event, stamp_id): (&Event, &StampId), code: &str) -> Result<LineUserId, ApiError> {
    if app.proof_keys.is_empty() {
        return Err(ApiError::Internal(NoKeys.into()));
    }
    person_of(code, &event.event_id, &app.proof_keys, app.clock.now()).map_err(|rejection| {
        let refusal = Refusal::Rejected(rejection);
        app.refusals.count(event, stamp_id, &refusal, &app.clock);
        refusal.into()
    })
}

//! The participants' API. Checks come in the contract's order: the arguments check the shape of ids and body (400,
//! 413, 415), then each handler the event (404), the token (401), the stamp (404), and the domain the rest (409).

mod input;

pub(super) use input::Text;

use actix_web::{
    HttpRequest, HttpResponse,
    http::header,
    web::{Data, Path},
};
use serde::Deserialize;

use crate::domain::{
    card::StampCard,
    claim::{Claim, NoKeys, Refusal, Rejection},
    fact::Acquisition,
    ids::{EventId, RequestId, StampId},
    proof::{Code, PersonCode},
};

use super::{
    app::App,
    body::{Body, Input},
    claim,
    problem::ApiError,
    view::{CardView, PersonCodeView, PublicStampView, PublicStampsView, StampView},
};
use input::{ClaimInput, ScanInput};

/// `PUT …/me`: no member.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RegistrationInput {}

const BODY_LIMIT: usize = 16 * 1024;

impl Input for RegistrationInput {
    const LIMIT: usize = BODY_LIMIT;

    fn absent() -> Option<Self> {
        Some(Self {})
    }
}

/// `PUT /api/events/{eventId}/me`: registers if needed, answers the card.
pub(super) async fn register(
    req: HttpRequest,
    app: Data<App>,
    event_id: Path<EventId>,
    request_id: RequestId,
    _body: Body<RegistrationInput>,
) -> Result<HttpResponse, ApiError> {
    let rally = app.rally(&event_id).await?;
    let who = app.participant(&req, &rally.event).await?;
    let (facts, user) = claim::register(&app, &rally.event, &who.line_user_id, request_id).await?;
    let card = StampCard::fold(&rally.masters, &facts);
    Ok(HttpResponse::build(claim::status(&user)).json(CardView::of(&user.fact(), &card)))
}

/// `GET /api/events/{eventId}/me`: the card.
pub(super) async fn card(req: HttpRequest, app: Data<App>, event_id: Path<EventId>) -> Result<HttpResponse, ApiError> {
    let rally = app.rally(&event_id).await?;
    let who = app.participant(&req, &rally.event).await?;
    let facts = app.store.facts(&event_id, &who.line_user_id).await?;
    let user = claim::registered(&facts)?;
    app.known.remember(&event_id, &who.line_user_id, app.clock.uptime());
    let card = StampCard::fold(&rally.masters, &facts);
    Ok(HttpResponse::Ok().json(CardView::of(user, &card)))
}

/// `GET /api/events/{eventId}/me/stamps/{stampId}`: one stamp of the card, acquired or not.
pub(super) async fn stamp(
    req: HttpRequest,
    app: Data<App>,
    path: Path<(EventId, StampId)>,
) -> Result<HttpResponse, ApiError> {
    let (event_id, stamp_id) = path.into_inner();
    let rally = app.rally(&event_id).await?;
    let who = app.participant(&req, &rally.event).await?;
    let master = app.stamp(&rally, &stamp_id).await?;
    let found = claim::found(app.store.stamp(&event_id, &who.line_user_id, &stamp_id).await)?;
    let view = match (&master, found.acquisition()) {
        (Some(master), acquisition) => StampView::of(master, acquisition),
        (None, Acquisition::None) => return Err(claim::unreadable_stamp()),
        (None, acquisition) => StampView::without_master(&stamp_id, acquisition),
    };
    Ok(HttpResponse::Ok().json(view))
}

/// `POST /api/events/{eventId}/me/stamps/{stampId}`: acquires the stamp.
pub(super) async fn acquire(
    req: HttpRequest,
    app: Data<App>,
    path: Path<(EventId, StampId)>,
    request_id: RequestId,
    input: Body<ClaimInput>,
) -> Result<HttpResponse, ApiError> {
    let (event_id, stamp_id) = path.into_inner();
    let rally = app.rally(&event_id).await?;
    let who = app.participant(&req, &rally.event).await?;
    let claim = Claim { line_user_id: who.line_user_id, request_id, evidence: input.0.into() };
    claim::answer(&app, &rally, &stamp_id, &claim).await
}

/// `POST /api/events/{eventId}/me/scans`: acquires the stamp that the code is of.
pub(super) async fn scan(
    req: HttpRequest,
    app: Data<App>,
    event_id: Path<EventId>,
    request_id: RequestId,
    input: Body<ScanInput>,
) -> Result<HttpResponse, ApiError> {
    let rally = app.rally(&event_id).await?;
    let who = app.participant(&req, &rally.event).await?;
    let named = match Code::read(input.0.code()) {
        Some(Code::Stamp(code)) => rally.masters.ids().find(|stamp_id| code.names(&event_id, stamp_id)),
        Some(Code::Person(_)) | None => None,
    };
    let stamp_id = named.ok_or(Refusal::Rejected(Rejection::CodeUnknown))?;
    let claim = Claim { line_user_id: who.line_user_id, request_id, evidence: input.0.into() };
    claim::answer(&app, &rally, stamp_id, &claim).await
}

/// `GET /api/events/{eventId}/me/code`: the participant's code, for staff to scan.
pub(super) async fn code(req: HttpRequest, app: Data<App>, event_id: Path<EventId>) -> Result<HttpResponse, ApiError> {
    let rally = app.rally(&event_id).await?;
    let who = app.participant(&req, &rally.event).await?;
    let made = PersonCode::make(&app.proof_keys, &event_id, &who.line_user_id, app.clock.now());
    let (code, expires_at) = made.ok_or_else(|| ApiError::Internal(NoKeys.into()))?;
    Ok(HttpResponse::Ok().json(PersonCodeView { code, expires_at }))
}

/// `GET /api/events/{eventId}/stamps`: the active stamps in order, for every caller.
pub(super) async fn stamps(app: Data<App>, event_id: Path<EventId>) -> Result<HttpResponse, ApiError> {
    let rally = app.rally(&event_id).await?;
    let active = rally.masters.active();
    let view = PublicStampsView { stamps: active.map(PublicStampView::of).collect() };
    Ok(HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "public, max-age=5")).json(view))
}

//! The participants' API. Checks come in the contract's order: the arguments check the shape of ids and body (400,
//! 413, 415), then each handler the event (404), the token (401), the stamp (404), and the domain the rest (409).

mod claim;
mod view;

pub(super) use view::CardView;

use std::collections::HashMap;

use actix_web::{
    HttpRequest, HttpResponse,
    http::header,
    web::{Data, Path},
};
use serde::Deserialize;

use crate::domain::{
    card::StampCard,
    claim::{Claim, Proof},
    fact::Acquisition,
    ids::{EventId, RequestId, StampId},
    json::Plain,
};

use super::{
    app::App,
    body::{Body, Input, present},
    problem::ApiError,
};
use view::{PublicStampView, PublicStampsView, StampView};

/// `PUT …/me`: no member.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RegistrationInput {}

/// `POST …/me/stamps/{stampId}`: may bring a proof, an object of any members.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClaimInput {
    #[serde(default, deserialize_with = "present")]
    proof: Option<HashMap<String, Plain>>,
}

impl From<ClaimInput> for Proof {
    fn from(input: ClaimInput) -> Self {
        input.proof.map_or(Self::None, |_| Self::Unknown)
    }
}

const BODY_LIMIT: usize = 16 * 1024;

impl Input for RegistrationInput {
    const LIMIT: usize = BODY_LIMIT;

    fn absent() -> Option<Self> {
        Some(Self {})
    }
}

impl Input for ClaimInput {
    const LIMIT: usize = BODY_LIMIT;

    fn absent() -> Option<Self> {
        Some(Self::default())
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
    let claim = Claim { line_user_id: who.line_user_id, request_id, proof: input.0.into() };
    let Some(master) = app.stamp(&rally, &stamp_id).await? else {
        let found = claim::acquired_before(&app, &rally.event, &stamp_id, &claim).await?;
        let stamp = found.ok_or_else(claim::unreadable_stamp)?;
        return Ok(HttpResponse::build(stamp.status()).json(StampView::without_master(&stamp_id, stamp.acquisition())));
    };
    let stamp = claim::claim(&app, &rally.event, &master, &claim).await?;
    Ok(HttpResponse::build(stamp.status()).json(StampView::of(&master, stamp.acquisition())))
}

/// `GET /api/events/{eventId}/stamps`: the active stamps in order, for every caller.
pub(super) async fn stamps(app: Data<App>, event_id: Path<EventId>) -> Result<HttpResponse, ApiError> {
    let rally = app.rally(&event_id).await?;
    let active = rally.masters.active();
    let view = PublicStampsView { stamps: active.map(PublicStampView::of).collect() };
    Ok(HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "public, max-age=5")).json(view))
}

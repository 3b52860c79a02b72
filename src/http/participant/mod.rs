//! The participants' API. Checks come in the contract's order: the arguments check the shape of ids and body (400,
//! 413, 415), then each handler the event (404), the token (401), the stamp (404), and the domain the rest (409).

mod claim;
mod known;
mod view;

pub use known::KnownParticipants;
pub(super) use view::CardView;

use std::collections::HashMap;

use actix_web::{
    HttpRequest, HttpResponse,
    http::{StatusCode, header},
    web::{Data, Path},
};
use serde::Deserialize;

use crate::domain::{
    card::StampCard,
    fact::Acquisition,
    ids::{EventId, StampId},
    json::Plain,
};

use super::{
    answer,
    app::App,
    asked_by::AskedBy,
    auth::Participant,
    body::{Body, Input, present},
    problem::ApiError,
};
use view::{PublicStampView, PublicStampsView, StampView};

/// `PUT …/me` brings nothing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RegistrationInput {}

/// `POST …/me/stamps/{stampId}` may bring a proof of being there. No stamp asks for one yet, so it isn't looked at.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClaimInput {
    #[serde(default, rename = "proof", deserialize_with = "present")]
    _proof: Option<HashMap<String, Plain>>,
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
    asked_by: AskedBy,
    _body: Body<RegistrationInput>,
) -> Result<HttpResponse, ApiError> {
    let rally = app.rally(&event_id).await?;
    let who = Participant::verified(&req, &app, &rally.event).await?;
    let (facts, user) = claim::register(&app, &rally.event, who.line_user_id(), asked_by.0).await?;
    let card = StampCard::fold(&rally.masters, &facts);
    Ok(answer::json(answer::status(&user), &CardView::of(&user.fact(), &card)))
}

/// `GET /api/events/{eventId}/me`: the card.
pub(super) async fn card(req: HttpRequest, app: Data<App>, event_id: Path<EventId>) -> Result<HttpResponse, ApiError> {
    let rally = app.rally(&event_id).await?;
    let who = Participant::verified(&req, &app, &rally.event).await?;
    let facts = app.store.facts(&event_id, who.line_user_id()).await?;
    let user = claim::registered(&facts)?;
    app.known.remember(&event_id, who.line_user_id(), app.clock.uptime());
    let card = StampCard::fold(&rally.masters, &facts);
    Ok(answer::json(StatusCode::OK, &CardView::of(user, &card)))
}

/// `GET /api/events/{eventId}/me/stamps/{stampId}`: one stamp of the card, acquired or not.
pub(super) async fn stamp(
    req: HttpRequest,
    app: Data<App>,
    path: Path<(EventId, StampId)>,
) -> Result<HttpResponse, ApiError> {
    let (event_id, stamp_id) = path.into_inner();
    let rally = app.rally(&event_id).await?;
    let who = Participant::verified(&req, &app, &rally.event).await?;
    let master = app.stamp(&rally, &stamp_id).await?;
    let found = claim::found(app.store.stamp(&event_id, who.line_user_id(), &stamp_id).await)?;
    let view = match (&master, found.acquisition()) {
        (Some(master), acquisition) => StampView::of(master, acquisition),
        (None, Acquisition::None) => return Err(claim::unreadable_stamp()),
        (None, acquisition) => StampView::without_master(&stamp_id, acquisition),
    };
    Ok(answer::json(StatusCode::OK, &view))
}

/// `POST /api/events/{eventId}/me/stamps/{stampId}`: acquires the stamp.
pub(super) async fn acquire(
    req: HttpRequest,
    app: Data<App>,
    path: Path<(EventId, StampId)>,
    asked_by: AskedBy,
    _body: Body<ClaimInput>,
) -> Result<HttpResponse, ApiError> {
    let (event_id, stamp_id) = path.into_inner();
    let rally = app.rally(&event_id).await?;
    let who = Participant::verified(&req, &app, &rally.event).await?;
    let claim = who.claims(asked_by.0);
    let Some(master) = app.stamp(&rally, &stamp_id).await? else {
        let found = claim::acquired_before(&app, &rally.event, &stamp_id, &claim).await?;
        let stamp = found.ok_or_else(claim::unreadable_stamp)?;
        return Ok(answer::json(stamp.status(), &StampView::without_master(&stamp_id, stamp.acquisition())));
    };
    let stamp = claim::claim(&app, &rally.event, &master, &claim).await?;
    Ok(answer::json(stamp.status(), &StampView::of(&master, stamp.acquisition())))
}

/// `GET /api/events/{eventId}/stamps`: the active stamps in order, for anybody.
pub(super) async fn stamps(app: Data<App>, event_id: Path<EventId>) -> Result<HttpResponse, ApiError> {
    let rally = app.rally(&event_id).await?;
    let active = rally.masters.active();
    let view = PublicStampsView { stamps: active.map(PublicStampView::of).collect() };
    Ok(HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "public, max-age=5")).json(view))
}

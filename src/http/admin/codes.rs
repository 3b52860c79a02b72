//! The codes of a stamp: which generations there are, the next one, a revoked one.

use actix_web::{
    HttpResponse,
    web::{Data, Path},
};
use serde::{Deserialize, Serialize};

use crate::domain::{
    Malformed,
    event::Event,
    ids::{EventId, StampId},
    proof::{CodeChange, CodeGeneration, CodeKind, CodeOrder, CodeSource, Generation, PrintedCode},
};
use crate::http::{app::App, auth::Operator, body::NoBody, problem::ApiError};

/// `{"codes":[…]}`
#[derive(Debug, Serialize)]
struct CodesView {
    codes: Vec<CodeView>,
}

/// One generation. A printed code that is good is shown; a screen's changes, and screens show it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CodeView {
    #[serde(flatten)]
    generation: CodeGeneration,
    #[serde(flatten)]
    printed: Option<PrintedCode>,
}

impl CodeView {
    fn of(generation: CodeGeneration, (app, event, stamp_id): (&App, &Event, &StampId)) -> Self {
        let source = CodeSource { keys: &app.proof_keys, event_id: &event.event_id, stamp_id };
        let printed = PrintedCode::of(&generation, &source, event.liff_id.as_ref());
        Self { generation, printed }
    }
}

/// `GET …/{eventId}/stamps/{stampId}/codes`: the generations of the kinds that the stamp takes, and those that something
/// happened to.
pub async fn list(
    _operator: Operator,
    app: Data<App>,
    path: Path<(EventId, StampId)>,
) -> Result<HttpResponse, ApiError> {
    let (event_id, stamp_id) = path.into_inner();
    let event = app.stored_event(&event_id).await?;
    let master = app.store.master(&event_id, &stamp_id).await?.ok_or(ApiError::StampNotFound)?;
    let listed = master.rules.codes.listed(&master.rules.proofs).into_iter();
    let codes = listed.map(|generation| CodeView::of(generation, (&app, &event, &stamp_id))).collect();
    Ok(HttpResponse::Ok().json(CodesView { codes }))
}

/// `POST …/codes/{kind}/rotate`: makes the next generation. Of operators who do so at once each gets one of their own.
pub async fn rotate(
    operator: Operator,
    app: Data<App>,
    path: Path<(EventId, StampId, CodeKind)>,
    _: NoBody,
) -> Result<HttpResponse, ApiError> {
    let (event_id, stamp_id, kind) = path.into_inner();
    let view = carry_out(&app, &operator, (&event_id, &stamp_id), CodeChange::Rotate(kind)).await?;
    let generation = view.generation.generation;
    tracing::info!(event.id = %event_id, stamp.id = %stamp_id, code.kind = %kind, code.generation = %generation, "a stamp's codes were rotated");
    Ok(HttpResponse::Created().json(view))
}

/// A generation as a path has it.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct InPath(Generation);

impl TryFrom<String> for InPath {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        text.parse().map(Self)
    }
}

/// `POST …/codes/{kind}/{generation}/revoke`: its codes are refused from now on, on every server within five seconds. A
/// repeat is answered as the first one was.
pub async fn revoke(
    operator: Operator,
    app: Data<App>,
    path: Path<(EventId, StampId, CodeKind, InPath)>,
    _: NoBody,
) -> Result<HttpResponse, ApiError> {
    let (event_id, stamp_id, kind, InPath(generation)) = path.into_inner();
    let view = carry_out(&app, &operator, (&event_id, &stamp_id), CodeChange::Revoke(kind, generation)).await?;
    tracing::info!(event.id = %event_id, stamp.id = %stamp_id, code.kind = %kind, code.generation = %generation, "a generation of a stamp's codes is revoked");
    Ok(HttpResponse::Ok().json(view))
}

async fn carry_out(
    app: &App,
    operator: &Operator,
    (event_id, stamp_id): (&EventId, &StampId),
    change: CodeChange,
) -> Result<CodeView, ApiError> {
    let event = app.stored_event(event_id).await?;
    let order = CodeOrder { change, by: operator.name(), at: app.clock.now() };
    let generation = app.store.order_codes(event_id, stamp_id, &order).await??;
    app.rallies.forget(event_id);
    Ok(CodeView::of(generation, (app, &event, stamp_id)))
}

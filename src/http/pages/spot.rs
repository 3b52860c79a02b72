//! The page of a screen at a spot, and the codes that it shows.

use std::sync::LazyLock;

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path},
};
use serde::Serialize;

use crate::domain::{
    claim::NoKeys,
    event::{Event, LiffId},
    ids::{EventId, StampId},
    proof::{CodeKind, CodeSource, ProofKind, ScreenCode},
    qr::QrCode,
    stamp::StampMaster,
    time::Timestamp,
};
use crate::http::{app::App, claim, problem::ApiError};

use super::{assets, page};

static HTML: LazyLock<String> = LazyLock::new(|| assets::linked(include_str!("spot/spot.html")));

/// `GET /spot/{eventId}/{stampId}`: the page. It is the same for all; its token is in the fragment, which no server sees.
pub async fn show(req: HttpRequest, _path: Path<(EventId, StampId)>) -> HttpResponse {
    page(&req, HTML.as_str())
}

/// The codes of the next ten minutes.
#[derive(Debug, Serialize)]
struct CodesView {
    now: Timestamp,
    codes: Vec<CodeView>,
}

/// A code, and when it is shown.
#[derive(Debug, Serialize)]
struct CodeView {
    code: String,
    /// What LIFF opens; an event without `liffId` has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    from: Timestamp,
    until: Timestamp,
    /// The QR code of the link, or else of the code.
    svg: String,
}

impl CodeView {
    fn of(shown: ScreenCode, liff_id: Option<&LiffId>) -> Result<Self, ApiError> {
        let ScreenCode { code, from, until } = shown;
        let link = liff_id.map(|liff_id| liff_id.link_of_code(&code));
        let qr = QrCode::of(link.as_deref().unwrap_or(&code));
        let qr = qr.ok_or_else(|| ApiError::Internal("a code's link is too long for a QR code".into()))?;
        Ok(Self { svg: qr.svg(), code, link, from, until })
    }
}

/// `GET /spot/{eventId}/{stampId}/codes`: the codes of the newest living generation, for a screen of this stamp; none
/// where the stamp takes no code of a screen, or all generations are revoked.
pub async fn codes(req: HttpRequest, app: Data<App>, path: Path<(EventId, StampId)>) -> Result<HttpResponse, ApiError> {
    let (event_id, stamp_id) = path.into_inner();
    let rally = app.rally(&event_id).await?;
    app.screen(&req, (&event_id, &stamp_id)).await?;
    let master = app.stamp(&rally, &stamp_id).await?.ok_or_else(claim::unreadable_stamp)?;
    let now = app.clock.now();
    let shown = shown(&app, &rally.event, &master, now)?.into_iter();
    let codes = shown.map(|code| CodeView::of(code, rally.event.liff_id.as_ref())).collect::<Result<_, _>>()?;
    Ok(HttpResponse::Ok().json(CodesView { now, codes }))
}

/// Returns what a screen shows from now on. A server without a key can't make any: our trouble.
fn shown(app: &App, event: &Event, master: &StampMaster, now: Timestamp) -> Result<Vec<ScreenCode>, ApiError> {
    let rules = &master.rules;
    let generation = rules.codes.newest_living(CodeKind::QrRotating);
    let Some(generation) = generation.filter(|_| rules.proofs.take(ProofKind::QrRotating)) else {
        return Ok(Vec::new());
    };
    let source = CodeSource { keys: &app.proof_keys, event_id: &event.event_id, stamp_id: &master.stamp_id };
    let shown = ScreenCode::from_now_on(&source, generation, rules.settings.rotating(), now);
    shown.ok_or_else(|| ApiError::Internal(NoKeys.into()))
}

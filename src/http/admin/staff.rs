//! Staff and screens: listed, made with their token, revoked.

use actix_web::{
    HttpResponse,
    web::{Data, Path},
};
use serde::{Deserialize, Serialize};

use crate::domain::{
    ids::EventId,
    staff::{Staff, StaffId, StaffName, StaffOrder, StaffRole, StaffStamps},
    time::Timestamp,
};
use crate::http::{
    app::App,
    auth::Operator,
    body::{Body, Input, Instant, NoBody, present},
    problem::ApiError,
};

/// `{"name","role","stamps","expiresAt"?}`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StaffInput {
    name: StaffName,
    role: StaffRole,
    stamps: StaffStamps,
    #[serde(default, deserialize_with = "present")]
    expires_at: Option<Instant>,
}

impl Input for StaffInput {
    const LIMIT: usize = 128 * 1024;
}

impl From<StaffInput> for StaffOrder {
    fn from(input: StaffInput) -> Self {
        let StaffInput { name, role, stamps, expires_at } = input;
        Self { name, role, stamps, expires_at: expires_at.map(|Instant(at)| at) }
    }
}

/// A member of the staff, or a screen.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct StaffView<'a> {
    staff_id: &'a StaffId,
    name: &'a StaffName,
    role: StaffRole,
    stamps: &'a StaffStamps,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked_at: Option<Timestamp>,
    /// When it is made, and never again.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
}

impl<'a> StaffView<'a> {
    fn of(staff: &'a Staff) -> Self {
        Self {
            staff_id: &staff.staff_id,
            name: &staff.name,
            role: staff.role,
            stamps: &staff.stamps,
            expires_at: staff.expires_at,
            revoked_at: staff.revoked_at,
            token: None,
        }
    }
}

/// All of an event.
#[derive(Debug, Serialize)]
struct StaffListView<'a> {
    staff: Vec<StaffView<'a>>,
}

/// `GET …/{eventId}/staff`: oldest first, revoked ones too.
pub async fn list(_operator: Operator, app: Data<App>, event_id: Path<EventId>) -> Result<HttpResponse, ApiError> {
    app.stored_event(&event_id).await?;
    let staff = app.store.staff(&event_id).await?;
    Ok(HttpResponse::Ok().json(StaffListView { staff: staff.iter().map(StaffView::of).collect() }))
}

/// `POST …/{eventId}/staff`: makes one, and answers with its token this once.
pub async fn create(
    _operator: Operator,
    app: Data<App>,
    event_id: Path<EventId>,
    input: Body<StaffInput>,
) -> Result<HttpResponse, ApiError> {
    app.stored_event(&event_id).await?;
    let (staff, token) = app.store.hire(&event_id, input.0.into(), app.clock.now()).await??;
    app.rallies.forget_staff(&event_id);
    tracing::info!(event.id = %event_id, staff.id = %staff.staff_id, "a staff token is made");
    Ok(HttpResponse::Created().json(StaffView { token: Some(token.as_str()), ..StaffView::of(&staff) }))
}

/// `POST …/{eventId}/staff/{staffId}/revoke`: its token is refused, here at once and by every server within 5 s.
pub async fn revoke(
    _operator: Operator,
    app: Data<App>,
    path: Path<(EventId, StaffId)>,
    _: NoBody,
) -> Result<HttpResponse, ApiError> {
    let (event_id, staff_id) = path.into_inner();
    app.stored_event(&event_id).await?;
    let revoked = app.store.revoke_staff(&event_id, &staff_id, app.clock.now()).await?;
    app.rallies.forget_staff(&event_id);
    let staff = revoked.ok_or(ApiError::StaffNotFound)?;
    tracing::info!(event.id = %event_id, staff.id = %staff_id, "a staff token is revoked");
    Ok(HttpResponse::Ok().json(StaffView::of(&staff)))
}

//! What operators and their machines ask: alive, ready, metrics, and the API's description.

use std::time::Duration;

use actix_web::{HttpResponse, http::header::ContentType, web::Data};
use serde_json::json;

use super::{app::App, problem::ApiError};

/// The API, described in OpenAPI 3.1; a test compares it with the routes.
pub(super) const OPENAPI: &str = include_str!("openapi.json");

/// How long a probe waits for the store.
const PATIENCE: Duration = Duration::from_secs(2);

/// `GET /healthz`: this process answers.
pub(super) async fn healthz() -> HttpResponse {
    HttpResponse::Ok().json(json!({ "status": "alive" }))
}

/// `GET /readyz`: the tables answer, too.
pub(super) async fn readyz(app: Data<App>) -> Result<HttpResponse, ApiError> {
    let answered = tokio::time::timeout(PATIENCE, app.store.reach()).await;
    answered.map_err(|late| ApiError::StoreUnavailable(late.into()))??;
    Ok(HttpResponse::Ok().json(json!({ "status": "ready" })))
}

/// `GET /metrics`: for Prometheus (text exposition format 0.0.4).
pub(super) async fn metrics(app: Data<App>) -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; version=0.0.4; charset=utf-8").body(app.metrics.render())
}

/// `GET /openapi.json`
pub(super) async fn openapi() -> HttpResponse {
    HttpResponse::Ok().content_type(ContentType::json()).body(OPENAPI)
}

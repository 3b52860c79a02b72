//! What operators and their monitoring read: alive, ready, metrics, and the API's description.

use std::{sync::Arc, time::Duration};

use actix_web::{HttpResponse, http::header::ContentType, web::Data};
use metrics_exporter_prometheus::PrometheusHandle;
use serde_json::json;

use crate::domain::time::Clock;
use crate::store::Store;

use super::problem::{ApiError, NotConsuming};

/// The API, described in OpenAPI 3.1; a test compares it with the routes.
pub(super) const OPENAPI: &str = include_str!("openapi.json");

/// How long a probe waits for the store.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// What operators are answered from.
#[derive(Clone)]
pub struct Ops {
    /// The tables that must answer.
    pub store: Store,
    /// What `/metrics` shows.
    pub metrics: PrometheusHandle,
    /// The time.
    pub clock: Clock,
    /// In a process that is there for the table's stream alone: whether it consumes.
    pub consumes: Option<Arc<dyn Fn() -> Result<(), NotConsuming> + Send + Sync>>,
}

/// `GET /healthz`: this process answers.
pub(super) async fn healthz() -> HttpResponse {
    HttpResponse::Ok().json(json!({ "status": "alive" }))
}

/// `GET /readyz`: the tables answer, too, and a process that is there to consume does.
pub(super) async fn readyz(ops: Data<Ops>) -> Result<HttpResponse, ApiError> {
    let answered = tokio::time::timeout(STORE_TIMEOUT, ops.store.reach()).await;
    answered.map_err(|late| ApiError::StoreUnavailable(late.into()))??;
    ops.consumes.as_ref().map_or(Ok(()), |consumes| consumes())?;
    Ok(HttpResponse::Ok().json(json!({ "status": "ready" })))
}

/// `GET /metrics`: for Prometheus (text exposition format 0.0.4).
pub(super) async fn metrics(ops: Data<Ops>) -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; version=0.0.4; charset=utf-8").body(ops.metrics.render())
}

/// `GET /openapi.json`
pub(super) async fn openapi() -> HttpResponse {
    HttpResponse::Ok().content_type(ContentType::json()).body(OPENAPI)
}

//! Around every request: its name, one log line, two metrics, the headers every answer has, and the way out for
//! failures.

use std::time::Duration;

use actix_web::{
    Error, HttpMessage,
    body::EitherBody,
    dev::{ServiceRequest, ServiceResponse},
    http::{
        Method, StatusCode,
        header::{self, HeaderMap, HeaderName, HeaderValue},
    },
    middleware::Next,
    web::Data,
};
use tracing::Instrument as _;

use crate::domain::ids::RequestId;

use super::{ops::Ops, problem};

/// The path of an endpoint as it was declared, `/api/events/{eventId}/me`: what logs and metrics call it, so that
/// neither tells who asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Endpoint(pub &'static str);

/// The middleware; outermost.
pub(super) async fn observe<B>(mut req: ServiceRequest, next: Next<B>) -> Result<ServiceResponse<EitherBody<B>>, Error>
where
    B: actix_web::body::MessageBody + 'static,
{
    let clock = req.app_data::<Data<Ops>>().map(|ops| ops.clock.clone());
    let uptime = || clock.as_ref().map(|clock| clock.uptime()).unwrap_or_default();
    let started = uptime();
    let request_id = RequestId::made();
    let method = known_method(req.method());
    let_go_of_unasked_body(&mut req);
    // For debugging: it costs as much as the log line, which has the id as well.
    let span = tracing::debug_span!("http.request", request.id = %request_id);
    req.extensions_mut().insert(request_id.clone());

    let answer = next.call(req).instrument(span).await?;

    let problem::Rendered { mut answer, code } = problem::render(answer, &request_id);
    add_headers(answer.headers_mut(), &request_id);
    let endpoint = answer.request().app_data::<Endpoint>().map_or("none", |endpoint| endpoint.0);
    let (status, took) = (answer.status(), uptime().saturating_sub(started));
    note(&Answered { request_id: &request_id, method, endpoint, status, code, took });
    Ok(answer)
}

/// Lets go of a body that nobody will read ([`super::body::NoBody`] tells why), of every method that takes none.
fn let_go_of_unasked_body(req: &mut ServiceRequest) {
    if !matches!(*req.method(), Method::POST | Method::PUT) {
        drop(req.take_payload());
    }
}

struct Answered<'a> {
    request_id: &'a RequestId,
    method: &'static str,
    endpoint: &'static str,
    status: StatusCode,
    code: Option<&'static str>,
    took: Duration,
}

/// One line and two metrics. Probes come every few seconds and tell nothing: their line is for debugging.
fn note(answered: &Answered<'_>) {
    let Answered { request_id, method, endpoint, status, code, took } = *answered;
    let code = code.unwrap_or("none");
    let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    if matches!(endpoint, "/healthz" | "/readyz" | "/metrics") {
        tracing::debug!(
            request.id = %request_id,
            http.method = method,
            http.endpoint = endpoint,
            http.status = status.as_u16(),
            took_us,
            "answered"
        );
    } else {
        tracing::info!(
            request.id = %request_id,
            http.method = method,
            http.endpoint = endpoint,
            http.status = status.as_u16(),
            problem.code = code,
            took_us,
            "answered"
        );
    }
    metrics::counter!("http_requests_total", "method" => method, "endpoint" => endpoint, "status" => status.as_str().to_owned())
        .increment(1);
    metrics::histogram!("http_request_duration_seconds", "method" => method, "endpoint" => endpoint).record(took);
}

/// A method as a metric's label: as many values as there are methods, whatever clients make up.
fn known_method(method: &Method) -> &'static str {
    ["GET", "POST", "PUT", "HEAD", "OPTIONS"].into_iter().find(|known| method == known).unwrap_or("other")
}

/// What every answer has unless its handler decided otherwise.
fn add_headers(headers: &mut HeaderMap, request_id: &RequestId) {
    const ALWAYS: [(HeaderName, &str); 4] = [
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    for (name, value) in ALWAYS {
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    if let Ok(value) = HeaderValue::from_str(request_id.as_str()) {
        headers.insert(HeaderName::from_static("x-request-id"), value);
    }
}

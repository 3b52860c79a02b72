//! Around every request: its id, its span and trace, one log line, two metrics, the headers every answer has, and the
//! way out for failures.

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
use tracing::{Instrument as _, Span, field::Empty};

use crate::domain::{
    ids::RequestId,
    trace::{TRACEPARENT, TraceContext},
};
use crate::line::trace;

use super::{ops::Ops, problem, request_id::client_key};

/// The path of a route as it was declared, `/api/events/{eventId}/me`: what logs and metrics call it, so that
/// neither names a participant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Route(pub &'static str);

/// The middleware; outermost.
pub(super) async fn observe<B>(mut req: ServiceRequest, next: Next<B>) -> Result<ServiceResponse<EitherBody<B>>, Error>
where
    B: actix_web::body::MessageBody + 'static,
{
    let clock = req.app_data::<Data<Ops>>().map(|ops| ops.clock.clone());
    let uptime = || clock.as_ref().map(|clock| clock.uptime()).unwrap_or_default();
    let started = uptime();
    let request_id = RequestId::generate();
    let method = known_method(req.method());
    discard_unread_body(&mut req);
    let parent = parent_of(req.headers());
    let trace = parent.map_or_else(TraceContext::generate, TraceContext::child);
    let span = span(&request_id, method, trace);
    #[cfg(feature = "otel")]
    if let Some(parent) = parent {
        trace::follow(&span, parent);
    }
    req.extensions_mut().insert(request_id.clone());

    let answer = trace::within(trace, next.call(req).instrument(span.clone())).await?;

    let problem::Rendered { mut answer, code } = problem::render(answer, &request_id);
    add_headers(answer.headers_mut(), &request_id);
    let route = answer.request().app_data::<Route>().map_or("none", |route| route.0);
    let (status, took) = (answer.status(), uptime().saturating_sub(started));
    #[cfg(feature = "otel")]
    span.record("http.route", route).record("http.status", status.as_u16());
    // One that is malformed was refused where it counts, and is ignored elsewhere.
    let key = client_key(answer.request().headers()).ok().flatten();
    note(&Answered { request_id: &request_id, key: key.as_ref(), trace, method, route, status, code, took });
    Ok(answer)
}

/// The caller's place in its trace (W3C Trace Context, level 1); a header that can't be read, or several, count as none.
fn parent_of(headers: &HeaderMap) -> Option<TraceContext> {
    let mut values = headers.get_all(TRACEPARENT);
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok()?.parse().ok(),
        _ => None,
    }
}

/// The one span of a request. Route and status are known after the last line that could show them, so they go to
/// exporters alone: formatting them for the log would take as long as the line `answered`.
fn span(request_id: &RequestId, method: &'static str, trace: TraceContext) -> Span {
    tracing::info_span!(
        "http.request",
        request.id = %request_id,
        trace.id = %trace.trace_id(),
        http.method = method,
        http.route = Empty,
        http.status = Empty
    )
}

/// Discards the body of a method that takes none ([`super::body::NoBody`] says why).
fn discard_unread_body(req: &mut ServiceRequest) {
    if !matches!(*req.method(), Method::POST | Method::PUT) {
        drop(req.take_payload());
    }
}

struct Answered<'a> {
    request_id: &'a RequestId,
    /// The id under which a fact of this request is written, if it isn't our own.
    key: Option<&'a RequestId>,
    trace: TraceContext,
    method: &'static str,
    route: &'static str,
    status: StatusCode,
    code: Option<&'static str>,
    took: Duration,
}

/// One line and two metrics. Probes come every few seconds and are no news: their line is for debugging.
fn note(answered: &Answered<'_>) {
    let Answered { request_id, key, trace, method, route, status, code, took } = *answered;
    let code = code.unwrap_or("none");
    let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    if matches!(route, "/healthz" | "/readyz" | "/metrics") {
        tracing::debug!(
            request.id = %request_id,
            trace.id = %trace.trace_id(),
            http.method = method,
            http.route = route,
            http.status = status.as_u16(),
            took_us,
            "answered"
        );
    } else {
        tracing::info!(
            request.id = %request_id,
            trace.id = %trace.trace_id(),
            http.method = method,
            http.route = route,
            http.status = status.as_u16(),
            idempotency.key = key.map(tracing::field::display),
            problem.code = code,
            took_us,
            "answered"
        );
    }
    metrics::counter!("http_requests_total", "method" => method, "endpoint" => route, "status" => status.as_str().to_owned())
        .increment(1);
    metrics::histogram!("http_request_duration_seconds", "method" => method, "endpoint" => route).record(took);
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

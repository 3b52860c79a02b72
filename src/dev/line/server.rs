//! The HTTP side: every request becomes a [`Call`], every fault is played here.

use std::{
    any::Any,
    sync::{Arc, mpsc},
    time::Duration,
};

use actix_web::{
    HttpRequest, HttpResponse,
    dev::Extensions,
    rt,
    web::{Data, Payload},
};

use super::{
    answer::{Answer, Outcome},
    chance, control,
    endpoint::{Call, Endpoint},
    faults::{Asked, Kind, MONTHLY_LIMIT, RATE_LIMITED, Rule, Verdict},
    journal::Entry,
    login, messaging,
    platform::Platform,
    tokens,
};

/// What LINE's answers are known by (both references, "Response headers").
const REQUEST_ID: &str = "x-line-request-id";
/// LINE's largest request (Messaging API reference, status 413).
const LARGEST: usize = 2 * 1024 * 1024;
/// What is read of a request at most, so that one that is too large gets its answer.
const LARGEST_READ: usize = 64 * 1024 * 1024;

/// What each worker holds. The platform is dropped first: fields are dropped in this order.
#[derive(Clone)]
pub(super) struct Served {
    pub(super) platform: Arc<Platform>,
    /// Disconnected with the last worker.
    pub(super) _worker: mpsc::Sender<()>,
}

/// A second handle on the connection's socket: closing it is the only way to answer nothing at all.
struct Socket(std::net::TcpStream);

/// Keeps the second handle with the connection.
pub(super) fn on_connect(connection: &dyn Any, kept: &mut Extensions) {
    let Some(stream) = connection.downcast_ref::<rt::net::TcpStream>() else { return };
    if let Some(socket) = second_handle(stream) {
        kept.insert(Socket(socket));
    }
}

#[cfg(unix)]
fn second_handle(stream: &rt::net::TcpStream) -> Option<std::net::TcpStream> {
    use std::os::fd::AsFd;
    stream.as_fd().try_clone_to_owned().ok().map(Into::into)
}

#[cfg(windows)]
fn second_handle(stream: &rt::net::TcpStream) -> Option<std::net::TcpStream> {
    use std::os::windows::io::AsSocket;
    stream.as_socket().try_clone_to_owned().ok().map(Into::into)
}

/// Every request comes here.
pub(super) async fn receive(http: HttpRequest, payload: Payload, served: Data<Served>) -> HttpResponse {
    let request_id = chance::request_id();
    let Ok(Ok(body)) = payload.to_bytes_limited(LARGEST_READ).await else {
        return Answer::message(413, "Payload Too Large").with(REQUEST_ID, &request_id).into_response();
    };
    let platform = &served.platform;
    let (endpoint, has_right_method) = Endpoint::find(http.method(), http.path());
    let call = Call {
        endpoint,
        has_right_method,
        method: http.method().clone(),
        path: http.path().to_owned(),
        query: http.query_string().to_owned(),
        headers: http.headers().clone(),
        body,
        request_id,
    };
    if call.path == "/control" || call.path.starts_with("/control/") {
        return either(control::answer(platform, &call).await).into_response();
    }
    match line_answer(platform, &call).await {
        Some(answer) => answer.into_response(),
        None => hang_up(&http),
    }
}

/// What arrives as an answer, if anything: faults first, then the endpoint. Whatever a request does is done
/// before the first `await`, so a client that leaves early can't undo it.
async fn line_answer(platform: &Platform, call: &Call) -> Option<Answer> {
    let Verdict { delay_ms, rule } = verdict(platform, call);
    let (answer, silence_ms) = carry_out(platform, call, rule.as_ref());
    note(platform, call, rule.as_ref(), answer.as_ref());
    let delay_ms = delay_ms + platform.switches().latency_ms(call.endpoint);
    if delay_ms + silence_ms > 0 {
        rt::time::sleep(Duration::from_millis(delay_ms + silence_ms)).await;
    }
    answer
}

/// The answer (`None`: hang up) and how long to stay silent before it. Every answer of LINE's has its request id, a
/// proxy's has none.
fn carry_out(platform: &Platform, call: &Call, rule: Option<&Rule>) -> (Option<Answer>, u64) {
    let (answer, silence_ms) = arriving(platform, call, rule);
    let is_lines = !rule.is_some_and(|rule| rule.kind.is_of_a_proxy());
    let named = |answer: Answer| if is_lines { answer.with(REQUEST_ID, &call.request_id) } else { answer };
    (answer.map(named), silence_ms)
}

fn arriving(platform: &Platform, call: &Call, rule: Option<&Rule>) -> (Option<Answer>, u64) {
    let done = rule.is_none_or(|rule| rule.kind.accepts()).then(|| either(route(platform, call)));
    let Some(rule) = rule else { return (done, 0) };
    let answer = match rule.kind {
        Kind::Delay => done,
        Kind::DropAfterAccept | Kind::DropBefore => None,
        Kind::TimeoutAfterAccept => return (None, rule.silence_ms()),
        Kind::ExpiredToken => Some(tokens::invalid(platform)),
        Kind::MonthlyLimit => Some(Answer::message(429, MONTHLY_LIMIT)),
        Kind::RateLimited => Some(Answer::message(429, RATE_LIMITED)),
        Kind::Proxy | Kind::ProxyAfterAccept | Kind::Status | Kind::StatusAfterAccept => Some(rule.answer()),
    };
    (answer, 0)
}

fn route(platform: &Platform, call: &Call) -> Outcome {
    if call.body.len() > LARGEST {
        return Err(Answer::message(413, "Payload Too Large"));
    }
    if !call.has_right_method {
        return Err(Answer::message(405, "Method Not Allowed"));
    }
    match call.endpoint {
        Endpoint::Certs => login::certs(platform),
        Endpoint::Consumption | Endpoint::Info | Endpoint::Profile | Endpoint::Quota => {
            messaging::question(platform, call)
        }
        Endpoint::Push => messaging::push(platform, call),
        Endpoint::Reply => messaging::reply(platform, call),
        Endpoint::Token => login::token(platform, call),
        Endpoint::Unknown => Err(Answer::message(404, "Not found")),
        Endpoint::Validate => messaging::validate(platform, call),
        Endpoint::Verify => login::verify(platform, call),
    }
}

fn verdict(platform: &Platform, call: &Call) -> Verdict {
    if platform.switches().faults.rules().is_empty() {
        return Verdict::default();
    }
    let channel = tokens::authorise(platform, &call.headers).ok().map(|(_, channel)| channel.name());
    platform.switches().faults.decide(&Asked { endpoint: call.endpoint, channel, path: &call.path, body: &call.body })
}

fn note(platform: &Platform, call: &Call, rule: Option<&Rule>, answer: Option<&Answer>) {
    let outcome = match (answer, rule.map(|rule| rule.kind)) {
        (Some(answer), Some(kind)) if kind.is_of_a_proxy() => format!("proxy_{}", answer.status),
        (Some(answer), _) => answer.status.to_string(),
        (None, Some(Kind::TimeoutAfterAccept)) => "timed_out".to_owned(),
        (None, _) => "dropped".to_owned(),
    };
    let entry = Entry {
        ordinal: 0,
        endpoint: call.endpoint.name(),
        at: platform.clock.now_ms(),
        request_id: call.request_id.clone(),
        channel: tokens::authorise(platform, &call.headers).ok().map(|(_, channel)| channel.name().to_owned()),
        retry_key: Some(call.header("x-line-retry-key")).filter(|key| !key.is_empty()).map(str::to_owned),
        outcome,
        fault: rule.map(|rule| rule.kind),
    };
    platform.journal().note(entry);
}

fn either(outcome: Outcome) -> Answer {
    outcome.unwrap_or_else(|refusal| refusal)
}

/// Closes the connection under the answer, which then never arrives.
fn hang_up(http: &HttpRequest) -> HttpResponse {
    if let Some(Socket(socket)) = http.conn_data::<Socket>() {
        let _ = socket.shutdown(std::net::Shutdown::Both);
    }
    HttpResponse::InternalServerError().finish()
}

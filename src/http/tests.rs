//! What needs no store: the shape of every failure, who may call, what pages may read, how bodies are refused.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    time::Duration,
};

use actix_web::{
    HttpResponse,
    body::MessageBody,
    dev::ServiceResponse,
    http::{Method, StatusCode},
    test::{TestRequest, call_service, init_service, read_body},
    web,
};
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use super::{
    App, Channel, Channels, Parts,
    auth::{AdminToken, AdminTokens, Events, Role},
    ops::OPENAPI,
    problem::ApiError,
    routes, serve,
    server::service,
};
use crate::domain::time::MachineClock;
use crate::line::id_token::LoginChannels;
use crate::store::{
    Store, TableNames,
    client::{Clients, Pace},
    rallies::Rallies,
};

const PAGE: &str = "https://liff.example";

/// An application whose store is out of reach.
fn app() -> App {
    let clock = MachineClock::start();
    let clients = Clients::at("http://127.0.0.1:1", &Pace { attempts: 1, budget: "http-tests".into(), ..Pace::request() });
    let store = Store::new(clients.table, TableNames::default());
    let login = LoginChannels { ids: vec!["1234567890".to_owned()], hs256_secret: None };
    let main = Channel { login, webhook_secrets: vec!["8c570fa6dd201bb328f1c1eac23a96d8".to_owned().into()] };
    App::new(Parts {
        rallies: Rallies::new(store.clone(), clock.clone()),
        store,
        verifier: verifier(&clock),
        channels: Channels::from([("main".parse().unwrap(), main)]),
        admin_tokens: AdminTokens::new(vec![
            token("reader", Role::Viewer, Events::All),
            token("agency", Role::Admin, Events::These([("spring".parse().unwrap())].into())),
        ]),
        allowed_origins: vec![PAGE.to_owned()],
        clock,
        metrics: PrometheusBuilder::new().build_recorder().handle(),
    })
}

fn verifier(clock: &crate::domain::time::Clock) -> crate::line::id_token::TokenVerifier {
    crate::line::id_token::TokenVerifier::new(crate::line::Platform::new("http://127.0.0.1:1", Duration::from_secs(1)), (), clock.clone())
}

fn token(text: &str, role: Role, events: Events) -> AdminToken {
    AdminToken { name: text.to_owned(), role, sha256: Sha256::digest(text.as_bytes()).into(), events }
}

/// An answer, read.
struct Answer {
    status: u16,
    headers: actix_web::http::header::HeaderMap,
    body: web::Bytes,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The problem's code, after a look at everything that all problems have in common.
    fn problem(&self) -> String {
        let problem = self.json();
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{problem}");
        assert_eq!(problem["status"], self.status);
        assert_eq!(problem["requestId"].as_str(), self.header("x-request-id"));
        let code = problem["code"].as_str().unwrap().to_owned();
        assert!(problem["type"].as_str().unwrap().ends_with(&code));
        assert!(problem["title"].is_string() && problem["detail"].is_string());
        code
    }
}

async fn ask(req: TestRequest) -> Answer {
    let late = || async { Err::<HttpResponse, _>(ApiError::TokenExpired) };
    let service = init_service(service(app()).route("/late", web::get().to(late))).await;
    read(call_service(&service, req.to_request()).await).await
}

async fn read<B: MessageBody>(answer: ServiceResponse<B>) -> Answer {
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    Answer { status, headers, body: read_body(answer).await }
}

fn request(method: &str, path: &str) -> TestRequest {
    TestRequest::with_uri(path).method(Method::from_bytes(method.as_bytes()).unwrap())
}

fn json(method: &str, path: &str, body: &str) -> TestRequest {
    request(method, path).insert_header(("content-type", "application/json")).set_payload(body.to_owned())
}

fn by(token: &str, req: TestRequest) -> TestRequest {
    req.insert_header(("authorization", format!("Bearer {token}")))
}

async fn assert_refused(req: TestRequest, status: u16, code: &str) -> Answer {
    let answer = ask(req).await;
    assert_eq!((answer.problem().as_str(), answer.status), (code, status), "{}", answer.json());
    answer
}

#[actix_web::test]
async fn an_unknown_path_is_a_problem() {
    for path in ["/", "/api", "/api/events/spring/me/", "/admin/api/events/spring/deliveries/x/y/resend", "/%FF%00%zz"] {
        assert_refused(request("GET", path), 404, "not_found").await;
    }
}

#[actix_web::test]
async fn an_undeclared_method_is_told_which_ones_there_are() {
    let answer = assert_refused(request("DELETE", "/api/events/spring/me"), 405, "method_not_allowed").await;
    assert_eq!(answer.header("allow"), Some("GET, HEAD, PUT"));
    assert_refused(request("GET", "/webhook/main"), 405, "method_not_allowed").await;
    assert_refused(request("OPTIONS", "/api/events/spring/me"), 405, "method_not_allowed").await;
    assert_refused(request("BREW", "/healthz"), 405, "method_not_allowed").await;
}

#[actix_web::test]
async fn an_id_that_could_break_a_key_is_refused_by_name() {
    for id in ["a%23b", "a%00b", "%FF", "%zz", "a%2Fb", "-a", "a%20b", "%E8%8A%B1", &"a".repeat(65)] {
        let answer = assert_refused(request("GET", &format!("/api/events/{id}/me")), 400, "invalid_request").await;
        assert!(answer.json()["detail"].as_str().unwrap().contains("eventId"), "{id}: {}", answer.json());
        let path = format!("/api/events/spring/me/stamps/{id}");
        let answer = assert_refused(request("POST", &path), 400, "invalid_request").await;
        assert!(answer.json()["detail"].as_str().unwrap().contains("stampId"), "{id}: {}", answer.json());
    }
}

#[actix_web::test]
async fn a_claims_body_is_a_proof_or_nothing() {
    let path = "/api/events/spring/me/stamps/001";
    for body in ["{", "[]", "null", "1", r#"{"prove":{}}"#, r#"{"proof":1}"#, r#"{"proof":null}"#, "{\"proof\":{\"a\":\"\u{0}\"}}"] {
        assert_refused(json("POST", path, body), 400, "invalid_request").await;
    }
    let text = request("POST", path).insert_header(("content-type", "text/plain")).set_payload("{}");
    assert_refused(text, 415, "unsupported_media_type").await;
    assert_refused(request("POST", path).set_payload("{}"), 415, "unsupported_media_type").await;
    let zipped = json("POST", path, "{}").insert_header(("content-encoding", "gzip"));
    assert_refused(zipped, 415, "unsupported_media_type").await;
    assert_refused(json("POST", path, &" ".repeat(16 * 1024 + 1)), 413, "payload_too_large").await;
    for good in [json("POST", path, r#"{"proof":{"code":"x"}}"#), json("POST", path, "{}"), request("POST", path)] {
        assert_refused(good, 503, "store_unavailable").await;
    }
}

#[actix_web::test]
async fn an_idempotency_key_is_one_and_visible() {
    let put = || request("PUT", "/api/events/spring/me");
    for key in ["a b", "花", "", &"a".repeat(256)] {
        assert_refused(put().insert_header(("idempotency-key", key)), 400, "invalid_request").await;
    }
    let two = put().append_header(("idempotency-key", "a")).append_header(("idempotency-key", "b"));
    assert_refused(two, 400, "invalid_request").await;
}

#[actix_web::test]
async fn a_store_out_of_reach_is_told_to_be_asked_again() {
    for path in ["/api/events/spring/me", "/api/events/spring/stamps", "/readyz"] {
        let answer = assert_refused(request("GET", path), 503, "store_unavailable").await;
        assert!(answer.header("retry-after").is_some());
        assert!(!answer.json().to_string().contains("127.0.0.1"), "nothing about the inside is told");
    }
}

#[actix_web::test]
async fn organisers_prove_who_they_are_before_anything_else_is_looked_at() {
    let put = || json("PUT", "/admin/api/events/a%23b", "{");
    for req in [put(), by("guess", put()), put().insert_header(("authorization", "Basic cmVhZGVy"))] {
        let answer = assert_refused(req, 401, "admin_token_invalid").await;
        assert!(answer.header("www-authenticate").is_some());
    }
    let twice = put().append_header(("authorization", "Bearer reader")).append_header(("authorization", "Bearer reader"));
    assert_refused(twice, 401, "admin_token_invalid").await;
    assert_refused(by("reader", put()), 403, "forbidden").await;
    assert_refused(by("agency", put()), 400, "invalid_request").await;
}

#[actix_web::test]
async fn a_token_is_for_the_events_it_names() {
    assert_refused(by("agency", request("GET", "/admin/api/events/autumn/users")), 403, "forbidden").await;
    assert_refused(by("agency", request("GET", "/admin/api/events/spring/users")), 503, "store_unavailable").await;
    assert_refused(by("reader", request("GET", "/admin/api/events/autumn/users")), 503, "store_unavailable").await;
}

#[actix_web::test]
async fn what_a_setting_can_not_be_is_refused_by_name() {
    let path = "/admin/api/events/spring";
    for (body, names) in [
        (r#"{"nam":"x"}"#, "nam"),
        (r#"{"name":null}"#, "name"),
        (r#"{"name":""}"#, "name"),
        (r#"{"startsAt":"2026-05-23"}"#, "startsAt"),
        (r#"{"timeZone":"Tokyo"}"#, "timeZone"),
        (r#"{"channel":"other"}"#, "channel"),
        (r#"{"indexShards":33}"#, "indexShards"),
        (r#"{"indexShards":1.5}"#, "indexShards"),
        (r#"{"liffId":"x"}"#, "liffId"),
        (r#"{"eventId":"autumn"}"#, "eventId"),
    ] {
        let answer = assert_refused(by("agency", json("PUT", path, body)), 400, "invalid_request").await;
        assert!(answer.json()["detail"].as_str().unwrap().contains(names), "{body}: {}", answer.json());
    }
    let whole = r#"{"eventId":"spring","liffId":null,"completionMessageContent":null,"createdAt":"x","updatedAt":1}"#;
    assert_refused(by("agency", json("PUT", path, whole)), 503, "store_unavailable").await;
    assert_refused(by("agency", json("PUT", path, "")), 400, "invalid_request").await;
    assert_refused(by("agency", request("PUT", path).set_payload("{}")), 415, "unsupported_media_type").await;
    assert_refused(by("agency", json("PUT", path, &" ".repeat(257 * 1024))), 413, "payload_too_large").await;
    let tags = by("agency", json("PUT", path, "{}")).insert_header(("if-match", "abc"));
    assert_refused(tags, 400, "invalid_request").await;
}

#[actix_web::test]
async fn a_message_that_line_would_refuse_is_told_its_faults() {
    let path = "/admin/api/events/spring/stamps/001";
    let answer = assert_refused(by("agency", json("PUT", path, r#"{"flexMessageContent":null}"#)), 422, "flex_invalid").await;
    let fault = &answer.json()["faults"][0];
    assert!(fault["path"].is_string() && fault["limit"].is_string(), "{}", answer.json());
    let event = json("PUT", "/admin/api/events/spring", r#"{"completionMessageContent":{"type":"text"}}"#);
    assert_refused(by("agency", event), 422, "flex_invalid").await;
}

#[actix_web::test]
async fn what_a_list_can_not_mean_is_refused_before_the_store_is_asked() {
    for (query, code) in [
        ("deliveries", "invalid_request"),
        ("deliveries?state=lost", "invalid_request"),
        ("deliveries?state=held&limit=0", "invalid_request"),
        ("stamps?cursor=x", "cursor_invalid"),
        ("stamps/001/holders?cursor=x", "cursor_invalid"),
        ("stamps?limt=1", "invalid_request"),
        ("users?limit=1&limit=2", "invalid_request"),
        ("users.csv?limit=1", "invalid_request"),
        ("users/U1234567890abcdef", "invalid_request"),
    ] {
        assert_refused(by("reader", request("GET", &format!("/admin/api/events/spring/{query}"))), 400, code).await;
    }
    assert_refused(by("reader", request("GET", "/admin/api/events?from=2026-05-24")), 400, "invalid_request").await;
}

#[actix_web::test]
async fn a_webhook_does_not_exist_until_its_channel_and_signature_are_right() {
    for name in ["other", "MAIN", "a%23b"] {
        assert_refused(request("POST", &format!("/webhook/{name}")), 404, "channel_not_found").await;
    }
    let body = r#"{"destination":"U8e742f61d673b39c7fff3cecb7536ef0","events":[]}"#;
    assert_refused(json("POST", "/webhook/main", body), 401, "signature_invalid").await;
    let wrong = json("POST", "/webhook/main", body).insert_header(("x-line-signature", "d3Jvbmc="));
    assert_refused(wrong, 401, "signature_invalid").await;
    let large = request("POST", "/webhook/main").set_payload(vec![b' '; 1024 * 1024 + 1]);
    assert_refused(large, 413, "payload_too_large").await;
}

#[actix_web::test]
async fn a_page_can_read_that_its_token_expired() {
    let answer = assert_refused(request("GET", "/late").insert_header(("origin", PAGE)), 401, "token_expired").await;
    assert_eq!(answer.header("access-control-allow-origin"), Some(PAGE));
    let exposed = answer.header("access-control-expose-headers").unwrap().to_ascii_lowercase();
    assert!(["etag", "retry-after", "x-request-id"].iter().all(|name| exposed.contains(name)), "{exposed}");
    for (method, path) in [("GET", "/nothing"), ("DELETE", "/healthz"), ("GET", "/api/events/-/me")] {
        let answer = ask(request(method, path).insert_header(("origin", PAGE))).await;
        assert_eq!(answer.header("access-control-allow-origin"), Some(PAGE), "{path}");
    }
}

#[actix_web::test]
async fn pages_of_other_origins_read_nothing() {
    for origin in ["https://evil.example", "https://liff.example.evil.example", "http://liff.example", "null"] {
        let answer = ask(request("GET", "/late").insert_header(("origin", origin))).await;
        assert_eq!(answer.header("access-control-allow-origin"), None, "{origin}");
    }
}

#[actix_web::test]
async fn a_browser_may_ask_first() {
    let ask_first = |origin: &str| {
        request("OPTIONS", "/api/events/spring/me/stamps/001")
            .insert_header(("origin", origin))
            .insert_header(("access-control-request-method", "POST"))
            .insert_header(("access-control-request-headers", "authorization,content-type,idempotency-key,if-match"))
    };
    let answer = ask(ask_first(PAGE)).await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, Some(PAGE)));
    let answer = assert_refused(ask_first("https://evil.example"), 400, "invalid_request").await;
    assert_eq!(answer.header("access-control-allow-origin"), None);
}

#[actix_web::test]
async fn no_answer_is_kept_or_guessed_at() {
    for path in ["/healthz", "/nothing", "/late"] {
        let answer = ask(request("GET", path)).await;
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("x-request-id").unwrap().len(), 36, "{path}");
    }
}

#[actix_web::test]
async fn an_operator_can_ask_for_health_metrics_and_description() {
    assert_eq!(ask(request("GET", "/healthz")).await.json()["status"], "alive");
    assert_eq!(ask(request("HEAD", "/healthz")).await.status, 200);
    assert_eq!(ask(request("GET", "/metrics")).await.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    assert_eq!(ask(request("GET", "/openapi.json")).await.json()["openapi"], "3.1.0");
}

#[test]
fn the_description_names_every_route_and_no_other() {
    let description: Value = serde_json::from_str(OPENAPI).unwrap();
    let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
    let mut described: Vec<String> = Vec::new();
    for (path, item) in description["paths"].as_object().unwrap() {
        let operations = item.as_object().unwrap().keys().filter(|key| methods.contains(&key.as_str()));
        described.extend(operations.map(|method| format!("{} {path}", method.to_uppercase())));
    }
    // HEAD goes without saying.
    let mut served: Vec<String> = routes::endpoints()
        .iter()
        .flat_map(|endpoint| endpoint.methods.iter().map(move |method| format!("{method} {}", endpoint.path)))
        .filter(|line| !line.starts_with("HEAD"))
        .collect();
    described.sort();
    served.sort();
    assert_eq!(described, served);
}

#[test]
fn the_description_knows_every_reference_it_makes() {
    let description: Value = serde_json::from_str(OPENAPI).unwrap();
    let references = OPENAPI.split("\"$ref\": \"#").skip(1).map(|rest| rest.split('"').next().unwrap());
    let mut count = 0;
    for reference in references {
        count += 1;
        assert!(description.pointer(reference).is_some(), "{reference}");
    }
    assert!(count > 20);
}

/// A server on a port of its own, until it is stopped.
async fn serving<T: Send + 'static>(talk: impl FnOnce(TcpStream) -> T + Send + 'static) -> T {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let server = serve(listener, app(), stop.clone());
    let client = async {
        let talked = web::block(move || talk(TcpStream::connect(address).unwrap())).await.unwrap();
        stop.cancel();
        talked
    };
    let (served, talked) = tokio::join!(server, client);
    served.unwrap();
    talked
}

#[actix_web::test]
async fn a_client_that_sends_a_megabyte_before_it_reads_still_reads_why_not() {
    let answer = serving(|mut connection| {
        let head = "POST /api/events/spring/me/stamps/001 HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n";
        connection.write_all(head.as_bytes()).unwrap();
        connection.write_all(&vec![b' '; 1_000_000]).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer
    })
    .await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(answer.contains("payload_too_large"), "{answer}");
}

#[actix_web::test]
async fn a_head_has_the_length_of_its_get_and_no_body() {
    let answer = serving(|mut connection| {
        connection.write_all(b"HEAD /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer
    })
    .await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("content-length: 18\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n"), "{answer}");
}

#[test]
fn a_failure_on_our_side_tells_nothing_of_the_inside() {
    let error = ApiError::Internal("table line-event: access denied for key AKIA".into());
    assert_eq!(error.to_string(), "Something is wrong on this server. It was logged with this request id.");
    assert_eq!(actix_web::ResponseError::status_code(&error), StatusCode::INTERNAL_SERVER_ERROR);
}

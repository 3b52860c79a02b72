//! What needs no store: the shape of every failure, who may call, what pages may read, how bodies are refused.

mod description;
mod failures;
mod organiser;
mod pages;
mod problems;
mod webhook;
mod wire;

use std::time::Duration;

use actix_web::{
    HttpResponse,
    body::MessageBody,
    dev::ServiceResponse,
    http::Method,
    test::{TestRequest, call_service, init_service, read_body},
    web,
};
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{
    App, Channels, Parts,
    auth::{AdminToken, AdminTokens, Events, Role},
    problem::ApiError,
    server::service,
};
use crate::domain::time::MachineClock;
use crate::line::{
    ChannelSettings, Platform,
    id_token::{LoginChannels, TokenVerifier, Verification, VerifierSettings},
};
use crate::store::{
    Store, TableNames,
    client::{Clients, Timeouts},
    rallies::Rallies,
};

const PAGE: &str = "https://liff.example";
/// The secret of LINE's published example of a signature.
const SECRET: &str = "8c570fa6dd201bb328f1c1eac23a96d8";

/// An application whose store is out of reach.
fn app() -> App {
    let clock = MachineClock::start();
    let clients = Clients::at(
        "http://127.0.0.1:1",
        &Timeouts { attempts: 1, budget: "http-tests".into(), ..Timeouts::request() },
    );
    let tables = TableNames { main: "line-event".to_owned(), consumers: "line-event-consumers".to_owned() };
    let store = Store::new(clients.table, tables);
    let platform = Platform::new(&"http://127.0.0.1:1".parse().unwrap(), Duration::from_secs(1)).unwrap();
    let settings = VerifierSettings {
        verification: Verification::Jwks,
        jwks_refetch: Duration::from_secs(30),
        leeway: Duration::from_secs(30),
    };
    let login = LoginChannels { ids: vec!["1234567890".to_owned()], hs256_secret: None };
    let webhook_secrets = vec![SECRET.to_owned().into()];
    let main = ChannelSettings { login, webhook_secrets, access: None, basic_id: None };
    App::new(Parts {
        rallies: Rallies::new(store.clone(), clock.clone()),
        store,
        verifier: TokenVerifier::new(platform, settings, clock.clone()),
        channels: Channels::from([("main".parse().unwrap(), main)]),
        proof_keys: crate::domain::proof::ProofKeys::default(),
        admin_tokens: AdminTokens::new(vec![
            token("reader", Role::Viewer, Events::All),
            token("agency", Role::Admin, Events::These([("spring".parse().unwrap())].into())),
        ]),
        allowed_origins: vec![PAGE.to_owned().try_into().unwrap()],
        clock,
        metrics: PrometheusBuilder::new().build_recorder().handle(),
    })
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

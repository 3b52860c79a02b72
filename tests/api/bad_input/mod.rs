//! Bad input, for every route of the API's own description: always one of the contract's problems, never our fault.

mod bodies;
mod heads;
mod pages;
mod paths;
mod wire;

use serde_json::{Value, json};

use super::{
    house::{
        Answer, House, RALLY,
        described::{self, Received},
    },
    presence::printed,
};
use wire::{Got, Request, talk};

/// The contract's codes. `internal_error` is none of them: no input may bring it.
const CODES: [(u16, &str); 34] = [
    (400, "invalid_request"),
    (400, "cursor_invalid"),
    (401, "token_missing"),
    (401, "token_expired"),
    (401, "token_invalid"),
    (401, "admin_token_invalid"),
    (401, "staff_token_invalid"),
    (401, "signature_invalid"),
    (403, "forbidden"),
    (404, "event_not_found"),
    (404, "stamp_not_found"),
    (404, "not_registered"),
    (404, "participant_not_found"),
    (404, "delivery_not_found"),
    (404, "code_not_found"),
    (404, "staff_not_found"),
    (404, "channel_not_found"),
    (404, "not_found"),
    (405, "method_not_allowed"),
    (409, "event_not_started"),
    (409, "event_ended"),
    (409, "stamp_inactive"),
    (409, "stamp_closed"),
    (409, "claim_refused"),
    (409, "resend_pending"),
    (409, "setting_fixed"),
    (412, "version_conflict"),
    (413, "payload_too_large"),
    (415, "unsupported_media_type"),
    (422, "proof_required"),
    (422, "proof_rejected"),
    (422, "flex_invalid"),
    (429, "rate_limited"),
    (503, "store_unavailable"),
];

/// One operation of the description.
#[derive(Clone, Debug)]
struct Operation {
    method: String,
    /// `/api/events/{eventId}/me`
    path: String,
    /// With which token it is asked for.
    token: Option<String>,
    takes_a_body: bool,
    /// A body that it takes.
    good_body: String,
}

impl Operation {
    /// Its path with every id a good one.
    fn target(&self) -> String {
        self.target_with("", "")
    }

    /// Its path with one id exchanged.
    fn target_with(&self, parameter: &str, value: &str) -> String {
        let mut target = self.path.clone();
        let good = [
            ("{eventId}", RALLY),
            ("{stampId}", "001"),
            ("{channel}", "main"),
            ("{staffId}", "0a1b2c3d4e5f"),
            ("{digest}", "0123456789abcdef"),
            ("{name}", "spot.js"),
            ("{kind}", "qr_static"),
            ("{generation}", "1"),
            ("{lineUserId}", "U0123456789abcdef0123456789abcdef"),
        ];
        for (name, id) in good {
            target = target.replace(name, if name == parameter { value } else { id });
        }
        target
    }

    /// The names of its ids: `{eventId}`.
    fn parameters(&self) -> Vec<&str> {
        let is_file = self.path.starts_with("/assets/");
        self.path.split('/').filter(|part| part.starts_with('{') && !is_file).collect()
    }

    /// Its body says what is meant, so it can't do without one.
    fn needs_a_body(&self) -> bool {
        self.good_body != "{}"
    }

    /// A request with what it can't do without.
    fn complete(&self, request: Request) -> Request {
        if self.needs_a_body() { request.json(&self.good_body) } else { request }
    }

    /// Its answer comes as a stream of any length.
    fn is_streamed(&self) -> bool {
        self.path == "/admin/api/events/{eventId}/users.csv"
    }

    /// A request that has nothing wrong but what is added to it.
    fn request(&self) -> Request {
        self.to(&self.target())
    }

    /// The same for another target.
    fn to(&self, target: &str) -> Request {
        let request = Request::new(&self.method, target);
        match &self.token {
            Some(token) => request.header("authorization", &format!("Bearer {token}")),
            None => request,
        }
    }
}

/// Every operation that the running server describes.
async fn operations(house: &House, id_token: &str) -> Vec<Operation> {
    let description = Answer::to(house.request(reqwest::Method::GET, "/openapi.json")).await.is(200);
    let (screen, code) = (a_screen(house).await, code_of(house, id_token).await);
    let methods = ["get", "put", "post", "delete", "patch"];
    let mut operations = Vec::new();
    for (path, item) in description.body["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap().iter().filter(|(key, _)| methods.contains(&key.as_str())) {
            let asks_for = |scheme: &str| operation["security"][0].get(scheme).is_some();
            let token = match (asks_for("idToken"), asks_for("adminToken"), asks_for("staffToken")) {
                (true, _, _) => Some(id_token.to_owned()),
                (false, true, _) => Some("organiser".to_owned()),
                (false, false, true) => Some(screen.clone()),
                (false, false, false) => None,
            };
            let good_body = match operation["operationId"].as_str() {
                Some("scan") => json!({"proof": {"code": printed("001")}}),
                Some("grant") => json!({"code": code}),
                Some("newStaff") => json!({"name": "受付", "role": "staff", "stamps": ["001"]}),
                _ => json!({}),
            };
            let good_body = good_body.to_string();
            let takes_a_body = operation.get("requestBody").is_some_and(Value::is_object);
            let (method, path) = (method.to_uppercase(), path.clone());
            operations.push(Operation { method, path, token, takes_a_body, good_body });
        }
    }
    assert!(operations.len() >= 17, "{operations:?}");
    operations
}

/// The token of a screen for all stamps.
async fn a_screen(house: &House) -> String {
    let order = json!({"name": "画面", "role": "screen", "stamps": ["*"]});
    let request = house.organiser().request(reqwest::Method::POST, &format!("/{RALLY}/staff")).json(&order);
    Answer::to(request).await.is(201).body["token"].as_str().unwrap().to_owned()
}

/// The code that the participant of an ID token shows to staff.
async fn code_of(house: &House, id_token: &str) -> String {
    let request = house.request(reqwest::Method::GET, &format!("/api/events/{RALLY}/me/code")).bearer_auth(id_token);
    Answer::to(request).await.is(200).body["code"].as_str().unwrap().to_owned()
}

/// Insists on good manners: never our fault; if it's a refusal, one of the contract's problems with all that belongs
/// to it; never plain text; always a request id.
#[track_caller]
fn is_well_mannered(request: &Request, got: &Got) {
    let told = || format!("{}\n{got:?}", request.shown());
    assert!(got.status < 500, "{}", told());
    assert_eq!(got.header("x-request-id").len(), 36, "{}", told());
    assert_eq!(got.header("x-content-type-options"), "nosniff", "{}", told());
    is_described(request, got);
    if got.status < 400 {
        let is_metrics = request.target.split('?').next() == Some("/metrics");
        assert!(is_metrics || !got.header("content-type").starts_with("text/plain"), "{}", told());
        return;
    }
    assert_eq!(got.header("content-type"), "application/problem+json", "{}", told());
    assert_eq!(got.header("cache-control"), "no-store", "{}", told());
    if request.method == "HEAD" {
        assert_eq!(got.body, "", "{}", told());
        return;
    }
    let problem: Value = serde_json::from_str(&got.body).unwrap_or_else(|_| panic!("{}", told()));
    let code = problem["code"].as_str().unwrap_or_default();
    assert!(CODES.contains(&(got.status, code)), "{}", told());
    assert_eq!(problem["status"], got.status, "{}", told());
    assert_eq!(problem["requestId"], got.header("x-request-id"), "{}", told());
    for member in ["type", "title", "detail"] {
        assert!(problem[member].as_str().is_some_and(|text| !text.is_empty()), "{}", told());
    }
    match got.status {
        401 => assert_ne!(got.header("www-authenticate"), "", "{}", told()),
        405 => assert_ne!(got.header("allow"), "", "{}", told()),
        503 => assert_eq!(got.header("retry-after"), "2", "{}", told()),
        _ => {}
    }
}

/// Insists that `openapi.json` describes the answer, where the request has a path; chunks aren't put together here.
#[track_caller]
fn is_described(request: &Request, got: &Got) {
    let path = request.target.split(['?', '#']).next().unwrap_or_default();
    if !path.starts_with('/') || got.header("transfer-encoding") == "chunked" {
        return;
    }
    let body = serde_json::from_str(&got.body).unwrap_or_else(|_| Value::String(got.body.clone()));
    described::insist(&Received {
        method: &request.method.parse().unwrap(),
        path,
        status: got.status,
        headers: &got.header_map(),
        body: &body,
    });
}

/// Sends all of them; every answer has good manners.
async fn all_well_mannered(house: &House, requests: Vec<Request>) -> Vec<(Request, Got)> {
    assert!(!requests.is_empty());
    let answers = talk(&house.url, requests).await;
    for (request, got) in &answers {
        is_well_mannered(request, got);
    }
    answers
}

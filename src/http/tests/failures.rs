//! The shape of failures: every one is a problem document, and bad input is never our fault.

use super::{ask, assert_refused, json, request};

#[actix_web::test]
async fn an_unknown_path_is_a_problem() {
    for path in ["/", "/api", "/api/events/spring/me/", "/admin/api/events/spring/deliveries/x/resend", "/%FF%00%zz"] {
        assert_refused(request("GET", path), 404, "not_found").await;
    }
}

#[actix_web::test]
async fn an_undeclared_method_is_answered_with_the_declared_ones() {
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
    for body in [
        "{",
        "[]",
        "null",
        "1",
        r#"{"prove":{}}"#,
        r#"{"proof":1}"#,
        r#"{"proof":null}"#,
        "{\"proof\":{\"a\":\"\u{0}\"}}",
    ] {
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
async fn a_store_out_of_reach_is_answered_with_retry_after() {
    for path in ["/api/events/spring/me", "/api/events/spring/stamps", "/readyz"] {
        let answer = assert_refused(request("GET", path), 503, "store_unavailable").await;
        assert!(answer.header("retry-after").is_some());
        assert!(!answer.json().to_string().contains("127.0.0.1"), "no detail of the cause");
    }
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

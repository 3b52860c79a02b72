//! What pages of other origins may do and read.

use super::{PAGE, ask, assert_refused, request};

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

//! Who may use the organisers' API, and what it refuses before the store is asked.

use super::{assert_refused, by, json, request};

#[actix_web::test]
async fn organisers_prove_who_they_are_before_anything_else_is_looked_at() {
    let put = || json("PUT", "/admin/api/events/a%23b", "{");
    for req in [put(), by("guess", put()), put().insert_header(("authorization", "Basic cmVhZGVy"))] {
        let answer = assert_refused(req, 401, "admin_token_invalid").await;
        assert!(answer.header("www-authenticate").is_some());
    }
    let twice =
        put().append_header(("authorization", "Bearer reader")).append_header(("authorization", "Bearer reader"));
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
async fn to_resend_takes_an_operator_and_ids_that_are_ones() {
    let post = |user: &str, stamp: &str| {
        request("POST", &format!("/admin/api/events/spring/deliveries/{user}/{stamp}/resend"))
    };
    let hanako = "U0123456789abcdef0123456789abcdef";
    assert_refused(post(hanako, "001"), 401, "admin_token_invalid").await;
    assert_refused(by("reader", post(hanako, "001")), 403, "forbidden").await;
    assert_refused(by("agency", post("U1234567890abcdef", "001")), 400, "invalid_request").await;
    assert_refused(by("agency", post(hanako, "a%23b")), 400, "invalid_request").await;
    assert_refused(by("agency", post(hanako, "001")), 503, "store_unavailable").await;
    let of_card = |user: &str| request("POST", &format!("/admin/api/events/spring/users/{user}/completed/resend"));
    assert_refused(of_card(hanako), 401, "admin_token_invalid").await;
    assert_refused(by("reader", of_card(hanako)), 403, "forbidden").await;
    assert_refused(by("agency", of_card("U1234567890abcdef")), 400, "invalid_request").await;
    assert_refused(by("agency", of_card(hanako)), 503, "store_unavailable").await;
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
async fn a_message_that_line_would_refuse_is_answered_with_its_faults() {
    let path = "/admin/api/events/spring/stamps/001";
    let answer =
        assert_refused(by("agency", json("PUT", path, r#"{"flexMessageContent":null}"#)), 422, "flex_invalid").await;
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

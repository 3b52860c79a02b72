//! LINE's webhook, as far as it needs no store.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::{SECRET, ask, assert_refused, json, request};

/// A body signed as LINE signs it (its reference: "Verify webhook signature").
fn signature(body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    STANDARD.encode(mac.finalize().into_bytes())
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
async fn the_verify_button_of_lines_console_is_answered_200() {
    // LINE's own published example of body and signature.
    let body = r#"{"destination":"U8e742f61d673b39c7fff3cecb7536ef0","events":[]}"#;
    let signed = json("POST", "/webhook/main", body)
        .insert_header(("X-Line-Signature", "GhRKmvmHys4Pi8DxkF4+EayaH0OqtJtaZxgTD9fMDLs="));
    let answer = ask(signed).await;
    assert_eq!((answer.status, answer.json()), (200, serde_json::json!({})));
}

#[actix_web::test]
async fn what_is_signed_and_no_json_is_refused() {
    for body in ["{", "", "花"] {
        let signed = json("POST", "/webhook/main", body).insert_header(("x-line-signature", signature(body)));
        assert_refused(signed, 400, "invalid_request").await;
    }
}

#[actix_web::test]
async fn a_follow_that_can_not_be_stored_is_not_answered_2xx() {
    let body = r#"{"destination":"U8e742f61d673b39c7fff3cecb7536ef0","events":[{"type":"follow","mode":"active",
        "timestamp":1779526800000,"webhookEventId":"01FZ74A0TDDPYRVKNK77XKC3ZR","deliveryContext":{"isRedelivery":false},
        "source":{"type":"user","userId":"U0123456789abcdef0123456789abcdef"},"replyToken":"x"}]}"#;
    let signed = json("POST", "/webhook/main", body).insert_header(("x-line-signature", signature(body)));
    assert_refused(signed, 503, "store_unavailable").await;
}

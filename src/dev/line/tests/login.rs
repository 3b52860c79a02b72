//! ID tokens, their keys, and channel tokens.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header, jwk::JwkSet};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Desk, Got, LOGIN, LOGIN_SECRET, MESSAGING, OTHER_LOGIN, SECRET};

async fn verify(desk: &Desk, token: &str) -> Got {
    desk.form("/oauth2/v2.1/verify", &[("id_token", token), ("client_id", LOGIN)]).await
}

async fn refusal(desk: &Desk, token: &str) -> String {
    let got = verify(desk, token).await;
    assert_eq!((got.status, got.json()["error"].as_str()), (400, Some("invalid_request")));
    assert!(got.request_id.is_some());
    got.json()["error_description"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_minted_token_verifies_with_the_published_keys() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let token = desk.id_token(&hanako, json!({})).await;

    let kid = decode_header(&token).unwrap().kid.unwrap();
    assert_eq!(kid.len(), 64);
    let set: JwkSet = serde_json::from_str(&desk.get("/oauth2/v2.1/certs").await.text).unwrap();
    assert_eq!(set.keys.len(), 2, "a key and the RSA entry that signs nothing");
    let key = DecodingKey::from_jwk(set.find(&kid).unwrap()).unwrap();
    let mut rules = Validation::new(Algorithm::ES256);
    rules.set_audience(&[LOGIN]);
    rules.set_issuer(&["https://access.line.me"]);
    let claims = decode::<Value>(&token, &key, &rules).unwrap().claims;
    assert_eq!(claims["sub"], json!(hanako));
    assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 3600);
}

#[tokio::test]
async fn the_verify_endpoint_answers_the_payload() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let got = verify(&desk, &desk.id_token(&hanako, json!({})).await).await;
    assert_eq!(got.status, 200);
    let payload = got.json();
    assert_eq!((&payload["sub"], &payload["aud"], &payload["name"]), (&json!(hanako), &json!(LOGIN), &json!("花子")));
}

#[tokio::test]
async fn every_documented_refusal_of_an_id_token_has_its_text() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    for (order, text) in [
        (json!({ "iss": "https://evil.example" }), "Invalid IdToken Issuer."),
        (json!({ "age": 3601 }), "IdToken expired."),
        (json!({ "aud": OTHER_LOGIN }), "Invalid IdToken Audience."),
        (json!({ "channel": "other" }), "Invalid IdToken Audience."),
        (json!({ "signedWith": "stranger" }), "JWS verification failed"),
        (json!({ "kid": "ff" }), "JWS verification failed"),
        (json!({ "alg": "none" }), "JWS verification failed"),
        (json!({ "alg": "HS256", "signedWith": "publicKey" }), "JWS verification failed"),
    ] {
        assert_eq!(refusal(&desk, &desk.id_token(&hanako, order.clone()).await).await, text, "{order}");
    }
    assert_eq!(refusal(&desk, "id_token").await, "JWS format error");
}

#[tokio::test]
async fn nonce_and_user_are_compared_only_when_they_are_given() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let token = desk.id_token(&hanako, json!({ "nonce": "n1" })).await;
    assert_eq!(verify(&desk, &token).await.status, 200);
    for (field, right, wrong, text) in [
        ("nonce", "n1", "n2", "Invalid IdToken Nonce."),
        ("user_id", hanako.as_str(), "U0", "Invalid IdToken Subject Identifier."),
    ] {
        let form = |value| [("id_token", token.as_str()), ("client_id", LOGIN), (field, value)];
        assert_eq!(desk.form("/oauth2/v2.1/verify", &form(right)).await.status, 200);
        assert_eq!(desk.form("/oauth2/v2.1/verify", &form(wrong)).await.json()["error_description"], json!(text));
    }
}

#[tokio::test]
async fn the_documented_wording_can_be_chosen() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    desk.settings(json!({ "wording": "documented" })).await;
    let forged = desk.id_token(&hanako, json!({ "signedWith": "stranger" })).await;
    assert_eq!(refusal(&desk, &forged).await, "Invalid IdToken.");
    let got = Got::read(desk.request(Method::GET, "/v2/bot/info").bearer_auth("x").send().await.unwrap()).await;
    assert!(got.message().starts_with("Authentication failed due to the following reason: invalid token."));
}

#[tokio::test]
async fn web_login_tokens_are_hs256_without_kid() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let token = desk.id_token(&hanako, json!({ "alg": "HS256" })).await;
    let header = decode_header(&token).unwrap();
    assert_eq!((header.alg, header.kid), (Algorithm::HS256, None));
    let mut rules = Validation::new(Algorithm::HS256);
    rules.set_audience(&[LOGIN]);
    assert!(decode::<Value>(&token, &DecodingKey::from_secret(LOGIN_SECRET.as_bytes()).unwrap(), &rules).is_ok());
    assert_eq!(verify(&desk, &token).await.status, 200);
}

#[tokio::test]
async fn claims_and_header_can_be_laid_over_and_taken_away() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let order = json!({ "claims": { "name": null, "amr": ["pwd"] }, "header": { "kid": null } });
    let token = desk.id_token(&hanako, order).await;
    assert_eq!(decode_header(&token).unwrap().kid, None);
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
    let payload: Value = serde_json::from_slice(&payload).unwrap();
    assert_eq!((payload.get("name"), &payload["amr"]), (None, &json!(["pwd"])));
}

#[tokio::test]
async fn a_shell_gets_the_bare_token() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let got = desk.get(&format!("/control/users/{hanako}/id-token?channel=main")).await;
    assert_eq!(verify(&desk, &got.text).await.status, 200);
}

#[tokio::test]
async fn a_rotated_key_keeps_old_tokens_good_unless_it_is_withdrawn() {
    let desk = Desk::open();
    let hanako = desk.hanako().await;
    let old = desk.id_token(&hanako, json!({})).await;
    let kid = desk.control(Method::POST, "/keys/rotate", json!({})).await["kid"].clone();
    let new = desk.id_token(&hanako, json!({})).await;
    assert_eq!(json!(decode_header(&new).unwrap().kid), kid);
    assert_eq!((verify(&desk, &old).await.status, verify(&desk, &new).await.status), (200, 200));

    desk.control(Method::POST, "/keys/rotate", json!({ "keepOld": false })).await;
    assert_eq!(refusal(&desk, &old).await, "JWS verification failed");
    assert!(!desk.get("/oauth2/v2.1/certs").await.text.contains(kid.as_str().unwrap()));
}

#[tokio::test]
async fn the_key_set_can_be_down() {
    let desk = Desk::open();
    desk.settings(json!({ "jwksUp": false })).await;
    assert_eq!(desk.get("/oauth2/v2.1/certs").await.status, 503);
    desk.settings(json!({ "jwksUp": true })).await;
    assert_eq!(desk.get("/oauth2/v2.1/certs").await.status, 200);
}

async fn stateless(desk: &Desk, id: &str, secret: &str) -> Got {
    let form = [("grant_type", "client_credentials"), ("client_id", id), ("client_secret", secret)];
    desk.form("/oauth2/v3/token", &form).await
}

async fn info_status(desk: &Desk, token: &str) -> u16 {
    desk.request(Method::GET, "/v2/bot/info").bearer_auth(token).send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn a_stateless_token_is_good_for_fifteen_minutes() {
    let desk = Desk::open();
    let got = stateless(&desk, MESSAGING, SECRET).await.json();
    assert_eq!((&got["token_type"], &got["expires_in"]), (&json!("Bearer"), &json!(900)));
    let token = got["access_token"].as_str().unwrap().to_owned();
    assert_eq!(info_status(&desk, &token).await, 200);
    desk.settings(json!({ "advanceMs": 899_000 })).await;
    assert_eq!(info_status(&desk, &token).await, 200);
    desk.settings(json!({ "advanceMs": 1_000 })).await;
    assert_eq!(info_status(&desk, &token).await, 401);
}

#[tokio::test]
async fn a_stateless_token_needs_the_channels_own_secret() {
    let desk = Desk::open();
    let got = stateless(&desk, MESSAGING, "wrong").await;
    assert_eq!(got.status, 400);
    assert_eq!(got.json(), json!({ "error": "invalid_request", "error_description": "Invalid 'client_credentials'." }));
    assert_eq!(stateless(&desk, "1000000002", SECRET).await.status, 400);
}

#[tokio::test]
async fn all_tokens_of_one_channel_can_expire_at_once() {
    let desk = Desk::open();
    let of = async |id, secret| stateless(&desk, id, secret).await.json()["access_token"].as_str().unwrap().to_owned();
    let (main, other) = (of(MESSAGING, SECRET).await, of("1000000002", "secret-of-other").await);
    desk.control(Method::POST, "/channel-tokens/expire", json!({ "channel": "main" })).await;
    assert_eq!((info_status(&desk, &main).await, info_status(&desk, &other).await), (401, 200));
    assert_eq!(info_status(&desk, &of(MESSAGING, SECRET).await).await, 200);
    assert_eq!(info_status(&desk, super::TOKEN).await, 200);
    desk.control(Method::POST, "/channel-tokens/expire", json!({ "longLived": true })).await;
    assert_eq!(info_status(&desk, super::TOKEN).await, 401);
}

#[tokio::test]
async fn a_login_channels_token_is_forbidden_on_the_messaging_api() {
    let desk = Desk::open();
    let got = stateless(&desk, LOGIN, LOGIN_SECRET).await.json();
    assert_eq!(info_status(&desk, got["access_token"].as_str().unwrap()).await, 403);
}

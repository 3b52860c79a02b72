//! Forged, changed and foreign tokens.

use reqwest::Method;
use serde_json::{Value, json};

use super::{endpoint, no_way_gets_in};
use crate::house::{Fittings, House};

/// Tokens that name no participant, whatever they say, as orders to the stand-in that mints them.
fn forgeries() -> Vec<(&'static str, Value)> {
    let taro = "U00000000000000000000000000000001";
    let now_s = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    vec![
        ("no algorithm", json!({"alg": "none"})),
        ("no algorithm, in other letters", json!({"alg": "nOnE", "signedWith": "nothing"})),
        ("no algorithm, with a key id", json!({"alg": "none", "kid": "current"})),
        ("no signature", json!({"signedWith": "nothing"})),
        ("signed with the public key as a secret", json!({"alg": "HS256", "signedWith": "publicKey"})),
        ("the same under the key's own id", json!({"alg": "HS256", "signedWith": "publicKey", "kid": "current"})),
        ("the same as ES256", json!({"signedWith": "publicKey"})),
        ("signed by a stranger", json!({"signedWith": "stranger"})),
        (
            "signed by a stranger who brings the key",
            json!({"signedWith": "stranger", "header": {
            "jwk": {"kty": "EC", "crv": "P-256", "x": "gI0GAILBdu7T53akrFmMyGcsF3n5dO7MmwNBHKW5SV0", "y": "SLW_xSffzlPWrHEVI30DHM_4egVwt3NQqeUD7nMFpps"}}}),
        ),
        ("a key by URL", json!({"signedWith": "stranger", "header": {"jku": "https://evil.example/certs"}})),
        ("another algorithm", json!({"alg": "RS256"})),
        ("an unknown algorithm", json!({"alg": "LINE256"})),
        ("no key id", json!({"header": {"kid": null}})),
        ("an unknown key", json!({"kid": "ff"})),
        ("a key id that isn't text", json!({"header": {"kid": 7}})),
        ("a token of another channel that is configured too", json!({"channel": "other"})),
        ("a token of a channel that is not configured", json!({"aud": "9999999999"})),
        ("several audiences", json!({"aud": ["1000000001", "1000000002"]})),
        ("the right audience in a list", json!({"aud": ["1000000001"]})),
        ("an audience that is a number", json!({"aud": 1_000_000_001})),
        ("no audience", json!({"claims": {"aud": null}})),
        ("another issuer", json!({"iss": "https://access.line.me.evil.example"})),
        ("an issuer that is nearly LINE", json!({"iss": "https://access.line.me/"})),
        ("an issuer in a list", json!({"claims": {"iss": ["https://access.line.me"]}})),
        ("no issuer", json!({"claims": {"iss": null}})),
        ("issued in the future", json!({"iat": now_s + 120})),
        ("no time of issue", json!({"claims": {"iat": null}})),
        ("a time of issue that is text", json!({"claims": {"iat": "1779535800"}})),
        ("no end", json!({"claims": {"exp": null}})),
        ("an end that is text", json!({"claims": {"exp": "9999999999"}})),
        ("an end in fractions", json!({"claims": {"exp": 9_999_999_999.5}})),
        ("no user", json!({"claims": {"sub": null}})),
        ("a name that isn't a user id", json!({"sub": "hanako"})),
        ("a group", json!({"sub": "C0123456789abcdef0123456789abcdef"})),
        ("a name that would break a key", json!({"sub": "U0123456789abcdef0123456789abcde#"})),
        ("expired, and of another channel", json!({"channel": "other", "age": 7200})),
        ("expired, and of another issuer", json!({"iss": "https://evil.example", "age": 7200})),
        ("expired, and forged", json!({"signedWith": "stranger", "age": 7200, "sub": taro})),
    ]
}

async fn every_forgery_is_refused(house: &House) {
    let hanako = house.hanako();
    hanako.register().await.is(201);
    let kid = house.control(Method::GET, "/settings", &Value::Null).await.body["kid"].clone();
    for (what, mut order) in forgeries() {
        if order["kid"] == "current" {
            order["kid"] = kid.clone();
        }
        let who = hanako.minted(&order).await;
        if house.asked_of_line("verify").await > 0 && order["claims"].get("exp").is_some() {
            // LINE signs no such token; about one, it says that it has expired.
            who.card().await.is(401);
        } else {
            no_way_gets_in(&who, "token_invalid", what).await;
        }
    }
    no_way_gets_in(&hanako.minted(&json!({"age": 3631})).await, "token_expired", "an expired token").await;
    hanako.card().await.is(200);
    assert_eq!(house.line.phone(&hanako.id).unwrap().len(), 0);
}

#[tokio::test]
async fn a_forged_token_names_no_participant() {
    let house = House::open("forged tokens").await;
    every_forgery_is_refused(&house).await;
    house.close().await;
}

#[tokio::test]
async fn line_is_asked_and_believed_only_about_tokens_for_us() {
    let house = House::fitted("forged tokens at the endpoint", endpoint()).await;
    every_forgery_is_refused(&house).await;
    assert_eq!(house.asked_of_line("certs").await, 0, "LINE looks after its keys");
    house.close().await;
}

#[tokio::test]
async fn what_is_no_token_at_all_is_refused() {
    for fittings in [Fittings::default(), endpoint()] {
        let house = House::fitted("no token at all", fittings).await;
        let hanako = house.hanako();
        let good = hanako.token.clone();
        let parts: Vec<&str> = good.split('.').collect();
        let (head, body, signature) = (parts[0], parts[1], parts[2]);
        let last = if signature.ends_with('A') { "B" } else { "A" };
        let changed = format!("{head}.{body}.{}{last}", &signature[..signature.len() - 1]);
        for token in [
            "id_token",
            "a.b.c",
            "..",
            ".",
            "null",
            "undefined",
            "eyJhbGciOiJFUzI1NiJ9..",
            &format!("{head}.{body}"),
            &format!("{head}.{body}."),
            &format!("{good}.{signature}"),
            &format!("{good}="),
            &format!("{body}.{head}.{signature}"),
            &format!("{head}..{signature}"),
            &changed[..changed.len() - 2],
            &good.to_uppercase(),
            &format!("\"{good}\""),
            &format!("{good},{good}"),
            &"a".repeat(20_000),
            &format!("{head}.{}.{signature}", "a".repeat(20_000)),
            &format!("{head}.{body}.{}", "A".repeat(20_000)),
        ] {
            no_way_gets_in(&hanako.with(token), "token_invalid", &token[..token.len().min(30)]).await;
        }
        hanako.register().await.is(201);
        house.close().await;
    }
}

#[tokio::test]
async fn a_changed_token_is_refused_whatever_was_changed() {
    let house = House::open("changed tokens").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    let good = hanako.token.clone().into_bytes();
    for at in (0..good.len()).step_by(7).filter(|at| good[*at] != b'.') {
        let mut changed = good.clone();
        changed[at] = if changed[at] == b'Q' { b'R' } else { b'Q' };
        let answer = hanako.with(std::str::from_utf8(&changed).unwrap()).card().await;
        // A last letter may carry bits that mean nothing; those are refused, too.
        answer.refuses(401, "token_invalid");
    }
    house.close().await;
}

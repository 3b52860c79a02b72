//! ID tokens as compact JWS: minted as the control API orders, and read again by the verify endpoint.

use aws_lc_rs::{
    hmac,
    signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::keys::{Keyring, SigningKey};

/// `iss` of every ID token of LINE.
pub(super) const ISSUER: &str = "https://access.line.me";

/// Lifetime of an ID token in seconds: one hour (LIFF reference, `liff.getIDToken`).
const LIFETIME: i64 = 3600;

/// An order for an ID token; everything left out is as LINE would have it. Seconds throughout.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct IdTokenOrder {
    /// The channel whose first Login channel id becomes `aud`; the first channel if left out.
    pub(super) channel: Option<String>,
    pub(super) aud: Option<Value>,
    pub(super) sub: Option<String>,
    pub(super) iss: Option<String>,
    pub(super) iat: Option<i64>,
    /// Seconds since the token was issued, instead of `iat`.
    pub(super) age: Option<i64>,
    pub(super) exp: Option<i64>,
    /// Lifetime in seconds, instead of `exp`.
    pub(super) expires_in: Option<i64>,
    pub(super) nonce: Option<String>,
    pub(super) alg: Option<String>,
    pub(super) kid: Option<String>,
    pub(super) signed_with: Option<SignedWith>,
    /// Laid over the payload at the end; null takes a claim away.
    pub(super) claims: Map<String, Value>,
    /// Laid over the header at the end; null takes a member away.
    pub(super) header: Map<String, Value>,
}

/// What makes the third part of a token.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "camelCase")]
pub(super) enum SignedWith {
    /// The published key (the default for ES256).
    Current,
    /// HMAC with the Login channel secret (the default for HS256: LINE's web login).
    LoginSecret,
    /// Nothing: an empty third part (the default for `none`).
    Nothing,
    /// HMAC keyed with the bytes of the public point: the classic confusion of algorithms.
    PublicKey,
    /// Another key than the published one, under its `kid`: a forgery.
    Stranger,
}

/// The user that a token names.
pub(super) struct Subject<'a> {
    pub(super) user_id: &'a str,
    pub(super) name: &'a str,
    pub(super) aud: &'a str,
    pub(super) login_secret: Option<&'a str>,
}

/// Makes the token, or says why it can't be made.
pub(super) fn mint(
    order: &IdTokenOrder,
    subject: &Subject<'_>,
    keyring: &Keyring,
    now_ms: i64,
) -> Result<String, String> {
    let alg = order.alg.as_deref().unwrap_or("ES256");
    let signed_with = order.signed_with.unwrap_or(match alg {
        "HS256" => SignedWith::LoginSecret,
        "none" => SignedWith::Nothing,
        _ => SignedWith::Current,
    });
    let header = header(order, alg, keyring.current());
    let payload = payload(order, subject, now_ms);
    let signing_input = format!("{}.{}", part(&header), part(&payload));
    let signature = match signed_with {
        SignedWith::Current => keyring.current().sign(signing_input.as_bytes()),
        SignedWith::LoginSecret => {
            let secret = subject.login_secret.ok_or("this channel has no login channel secret")?;
            hs256(secret.as_bytes(), signing_input.as_bytes())
        }
        SignedWith::Nothing => Vec::new(),
        SignedWith::PublicKey => hs256(keyring.current().point(), signing_input.as_bytes()),
        SignedWith::Stranger => {
            SigningKey::generate().map_err(|_| "no key could be made")?.sign(signing_input.as_bytes())
        }
    };
    Ok(format!("{signing_input}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// `kid` only with ES256: tokens of LINE's web login have none.
fn header(order: &IdTokenOrder, alg: &str, key: &SigningKey) -> Value {
    let mut header = Map::from_iter([("typ".to_owned(), json!("JWT")), ("alg".to_owned(), json!(alg))]);
    if alg == "ES256" || order.kid.is_some() {
        header.insert("kid".to_owned(), json!(order.kid.as_deref().unwrap_or(&key.kid)));
    }
    laid_over(header, &order.header)
}

/// The claims of a real LIFF token: `iss, sub, aud, exp, iat, name` and nothing else.
fn payload(order: &IdTokenOrder, subject: &Subject<'_>, now_ms: i64) -> Value {
    let iat = order.iat.unwrap_or(now_ms.div_euclid(1000) - order.age.unwrap_or(0));
    let exp = order.exp.unwrap_or(iat + order.expires_in.unwrap_or(LIFETIME));
    let mut claims = Map::from_iter([
        ("iss".to_owned(), json!(order.iss.as_deref().unwrap_or(ISSUER))),
        ("sub".to_owned(), json!(order.sub.as_deref().unwrap_or(subject.user_id))),
        ("aud".to_owned(), order.aud.clone().unwrap_or_else(|| json!(subject.aud))),
        ("exp".to_owned(), json!(exp)),
        ("iat".to_owned(), json!(iat)),
        ("name".to_owned(), json!(subject.name)),
    ]);
    if let Some(nonce) = &order.nonce {
        claims.insert("nonce".to_owned(), json!(nonce));
    }
    laid_over(claims, &order.claims)
}

fn laid_over(mut below: Map<String, Value>, above: &Map<String, Value>) -> Value {
    for (name, value) in above {
        if value.is_null() {
            below.remove(name);
        } else {
            below.insert(name.clone(), value.clone());
        }
    }
    Value::Object(below)
}

fn part(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

fn hs256(secret: &[u8], message: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message).as_ref().to_vec()
}

/// Why a token isn't LINE's.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Defect {
    Forged,
    NotJws,
}

/// The payload of a token whose signature is right: ES256 with a published key, or HS256 with the
/// secret of the Login channel that asks.
pub(super) fn read(token: &str, keyring: &Keyring, login_secret: Option<&str>) -> Result<Map<String, Value>, Defect> {
    let mut parts = token.split('.');
    let (Some(header), Some(payload), Some(signature), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(Defect::NotJws);
    };
    let signing_input = &token[..header.len() + 1 + payload.len()];
    let (header, claims) = (object(header)?, object(payload)?);
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| Defect::NotJws)?;
    let right = match (header.get("alg").and_then(Value::as_str), login_secret) {
        (Some("ES256"), _) => {
            header.get("kid").and_then(Value::as_str).and_then(|kid| keyring.find(kid)).is_some_and(|key| {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key.point())
                    .verify(signing_input.as_bytes(), &signature)
                    .is_ok()
            })
        }
        (Some("HS256"), Some(secret)) => {
            hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), signing_input.as_bytes(), &signature)
                .is_ok()
        }
        _ => false,
    };
    if right { Ok(claims) } else { Err(Defect::Forged) }
}

fn object(part: &str) -> Result<Map<String, Value>, Defect> {
    let bytes = URL_SAFE_NO_PAD.decode(part).map_err(|_| Defect::NotJws)?;
    serde_json::from_slice(&bytes).map_err(|_| Defect::NotJws)
}

//! The Login API: key set, ID token verification, stateless channel tokens.

use std::collections::HashMap;

use actix_web::web::Query;
use serde_json::{Map, Value, json};

use super::{
    answer::{Answer, Outcome},
    endpoint::Call,
    jws::{self, Defect, ISSUER},
    platform::Platform,
    switches::Wording,
    tokens,
};

/// `GET /oauth2/v2.1/certs`.
pub(super) fn certs(platform: &Platform) -> Outcome {
    if platform.switches().settings.jwks_up {
        Ok(Answer::json(200, &platform.jwks()))
    } else {
        Err(Answer::message(503, "Service unavailable"))
    }
}

/// `POST /oauth2/v2.1/verify`: the payload, or the first of LINE's checks that fails, in the order
/// of its table.
pub(super) fn verify(platform: &Platform, call: &Call) -> Outcome {
    let form = form(call)?;
    let (token, client_id) = (required(&form, "id_token")?, required(&form, "client_id")?);
    let channel = platform.login_channel(client_id);
    let secret = channel.and_then(|channel| channel.settings.login_channel_secret.as_deref());
    let read = jws::read(token, &platform.keyring(), secret);
    let claims = read.map_err(|defect| refused(&defect_text(platform, &defect)))?;
    check_claims(&claims, client_id, &form, platform.clock.now_ms())?;
    Ok(Answer::json(200, &Value::Object(claims)))
}

fn check_claims(
    claims: &Map<String, Value>,
    client_id: &str,
    form: &HashMap<String, String>,
    now_ms: i64,
) -> Result<(), Answer> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    let expires_at = claims.get("exp").and_then(Value::as_i64);
    let is_as_asked = |name: &str, claim: &str| form.get(name).is_none_or(|wanted| text(claim) == Some(wanted));
    let checks = [
        (text("iss") == Some(ISSUER), "Invalid IdToken Issuer."),
        (expires_at.is_some_and(|exp| exp * 1000 > now_ms), "IdToken expired."),
        (text("aud") == Some(client_id), "Invalid IdToken Audience."),
        (is_as_asked("nonce", "nonce"), "Invalid IdToken Nonce."),
        (is_as_asked("user_id", "sub"), "Invalid IdToken Subject Identifier."),
    ];
    checks.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, failure)| Err(refused(failure)))
}

fn defect_text(platform: &Platform, defect: &Defect) -> String {
    match (platform.switches().settings.wording, defect) {
        (Wording::Documented, _) => "Invalid IdToken.",
        (Wording::Current, Defect::Forged) => "JWS verification failed",
        (Wording::Current, Defect::NotJws) => "JWS format error",
    }
    .to_owned()
}

/// `POST /oauth2/v3/token`: a stateless token for `client_id` and `client_secret`.
pub(super) fn token(platform: &Platform, call: &Call) -> Outcome {
    let form = form(call)?;
    if form.get("grant_type").is_none_or(|grant| grant != "client_credentials") {
        return Err(Answer::oauth("invalid_request", "some parameters missed or invalid"));
    }
    if form.contains_key("client_assertion") {
        // No assertion keys are registered here.
        return Err(Answer::message(404, "Cannot find channel key that satisfies the conditions"));
    }
    let (id, secret) = (required(&form, "client_id")?, required(&form, "client_secret")?);
    let epoch = epoch_of(platform, id, secret)
        .ok_or_else(|| Answer::oauth("invalid_request", "Invalid 'client_credentials'."))?;
    let access_token = tokens::issue(platform, id, epoch);
    let body = json!({ "token_type": "Bearer", "access_token": access_token, "expires_in": tokens::LIFETIME });
    Ok(Answer::json(200, &body))
}

/// The token epoch of the channel with this id and secret: a Messaging channel, or a Login channel
/// (whose token the Messaging API then refuses with 403).
fn epoch_of(platform: &Platform, id: &str, secret: &str) -> Option<i64> {
    let messaging = platform
        .channels
        .iter()
        .find(|channel| channel.settings.messaging_channel_id == id && channel.now().channel_secret == secret);
    let login = || platform.login_channel(id).filter(|it| it.settings.login_channel_secret.as_deref() == Some(secret));
    messaging.or_else(login).map(super::platform::Channel::epoch)
}

fn form(call: &Call) -> Result<HashMap<String, String>, Answer> {
    if !call.content_type().starts_with("application/x-www-form-urlencoded") {
        return Err(Answer::message(415, &format!("The content type, {}, is not supported", call.content_type())));
    }
    std::str::from_utf8(&call.body)
        .ok()
        .and_then(|body| Query::<HashMap<String, String>>::from_query(body).ok())
        .map(Query::into_inner)
        .ok_or_else(|| refused("some parameters missed or invalid"))
}

fn required<'a>(form: &'a HashMap<String, String>, name: &str) -> Result<&'a str, Answer> {
    form.get(name)
        .map(String::as_str)
        .filter(|value| !value.is_empty())
        .ok_or_else(|| refused("some parameters missed or invalid"))
}

fn refused(description: &str) -> Answer {
    Answer::oauth("invalid_request", description)
}

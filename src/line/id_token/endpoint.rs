//! LINE's verify endpoint (LINE Login: "Verify ID token"), for `line.verification = "endpoint"`.

use serde_json::{Map, Value};

use super::{
    super::{
        answer::{Answer, CallError},
        platform::Platform,
    },
    claims::{LoginChannels, Said},
    error::{Flaw, TokenError},
    jws::Jws,
    seen::{Signing, digest},
};

const VERIFY: &str = "/oauth2/v2.1/verify";

/// In place of LINE's words: nothing of a token is logged.
const LEFT_OUT: &str = "its words are left out, they may repeat the token";

/// Asks LINE about a token and returns its claims, which the caller checks again.
pub(super) async fn ask(
    platform: &Platform,
    token: &str,
    accepted: &LoginChannels,
) -> Result<(Said, Signing), TokenError> {
    let jws = Jws::parse(token)?;
    let signing = signing(&jws, accepted)?;
    let client_id = unverified_audience(&jws).filter(|audience| accepted.ids.contains(audience));
    let client_id = client_id.ok_or(TokenError::Invalid(Flaw::Audience))?;
    let form = [("id_token", token), ("client_id", &client_id)];
    let answer = Answer::to(platform.post(VERIFY).timeout(platform.short_timeout()).form(&form)).await;
    let claims = claims(answer.map_err(unavailable)?).await?;
    if claims.audience() != Some(&client_id) {
        return Err(TokenError::Invalid(Flaw::Audience));
    }
    Ok((claims, signing))
}

/// Returns which kind of key the token claims to be signed with; LINE checks whether it was.
fn signing(jws: &Jws<'_>, accepted: &LoginChannels) -> Result<Signing, TokenError> {
    match (jws.header.alg.as_str(), accepted.secret()) {
        ("ES256", _) => Ok(Signing::LineKey),
        ("HS256", Some(secret)) => Ok(Signing::LoginSecret(digest(secret))),
        _ => Err(TokenError::Invalid(Flaw::Algorithm)),
    }
}

fn unverified_audience(jws: &Jws<'_>) -> Option<String> {
    jws.unverified_claims()?.audience().map(str::to_owned)
}

async fn claims(answer: Answer) -> Result<Said, TokenError> {
    match answer.status() {
        200 => answer.object().await.map_err(unavailable).map(Said::from),
        400 => Err(refusal(&answer.object().await.map_err(unavailable)?)),
        status => {
            let retry_after = answer.retry_after();
            Err(unavailable(CallError::Status { status, said: LEFT_OUT.to_owned(), retry_after }))
        }
    }
}

/// LINE's texts may change; if this one does, the token is reported as invalid rather than expired, which sends the
/// participant to the login all the same.
fn refusal(body: &Map<String, Value>) -> TokenError {
    match body.get("error_description").and_then(Value::as_str) {
        Some("IdToken expired.") => TokenError::Expired,
        _ => TokenError::Invalid(Flaw::RefusedByLine),
    }
}

fn unavailable(error: CallError) -> TokenError {
    TokenError::Unavailable(error.into())
}

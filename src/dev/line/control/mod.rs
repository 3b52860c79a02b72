//! The control API: what an operator in LINE's position would do, as JSON under `/control`. The module
//! documentation of [`super`] lists it.

mod channels;
mod input;
mod pushes;
mod switches;
mod users;

use serde_json::json;

use super::{
    answer::{Answer, Outcome},
    endpoint::Call,
    faults::Rule,
    platform::Platform,
    webhooks::{self, WebhookOrder},
};
use input::{input, query};

pub(super) use users::{NewUsers, mint, phone};

/// Carries out one control request.
pub(super) async fn answer(platform: &Platform, call: &Call) -> Outcome {
    let path: Vec<&str> = call.path.split('/').skip(2).filter(|part| !part.is_empty()).collect();
    match (call.method.as_str(), path.as_slice()) {
        ("POST", ["users"]) => users::make(platform, &input(call)?),
        ("GET", ["users"]) => users::list(platform),
        ("GET", ["users", user_id]) => users::show(platform, user_id),
        ("PUT", ["users", user_id, "relation"]) => users::relate(platform, user_id, input(call)?).await,
        ("POST", ["users", user_id, "id-token"]) => users::id_token(platform, user_id, &input(call)?),
        ("GET", ["users", user_id, "id-token"]) => users::bare_id_token(platform, user_id, &query(call)?),
        ("GET", ["users", user_id, "phone"]) => users::phone_of(platform, user_id, &query(call)?),
        ("GET", ["pushes"]) => pushes::list(platform, &query(call)?),
        ("GET", ["retry-keys"]) => pushes::retry_keys(platform, &query(call)?),
        ("GET", ["requests"]) => Ok(pushes::counts(platform)),
        ("GET", ["requests", "log"]) => pushes::log(platform, &query(call)?),
        ("POST", ["webhooks"]) => send_webhooks(platform, input(call)?).await,
        ("GET", ["faults"]) => Ok(faults(platform)),
        ("PUT", ["faults"]) => put_faults(platform, input(call)?),
        ("DELETE", ["faults"]) => put_faults(platform, Rules::default()),
        ("GET", ["settings"]) => Ok(switches::show(platform)),
        ("PATCH" | "PUT", ["settings"]) => switches::change(platform, input(call)?),
        ("GET", ["channels"]) => channels::list(platform),
        ("PATCH" | "PUT", ["channels", name]) => channels::change(platform, name, input(call)?),
        ("POST", ["channel-tokens", "expire"]) => channels::expire_tokens(platform, &input(call)?),
        ("POST", ["keys", "rotate"]) => channels::rotate_keys(platform, &input(call)?),
        ("POST", ["reset"]) => platform.reset().map(|()| Answer::json(200, &json!({}))),
        (method, _) => Err(Answer::message(404, &format!("no control {method} {}", call.path))),
    }
}

async fn send_webhooks(platform: &Platform, order: WebhookOrder) -> Outcome {
    let deliveries = webhooks::send(platform, &order).await?;
    Ok(Answer::json(200, &json!({ "deliveries": deliveries })))
}

#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    #[serde(default)]
    rules: Vec<Rule>,
}

fn put_faults(platform: &Platform, order: Rules) -> Outcome {
    platform.switches().faults.replace(order.rules).map_err(|why| Answer::message(400, &why))?;
    Ok(faults(platform))
}

fn faults(platform: &Platform) -> Answer {
    Answer::json(200, &json!({ "rules": platform.switches().faults.rules() }))
}

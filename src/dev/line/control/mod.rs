//! The control API: what a person in LINE's position would do, as JSON under `/control`. The module
//! documentation of [`super`] lists it.

mod channels;
mod pushes;
mod switches;
mod users;

use std::collections::HashMap;

use actix_web::web::Query;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{
    answer::{Answer, Outcome},
    faults::Rule,
    platform::Platform,
    server::Call,
    webhooks::{self, WebhookOrder},
};

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

/// The body; an empty one is an empty object.
fn input<T: DeserializeOwned>(call: &Call) -> Result<T, Answer> {
    let body: &[u8] = if call.body.iter().all(u8::is_ascii_whitespace) { b"{}" } else { &call.body };
    serde_json::from_slice(body).map_err(|error| Answer::message(400, &format!("the body can't be read: {error}")))
}

fn query(call: &Call) -> Result<Asked, Answer> {
    Query::<HashMap<String, String>>::from_query(&call.query)
        .map(|query| Asked(query.into_inner()))
        .map_err(|error| Answer::message(400, &format!("the query can't be read: {error}")))
}

/// One member of a PATCH.
#[derive(Clone, Debug, Default)]
enum Change<T> {
    /// Null: taken away.
    Clear,
    /// Left out: as it was.
    #[default]
    Keep,
    Set(T),
}

impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for Change<T> {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(input)?.map_or(Self::Clear, Self::Set))
    }
}

impl<T> Change<T> {
    fn apply(self, to: &mut Option<T>) {
        match self {
            Self::Clear => *to = None,
            Self::Keep => {}
            Self::Set(new) => *to = Some(new),
        }
    }
}

/// The query of a control request.
struct Asked(HashMap<String, String>);

impl Asked {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn parsed<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, Answer> {
        self.text(name)
            .map(|text| text.parse().map_err(|_| Answer::message(400, &format!("`{name}` can't be `{text}`"))))
            .transpose()
    }

    fn only(&self, known: &[&str]) -> Result<(), Answer> {
        match self.0.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => {
                Err(Answer::message(400, &format!("no query member `{name}`; there are: {}", known.join(", "))))
            }
            None => Ok(()),
        }
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

fn listed(name: &str, rows: impl serde::Serialize) -> Answer {
    let rows = serde_json::to_value(rows).unwrap_or(Value::Null);
    Answer::json(200, &json!({ name: rows }))
}

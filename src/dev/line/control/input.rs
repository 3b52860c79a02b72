//! What control requests bring, and lists to answer them with.

use std::{collections::HashMap, str::FromStr};

use actix_web::web::Query;
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::dev::line::{answer::Answer, endpoint::Call};

/// Reads the body; an empty one is an empty object.
pub(super) fn input<T: DeserializeOwned>(call: &Call) -> Result<T, Answer> {
    let body: &[u8] = if call.body.iter().all(u8::is_ascii_whitespace) { b"{}" } else { &call.body };
    serde_json::from_slice(body).map_err(|error| Answer::message(400, &format!("the body can't be read: {error}")))
}

pub(super) fn query(call: &Call) -> Result<Asked, Answer> {
    Query::<HashMap<String, String>>::from_query(&call.query)
        .map(|query| Asked(query.into_inner()))
        .map_err(|error| Answer::message(400, &format!("the query can't be read: {error}")))
}

/// One member of a PATCH.
#[derive(Clone, Debug, Default)]
pub(super) enum Change<T> {
    /// Null: taken away.
    Clear,
    /// Left out: as it was.
    #[default]
    Keep,
    Set(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(input)?.map_or(Self::Clear, Self::Set))
    }
}

impl<T> Change<T> {
    pub(super) fn apply(self, to: &mut Option<T>) {
        match self {
            Self::Clear => *to = None,
            Self::Keep => {}
            Self::Set(new) => *to = Some(new),
        }
    }
}

/// The query of a control request.
pub(super) struct Asked(HashMap<String, String>);

impl Asked {
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(super) fn parsed<T: FromStr>(&self, name: &str) -> Result<Option<T>, Answer> {
        self.text(name)
            .map(|text| text.parse().map_err(|_| Answer::message(400, &format!("`{name}` can't be `{text}`"))))
            .transpose()
    }

    pub(super) fn only(&self, known: &[&str]) -> Result<(), Answer> {
        match self.0.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => {
                Err(Answer::message(400, &format!("no query member `{name}`; there are: {}", known.join(", "))))
            }
            None => Ok(()),
        }
    }
}

/// Returns rows as an object with one member.
pub(super) fn listed(name: &str, rows: impl Serialize) -> Answer {
    let rows = serde_json::to_value(rows).unwrap_or(Value::Null);
    Answer::json(200, &json!({ name: rows }))
}

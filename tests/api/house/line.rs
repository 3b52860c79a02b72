//! What a story does to LINE, and asks it.

use std::collections::HashMap;

use reqwest::Method;
use serde_json::{Value, json};

use super::{Answer, House};

impl House {
    /// Asks the stand-in's control API.
    pub async fn control(&self, method: Method, path: &str, body: &Value) -> Answer {
        let url = format!("{}/control{path}", self.line.base_url());
        Answer::to(self.client.request(method, url).json(body)).await
    }

    /// Faults that LINE has from now on.
    pub async fn line_faults(&self, rules: Value) {
        self.control(Method::PUT, "/faults", &json!({ "rules": rules })).await.is(200);
    }

    /// From now on this goes wrong with pushes, and nothing else.
    pub async fn pushes_fail(&self, mut rule: Value) {
        rule["endpoint"] = json!("push");
        self.line_faults(json!([rule])).await;
    }

    /// Nothing goes wrong at LINE any more.
    pub async fn heal(&self) {
        self.line_faults(json!([])).await;
    }

    /// So many messages a month the channel `main` has from now on; without a number as many as it likes.
    pub async fn set_quota(&self, messages: impl Into<Option<u64>>) {
        self.control(Method::PATCH, "/channels/main", &json!({ "quota": messages.into() })).await.is(200);
    }

    /// How often LINE was asked at an endpoint (`push`, `certs`, `verify`…), by what it answered.
    pub async fn answers_of_line(&self, endpoint: &str) -> HashMap<String, u64> {
        let requests = self.control(Method::GET, "/requests", &Value::Null).await.is(200);
        serde_json::from_value(requests.body["endpoints"][endpoint].clone()).unwrap_or_default()
    }

    /// The same, whatever it answered.
    pub async fn asked_of_line(&self, endpoint: &str) -> u64 {
        self.answers_of_line(endpoint).await.values().sum()
    }

    /// How many pushes were asked for, by what LINE answered.
    pub async fn pushes(&self) -> HashMap<String, u64> {
        self.answers_of_line("push").await
    }
}

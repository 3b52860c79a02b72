//! Who comes to the house: participants with phones, and callers with admin tokens.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::{Answer, CHANNEL, House};

/// A participant with a phone.
pub struct Person<'a> {
    pub house: &'a House,
    pub id: String,
    pub token: String,
    pub(super) event: &'static str,
}

impl Person<'_> {
    /// The same person with another token.
    pub fn with(&self, token: &str) -> Self {
        Self { house: self.house, id: self.id.clone(), token: token.to_owned(), event: self.event }
    }

    /// The same person at another event.
    pub fn at(self, event: &'static str) -> Self {
        Self { event, ..self }
    }

    /// The same person after LIFF was closed and opened again: with a fresh token.
    pub fn again(&self) -> Self {
        self.with(&self.house.line.id_token_of(&self.id, CHANNEL, self.house.second()).unwrap())
    }

    /// The same person with a token as ordered of the stand-in (its control API describes what can be ordered).
    pub async fn minted(&self, order: &Value) -> Self {
        let mut order = order.clone();
        if order["iat"].is_null() {
            let age = order.as_object_mut().unwrap().remove("age").and_then(|age| age.as_i64()).unwrap_or_default();
            order["iat"] = json!(self.house.second() - age);
        }
        let minted = self.house.control(Method::POST, &format!("/users/{}/id-token", self.id), &order).await.is(200);
        self.with(minted.body["idToken"].as_str().unwrap())
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.house.request(method, &format!("/api/events/{}{path}", self.event)).bearer_auth(&self.token)
    }

    pub async fn register(&self) -> Answer {
        Answer::to(self.request(Method::PUT, "/me")).await
    }

    pub async fn card(&self) -> Answer {
        Answer::to(self.request(Method::GET, "/me")).await
    }

    pub async fn acquire(&self, stamp: &str) -> Answer {
        Answer::to(self.request(Method::POST, &format!("/me/stamps/{stamp}"))).await
    }

    /// Acquires a stamp with a proof.
    pub async fn prove(&self, stamp: &str, proof: Value) -> Answer {
        Answer::to(self.request(Method::POST, &format!("/me/stamps/{stamp}")).json(&json!({"proof": proof}))).await
    }

    /// Acquires the stamp that a code is of.
    pub async fn scan(&self, proof: Value) -> Answer {
        Answer::to(self.request(Method::POST, "/me/scans").json(&json!({"proof": proof}))).await
    }

    pub async fn acquire_as(&self, stamp: &str, key: &str) -> Answer {
        Answer::to(self.request(Method::POST, &format!("/me/stamps/{stamp}")).header("Idempotency-Key", key)).await
    }

    pub async fn look_at(&self, stamp: &str) -> Answer {
        Answer::to(self.request(Method::GET, &format!("/me/stamps/{stamp}"))).await
    }

    /// The texts that the phone shows, oldest first.
    pub fn phone(&self) -> Vec<String> {
        let messages = self.house.line.phone(&self.id).unwrap();
        messages.iter().map(|shown| shown["message"]["altText"].as_str().unwrap().to_owned()).collect()
    }

    /// Blocks the account, or follows it again; LINE reports it by webhook.
    pub async fn becomes(&self, relation: &str) {
        let path = format!("/users/{}/relation", self.id);
        let body = json!({"channel": CHANNEL, "relation": relation, "webhook": true});
        let reported = self.house.control(Method::PUT, &path, &body).await;
        assert_eq!(reported.body["deliveries"][0]["status"], 200, "{reported:?}");
    }
}

/// A caller with an admin token.
pub struct Organiser<'a> {
    pub(super) house: &'a House,
    pub(super) token: String,
}

impl Organiser<'_> {
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.house.request(method, &format!("/admin/api/events{path}")).bearer_auth(&self.token)
    }

    pub async fn get(&self, path: &str) -> Answer {
        Answer::to(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str) -> Answer {
        Answer::to(self.request(Method::POST, path)).await
    }

    pub async fn put_event(&self, id: &str, event: &Value) -> Answer {
        Answer::to(self.request(Method::PUT, &format!("/{id}")).json(event)).await
    }

    pub async fn put_stamp(&self, event: &str, id: &str, stamp: &Value) -> Answer {
        Answer::to(self.request(Method::PUT, &format!("/{event}/stamps/{id}")).json(stamp)).await
    }
}

//! Staff and screens: their tokens, the stamps that staff grant, the codes that screens show.

mod at_once;
mod grants;
mod screens;
mod tokens;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::house::{Answer, House, Person, RALLY};

/// Makes a token: the answer's body, with `staffId` and `token`.
async fn hired(house: &House, role: &str, stamps: &[&str]) -> Value {
    hiring(house, &json!({"name": "駅の受付", "role": role, "stamps": stamps})).await.is(201).body
}

async fn hiring(house: &House, order: &Value) -> Answer {
    Answer::to(house.bearer("operator").request(Method::POST, &format!("/{RALLY}/staff")).json(order)).await
}

/// A bearer of a token, before one of the servers.
struct Bearer<'a> {
    url: &'a str,
    token: &'a str,
}

impl<'a> Bearer<'a> {
    /// Somebody with a token that was made.
    fn of(house: &'a House, staff: &'a Value) -> Self {
        Self { url: &house.url, token: staff["token"].as_str().unwrap() }
    }

    /// The bearer of another token.
    fn with(house: &'a House, token: &'a str) -> Self {
        Self { url: &house.url, token }
    }

    /// The same bearer before another server.
    fn at(&self, url: &'a str) -> Self {
        Self { url, ..*self }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        client.request(method, format!("{}{path}", self.url)).bearer_auth(self.token)
    }

    /// Grants a stamp to whose code this is.
    async fn grants(&self, stamp: &str, code: &str) -> Answer {
        let path = format!("/staff/api/events/{RALLY}/stamps/{stamp}/grants");
        Answer::to(self.request(Method::POST, &path).json(&json!({"code": code}))).await
    }
}

/// The code that a phone shows to staff.
async fn code_of(who: &Person<'_>) -> String {
    let shown = Answer::to(who.request(Method::GET, "/me/code")).await.is(200);
    shown.body["code"].as_str().unwrap().to_owned()
}

/// The stamp takes the word of staff, and nothing else.
async fn takes_staff(house: &House, stamp: &str) {
    house.change_stamp(stamp, &json!({"proofs": [["staff"]]})).await;
}

//! The stand-in, asked over HTTP as any client asks it.

mod control;
mod faults;
mod login;
mod memory;
mod push;
mod reply;
mod webhooks;

use std::net::TcpListener;

use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};

use super::{ChannelSettings, Memory, StandIn};

const TOKEN: &str = "long-lived-token-of-main";
const LOGIN: &str = "2000000001";
const OTHER_LOGIN: &str = "2000000002";
const MESSAGING: &str = "1000000001";
const SECRET: &str = "8c570fa6dd201bb328f1c1eac23a96d8";
const LOGIN_SECRET: &str = "login-secret-of-main";
const KEY: &str = "123e4567-e89b-12d3-a456-426614174000";

/// A stand-in with the channels `main` (a long-lived token) and `other` (stateless tokens only).
struct Desk {
    line: StandIn,
    client: Client,
}

fn channels() -> Vec<ChannelSettings> {
    let mut main = ChannelSettings::new("main", LOGIN, MESSAGING, SECRET);
    main.access_token = Some(TOKEN.to_owned());
    main.login_channel_secret = Some(LOGIN_SECRET.to_owned());
    vec![main, ChannelSettings::new("other", OTHER_LOGIN, "1000000002", "secret-of-other")]
}

fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

/// An answer, read whole.
struct Got {
    status: u16,
    request_id: Option<String>,
    accepted_request_id: Option<String>,
    text: String,
}

impl Got {
    async fn read(response: Response) -> Self {
        let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let (status, request_id) = (response.status().as_u16(), header("x-line-request-id"));
        let accepted_request_id = header("x-line-accepted-request-id");
        Self { status, request_id, accepted_request_id, text: response.text().await.unwrap() }
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    fn message(&self) -> String {
        self.json()["message"].as_str().unwrap().to_owned()
    }

    fn detail(&self) -> (String, String) {
        let detail = &self.json()["details"][0];
        (detail["message"].as_str().unwrap().to_owned(), detail["property"].as_str().unwrap().to_owned())
    }
}

impl Desk {
    fn open() -> Self {
        Self::with(&Memory::InMemory)
    }

    fn with(memory: &Memory) -> Self {
        let line = StandIn::start(listener(), memory, channels()).unwrap();
        Self { line, client: Client::builder().no_proxy().build().unwrap() }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.line.base_url()))
    }

    async fn get(&self, path: &str) -> Got {
        Got::read(self.request(Method::GET, path).bearer_auth(TOKEN).send().await.unwrap()).await
    }

    async fn post(&self, path: &str, body: &Value) -> Got {
        Got::read(self.request(Method::POST, path).bearer_auth(TOKEN).json(body).send().await.unwrap()).await
    }

    async fn form(&self, path: &str, form: &[(&str, &str)]) -> Got {
        Got::read(self.request(Method::POST, path).form(form).send().await.unwrap()).await
    }

    /// A control request that must succeed.
    async fn control(&self, method: Method, path: &str, body: Value) -> Value {
        let sent = self.request(method, &format!("/control{path}")).json(&body).send().await.unwrap();
        let got = Got::read(sent).await;
        assert!(got.status < 300, "{path}: {} {}", got.status, got.text);
        got.json()
    }

    async fn settings(&self, change: Value) {
        self.control(Method::PATCH, "/settings", change).await;
    }

    async fn faults(&self, rules: Value) {
        self.control(Method::PUT, "/faults", json!({ "rules": rules })).await;
    }

    async fn user(&self, order: Value) -> String {
        self.control(Method::POST, "/users", order).await["userId"].as_str().unwrap().to_owned()
    }

    async fn hanako(&self) -> String {
        self.user(json!({ "name": "花子" })).await
    }

    async fn id_token(&self, user_id: &str, order: Value) -> String {
        let made = self.control(Method::POST, &format!("/users/{user_id}/id-token"), order).await;
        made["idToken"].as_str().unwrap().to_owned()
    }

    async fn push(&self, to: &str, key: Option<&str>) -> Got {
        self.push_messages(to, key, json!([text("スタンプを獲得しました")])).await
    }

    async fn push_messages(&self, to: &str, key: Option<&str>, messages: Value) -> Got {
        Got::read(self.push_request(to, key, &messages).send().await.unwrap()).await
    }

    fn push_request(&self, to: &str, key: Option<&str>, messages: &Value) -> RequestBuilder {
        let request = self.request(Method::POST, "/v2/bot/message/push").bearer_auth(TOKEN);
        let request = match key {
            Some(key) => request.header("X-Line-Retry-Key", key),
            None => request,
        };
        request.json(&json!({ "to": to, "messages": messages }))
    }

    async fn phone(&self, user_id: &str) -> Vec<Value> {
        let shown = self.get(&format!("/control/users/{user_id}/phone")).await.json();
        shown["messages"].as_array().unwrap().clone()
    }

    async fn accepted(&self) -> u64 {
        self.get("/control/pushes").await.json()["total"].as_u64().unwrap()
    }
}

fn text(words: &str) -> Value {
    json!({ "type": "text", "text": words })
}

fn flex(contents: &Value) -> Value {
    json!({ "type": "flex", "altText": "スタンプ", "contents": contents })
}

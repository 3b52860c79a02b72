//! What the house answers, and what a story may insist on.

use reqwest::RequestBuilder;
use serde_json::Value;

use super::described::{self, Received};

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    /// The JSON, or the text as a JSON string.
    pub body: Value,
}

impl Answer {
    /// Sends the request. If the server answers, `openapi.json` must describe the answer.
    pub async fn to(request: RequestBuilder) -> Self {
        let (client, request) = request.build_split();
        let request = request.unwrap();
        let (method, path) = (request.method().clone(), request.url().path().to_owned());
        let answer = client.execute(request).await.unwrap();
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let text = answer.text().await.unwrap();
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        described::insist(&Received { method: &method, path: &path, status, headers: &headers, body: &body });
        Self { status, headers, body }
    }

    /// Insists on a status.
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{:#}", self.body);
        self
    }

    /// Insists on a problem: status, code, content type, request id.
    #[track_caller]
    pub fn refuses(self, status: u16, code: &str) -> Self {
        let answer = self.is(status);
        assert_eq!(answer.body["code"], code, "{:#}", answer.body);
        assert_eq!(answer.body["status"], status);
        assert_eq!(answer.header("content-type"), "application/problem+json");
        assert_eq!(answer.body["requestId"], answer.header("x-request-id"));
        answer
    }

    /// A header, empty if it isn't there.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

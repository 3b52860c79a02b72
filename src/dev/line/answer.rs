//! An answer before it goes out: also the error type of every handler here, since a refusal of
//! LINE is an answer like any other.

use actix_web::{HttpResponse, HttpResponseBuilder, http::StatusCode};
use serde_json::{Value, json};

/// `Ok` and `Err` both go out; `Err` only ends a handler early.
pub(super) type Outcome = Result<Answer, Answer>;

/// Status, headers and body of one answer. The request id is added by the server.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) content_type: &'static str,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: Vec::new(),
            content_type: "application/json",
            body: serde_json::to_vec(body).unwrap_or_default(),
        }
    }

    pub(super) fn text(status: u16, body: &str) -> Self {
        Self { status, headers: Vec::new(), content_type: "text/plain; charset=utf-8", body: body.as_bytes().to_vec() }
    }

    /// The Messaging API's plain refusal: `{"message":"…"}`.
    pub(super) fn message(status: u16, message: &str) -> Self {
        Self::json(status, &json!({ "message": message }))
    }

    /// The Login API's refusal: `{"error":"…","error_description":"…"}`, status 400.
    pub(super) fn oauth(error: &str, description: &str) -> Self {
        Self::json(400, &json!({ "error": error, "error_description": description }))
    }

    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn into_response(self) -> HttpResponse {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = HttpResponseBuilder::new(status);
        response.content_type(self.content_type);
        for (name, value) in self.headers {
            response.insert_header((name, value));
        }
        response.body(self.body)
    }
}

/// A full disk, say. Nothing was accepted then: every change is one transaction.
impl From<rusqlite::Error> for Answer {
    fn from(cause: rusqlite::Error) -> Self {
        Self::message(500, &format!("the stand-in's memory failed: {cause}"))
    }
}

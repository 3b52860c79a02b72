//! LINE's answers, read in bounded memory, and its words when it says no.

use reqwest::{RequestBuilder, Response};
use serde_json::{Map, Value};

use super::{retry_after::RetryAfter, trace};
use crate::domain::{json::Plain, trace::TRACEPARENT};

/// The header that every answer of LINE's has: an id of the request, made by LINE (Messaging API reference and LINE
/// Login API reference, both "Response headers").
pub(super) const REQUEST_ID: &str = "x-line-request-id";

/// Longest body that is read. LINE's own answers are far below; its requests end at 2 MB.
const LONGEST_BODY: usize = 256 * 1024;

/// Most characters kept of what LINE says.
const LONGEST_WORDS: usize = 500;

/// Why a call brought no usable answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    /// The body isn't what LINE documents.
    #[error("the answer is not what LINE documents: {0}")]
    Form(&'static str),
    /// The caller that sent the request has gone away before the answer came.
    #[error("the request was given up before its answer came")]
    GivenUp,
    /// Something between LINE and us has answered: what LINE did, if the request reached it, isn't known.
    #[error(
        "the answer ({status}) is not LINE's, it has no {REQUEST_ID}: look for a proxy or a login page between this machine and LINE"
    )]
    NotLine {
        status: u16,
        /// How long its sender asks to wait.
        retry_after: Option<RetryAfter>,
    },
    /// A status other than 2xx.
    #[error("LINE answered {status}: {said}")]
    Status {
        status: u16,
        said: String,
        /// How long LINE asks to wait.
        retry_after: Option<RetryAfter>,
    },
    /// The body is longer than anything LINE documents.
    #[error("the answer is longer than {LONGEST_BODY} bytes")]
    TooLong,
    /// No answer, or it broke off.
    #[error("no whole answer")]
    Transport(#[source] reqwest::Error),
}

impl CallError {
    /// Returns whether it is certain that LINE saw nothing of the request.
    pub(super) fn never_left(&self) -> bool {
        matches!(self, Self::Transport(error) if error.is_connect() || error.is_builder())
    }

    /// Returns how long the sender of the answer asks to wait.
    pub(super) fn retry_after(&self) -> Option<RetryAfter> {
        match self {
            Self::NotLine { retry_after, .. } | Self::Status { retry_after, .. } => *retry_after,
            Self::Form(_) | Self::GivenUp | Self::TooLong | Self::Transport(_) => None,
        }
    }
}

/// An answer whose head has arrived.
pub(super) struct Answer(Response);

impl Answer {
    /// Sends the request and waits for the head of LINE's answer, whatever its status.
    ///
    /// # Errors
    ///
    /// No answer, or one without LINE's request id. A proxy, a gateway or a login page in between answers with any
    /// status, 200 included, so neither its status nor its body is looked at.
    pub(super) async fn to(request: RequestBuilder) -> Result<Self, CallError> {
        let answer = Self::of_any_sender(request).await?;
        if answer.header(REQUEST_ID).is_some_and(|id| !id.is_empty()) {
            return Ok(answer);
        }
        Err(CallError::NotLine { status: answer.status(), retry_after: answer.retry_after() })
    }

    /// Sends the request for an answer that proves itself by what it holds, whether LINE sent it or not.
    pub(super) async fn of_any_sender(request: RequestBuilder) -> Result<Self, CallError> {
        let request = request.header(TRACEPARENT, trace::traceparent());
        request.send().await.map(Self).map_err(CallError::Transport)
    }

    pub(super) fn status(&self) -> u16 {
        self.0.status().as_u16()
    }

    /// Returns a header that is text.
    pub(super) fn header(&self, name: &str) -> Option<String> {
        self.0.headers().get(name)?.to_str().ok().map(str::to_owned)
    }

    /// Returns how long its sender asks to wait, if it says so in a way that can be read.
    pub(super) fn retry_after(&self) -> Option<RetryAfter> {
        RetryAfter::read(&self.header("retry-after")?)
    }

    pub(super) async fn body(mut self) -> Result<Vec<u8>, CallError> {
        let mut body = Vec::new();
        while let Some(chunk) = self.0.chunk().await.map_err(CallError::Transport)? {
            if body.len() + chunk.len() > LONGEST_BODY {
                return Err(CallError::TooLong);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// Reads the body as a JSON object, whatever the status.
    pub(super) async fn object(self) -> Result<Map<String, Value>, CallError> {
        let body = self.body().await?;
        // serde's own error may quote the body, which may hold a token.
        match serde_json::from_slice(&body) {
            Ok(Plain(Value::Object(object))) => Ok(object),
            _ => Err(CallError::Form("not a JSON object")),
        }
    }

    /// Reads the body of a 2xx as a JSON object.
    pub(super) async fn success(self) -> Result<Map<String, Value>, CallError> {
        match self.status() {
            200..=299 => self.object().await,
            status => {
                let retry_after = self.retry_after();
                Err(CallError::Status { status, said: self.said().await, retry_after })
            }
        }
    }

    /// Reads LINE's words, at most 500 characters; empty where there are none.
    pub(super) async fn said(self) -> String {
        let said = self.object().await.map(|object| words(&object)).unwrap_or_default();
        said.chars().take(LONGEST_WORDS).collect()
    }
}

/// Messaging API: `message` and `details`; OAuth: `error` and `error_description`.
fn words(object: &Map<String, Value>) -> String {
    let text = |object: &Map<String, Value>, name: &str| object.get(name)?.as_str().map(str::to_owned);
    let first = text(object, "message").or_else(|| text(object, "error_description")).or_else(|| text(object, "error"));
    let details = object.get("details").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
    let details = details.map(|detail| {
        let parts = [text(detail, "property"), text(detail, "message")];
        parts.into_iter().flatten().collect::<Vec<_>>().join(": ")
    });
    first.into_iter().chain(details).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(body: &Value) -> String {
        words(body.as_object().unwrap())
    }

    #[test]
    fn lines_words_name_what_is_wrong_and_where() {
        let refused = json!({"message": "The request body has 2 error(s)", "details": [
            {"message": "May not be empty", "property": "messages[0].text"}, {"message": "Too long"}, "?", {}]});
        assert_eq!(said(&refused), "The request body has 2 error(s); messages[0].text: May not be empty; Too long; ");
        assert_eq!(said(&json!({"error": "invalid_request", "error_description": "Bad."})), "Bad.");
        assert_eq!(said(&json!({"error": "invalid_request"})), "invalid_request");
        assert_eq!(said(&json!({"message": 1, "details": {}})), "");
    }
}

//! One way out for failures: the only table from failure to status, and problem documents (RFC 9457).

mod sorted;

use std::error::Error as StdError;

use actix_cors::CorsError;
use actix_web::{
    HttpRequest, HttpResponse, ResponseError,
    body::{BoxBody, EitherBody},
    dev::ServiceResponse,
    http::{
        StatusCode,
        header::{self, Header as _, HeaderValue, Preference, Quality},
    },
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::domain::{
    causes::Causes,
    claim::{Refusal, whole_seconds},
    ids::RequestId,
    language::Language,
    proof::CodeRefusal,
    resend::ResendRefusal,
};
use crate::line::flex::Fault;

/// Why something failed underneath.
type Source = Box<dyn StdError + Send + Sync>;

/// Why a request fails. What it displays is the problem's `detail`; where it has a
/// source, that is for the log alone.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    #[error("send one header `Authorization: Bearer <admin token>` with a token that is configured")]
    AdminTokenInvalid,
    #[error("no channel of this name is configured")]
    ChannelNotFound,
    #[error(transparent)]
    CodeRefused(#[from] CodeRefusal),
    #[error("this cursor was changed or belongs to another query: begin again without it")]
    CursorInvalid,
    #[error("{0}")]
    DeliveryNotFound(ResendRefusal),
    #[error("there is no such event")]
    EventNotFound,
    #[error("LINE would refuse this message: see `faults`")]
    FlexInvalid(Vec<Fault>),
    #[error("{0}")]
    Forbidden(&'static str),
    #[error("Something is wrong on this server. It was logged with this request id.")]
    Internal(#[source] Source),
    #[error("{0}")]
    InvalidRequest(String),
    #[error("LINE can't be asked at the moment. Please try again.")]
    LineUnavailable(#[source] Source),
    #[error("this path answers {allowed}")]
    MethodNotAllowed { allowed: String },
    #[error(transparent)]
    NotConsuming(#[from] NotConsuming),
    #[error("there is nothing here")]
    NotFound,
    #[error("register first: PUT the card")]
    NotRegistered,
    #[error("nothing is known of this participant")]
    ParticipantNotFound,
    #[error("the body may have {limit} bytes at most")]
    PayloadTooLarge { limit: usize },
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("{0}")]
    ResendPending(ResendRefusal),
    #[error("{0} can't change any more: a participant is registered")]
    SettingFixed(&'static str),
    #[error("`x-line-signature` is missing, or isn't this body's signature")]
    SignatureInvalid,
    #[error("there is no such member of the staff, and no such screen")]
    StaffNotFound,
    #[error("send `Authorization: Bearer <staff token>` with a token of this event that isn't expired or revoked")]
    StaffTokenInvalid,
    #[error("there is no such stamp")]
    StampNotFound,
    #[error("Nothing of the request is known to be stored. Repeating it is safe.")]
    StoreUnavailable(#[source] Source),
    #[error("get a new ID token from LIFF")]
    TokenExpired,
    #[error("this is not an ID token of this event's channel")]
    TokenInvalid,
    #[error("send `Authorization: Bearer <LIFF ID token>`")]
    TokenMissing,
    #[error("send JSON with `Content-Type: application/json`, UTF-8, not compressed")]
    UnsupportedMediaType,
    #[error("it was changed meanwhile, or isn't what the precondition says: read it again")]
    VersionConflict,
}

/// Why a process that is there for the stream alone is not ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotConsuming {
    /// It reads a stream that gets no records any more.
    #[error("The table has another stream than the one that is read: that is read to its end first.")]
    AnotherStream,
    /// It can't do its work.
    #[error("The consumer has not looked at the workers' progress within its lease.")]
    NoRound,
    /// What is written now is in no stream.
    #[error("The table has no stream: run `stamp-rally table create`, then `stamp-rally reconcile`.")]
    NoStream,
}

/// Returns status, code and title of a refusal.
fn row_of(refusal: &Refusal) -> (u16, &'static str, &'static str) {
    match refusal {
        Refusal::EventEnded => (409, "event_ended", "The event has ended"),
        Refusal::EventNotStarted => (409, "event_not_started", "The event has not started"),
        Refusal::Interval { .. } | Refusal::Prerequisite { .. } | Refusal::Travel { .. } => {
            (409, "claim_refused", "The stamp can't be acquired now")
        }
        Refusal::ProofRequired { .. } => (422, "proof_required", "A proof is needed"),
        Refusal::Rejected(_) => (422, "proof_rejected", "The proof is not accepted"),
        Refusal::StampClosed(_) => (409, "stamp_closed", "The stamp is closed"),
        Refusal::StampInactive => (409, "stamp_inactive", "The stamp is not active"),
        Refusal::TooManyTries { .. } => (429, "rate_limited", "Too many tries"),
    }
}

/// What every failure of one kind has in common.
struct Row {
    status: StatusCode,
    code: &'static str,
    title: &'static str,
}

impl ApiError {
    /// Returns status, code and title: the table.
    fn row(&self) -> Row {
        let (status, code, title) = match self {
            Self::AdminTokenInvalid => (401, "admin_token_invalid", "The admin token is not valid"),
            Self::ChannelNotFound => (404, "channel_not_found", "No such channel"),
            Self::CodeRefused(CodeRefusal::Unknown) => (404, "code_not_found", "No such generation of codes"),
            Self::CursorInvalid => (400, "cursor_invalid", "The cursor is not valid"),
            Self::DeliveryNotFound(_) => (404, "delivery_not_found", "No such notice"),
            Self::EventNotFound => (404, "event_not_found", "No such event"),
            Self::FlexInvalid(_) => (422, "flex_invalid", "The Flex message is not valid"),
            Self::Forbidden(_) => (403, "forbidden", "This token may not do that"),
            Self::Internal(_) => (500, "internal_error", "Internal error"),
            Self::InvalidRequest(_) => (400, "invalid_request", "The request is not valid"),
            Self::LineUnavailable(_) => (503, "line_unavailable", "LINE can't answer now"),
            Self::MethodNotAllowed { .. } => (405, "method_not_allowed", "Method not allowed"),
            Self::NotFound => (404, "not_found", "Not found"),
            Self::NotRegistered => (404, "not_registered", "Not registered"),
            Self::ParticipantNotFound => (404, "participant_not_found", "No such participant"),
            Self::PayloadTooLarge { .. } => (413, "payload_too_large", "The body is too large"),
            Self::Refused(refusal) => row_of(refusal),
            Self::ResendPending(_) => (409, "resend_pending", "The notice is still on its way"),
            Self::CodeRefused(CodeRefusal::UsedUp) | Self::SettingFixed(_) => {
                (409, "setting_fixed", "The setting is fixed")
            }
            Self::SignatureInvalid => (401, "signature_invalid", "The signature is not valid"),
            Self::StaffNotFound => (404, "staff_not_found", "No such staff"),
            Self::StaffTokenInvalid => (401, "staff_token_invalid", "The staff token is not valid"),
            Self::CodeRefused(CodeRefusal::NoStamp) | Self::StampNotFound => (404, "stamp_not_found", "No such stamp"),
            Self::NotConsuming(_) => (503, "store_unavailable", "The consumer is not ready"),
            Self::StoreUnavailable(_) => (503, "store_unavailable", "The store can't answer now"),
            Self::TokenExpired => (401, "token_expired", "The ID token has expired"),
            Self::TokenInvalid => (401, "token_invalid", "The ID token is not valid"),
            Self::TokenMissing => (401, "token_missing", "An ID token is needed"),
            Self::UnsupportedMediaType => (415, "unsupported_media_type", "Unsupported media type"),
            Self::VersionConflict => (412, "version_conflict", "The precondition failed"),
        };
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Row { status, code, title }
    }

    /// Returns its stable name.
    #[cfg(test)]
    pub fn code(&self) -> &'static str {
        self.row().code
    }

    /// Returns the header that belongs to a status: how to authenticate (RFC 9110 asks for it with every 401), what is
    /// allowed (and with every 405), when to come back.
    fn header(&self) -> Option<(header::HeaderName, HeaderValue)> {
        match (self.row().status, self) {
            (StatusCode::METHOD_NOT_ALLOWED, Self::MethodNotAllowed { allowed }) => {
                HeaderValue::from_str(allowed).ok().map(|allowed| (header::ALLOW, allowed))
            }
            (StatusCode::SERVICE_UNAVAILABLE, _) => Some((header::RETRY_AFTER, HeaderValue::from_static("2"))),
            (StatusCode::TOO_MANY_REQUESTS, Self::Refused(refusal)) => {
                let seconds = refusal.retry_after().map(whole_seconds);
                seconds.map(|seconds| (header::RETRY_AFTER, HeaderValue::from(seconds)))
            }
            (StatusCode::UNAUTHORIZED, _) => {
                Some((header::WWW_AUTHENTICATE, HeaderValue::from_static(self.challenge())))
            }
            _ => None,
        }
    }

    fn challenge(&self) -> &'static str {
        match self {
            Self::SignatureInvalid => "Signature header=\"x-line-signature\"",
            Self::TokenMissing => "Bearer",
            _ => "Bearer error=\"invalid_token\"",
        }
    }

    /// Returns the members that this kind of problem has besides those of all.
    fn members(&self) -> Map<String, Value> {
        if let Self::Refused(refusal) = self { refusal.members() } else { Map::new() }
    }

    /// Returns what the caller reads; a participant in the language that they prefer.
    fn detail(&self, language: Language) -> String {
        if let Self::Refused(refusal) = self { refusal.text(language) } else { self.to_string() }
    }

    fn faults(&self) -> &[Fault] {
        if let Self::FlexInvalid(faults) = self { faults } else { &[] }
    }

    /// Logs what an operator must look at, with all its causes; a client's mistake is not logged here.
    pub fn log(&self, request_id: &RequestId) {
        let Row { status, code, .. } = self.row();
        let Some(source) = self.source() else { return };
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(request.id = %request_id, problem.code = code, error = %Causes(source), "a request failed on our side");
        } else {
            tracing::warn!(request.id = %request_id, problem.code = code, error = %Causes(source), "a request can't be answered now");
        }
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.row().status
    }

    /// Returns status and headers; [`render`] adds the document, which has the request id.
    fn error_response(&self) -> HttpResponse {
        let mut answer = HttpResponse::new(self.status_code());
        if let Some((name, value)) = self.header() {
            answer.headers_mut().insert(name, value);
        }
        answer
    }
}

/// The problem document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProblemView<'a> {
    r#type: String,
    title: &'static str,
    status: u16,
    detail: String,
    code: &'static str,
    request_id: &'a str,
    #[serde(skip_serializing_if = "<[Fault]>::is_empty")]
    faults: &'a [Fault],
    #[serde(flatten)]
    members: Map<String, Value>,
}

/// An answer on its way out, and the code of its problem if it is one.
pub(super) struct Rendered<B> {
    pub answer: ServiceResponse<EitherBody<B>>,
    pub code: Option<&'static str>,
}

/// Writes the problem document of a failed request, wherever it failed, and logs it if it must be. Headers that were
/// added on the way out (CORS) stay.
pub(super) fn render<B>(answer: ServiceResponse<B>, request_id: &RequestId) -> Rendered<B> {
    let Some(error) = answer.response().error() else {
        return Rendered { answer: answer.map_into_left_body(), code: None };
    };
    let foreign;
    let error = if let Some(error) = error.as_error::<ApiError>() {
        error
    } else {
        foreign = translated(error);
        &foreign
    };
    error.log(request_id);
    let row = error.row();
    let document = document(error, &row, request_id, language(answer.request()));
    let answer = answer.map_body(|head, _| {
        head.status = row.status;
        head.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        EitherBody::right(BoxBody::new(document))
    });
    Rendered { answer, code: Some(row.code) }
}

/// Returns the language that a request prefers among ours (RFC 9110, 12.5.4): Japanese, or else English.
fn language(req: &HttpRequest) -> Language {
    let mut preferred = (Quality::ZERO, Language::English);
    for accepted in header::AcceptLanguage::parse(req).into_iter().flat_map(|accepted| accepted.0) {
        let named = match &accepted.item {
            Preference::Specific(tag) if tag.primary_language() == "ja" => Some(Language::Japanese),
            Preference::Specific(tag) if tag.primary_language() == "en" => Some(Language::English),
            Preference::Any | Preference::Specific(_) => None,
        };
        if let Some(language) = named.filter(|_| accepted.quality > preferred.0) {
            preferred = (accepted.quality, language);
        }
    }
    preferred.1
}

fn document(error: &ApiError, row: &Row, request_id: &RequestId, language: Language) -> Vec<u8> {
    let view = ProblemView {
        r#type: format!("https://stamp-rally.invalid/problems/{}", row.code),
        title: row.title,
        status: row.status.as_u16(),
        detail: error.detail(language),
        code: row.code,
        request_id: request_id.as_str(),
        faults: error.faults(),
        members: error.members(),
    };
    serde_json::to_vec(&view).unwrap_or_default()
}

/// Translates a failure that isn't ours: of actix or of its CORS middleware.
fn translated(error: &actix_web::Error) -> ApiError {
    if let Some(error) = error.as_error::<CorsError>() {
        return ApiError::InvalidRequest(format!("CORS: {error}"));
    }
    match error.as_response_error().status_code() {
        status if status.is_client_error() => ApiError::InvalidRequest("the request can't be read".to_owned()),
        _ => ApiError::Internal(error.to_string().into()),
    }
}

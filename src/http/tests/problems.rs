//! The table of failures: pinned, for programs rely on its codes.

use std::{collections::BTreeSet, time::Duration};

use actix_web::ResponseError as _;
use serde_json::Value;

use crate::domain::{
    claim::{Refusal, Rejection},
    proof::{CodeRefusal, Proofs},
    resend::ResendRefusal,
    schedule::Closed,
};
use crate::http::{ops::OPENAPI, problem::ApiError};

fn one_of_each() -> Vec<(u16, &'static str, ApiError)> {
    let text = || "why".to_owned();
    vec![
        (400, "cursor_invalid", ApiError::CursorInvalid),
        (400, "invalid_request", ApiError::InvalidRequest(text())),
        (401, "admin_token_invalid", ApiError::AdminTokenInvalid),
        (401, "signature_invalid", ApiError::SignatureInvalid),
        (401, "staff_token_invalid", ApiError::StaffTokenInvalid),
        (401, "token_expired", ApiError::TokenExpired),
        (401, "token_invalid", ApiError::TokenInvalid),
        (401, "token_missing", ApiError::TokenMissing),
        (403, "forbidden", ApiError::Forbidden("why")),
        (404, "channel_not_found", ApiError::ChannelNotFound),
        (404, "code_not_found", ApiError::CodeRefused(CodeRefusal::Unknown)),
        (404, "delivery_not_found", ApiError::DeliveryNotFound(ResendRefusal::NotAcquired)),
        (404, "event_not_found", ApiError::EventNotFound),
        (404, "not_found", ApiError::NotFound),
        (404, "not_registered", ApiError::NotRegistered),
        (404, "participant_not_found", ApiError::ParticipantNotFound),
        (404, "staff_not_found", ApiError::StaffNotFound),
        (404, "stamp_not_found", ApiError::StampNotFound),
        (405, "method_not_allowed", ApiError::MethodNotAllowed { allowed: text() }),
        (409, "claim_refused", ApiError::Refused(Refusal::Prerequisite { missing: vec![] })),
        (409, "event_ended", ApiError::Refused(Refusal::EventEnded)),
        (409, "event_not_started", ApiError::Refused(Refusal::EventNotStarted)),
        (409, "resend_pending", ApiError::ResendPending(ResendRefusal::Pending)),
        (409, "setting_fixed", ApiError::SettingFixed("channel")),
        (409, "stamp_closed", ApiError::Refused(Refusal::StampClosed(Closed::Over))),
        (409, "stamp_inactive", ApiError::Refused(Refusal::StampInactive)),
        (412, "version_conflict", ApiError::VersionConflict),
        (413, "payload_too_large", ApiError::PayloadTooLarge { limit: 1 }),
        (415, "unsupported_media_type", ApiError::UnsupportedMediaType),
        (422, "flex_invalid", ApiError::FlexInvalid(vec![])),
        (422, "proof_rejected", ApiError::Refused(Refusal::Rejected(Rejection::CodeUnknown))),
        (422, "proof_required", ApiError::Refused(Refusal::ProofRequired { proofs: Proofs::default() })),
        (429, "rate_limited", ApiError::Refused(Refusal::TooManyTries { retry_after: Duration::from_millis(1) })),
        (500, "internal_error", ApiError::Internal(text().into())),
        (503, "line_unavailable", ApiError::LineUnavailable(text().into())),
        (503, "store_unavailable", ApiError::StoreUnavailable(text().into())),
    ]
}

#[test]
fn every_failure_has_its_status_and_code() {
    for (status, code, error) in one_of_each() {
        assert_eq!((error.status_code().as_u16(), error.code()), (status, code), "{error:?}");
    }
}

#[test]
fn what_a_resend_is_refused_for_has_its_code() {
    for (refusal, code) in [
        (ResendRefusal::CompletedPending, "resend_pending"),
        (ResendRefusal::NotAcquired, "delivery_not_found"),
        (ResendRefusal::NotCompleted, "delivery_not_found"),
        (ResendRefusal::NumbersUsedUp, "invalid_request"),
        (ResendRefusal::Pending, "resend_pending"),
    ] {
        assert_eq!(ApiError::from(refusal).code(), code);
    }
}

#[test]
fn what_an_order_about_codes_is_refused_for_has_its_code() {
    for (refusal, code) in [
        (CodeRefusal::NoStamp, "stamp_not_found"),
        (CodeRefusal::Unknown, "code_not_found"),
        (CodeRefusal::UsedUp, "setting_fixed"),
    ] {
        assert_eq!(ApiError::from(refusal).code(), code);
    }
}

#[test]
fn a_401_says_how_to_authenticate_and_a_503_when_to_come_back() {
    for (status, code, error) in one_of_each() {
        let headers = error.error_response().headers().clone();
        assert_eq!(headers.contains_key("www-authenticate"), status == 401, "{code}");
        assert_eq!(headers.contains_key("retry-after"), status == 503 || status == 429, "{code}");
        assert_eq!(headers.contains_key("allow"), status == 405, "{code}");
    }
}

#[test]
fn a_5xx_carries_no_detail_of_its_cause() {
    for (status, code, error) in one_of_each() {
        assert_eq!(status >= 500, !error.to_string().contains("why") && has_source(&error), "{code}: {error}");
    }
}

fn has_source(error: &ApiError) -> bool {
    std::error::Error::source(error).is_some()
}

#[test]
fn the_description_names_every_code_and_no_other() {
    let description: Value = serde_json::from_str(OPENAPI).unwrap();
    let described = description.pointer("/components/schemas/Problem/properties/code/enum").unwrap();
    let described: BTreeSet<&str> = described.as_array().unwrap().iter().map(|code| code.as_str().unwrap()).collect();
    assert_eq!(described, one_of_each().into_iter().map(|(_, code, _)| code).collect());
}

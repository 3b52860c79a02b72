//! The errors of other rooms as ours.

use crate::domain::{Malformed, resend::ResendRefusal};
use crate::line::id_token::TokenError;
use crate::store::StoreError;

use super::ApiError;

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Broken(_) | StoreError::Unreadable(_) => Self::Internal(error.into()),
            // Another writer was faster where that isn't expected: the same request again will do.
            StoreError::Conflict(_) | StoreError::Unavailable(_) => Self::StoreUnavailable(error.into()),
        }
    }
}

impl From<ResendRefusal> for ApiError {
    fn from(refusal: ResendRefusal) -> Self {
        match refusal {
            ResendRefusal::NotAcquired | ResendRefusal::NotCompleted => Self::DeliveryNotFound(refusal),
            // Waiting doesn't help, so these are none of the conflicts.
            ResendRefusal::NumbersUsedUp | ResendRefusal::OtherState => Self::InvalidRequest(refusal.to_string()),
            ResendRefusal::CompletedPending | ResendRefusal::Pending => Self::ResendPending(refusal),
        }
    }
}

impl From<TokenError> for ApiError {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::Expired => Self::TokenExpired,
            TokenError::Invalid(_) => Self::TokenInvalid,
            TokenError::Unavailable(_) => Self::LineUnavailable(error.into()),
        }
    }
}

impl From<Malformed> for ApiError {
    fn from(error: Malformed) -> Self {
        Self::InvalidRequest(error.to_string())
    }
}

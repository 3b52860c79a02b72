//! What can go wrong with a stream, by what its reader can do.

use aws_sdk_dynamodbstreams::{
    config::http::HttpResponse,
    error::{ProvideErrorMetadata, SdkError},
};

use crate::store::StoreError;

/// Why a shard could not be read.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The iterator is older than 15 minutes: make one after the last record read.
    #[error("the iterator has expired")]
    Expired,
    /// The place where reading should begin is none of this shard's: its checkpoint was changed by another program.
    #[error("the stream refuses the place where reading should begin")]
    Misplaced(#[source] StoreError),
    /// There is no such shard (any more): nothing of it can be read, its children can.
    #[error("the shard is gone")]
    ShardGone,
    /// Throttled, out of reach, or something that a person must see to.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Records after that place are gone, unread: continue at the trim horizon and report it.
    #[error("records were trimmed before they were read")]
    Trimmed,
}

/// By code: `ThrottlingException`, for one, comes from the streams without being in their API's model.
impl<E> From<SdkError<E, HttpResponse>> for StreamError
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    fn from(failure: SdkError<E, HttpResponse>) -> Self {
        match failure.as_service_error().and_then(ProvideErrorMetadata::code) {
            Some("ExpiredIteratorException") => Self::Expired,
            Some("ResourceNotFoundException") => Self::ShardGone,
            Some("ValidationException") => Self::Misplaced(failure.into()),
            Some("TrimmedDataAccessException") => Self::Trimmed,
            _ => Self::Store(failure.into()),
        }
    }
}

//! The participants as a CSV file, streamed: any size in constant memory.

use actix_web::web::Bytes;
use async_stream::try_stream;
use futures_util::Stream;

use crate::domain::ids::RequestId;
use crate::http::{
    csv::{file_start, rows, some_of},
    problem::ApiError,
};
use crate::store::{StoreError, listing::Users};

/// The whole list as a file. The first rows are read before there is an answer, so that a store that can't answer is
/// a problem document; later a row that can't be read breaks the stream off, and with it the connection: a file that
/// ends early never looks complete.
pub async fn stream(
    mut users: Users,
    request_id: RequestId,
) -> Result<impl Stream<Item = Result<Bytes, ApiError>> + use<>, ApiError> {
    let first = some_of(&mut users).await?;
    Ok(try_stream! {
        yield file_start().map_err(unwritten)?.into();
        let mut some = first;
        while !some.is_empty() {
            yield rows(&some).map_err(unwritten)?.into();
            some = some_of(&mut users).await.map_err(|error| broken_off(error, &request_id))?;
        }
    })
}

fn broken_off(error: StoreError, request_id: &RequestId) -> ApiError {
    let error = ApiError::from(error);
    error.log(request_id);
    error
}

fn unwritten(error: csv::Error) -> ApiError {
    ApiError::Internal(error.into())
}

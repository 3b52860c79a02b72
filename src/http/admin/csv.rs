//! The participants as a CSV file: any size in constant memory, and Excel opens it.

use actix_web::web::Bytes;
use async_stream::try_stream;
use csv::{Terminator, WriterBuilder};
use futures_util::Stream;

use crate::domain::fact::User;
use crate::http::problem::ApiError;
use crate::store::{StoreError, listing::Users};

const COLUMNS: [&str; 4] = ["lineUserId", "createdAt", "updatedAt", "requestId"];

/// How many rows go out at a time.
const AT_A_TIME: usize = 500;

/// The whole list as a file. The first rows are read before there is an answer, so that a store that can't answer is
/// a problem document; later a row that can't be read breaks the stream off, and with it the connection: a file that
/// ends early never looks complete.
pub async fn stream(mut users: Users) -> Result<impl Stream<Item = Result<Bytes, ApiError>> + use<>, ApiError> {
    let first = some_of(&mut users).await?;
    let request = tracing::Span::current();
    Ok(try_stream! {
        yield file_start()?;
        let mut some = first;
        while !some.is_empty() {
            yield rows(&some)?;
            some = some_of(&mut users).await.map_err(|error| request.in_scope(|| broken_off(error)))?;
        }
    })
}

async fn some_of(users: &mut Users) -> Result<Vec<User>, StoreError> {
    let mut some = Vec::with_capacity(AT_A_TIME);
    while some.len() < AT_A_TIME
        && let Some(user) = users.next().await?
    {
        some.push(user);
    }
    Ok(some)
}

fn broken_off(error: StoreError) -> ApiError {
    let error = ApiError::from(error);
    error.log();
    error
}

/// A byte order mark, without which Excel takes UTF-8 for something else, and the header.
fn file_start() -> Result<Bytes, ApiError> {
    let header = written(|csv| csv.write_record(COLUMNS))?;
    Ok([b"\xEF\xBB\xBF", header.as_slice()].concat().into())
}

fn rows(users: &[User]) -> Result<Bytes, ApiError> {
    let bytes = written(|csv| {
        users.iter().try_for_each(|user| {
            let (created, updated) = (user.created_at.to_string(), user.updated_at.to_string());
            let request_id = user.request_id.as_ref().map_or("", |id| id.as_str());
            for cell in [user.line_user_id.as_str(), &created, &updated, request_id] {
                csv.write_field(defused(cell).as_bytes())?;
            }
            csv.write_record(None::<&[u8]>)
        })
    })?;
    Ok(bytes.into())
}

/// A row ends with CRLF (RFC 4180).
fn written(write: impl FnOnce(&mut csv::Writer<Vec<u8>>) -> csv::Result<()>) -> Result<Vec<u8>, ApiError> {
    let mut csv = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    write(&mut csv).map_err(|error| ApiError::Internal(error.into()))?;
    csv.into_inner().map_err(|error| ApiError::Internal(error.into_error().into()))
}

/// A spreadsheet runs a cell that begins like a formula (OWASP: "CSV Injection"); behind a `'` it is text.
fn defused(cell: &str) -> std::borrow::Cow<'_, str> {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) { format!("'{cell}").into() } else { cell.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_a_spreadsheet_would_run_are_defused() {
        for cell in ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "=HYPERLINK(\"http://x\")"] {
            assert_eq!(defused(cell), format!("'{cell}"));
        }
        for cell in ["", "U0123", "2026-05-23T10:00:00.000Z", "a=b"] {
            assert_eq!(defused(cell), cell);
        }
    }

    #[test]
    fn the_file_begins_with_a_byte_order_mark_and_the_promised_columns() {
        let start = file_start().unwrap();
        assert!(start.starts_with(b"\xEF\xBB\xBFlineUserId,createdAt"));
        assert!(start.ends_with(b"\r\n"));
    }

    #[test]
    fn a_row_is_quoted_where_it_must_be() {
        let user = User::registers(
            "spring".parse().unwrap(),
            "U0123456789abcdef0123456789abcdef".parse().unwrap(),
            "=a,\"b\"".parse().unwrap(),
            "2026-05-23T10:00:00.000Z".parse().unwrap(),
        );
        let row = String::from_utf8(rows(&[user]).unwrap().to_vec()).unwrap();
        assert_eq!(
            row,
            "U0123456789abcdef0123456789abcdef,2026-05-23T10:00:00.000Z,2026-05-23T10:00:00.000Z,\"'=a,\"\"b\"\"\"\r\n"
        );
    }
}

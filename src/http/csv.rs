//! Participants as a CSV file that Excel opens, in parts: one form, for the organisers' API and the command line.

use std::borrow::{BorrowMut, Cow};

use actix_web::web::Bytes;
use async_stream::try_stream;
use csv::{Terminator, WriterBuilder};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};

use crate::domain::{fact::User, ids::RequestId};
use crate::store::{StoreError, listing::Users};

use super::problem::ApiError;

/// Rows of a part.
const ROWS: usize = 500;

const COLUMNS: [&str; 4] = ["lineUserId", "createdAt", "updatedAt", "requestId"];

/// A part of the file.
#[derive(Debug)]
pub struct Part {
    /// Its text.
    pub bytes: Vec<u8>,
    /// How many participants it has.
    pub rows: usize,
}

/// Why there is no file, or why it breaks off.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The participants can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A row can't be written.
    #[error(transparent)]
    Unwritten(#[from] csv::Error),
}

/// Returns the file of all participants, part by part: any number of them in constant memory. The first part is given
/// when the first rows are read.
pub fn file(mut users: impl BorrowMut<Users>) -> impl Stream<Item = Result<Part, FileError>> {
    try_stream! {
        let mut some = some_of(users.borrow_mut()).await?;
        yield Part { bytes: file_start()?, rows: 0 };
        while !some.is_empty() {
            yield Part { bytes: rows(&some)?, rows: some.len() };
            some = some_of(users.borrow_mut()).await?;
        }
    }
}

/// Returns the file as the body of an answer. A store that can't answer at the start is a problem document; later a row
/// that can't be read breaks the stream off, and with it the connection: a file that ends early never looks complete.
pub(super) async fn body(
    users: Users,
    request_id: RequestId,
) -> Result<impl Stream<Item = Result<Bytes, ApiError>>, ApiError> {
    let mut parts = Box::pin(file(users));
    let first = parts.try_next().await?;
    let parts = stream::iter(first.map(Ok)).chain(parts);
    Ok(parts.map(move |part| match part {
        Ok(part) => Ok(part.bytes.into()),
        Err(error) => Err(logged(error.into(), &request_id)),
    }))
}

fn logged(error: ApiError, request_id: &RequestId) -> ApiError {
    error.log(request_id);
    error
}

impl From<FileError> for ApiError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Store(error) => error.into(),
            FileError::Unwritten(error) => Self::Internal(error.into()),
        }
    }
}

/// Returns a byte order mark, without which Excel takes UTF-8 for something else, and the header.
fn file_start() -> csv::Result<Vec<u8>> {
    let header = written(|csv| csv.write_record(COLUMNS))?;
    Ok([b"\xEF\xBB\xBF", header.as_slice()].concat())
}

/// Returns a row for each.
fn rows(users: &[User]) -> csv::Result<Vec<u8>> {
    written(|csv| {
        users.iter().try_for_each(|user| {
            let (created, updated) = (user.created_at.to_string(), user.updated_at.to_string());
            let request_id = user.request_id.as_ref().map_or("", |id| id.as_str());
            for cell in [user.line_user_id.as_str(), &created, &updated, request_id] {
                csv.write_field(defused(cell).as_bytes())?;
            }
            csv.write_record(None::<&[u8]>)
        })
    })
}

/// Reads the next rows; none after the last.
async fn some_of(users: &mut Users) -> Result<Vec<User>, StoreError> {
    let mut some = Vec::with_capacity(ROWS);
    while some.len() < ROWS
        && let Some(user) = users.next().await?
    {
        some.push(user);
    }
    Ok(some)
}

/// Returns what is written; a row ends with CRLF (RFC 4180).
fn written(write: impl FnOnce(&mut csv::Writer<Vec<u8>>) -> csv::Result<()>) -> csv::Result<Vec<u8>> {
    let mut csv = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    write(&mut csv)?;
    csv.into_inner().map_err(|error| error.into_error().into())
}

/// Returns a cell as text: a spreadsheet runs one that begins like a formula (OWASP: "CSV Injection"); behind a `'` it is none.
fn defused(cell: &str) -> Cow<'_, str> {
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
        let row = String::from_utf8(rows(&[user]).unwrap()).unwrap();
        assert_eq!(
            row,
            "U0123456789abcdef0123456789abcdef,2026-05-23T10:00:00.000Z,2026-05-23T10:00:00.000Z,\"'=a,\"\"b\"\"\"\r\n"
        );
    }
}

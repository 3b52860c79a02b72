//! Participants as a CSV file that Excel opens, in parts: one form, for the organiser's API and the command line.

use std::borrow::Cow;

use csv::{Terminator, WriterBuilder};

use crate::domain::fact::User;
use crate::store::{StoreError, listing::Users};

/// How many rows go out at a time.
const AT_A_TIME: usize = 500;

const COLUMNS: [&str; 4] = ["lineUserId", "createdAt", "updatedAt", "requestId"];

/// A byte order mark, without which Excel takes UTF-8 for something else, and the header.
pub fn file_start() -> csv::Result<Vec<u8>> {
    let header = written(|csv| csv.write_record(COLUMNS))?;
    Ok([b"\xEF\xBB\xBF", header.as_slice()].concat())
}

/// A row for each.
pub fn rows(users: &[User]) -> csv::Result<Vec<u8>> {
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

/// The next rows to write; none after the last.
pub async fn some_of(users: &mut Users) -> Result<Vec<User>, StoreError> {
    let mut some = Vec::with_capacity(AT_A_TIME);
    while some.len() < AT_A_TIME
        && let Some(user) = users.next().await?
    {
        some.push(user);
    }
    Ok(some)
}

/// A row ends with CRLF (RFC 4180).
fn written(write: impl FnOnce(&mut csv::Writer<Vec<u8>>) -> csv::Result<()>) -> csv::Result<Vec<u8>> {
    let mut csv = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    write(&mut csv)?;
    csv.into_inner().map_err(|error| error.into_error().into())
}

/// A spreadsheet runs a cell that begins like a formula (OWASP: "CSV Injection"); behind a `'` it is text.
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

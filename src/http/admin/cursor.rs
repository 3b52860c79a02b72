//! Cursors: where the next part of a list begins, as a text that only its own query takes back.
//!
//! A cursor holds a digest of its query, the position after the last row, and a checksum over both. It needs no
//! memory and no secret, so it is good on any server and after restarts; the checksum is against accidents and
//! against clients that make cursors up. (It proves nothing about who made it: a position only ever says where the
//! next part of an organiser's own list begins.)

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest as _, Sha256};

use crate::http::problem::ApiError;

/// Bytes of the digest, and of the checksum.
const SHORT: usize = 12;

/// Names a query among all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryDigest(String);

impl QueryDigest {
    /// Makes the digest of the parts that make a query what it is. No part may hold a line break.
    pub fn of(parts: &[&str]) -> Self {
        Self(URL_SAFE_NO_PAD.encode(short_hash(parts.join("\n").as_bytes())))
    }
}

#[derive(Serialize, Deserialize)]
struct Content<Q, P> {
    of: Q,
    at: P,
}

/// Writes a cursor.
pub fn write<P: Serialize>(query: &QueryDigest, position: &P) -> Result<String, ApiError> {
    let content = Content { of: &query.0, at: position };
    let mut bytes = serde_json::to_vec(&content).map_err(|error| ApiError::Internal(error.into()))?;
    bytes.extend(short_hash(&bytes));
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Reads a cursor of this query; anything else is refused as `cursor_invalid`.
pub fn read<P: DeserializeOwned>(query: &QueryDigest, text: &str) -> Result<P, ApiError> {
    content(text).filter(|content| content.of == query.0).map(|content| content.at).ok_or(ApiError::CursorInvalid)
}

fn content<P: DeserializeOwned>(text: &str) -> Option<Content<String, P>> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (content, checksum) = bytes.split_at_checked(bytes.len().checked_sub(SHORT)?)?;
    if short_hash(content) == checksum { serde_json::from_slice(content).ok() } else { None }
}

fn short_hash(bytes: &[u8]) -> [u8; SHORT] {
    let mut short = [0; SHORT];
    short.copy_from_slice(&Sha256::digest(bytes)[..SHORT]);
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn query(event: &str) -> QueryDigest {
        QueryDigest::of(&["users", event, "asc"])
    }

    #[test]
    fn a_cursor_continues_where_its_own_query_stopped() {
        let cursor = write(&query("spring"), &"2026-05-23T10:00:00.000Z#U1").unwrap();
        assert_eq!(read::<String>(&query("spring"), &cursor).unwrap(), "2026-05-23T10:00:00.000Z#U1");
    }

    #[test]
    fn a_cursor_of_another_query_is_refused() {
        let cursor = write(&query("spring"), &"x").unwrap();
        assert!(matches!(read::<String>(&query("autumn"), &cursor), Err(ApiError::CursorInvalid)));
    }

    #[test]
    fn what_never_was_a_cursor_is_refused() {
        for text in ["", "x", "####", "AAAA", &"A".repeat(5000), "花子"] {
            assert!(matches!(read::<String>(&query("spring"), text), Err(ApiError::CursorInvalid)), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_changed_cursor_is_refused(at in any::<prop::sample::Index>(), to in proptest::char::range('0', 'z')) {
            let cursor = write(&query("spring"), &"2026-05-23T10:00:00.000Z#U1").unwrap();
            let mut changed: Vec<char> = cursor.chars().collect();
            let at = at.index(changed.len());
            prop_assume!(changed[at] != to);
            changed[at] = to;
            prop_assert!(read::<String>(&query("spring"), &changed.iter().collect::<String>()).is_err());
        }
    }
}

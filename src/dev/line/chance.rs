//! Ids and tokens that look like LINE's.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// `U` and 32 hex digits.
pub(super) fn user_id() -> String {
    format!("U{:032x}", fastrand::u128(..))
}

/// Whether a text has the form of an id that begins with `prefix`: a letter and 32 lower-case hex digits.
pub(super) fn is_id(text: &str, prefix: char) -> bool {
    text.strip_prefix(prefix)
        .is_some_and(|rest| rest.len() == 32 && rest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
}

/// A request id: a UUID, as in every example of LINE's reference.
pub(super) fn request_id() -> String {
    uuid::Builder::from_random_bytes(fastrand::u128(..).to_be_bytes()).into_uuid().to_string()
}

/// An opaque token of `bytes` random bytes (quote token, reply token).
pub(super) fn opaque(bytes: usize) -> String {
    let mut random = vec![0; bytes];
    fastrand::fill(&mut random);
    URL_SAFE_NO_PAD.encode(random)
}

/// 26 characters, first the time, then chance: the form of `webhookEventId`.
pub(super) fn ulid(now_ms: i64) -> String {
    let time = u128::from(now_ms.unsigned_abs() & 0xFFFF_FFFF_FFFF);
    let bits = (time << 80) | (fastrand::u128(..) >> 48);
    (0..26).rev().map(|place| char::from(CROCKFORD[((bits >> (place * 5)) & 31) as usize])).collect()
}

/// Returns the SHA-256 of bytes in hexadecimal digits.
pub(super) fn hex_sha256(bytes: &[u8]) -> String {
    <[u8; 32]>::from(Sha256::digest(bytes)).map(|byte| format!("{byte:02x}")).concat()
}

#[cfg(test)]
mod tests {
    use super::{is_id, ulid, user_id};

    #[test]
    fn ids_have_lines_form() {
        assert!(is_id(&user_id(), 'U'));
        assert!(!is_id("Uffff", 'U'));
        assert!(!is_id(&user_id().to_uppercase(), 'U'));
        let id = ulid(1_779_530_400_000);
        assert_eq!(id.len(), 26);
        assert!(id < ulid(1_779_530_400_001));
    }
}

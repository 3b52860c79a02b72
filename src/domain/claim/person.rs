//! A person's code, which staff scan.

use super::Rejection;
use crate::domain::{
    ids::{EventId, LineUserId},
    proof::{Code, ProofKeys, Timeliness},
    time::Timestamp,
};

/// Returns whose code it is. Judged in turn: whether it is a person's code of this event, signed by one of the keys, then
/// its step.
///
/// # Errors
///
/// Code unknown, early or expired; without a key every code is unknown.
pub fn person_of(code: &str, event_id: &EventId, keys: &ProofKeys, now: Timestamp) -> Result<LineUserId, Rejection> {
    let Some(Code::Person(person)) = Code::read(code) else { return Err(Rejection::CodeUnknown) };
    if !person.is_signed(keys, event_id) {
        return Err(Rejection::CodeUnknown);
    }
    match person.timeliness(now) {
        Timeliness::Early => Err(Rejection::CodeEarly),
        Timeliness::Expired => Err(Rejection::CodeExpired),
        Timeliness::Good => Ok(person.line_user_id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::proof::{PersonCode, contract_keys};

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn hanako() -> LineUserId {
        "U00000000000000000000000000000001".parse().unwrap()
    }

    fn rally() -> EventId {
        "stamp-rally-202606".parse().unwrap()
    }

    /// What becomes of the code that Hanako's phone shows from noon, at an instant so many milliseconds later.
    fn scanned_after(millis: i64) -> Result<LineUserId, Rejection> {
        let (keys, noon) = (contract_keys(), at("2026-06-01T12:00:00.000Z"));
        let (code, _) = PersonCode::make(&keys, &rally(), &hanako(), noon).unwrap();
        person_of(&code, &rally(), &keys, noon.plus_millis(millis))
    }

    #[test]
    fn a_persons_code_is_good_from_two_seconds_before_its_minute_until_a_minute_after() {
        assert_eq!(scanned_after(-2_001), Err(Rejection::CodeEarly));
        assert_eq!(scanned_after(-2_000), Ok(hanako()));
        assert_eq!(scanned_after(119_999), Ok(hanako()));
        assert_eq!(scanned_after(120_000), Err(Rejection::CodeExpired));
        assert_eq!(scanned_after(24 * 3_600_000), Err(Rejection::CodeExpired), "a copy of yesterday");
    }

    #[test]
    fn a_code_of_another_event_of_a_stamp_or_of_another_key_is_unknown() {
        let (keys, now) = (contract_keys(), at("2026-06-01T12:00:00.000Z"));
        let (code, _) = PersonCode::make(&keys, &rally(), &hanako(), now).unwrap();
        let unknown = Err(Rejection::CodeUnknown);
        assert_eq!(person_of(&code, &"winter".parse().unwrap(), &keys, now), unknown);
        assert_eq!(person_of(&code, &rally(), &ProofKeys::default(), now), unknown);
        let others = ["SBJV9RZ43010QG3PKWJFQE5FNBP", "", "🗼", "https://liff.line.me/1234567890-AbcdEfgh", &code[..48]];
        for other in others {
            assert_eq!(person_of(other, &rally(), &keys, now), unknown, "{other}");
        }
    }
}

//! Changing a setting: read, check the preconditions, change, write on condition that no other writer did meanwhile.

use actix_web::http::StatusCode;

use crate::domain::time::Timestamp;
use crate::http::problem::ApiError;
use crate::store::masters::{Expected, Replaced, Stored};

use super::precondition::{Preconditions, Present};

/// How often a change is laid over what others wrote meanwhile. In each round one of those who write at once succeeds,
/// so as many may write one setting together; a round is one `GetItem` and one `PutItem`.
const ATTEMPTS: usize = 20;

/// The setting was changed by others just before each of our writes.
#[derive(Debug, thiserror::Error)]
#[error(
    "a setting was changed by others just before each of {ATTEMPTS} writes of one request: nothing of it is stored"
)]
struct LostRaces;

/// A setting that a PUT changes.
pub trait Setting {
    /// What is stored.
    type Value;

    /// What can be read of an item that can't be read whole.
    type Remains;

    /// Returns its version.
    fn version(value: &Self::Value) -> Timestamp;

    /// Reads what is stored now.
    async fn read(&self) -> Result<Stored<Self::Value, Self::Remains>, ApiError>;

    /// Returns what it becomes: made new, changed one version on, or mended.
    async fn next(&self, old: &Stored<Self::Value, Self::Remains>) -> Result<Self::Value, ApiError>;

    /// Stores it, if the table still holds what is expected.
    async fn write(&self, new: &Self::Value, expected: Expected) -> Result<Replaced, ApiError>;
}

/// Changes a setting: 201 if it was made, 200 if it was there, and what is stored now.
///
/// A write that lost a race is decided anew on what is stored now: the preconditions are checked again (`If-Match` with a
/// version then fails), and the change is laid over it.
///
/// # Errors
///
/// `VersionConflict` (412) where a precondition fails, and only there; `StoreUnavailable` (503: nothing is stored,
/// repeating is safe) after [`ATTEMPTS`] lost races.
pub async fn replace<S: Setting>(
    setting: &S,
    preconditions: &Preconditions,
) -> Result<(StatusCode, S::Value), ApiError> {
    for _ in 0..ATTEMPTS {
        let old = setting.read().await?;
        preconditions.check(match &old {
            Stored::Absent => Present::Nothing,
            Stored::Readable(found) => Present::Version(S::version(&found.setting)),
            Stored::Unreadable(_) => Present::Unreadable,
        })?;
        let new = setting.next(&old).await?;
        if setting.write(&new, old.replaced_by(S::version)).await? == Replaced::Done {
            return Ok((if matches!(old, Stored::Absent) { StatusCode::CREATED } else { StatusCode::OK }, new));
        }
    }
    Err(ApiError::StoreUnavailable(LostRaces.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::{FromRequest as _, test::TestRequest};
    use std::cell::Cell;

    /// A counter that another writer changes just before each of our first `rivals` writes.
    struct Counter {
        stored: Cell<Option<i64>>,
        rivals: Cell<usize>,
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::EPOCH.plus_millis(millis)
    }

    impl Setting for Counter {
        type Value = i64;
        type Remains = ();

        fn version(value: &i64) -> Timestamp {
            at(*value)
        }

        async fn read(&self) -> Result<Stored<i64, ()>, ApiError> {
            Ok(self.stored.get().map_or(Stored::Absent, |stored| Stored::Readable(stored.into())))
        }

        async fn next(&self, old: &Stored<i64, ()>) -> Result<i64, ApiError> {
            Ok(old.readable().map_or(1, |old| old + 1))
        }

        async fn write(&self, new: &i64, expected: Expected) -> Result<Replaced, ApiError> {
            if let Some(fewer) = self.rivals.get().checked_sub(1) {
                self.rivals.set(fewer);
                self.stored.set(Some(self.stored.get().unwrap_or(0) + 10));
            }
            if self.read().await?.replaced_by(|millis| at(*millis)) != expected {
                return Ok(Replaced::LostRace);
            }
            self.stored.set(Some(*new));
            Ok(Replaced::Done)
        }
    }

    async fn put(stored: Option<i64>, rivals: usize, header: (&'static str, String)) -> Result<(u16, i64), ApiError> {
        let counter = Counter { stored: Cell::new(stored), rivals: Cell::new(rivals) };
        let req = TestRequest::put().insert_header(header).to_http_request();
        let preconditions = Preconditions::extract(&req).await?;
        replace(&counter, &preconditions).await.map(|(status, value)| (status.as_u16(), value))
    }

    fn none() -> (&'static str, String) {
        ("accept", "*/*".to_owned())
    }

    #[actix_web::test]
    async fn a_new_setting_is_created_and_an_old_one_changed() {
        assert_eq!(put(None, 0, none()).await.unwrap(), (201, 1));
        assert_eq!(put(Some(5), 0, none()).await.unwrap(), (200, 6));
    }

    #[actix_web::test]
    async fn a_lost_race_is_merged_again_but_not_for_ever() {
        assert_eq!(put(Some(5), 2, none()).await.unwrap(), (200, 26));
        assert_eq!(put(Some(5), ATTEMPTS - 1, none()).await.unwrap(), (200, 196));
        let refused = put(Some(5), ATTEMPTS, none()).await.unwrap_err();
        assert!(matches!(&refused, ApiError::StoreUnavailable(_)), "no precondition failed: {refused}");
        let header = ("if-match", "*".to_owned());
        assert_eq!(put(Some(5), 2, header).await.unwrap(), (200, 26), "any version will do");
    }

    #[actix_web::test]
    async fn a_lost_race_with_a_precondition_is_a_conflict() {
        let header = ("if-match", format!("\"{}\"", at(5)));
        assert!(matches!(put(Some(5), 1, header).await, Err(ApiError::VersionConflict)));
        let header = ("if-none-match", "*".to_owned());
        assert!(matches!(put(None, 1, header).await, Err(ApiError::VersionConflict)));
    }
}

//! Orders about the codes of a stamp: rotated, revoked. The organisers' API and the commands carry them out alike.

use crate::domain::{
    ids::{EventId, StampId},
    proof::{CodeGeneration, CodeOrder, CodeRefusal},
    stamp::StampMaster,
};

use super::{
    super::{Store, StoreError},
    Replaced, Stored,
};

/// How often an order is carried out anew on what others wrote meanwhile. In each round one of those who write at once
/// succeeds.
const ATTEMPTS: usize = 20;

/// The stamp was changed by others just before each of our writes.
#[derive(Debug, thiserror::Error)]
#[error("a stamp was changed by others just before each of {ATTEMPTS} writes of one order: nothing of it is stored")]
struct LostRaces;

impl Store {
    /// Carries an order about a stamp's codes out, and returns the generation that it made or revoked. The stamp's version
    /// grows; where another writer was faster, the order is carried out on what that one wrote.
    ///
    /// 1 `GetItem` and 1 conditional Put; a revocation that is there already is no Put. A stamp that can't be read whole is
    /// [`StoreError::Unreadable`]; after 20 lost races [`StoreError::Unavailable`] (nothing is stored).
    #[tracing::instrument(name = "store.order_codes", level = "debug", skip_all)]
    pub async fn order_codes(
        &self,
        event_id: &EventId,
        stamp_id: &StampId,
        order: &CodeOrder<'_>,
    ) -> Result<Result<CodeGeneration, CodeRefusal>, StoreError> {
        for _ in 0..ATTEMPTS {
            let old = self.stored_master(event_id, stamp_id).await?;
            let found = match &old {
                Stored::Absent => return Ok(Err(CodeRefusal::NoStamp)),
                Stored::Readable(found) => &found.setting,
                Stored::Unreadable(remains) => return Err(remains.unreadable.clone().into()),
            };
            let (new, generation) = match found.with_codes(order) {
                Ok(changed) => changed,
                Err(refusal) => return Ok(Err(refusal)),
            };
            if new.rules.codes == found.rules.codes {
                return Ok(Ok(generation));
            }
            let expected = old.replaced_by(|old: &StampMaster| old.updated_at);
            if self.put_master(&new, expected).await? == Replaced::Done {
                return Ok(Ok(generation));
            }
        }
        Err(StoreError::Unavailable(LostRaces.into()))
    }
}

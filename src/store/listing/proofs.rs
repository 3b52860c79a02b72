//! How those who hold a stamp proved it: the index that lists them doesn't say.

use std::collections::BTreeMap;

use crate::domain::{
    fact::UserStamp,
    ids::{EventId, LineUserId, StampId},
    proof::AcceptedProof,
};

use super::{
    super::{Store, StoreError, batch::AT_A_TIME, waiting::key},
    Holder,
};

/// The proofs of some of the participants who hold a stamp; who needed none has none.
pub type Proofs = BTreeMap<LineUserId, AcceptedProof>;

impl Store {
    /// Returns the proofs of those who hold a stamp: one consistent `BatchGetItem` for each 100 of them, and more for what
    /// DynamoDB left undone. A fact that can't be read is reported, and passed over.
    #[tracing::instrument(name = "store.proofs_of", level = "debug", skip_all)]
    pub async fn proofs_of(
        &self,
        event_id: &EventId,
        stamp_id: &StampId,
        holders: &[Holder],
    ) -> Result<Proofs, StoreError> {
        let mut proofs = Proofs::new();
        for some in holders.chunks(AT_A_TIME) {
            let keys = some.iter().map(|holder| key(event_id, stamp_id, &holder.line_user_id)).collect();
            let found = self.batch(keys, None).await?.into_iter();
            let facts = found.filter_map(|item| self.read::<UserStamp>(item).ok());
            proofs.extend(facts.filter_map(|fact| Some((fact.line_user_id, fact.proof?))));
        }
        Ok(proofs)
    }
}

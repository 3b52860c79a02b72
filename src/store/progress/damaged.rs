//! Progress that can't be read: each item harms what it is about, and nothing else.
//!
//! | item | what is done |
//! | --- | --- |
//! | `WORKER#…` | passed over: for a moment the others share the pushes without it |
//! | `BATCH#…`, `RUN#…` | what it is about may have been handed to LINE; where it can't be read how much that is, all of it |
//! | `SHARD#…` | the shard is begun anew, once its owner must have stopped |
//!
//! **Beginning a shard anew is safe.** An owner writes its item whole, so what is damaged in it is mended by its next
//! write, unless the damage is in what the write is conditional on (`owner`, `fence`); then the write is refused, and the
//! owner stops. So an item that stays as it is for as long as a lease takes to end has
//! no owner at work: the rule by which leases move. It is replaced on condition that it still is what was seen, by an
//! item without an owner and with a fence that no owner ever had; an owner that slept through all this finds neither its
//! name nor its fence there, and stops. What owners alone write (checkpoint, end, spans) is kept where it can be read.
//! Where it can't, the shard is read from the trim horizon, and everything up to now may have been handed to LINE. No
//! notice comes twice by that: it is marked on its fact, or pushed with the key that it was pushed with before, or given to
//! a person when LINE may have forgotten the key. Only the shard's counts count again what is read again;
//! `stats rebuild` corrects them.

use crate::domain::time::Timestamp;
use crate::store::{
    StoreError,
    guard::{Guarded, StillAs, guarded},
    ids::{ListedShard, ShardId},
    items::{self, Item},
    state::ShardState,
};

use super::Consumers;

/// Every attribute that an owner writes.
#[rustfmt::skip]
const WRITTEN: [&str; 12] = [
    "beat", "checkpoint", "doubtful", "entityType", "fence", "finished", "handedOutThrough", "owner", "parent",
    "shardId", "uncoveredFrom", "updatedAt",
];

/// A shard whose item can't be read.
#[derive(Debug, Clone, PartialEq)]
pub struct DamagedShard {
    /// The shard.
    pub shard: ShardId,
    /// The item as it was read.
    pub seen: Item,
}

impl DamagedShard {
    /// Returns the shard before it, if its item names one.
    #[must_use]
    pub fn parent(&self) -> Option<ShardId> {
        items::parent_of(&self.seen)
    }
}

impl Consumers {
    /// Begins a shard anew whose item can't be read, on condition that the item still is what was seen; what is known of
    /// it then. `None`: it has changed meanwhile.
    #[tracing::instrument(name = "store.progress.replace", level = "debug", skip_all)]
    pub async fn replace(
        &self,
        damaged: &DamagedShard,
        parent: Option<ShardId>,
        now: Timestamp,
    ) -> Result<Option<ShardState>, StoreError> {
        let shard = ListedShard { id: damaged.shard.clone(), parent };
        let (item, reached) = items::restarted(&self.partition, &shard, &damaged.seen, now);
        let put = self.store.client.put_item().table_name(&self.store.tables.consumers).set_item(Some(item));
        let StillAs { condition, names, values } = StillAs::seen(&damaged.seen, &WRITTEN);
        let put = put.condition_expression(condition).set_expression_attribute_names(Some(names));
        let written = guarded(put.set_expression_attribute_values(values).send().await)?;
        Ok(matches!(written, Guarded::Done).then_some(reached))
    }
}

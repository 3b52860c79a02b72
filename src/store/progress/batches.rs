//! Batches that a function was handed: what a worker's progress says of a shard, these items say where there is none.
//!
//! A function has no shard and no lease: whoever calls it keeps the checkpoint, and calls it again with the same batch
//! until it is finished. So an item stands only while a batch is worked on. One that stays tells that the function broke
//! off, and which facts may have been handed to LINE without a mark.

use crate::domain::time::Timestamp;
use crate::store::{StoreError, stream::SequenceNumber};

use super::{Consumers, FactSpan, items};

impl Consumers {
    /// Writes down which facts are about to be handed to LINE. `first` is the first notice's record: the same in every
    /// repetition of the batch.
    pub async fn hand_out(&self, first: &SequenceNumber, span: FactSpan, now: Timestamp) -> Result<(), StoreError> {
        let item = items::batch(&self.partition, first, span, now);
        let put = self.store.client.put_item().table_name(&self.store.tables.consumers).set_item(Some(item));
        put.send().await.map(|_| ()).map_err(StoreError::from)
    }

    /// Everything from `first` on is finished, or told under another record.
    pub async fn forget_batch(&self, first: &SequenceNumber) -> Result<(), StoreError> {
        let delete = self.store.client.delete_item().table_name(&self.store.tables.consumers);
        let delete = delete.set_key(Some(self.key(items::batch_key(first))));
        delete.send().await.map(|_| ()).map_err(StoreError::from)
    }
}

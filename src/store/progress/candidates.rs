//! Those that are there without a shard.

use crate::store::StoreError;

use super::{Consumers, WorkerId, items, number};

/// Somebody without a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Who.
    pub worker: WorkerId,
    /// What it is there for.
    pub errand: Errand,
    /// Grows while it lives.
    pub beat: u64,
}

/// What somebody without a shard is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errand {
    /// It pushes without a shard (`reconcile`), and needs a share of the pushes.
    Push,
    /// It waits for a lease.
    Wait,
}

impl Consumers {
    /// Shows the others a worker without a shard. An item of this name to which nothing can be added, because it was
    /// damaged, is replaced.
    pub async fn stand_by(&self, worker: &WorkerId, errand: Errand) -> Result<(), StoreError> {
        match self.add_beat(worker, errand).await {
            Err(StoreError::Broken(_)) => {
                self.forget_worker(worker).await?;
                self.add_beat(worker, errand).await
            }
            shown => shown,
        }
    }

    async fn add_beat(&self, worker: &WorkerId, errand: Errand) -> Result<(), StoreError> {
        let update = self.update(items::worker_key(worker)).expression_attribute_values(":one", number(1));
        let update = match errand {
            Errand::Push => update
                .update_expression("SET errand = :errand ADD beat :one")
                .expression_attribute_values(":errand", items::text("push")),
            Errand::Wait => update.update_expression("ADD beat :one"),
        };
        update.send().await.map(|_| ()).map_err(StoreError::from)
    }

    /// Takes away the sign of life of somebody that stopped, got a shard, or is dead.
    pub async fn forget_worker(&self, worker: &WorkerId) -> Result<(), StoreError> {
        let delete = self.store.client.delete_item().table_name(&self.store.tables.consumers);
        let delete = delete.set_key(Some(self.key(items::worker_key(worker))));
        delete.send().await.map(|_| ()).map_err(StoreError::from)
    }
}

//! Who reads a stream for a consumer, and how far: all of it, the items of its shards, and
//! workers that have no shard.

use aws_sdk_dynamodb::{operation::update_item::builders::UpdateItemFluentBuilder, types::AttributeValue};

use crate::domain::time::Timestamp;
use crate::store::{
    Store, StoreError,
    guard::{gone, guarded},
    ids::{ListedShard, ShardId, WorkerId},
    items::{self, Item, OnBoard, number, text},
    keys::{self, ProgressKey},
    paging,
    state::{Candidate, CandidateRole, ShardProgress},
};

use super::DamagedShard;

/// Everything known about who reads a stream, and how far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Board {
    /// The shards, by name.
    pub shards: Vec<ShardProgress>,
    /// Shards whose items can't be read: no worker takes them before they are begun anew.
    pub damaged: Vec<DamagedShard>,
    /// Workers without a shard.
    pub candidates: Vec<Candidate>,
    /// When a function that is handed the stream's records last noted that; `None`: none ever did.
    pub function: Option<Timestamp>,
}

/// The progress of one consumer of one stream.
#[derive(Debug, Clone)]
pub struct Consumers {
    pub(super) store: Store,
    pub(super) partition: String,
}

impl Store {
    /// Returns the progress of the consumer `name` (two consumers of one stream must not share a name) on a stream.
    #[must_use]
    pub fn consumers(&self, name: &str, stream_arn: &str) -> Consumers {
        Consumers { store: self.clone(), partition: keys::reading_partition(name, stream_arn) }
    }
}

impl Consumers {
    /// Returns whether both are of the same consumer and stream.
    #[must_use]
    pub fn is_of_the_same_stream(&self, other: &Self) -> bool {
        self.partition == other.partition
    }

    /// Reads everything, consistent: one Query (a page per 1 MB, which is thousands of shards). What can't be read is
    /// reported.
    #[tracing::instrument(name = "store.progress.board", level = "debug", skip_all)]
    pub async fn board(&self) -> Result<Board, StoreError> {
        let query = self.store.partition(&self.store.tables.consumers, &self.partition);
        let mut board = Board::default();
        for item in paging::all(|after| query.clone().set_exclusive_start_key(after).send()).await? {
            self.read_into(&mut board, item);
        }
        Ok(board)
    }

    fn read_into(&self, board: &mut Board, item: Item) {
        match items::on_board(&item) {
            Ok(OnBoard::Candidate(candidate)) => board.candidates.push(candidate),
            Ok(OnBoard::Function(noted_at)) => board.function = board.function.max(Some(noted_at)),
            Ok(OnBoard::Other) => {}
            Ok(OnBoard::Shard(shard)) => board.shards.push(shard),
            Err(unreadable) => {
                self.store.report(&unreadable);
                let shard = keys::shard_of(items::Fields::of(&item).sk());
                board.damaged.extend(shard.map(|shard| DamagedShard { shard, seen: item }));
            }
        }
    }

    /// Makes the item of a shard that was found; one that is there stays as it is. Parents first: a worker that sees a
    /// child that names a parent relies on the parent's item.
    #[tracing::instrument(name = "store.progress.register", level = "debug", skip_all)]
    pub async fn register(&self, shard: &ListedShard, now: Timestamp) -> Result<(), StoreError> {
        let item = items::new_shard(&self.partition, shard, now);
        let put = self.store.client.put_item().table_name(&self.store.tables.consumers).set_item(Some(item));
        guarded(put.condition_expression("attribute_not_exists(PK)").send().await).map(drop)
    }

    /// Deletes the item of a shard that is finished and that the stream has forgotten.
    #[tracing::instrument(name = "store.progress.forget_shard", level = "debug", skip_all)]
    pub async fn forget_shard(&self, shard: &ShardId) -> Result<(), StoreError> {
        let delete = self.store.client.delete_item().table_name(&self.store.tables.consumers);
        let delete = delete.set_key(Some(self.shard_key(shard))).condition_expression("finished = :yes");
        // It is not finished after all, or gone already.
        gone(delete.expression_attribute_values(":yes", AttributeValue::Bool(true)).send().await)
    }

    /// Shows the others a worker without a shard. An item of this name to which nothing can be added, because it was
    /// damaged, is replaced.
    #[tracing::instrument(name = "store.progress.announce", level = "debug", skip_all)]
    pub async fn announce(&self, worker: &WorkerId, role: CandidateRole) -> Result<(), StoreError> {
        match self.add_heartbeat(worker, role).await {
            Err(StoreError::Broken(_)) => {
                self.forget_worker(worker).await?;
                self.add_heartbeat(worker, role).await
            }
            shown => shown,
        }
    }

    async fn add_heartbeat(&self, worker: &WorkerId, role: CandidateRole) -> Result<(), StoreError> {
        let update = self.update(self.worker_key(worker)).expression_attribute_values(":one", number(1));
        let update = match role {
            // `errand` is the stored name of the candidate's role.
            CandidateRole::Pusher => update
                .update_expression("SET errand = :errand ADD beat :one")
                .expression_attribute_values(":errand", text("push")),
            CandidateRole::Waiter => update.update_expression("ADD beat :one"),
        };
        Ok(update.send().await.map(drop)?)
    }

    /// Deletes the sign of life of a worker that stopped, got a shard, or is dead.
    #[tracing::instrument(name = "store.progress.forget_worker", level = "debug", skip_all)]
    pub async fn forget_worker(&self, worker: &WorkerId) -> Result<(), StoreError> {
        self.store.delete_progress(self.worker_key(worker)).await
    }

    fn worker_key(&self, worker: &WorkerId) -> Item {
        items::progress_key(ProgressKey::Worker { partition: &self.partition, worker })
    }

    pub(super) fn shard_key(&self, shard: &ShardId) -> Item {
        items::progress_key(ProgressKey::Shard { partition: &self.partition, shard })
    }

    pub(super) fn update(&self, key: Item) -> UpdateItemFluentBuilder {
        self.store.client.update_item().table_name(&self.store.tables.consumers).set_key(Some(key))
    }
}

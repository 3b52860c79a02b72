//! The tasks of a running worker: one a shard, ended by the worker that started them.

use std::collections::{BTreeSet, HashMap};

use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::delivery::shard::{self, Context, End, Goal, Shard};
use crate::store::stream::ShardId;

/// The tasks of a running worker.
#[derive(Default)]
pub(super) struct Tasks {
    pub shards: JoinSet<End>,
    /// How to stop each of them.
    pub stops: HashMap<ShardId, CancellationToken>,
    ids: HashMap<Id, ShardId>,
}

impl Tasks {
    pub fn held(&self) -> BTreeSet<ShardId> {
        self.stops.keys().cloned().collect()
    }

    pub fn start(&mut self, mut shard: Shard, context: &Context, shutdown: &CancellationToken) {
        let (id, stop, context) = (shard.id().clone(), shutdown.child_token(), context.clone());
        tracing::info!(shard = %id, "reading a shard");
        self.stops.insert(id.clone(), stop.clone());
        let task = self.shards.spawn(async move { shard.run(&context, Goal::Forever, &stop).await });
        self.ids.insert(task.id(), id);
    }

    /// Takes note of a shard's end; its name if it was read to its end.
    pub fn ended(&mut self, ended: Result<(Id, End), JoinError>) -> Option<ShardId> {
        let (task, end) = match ended {
            Ok((task, end)) => (task, end),
            Err(error) => {
                let task = error.id();
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "reading a shard broke off: it is begun anew"
                );
                (task, End::Lost)
            }
        };
        let shard = self.ids.remove(&task)?;
        self.stops.remove(&shard);
        tracing::info!(shard = %shard, end = ?end, "stopped reading a shard");
        shard::tell_over(&shard);
        Some(shard).filter(|_| end == End::Finished)
    }

    /// Lets each finish what runs, write its progress and hand its shard over.
    pub async fn end(&mut self) {
        self.stops.values().for_each(CancellationToken::cancel);
        while let Some(ended) = self.shards.join_next_with_id().await {
            self.ended(ended);
        }
    }
}

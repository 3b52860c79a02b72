//! One look at the board, and what follows from it.

use std::collections::BTreeSet;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::domain::causes::Causes;
use crate::store::{
    StoreError,
    progress::{Board, CandidateRole, Lease, ShardProgress, ShardState},
    stream::ShardId,
};

use super::{at_work::AtWork, discover::Listed, readers::Readers};
use crate::consumer::{
    lease::{Lead, Plan},
    shard::{Shard, Taken},
    stream_state::StreamState,
};

impl AtWork {
    /// Looks at the board, takes and hands over shards, and shows effects and other workers its place. Returns who leads.
    pub async fn round(&mut self, readers: &mut Readers, shutdown: &CancellationToken) -> Result<Lead, StoreError> {
        let began = Instant::now();
        self.settled = None;
        let mut plan = self.look(&readers.owned()).await?;
        let mut changes = plan.take.len() + self.replace_all(&mut plan).await?;
        changes += plan.release.iter().filter(|shard| readers.stop(shard)).count();
        for item in std::mem::take(&mut plan.take) {
            if let Some(shard) = self.take(&item).await? {
                readers.start(shard, shutdown);
            }
        }
        let owned = readers.owned();
        if self.owned == 0 && !owned.is_empty() {
            // Two that begin at once must see each other before their effects begin.
            plan = self.look(&owned).await?;
        }
        let place = plan.place(self.owned, owned.len(), self.context.times);
        self.context.effects.iter().for_each(|effect| effect.placed(&place));
        for effect in self.context.effects.iter() {
            effect.rest().await;
        }
        self.owned = owned.len();
        self.show_life().await?;
        for worker in &plan.dead {
            self.context.consumers.forget_worker(worker).await?;
        }
        self.settled = Some(began).filter(|_| changes == 0);
        Ok(plan.lead)
    }

    async fn look(&mut self, mine: &BTreeSet<ShardId>) -> Result<Plan, StoreError> {
        self.board = self.context.consumers.board().await?;
        let now = self.context.clock.uptime();
        self.leases.observe(&self.board, now);
        Ok(self.leases.plan(&self.board, mine, self.most_workers, now))
    }

    async fn take(&self, item: &ShardProgress) -> Result<Option<Shard>, StoreError> {
        let (asked, now) = (self.context.clock.uptime(), self.context.clock.now());
        let taken = self.context.consumers.take(item, &self.me, now).await?;
        Ok(taken.map(|found| {
            let ShardProgress { shard, parent, fencing_token, reached, .. } = found;
            let lease = Lease { shard, parent, owner: self.me.clone(), fencing_token };
            Shard::begin(Taken { lease, reached, asked }, &self.context, self.catch_up.reading.part())
        }))
    }

    /// Begins shards anew whose progress can't be read; how many. They are taken in a later round, as any other.
    async fn replace_all(&self, plan: &mut Plan) -> Result<usize, StoreError> {
        let mut replaced = 0;
        for damaged in std::mem::take(&mut plan.replace) {
            let parent = match self.discoverer.find(&damaged.shard).await {
                Ok(Listed::WithParent(parent)) => parent,
                Ok(Listed::AsParentAlone) => damaged.parent(),
                // Nothing waits for a shard that the stream doesn't know: its item stays, and `table check` lists it.
                Ok(Listed::Not) => continue,
                Err(error) => {
                    tracing::warn!(shard.id = %damaged.shard, error = %Causes(&error), "a shard is begun anew later: the shards can't be listed");
                    continue;
                }
            };
            let begun = self.context.consumers.replace(&damaged, parent, self.context.clock.now()).await?;
            replaced += usize::from(begun.is_some());
            if let Some(reached) = &begun {
                report_begun_anew(&damaged.shard, reached);
            }
        }
        Ok(replaced)
    }

    /// Shows the others a worker without a shard; one that has a shard is seen by that.
    async fn show_life(&mut self) -> Result<(), StoreError> {
        let without_shard = self.owned == 0;
        if without_shard {
            self.context.consumers.announce(&self.me, CandidateRole::Waiter).await?;
        } else if self.is_candidate {
            self.context.consumers.forget_worker(&self.me).await?;
        }
        self.is_candidate = without_shard;
        Ok(())
    }

    /// Returns whether nothing of this stream is left to read, as far as is known.
    pub fn is_over(&self, readers: &Readers) -> bool {
        let Board { shards, damaged, .. } = &self.board;
        readers.owned().is_empty()
            && damaged.is_empty()
            && !shards.is_empty()
            && shards.iter().all(|item| item.reached.finished)
    }

    /// Looks which stream the table has now. One that was turned off and on again is another one; the old one is read to
    /// its end first. A table that can't be described now has what it had.
    pub async fn look_at_the_stream(&self) -> StreamState {
        let watch = &self.context.watch;
        match self.store.stream_arn().await {
            Ok(Some(arn)) if arn == self.context.reader.arn() => watch.set(StreamState::Present),
            Ok(Some(_)) => watch.set(StreamState::Replaced),
            Ok(None) => watch.set(StreamState::Missing),
            Err(error) => {
                tracing::warn!(error = %Causes(&error), "the table's stream can't be looked up now");
            }
        }
        watch.state()
    }
}

fn report_begun_anew(shard: &ShardId, reached: &ShardState) {
    let Some(checkpoint) = &reached.checkpoint else {
        return tracing::error!(
            shard.id = %shard,
            "the shard's progress could not be read, and is begun anew at the trim horizon: what was counted counts again, \
             `stamp-rally stats rebuild EVENT` corrects it"
        );
    };
    tracing::error!(
        shard.id = %shard,
        sequence = checkpoint.as_str(),
        "the shard's progress could not be read, and is begun anew at its checkpoint"
    );
}

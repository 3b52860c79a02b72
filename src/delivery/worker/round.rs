//! One look at the board, and what follows from it.

use std::{collections::BTreeSet, time::Duration};

use futures_util::future;
use tokio_util::sync::CancellationToken;

use crate::store::{
    Store, StoreError,
    progress::{Board, Errand, Lease, Reached, ShardProgress},
    stream::ShardId,
};

use super::{AtWork, StreamState, Tasks, discover::Listed};
use crate::delivery::{
    Tally,
    lease::Plan,
    shard::{End, Goal, Shard},
};

/// The second that the limit of pushes speaks of: others may have used it up.
const SECOND: Duration = Duration::from_secs(1);

impl AtWork {
    /// Looks at the board, takes and hands over shards, and keeps its share of the pushes right.
    pub(super) async fn round(&mut self, tasks: &mut Tasks, shutdown: &CancellationToken) -> Result<Plan, StoreError> {
        let mut plan = self.look(&tasks.held()).await?;
        self.replace_all(&mut plan).await?;
        for shard in &plan.release {
            if let Some(stop) = tasks.stops.get(shard) {
                stop.cancel();
            }
        }
        for item in std::mem::take(&mut plan.take) {
            if let Some(shard) = self.take(&item).await? {
                tasks.start(shard, &self.context, shutdown);
            }
        }
        let held = tasks.held();
        if !self.holds && !held.is_empty() {
            // Two that begin at once must see each other before they push.
            plan = self.look(&held).await?;
        }
        self.keep_share(&plan, !held.is_empty());
        self.show_life(held.is_empty()).await?;
        for worker in &plan.dead {
            self.context.consumers.forget_worker(worker).await?;
        }
        Ok(plan)
    }

    /// One round of a worker that is driven by hand; true if it did something, so that there may be more.
    pub(super) async fn one_time(&mut self, tally: &mut Tally) -> Result<bool, StoreError> {
        let held: BTreeSet<ShardId> = self.shards.keys().cloned().collect();
        self.look(&held).await?;
        self.discoverer.whole_pass(&self.board).await?;
        let mut plan = self.look(&held).await?;
        let took = plan.take.len() + self.replace_all(&mut plan).await?;
        for item in &plan.take {
            if let Some(shard) = self.take(item).await? {
                self.shards.insert(shard.id().clone(), shard);
            }
        }
        self.hand_over(&plan.release).await;
        let held: BTreeSet<ShardId> = self.shards.keys().cloned().collect();
        let plan = self.look(&held).await?;
        let rate = self.context.delivery.settings().pushes_per_second;
        self.context.delivery.set_share(plan.share_of(rate), Duration::ZERO);
        self.show_life(held.is_empty()).await?;
        let before = tally.total();
        let finished = self.read_all(tally).await;
        if plan.lead.leads() {
            tally.add(&self.context.delivery.drain(&CancellationToken::new()).await?);
        }
        Ok(took > 0 || finished || tally.total() > before)
    }

    /// Reads every shard until it has nothing more; true if one of them has ended.
    async fn read_all(&mut self, tally: &mut Tally) -> bool {
        let (context, never) = (self.context.clone(), CancellationToken::new());
        let runs = self.shards.values_mut().map(|shard| async {
            let end = shard.run(&context, Goal::Idle, &never).await;
            (shard.id().clone(), shard.take_tally(), end)
        });
        let mut finished = false;
        for (shard, handled, end) in future::join_all(runs).await {
            tally.add(&handled);
            if end != End::Idle {
                self.shards.remove(&shard);
            }
            finished |= end == End::Finished;
        }
        finished
    }

    async fn hand_over(&mut self, shards: &[ShardId]) {
        let stop = CancellationToken::new();
        stop.cancel();
        for id in shards {
            if let Some(mut shard) = self.shards.remove(id) {
                shard.run(&self.context, Goal::Forever, &stop).await;
            }
        }
    }

    async fn look(&mut self, held: &BTreeSet<ShardId>) -> Result<Plan, StoreError> {
        self.board = self.context.consumers.board().await?;
        let now = self.context.clock.uptime();
        self.leases.observe(&self.board, now);
        let most = self.context.delivery.settings().pushes_per_second as usize;
        Ok(self.leases.plan(&self.board, held, most, now))
    }

    async fn take(&self, item: &ShardProgress) -> Result<Option<Shard>, StoreError> {
        let (asked, now) = (self.context.clock.uptime(), self.context.clock.now());
        let taken = self.context.consumers.take(item, &self.me, now).await?;
        Ok(taken.map(|found| {
            let (shard, parent) = (found.shard.clone(), found.parent.clone());
            let lease = Lease { shard, parent, owner: self.me.clone(), fence: found.fence };
            Shard::begin(lease, found, asked, &self.context)
        }))
    }

    /// Begins shards anew whose progress can't be read; how many. They are taken in a later round, as any other.
    async fn replace_all(&self, plan: &mut Plan) -> Result<usize, StoreError> {
        let mut replaced = 0;
        for damaged in std::mem::take(&mut plan.replace) {
            let parent = match self.discoverer.listed(&damaged.shard).await {
                Ok(Listed::WithParent(parent)) => parent,
                Ok(Listed::AsParentAlone) => damaged.parent(),
                // Nothing waits for a shard that the stream doesn't know: its item stays, and `table check` lists it.
                Ok(Listed::Not) => continue,
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(shard = %damaged.shard, error, "a shard is begun anew later: the shards can't be listed");
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

    /// A worker that comes to others waits until all of them have seen it.
    fn keep_share(&mut self, plan: &Plan, holds: bool) {
        let comes = holds && !self.holds && plan.place.1 > 1;
        let after = if comes { self.context.times.round + SECOND } else { SECOND };
        let rate = self.context.delivery.settings().pushes_per_second;
        self.context.delivery.set_share(plan.share_of(rate), after);
        if self.holds && !holds {
            self.context.delivery.parts.channels.forget();
        }
        self.holds = holds;
    }

    /// A worker without a shard shows that it is there; one that has a shard is seen by that.
    async fn show_life(&mut self, without_shard: bool) -> Result<(), StoreError> {
        if without_shard {
            self.context.consumers.stand_by(&self.me, Errand::Wait).await?;
        } else if self.stands_by {
            self.context.consumers.forget_worker(&self.me).await?;
        }
        self.stands_by = without_shard;
        Ok(())
    }

    /// Whether nothing of this stream is left to read, as far as is known.
    pub(super) fn is_over(&self, tasks: &Tasks) -> bool {
        let Board { shards, damaged, .. } = &self.board;
        tasks.stops.is_empty()
            && damaged.is_empty()
            && !shards.is_empty()
            && shards.iter().all(|item| item.reached.finished)
    }

    /// Looks which stream the table has now. One that was turned off and on again is another one; the old one is read to
    /// its end first. A table that can't be described now has what it had.
    pub(super) async fn look_at_the_stream(&self, store: &Store) -> StreamState {
        let watch = &self.context.watch;
        match store.stream_arn().await {
            Ok(Some(arn)) if arn == self.context.reader.arn() => watch.set(StreamState::Present),
            Ok(Some(_)) => watch.set(StreamState::Replaced),
            Ok(None) => watch.set(StreamState::Missing),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "the table's stream can't be looked up now");
            }
        }
        watch.state()
    }
}

fn report_begun_anew(shard: &ShardId, reached: &Reached) {
    let Some(checkpoint) = &reached.checkpoint else {
        return tracing::error!(
            shard = %shard,
            "the shard's progress could not be read, and is begun anew at the trim horizon: what was counted counts again, \
             `stamp-rally stats rebuild EVENT` corrects it"
        );
    };
    tracing::error!(
        shard = %shard,
        sequence = checkpoint.as_str(),
        "the shard's progress could not be read, and is begun anew at its checkpoint"
    );
}

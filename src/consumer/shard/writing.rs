//! Writing how far a shard was read: one write renews the lease, moves the checkpoint and covers what comes next.

use std::{sync::Arc, time::Duration};

use aws_sdk_dynamodb::types::TransactWriteItem;
use futures_util::future::BoxFuture;
use tokio::time::Instant;

use crate::domain::causes::Causes;
use crate::store::{
    StoreError,
    progress::{AfterWrite, Save, Saved, ShardState},
    stream::SequenceNumber,
};

use super::{
    Context, End, Shard,
    written::{Due, Writing},
};
use crate::consumer::effect::CheckpointWrites;

/// A transaction has 100 actions, and one of them writes the checkpoint.
const ROOM: usize = 99;

impl Shard {
    /// Returns whether there is something that should be written soon.
    fn has_news(&self) -> bool {
        let ends = self.ended && self.jobs.window.is_empty() && !self.reached.finished;
        ends || self.jobs.lanes.is_waiting() || !self.written.reached_all(&self.jobs.window)
    }

    /// Returns when progress is to be written.
    pub(super) fn writes_at(&self, context: &Context) -> Instant {
        let due = match (self.has_news(), self.part.is_due()) {
            (true, true) => Due::AtOnce,
            (true, false) => Due::Soon,
            (false, _) => Due::ForRenewal,
        };
        self.written.due_at(due, context.times.round)
    }

    /// Writes progress as it is now.
    pub(super) fn write(&mut self, context: &Context, after: AfterWrite) -> BoxFuture<'static, Writing> {
        let checkpoint = self.jobs.window.checkpoint().cloned().map(|checkpoint| self.limited(checkpoint));
        let finished =
            self.ended && self.jobs.window.is_empty() && checkpoint.as_ref() == self.jobs.window.checkpoint();
        let wanted = if finished { AfterWrite::Release } else { after };
        let span = match wanted {
            AfterWrite::Keep => Some(self.coverage.next(self.jobs.window.unfinished(), context.clock.now())),
            AfterWrite::Release => None,
        };
        let reached = ShardState {
            checkpoint: checkpoint.or_else(|| self.written.checkpoint.clone()),
            finished,
            handed_out: span.or_else(|| self.coverage.at_rest(self.jobs.lanes.maybe_handed_out())),
            maybe_sent: self.reached.maybe_sent.clone(),
        };
        self.written.at = Some(Instant::now());
        self.report_lag(context);
        let (context, lease, effects) = (context.clone(), self.lease.clone(), self.writes.clone());
        Box::pin(async move {
            let began = context.clock.uptime();
            let result = async {
                let added = added(&effects, reached.checkpoint.as_ref()).await?;
                let save = Save { lease: &lease, reached: &reached, after: wanted, now: context.clock.now() };
                context.consumers.save(&save, &added).await
            };
            let result = result.await;
            Writing { reached, span, after, began, result }
        })
    }

    /// Returns how far one write can move the checkpoint: as far as each effect has room for what it adds.
    fn limited(&self, checkpoint: SequenceNumber) -> SequenceNumber {
        let room = ROOM / self.writes.len().max(1);
        self.writes.iter().fold(checkpoint, |checkpoint, effect| effect.limit(checkpoint, room))
    }

    /// Draws the conclusions of a write; the end, if it is one.
    pub(super) fn wrote(&mut self, context: &Context, writing: Writing) -> Option<End> {
        let Writing { reached, span, after, began, result } = writing;
        let failed_before = std::mem::replace(&mut self.written.failed, result.is_err());
        match result {
            Ok(Saved::Done) => {
                if let Some(checkpoint) = &reached.checkpoint {
                    self.writes.iter().for_each(|effect| effect.written(checkpoint));
                }
                self.status.extend(began + context.times.silence);
                self.written.checkpoint.clone_from(&reached.checkpoint);
                self.reached = ShardState { maybe_sent: std::mem::take(&mut self.reached.maybe_sent), ..reached };
                if let Some(span) = span {
                    self.coverage.stored(span);
                }
                self.jobs.lanes.covered();
                match (self.reached.finished, after) {
                    (true, _) => Some(End::Finished),
                    (false, AfterWrite::Release) => Some(End::Released),
                    (false, AfterWrite::Keep) => None,
                }
            }
            Ok(Saved::LeaseLost) => {
                tracing::warn!(shard.id = %self.id(), "the shard's lease is lost: this worker's jobs of the shard are dropped");
                Some(End::Lost)
            }
            Err(error) => {
                tracing::warn!(shard.id = %self.id(), error = %Causes(&error), "the shard's progress could not be written");
                // A worker that stops tries once more, and doesn't wait for a store that can't answer: the lease ends by
                // itself.
                let gives_up = after == AfterWrite::Release && failed_before;
                let over = gives_up || !self.status.is_valid(context.clock.uptime());
                over.then_some(End::Lost)
            }
        }
    }

    fn report_lag(&self, context: &Context) {
        let now = context.clock.now();
        let unfinished = self.jobs.window.oldest().map_or(Duration::ZERO, |at| now.since(at));
        // What can't be read may be as old as the last page is.
        let lag = unfinished.max(self.reading.failing_for(now));
        let shard = self.id().to_string();
        metrics::gauge!("stamp_rally_shard_lag_seconds", "shard" => shard.clone()).set(lag.as_secs_f64());
        metrics::gauge!("stamp_rally_shard_unfinished", "shard" => shard.clone())
            .set(u32::try_from(self.jobs.window.len()).unwrap_or(u32::MAX));
        if !self.written.reached_all(&self.jobs.window) {
            metrics::gauge!("stamp_rally_shard_progress_timestamp_seconds", "shard" => shard).set(now.as_seconds());
        }
    }
}

/// Returns what the effects add to the write of a checkpoint.
async fn added(
    effects: &[Arc<dyn CheckpointWrites>],
    checkpoint: Option<&SequenceNumber>,
) -> Result<Vec<TransactWriteItem>, StoreError> {
    let mut added = Vec::new();
    if let Some(checkpoint) = checkpoint {
        for effect in effects {
            added.extend(effect.writes(checkpoint).await?);
        }
    }
    Ok(added)
}

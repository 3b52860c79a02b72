//! What is held, and what functions left behind, in limited time: for AWS Lambda, where a schedule asks for it.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::consumer::{CONSUMER, limits::Limits};
use crate::domain::{
    causes::Causes,
    ids::{EventId, LineUserId},
    notice::NoticeStatus,
};
use crate::store::{
    StoreError,
    progress::{FactSpan, NotedBatch},
};

use super::{Delivery, Tally, lock::locked};

/// A process looks for notes that other processes left this often: it reads the whole table of progress for it.
const EVERY: Duration = Duration::from_mins(10);

/// How a drain in limited time ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrainEnd {
    /// Everything that is held was attempted, as far as its channel admits pushes.
    All,
    /// There may be more.
    OutOfTime,
}

/// What a drain in limited time came to.
#[derive(Debug)]
pub struct Drained {
    /// What became of those that were finished, however it ended.
    pub tally: Tally,
    /// How it ended.
    pub end: Result<DrainEnd, StoreError>,
}

impl Delivery {
    /// Attempts what is held (see [`Delivery::drain`]) until the time is over that `began` then. Before that it deletes the
    /// notes of batches that were finished by processes which have ended.
    pub async fn drain_within(&self, began: Instant, limits: Limits) -> Drained {
        let tally = Mutex::default();
        self.forget_finished_batches(began + limits.hurry).await;
        let end = self.drain_until(began, limits, &tally).await;
        Drained { tally: tally.into_inner().unwrap_or_else(PoisonError::into_inner), end }
    }

    async fn drain_until(&self, began: Instant, limits: Limits, tally: &Mutex<Tally>) -> Result<DrainEnd, StoreError> {
        let stop = CancellationToken::new();
        let drained = self.drain_into(tally, &stop);
        tokio::pin!(drained);
        tokio::select! {
            drained = &mut drained => return drained.map(|()| DrainEnd::All),
            () = sleep_until(began + limits.last_attempt) => stop.cancel(),
        }
        tokio::select! {
            drained = drained => drained.map(|()| DrainEnd::OutOfTime),
            () = sleep_until(began + limits.end) => Ok(DrainEnd::OutOfTime),
        }
    }

    /// Deletes the notes of finished batches now and then: those of any process. What can't be done now, or in time, is
    /// done the next time.
    async fn forget_finished_batches(&self, until: Instant) {
        let looked_at = &self.parts.notes_looked_at;
        if locked(looked_at).is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        match timeout_at(until, self.forget_batches_of_any_process()).await {
            Ok(Ok(())) => *locked(looked_at) = Some(Instant::now()),
            Ok(Err(error)) => {
                tracing::warn!(error = %Causes(&error), "notes of finished batches can't be deleted now");
            }
            Err(_) => tracing::warn!("notes of finished batches can't be deleted in time"),
        }
    }

    async fn forget_batches_of_any_process(&self) -> Result<(), StoreError> {
        for noted in self.parts.store.noted_batches(CONSUMER).await? {
            if self.is_finished(&noted).await? {
                self.parts.store.forget_noted_batch(&noted).await?;
            }
        }
        Ok(())
    }

    /// Returns whether none of its notices waits any more: whatever was sent is marked. One Query a participant, until one of
    /// them has a notice that waits.
    async fn is_finished(&self, noted: &NotedBatch) -> Result<bool, StoreError> {
        for (event_id, facts) in &noted.facts {
            for participant in &facts.participants {
                if self.may_wait(event_id, participant, facts.span).await? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Returns whether a notice of a fact of this time waits, or may do so because a fact can't be read.
    async fn may_wait(&self, event_id: &EventId, participant: &LineUserId, span: FactSpan) -> Result<bool, StoreError> {
        let facts = self.parts.store.facts(event_id, participant).await?;
        let waits = |status: &NoticeStatus| matches!(status, NoticeStatus::Pending { .. });
        let mut of_batch = facts.in_order().into_iter().filter(|fact| span.contains(fact.at()));
        let one_waits = of_batch.any(|fact| fact.notice().is_some_and(|(_, status)| waits(status)));
        Ok(one_waits || !facts.unreadable.is_empty())
    }
}

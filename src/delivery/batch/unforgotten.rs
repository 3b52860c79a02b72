//! Notes of finished batches that could not be deleted. The next batch or drain of this process deletes those that it
//! remembers; a drain of any process deletes those whose process has ended.

use std::{sync::Mutex, time::Duration};

use tokio::time::{Instant, timeout_at};

use crate::delivery::{Delivery, channel::locked, worker::CONSUMER};
use crate::domain::{
    ids::{EventId, LineUserId},
    notice::NoticeStatus,
};
use crate::store::{
    StoreError,
    progress::{BatchNote, Consumers, FactSpan, NotedBatch},
    stream::SequenceNumber,
};

/// A process looks for notes that other processes left this often: it reads the whole table of progress for it.
const EVERY: Duration = Duration::from_mins(10);

/// A note that should be deleted.
#[derive(Debug, Clone)]
pub(super) struct Unforgotten {
    /// Where it is.
    pub consumers: Consumers,
    /// Which.
    pub note: BatchNote,
    /// The batch wasn't finished, and the note is the only one of what is left until the batch that begins with this
    /// record is written down.
    pub until: Option<SequenceNumber>,
}

/// All such notes of this process, and when it last looked for those of others.
#[derive(Debug, Default)]
pub(in crate::delivery) struct AllUnforgotten {
    ours: Mutex<Vec<Unforgotten>>,
    looked: Mutex<Option<Instant>>,
}

impl AllUnforgotten {
    pub(super) fn add(&self, note: Unforgotten) {
        locked(&self.ours).push(note);
    }

    /// The batch that begins with this record is written down (anew): its older note is gone, and what waited for it
    /// waits no more.
    pub(super) fn written(&self, consumers: &Consumers, note: &BatchNote) {
        let mut all = locked(&self.ours);
        all.retain(|old| !(old.consumers.is_of_the_same_stream(consumers) && old.note.first == note.first));
        let same = |old: &&mut Unforgotten| old.consumers.is_of_the_same_stream(consumers);
        for old in all.iter_mut().filter(same).filter(|old| old.until.as_ref() == Some(&note.first)) {
            old.until = None;
        }
    }

    /// Deletes those that can be, for as long as there is time; the others are kept.
    pub(in crate::delivery) async fn forget(&self, until: Instant) {
        let due: Vec<Unforgotten> = {
            let mut all = locked(&self.ours);
            let (due, rest) = std::mem::take(&mut *all).into_iter().partition(|old| old.until.is_none());
            *all = rest;
            due
        };
        for old in due {
            if !matches!(timeout_at(until, old.consumers.forget_batch(&old.note)).await, Ok(Ok(()))) {
                self.add(old);
            }
        }
    }
}

impl Delivery {
    /// Deletes the notes of finished batches: those that this process remembers, and now and then those of any process.
    /// What can't be done now, or in time, is done the next time.
    pub(in crate::delivery) async fn forget_finished_batches(&self, until: Instant) {
        let unforgotten = &self.parts.unforgotten;
        unforgotten.forget(until).await;
        if locked(&unforgotten.looked).is_some_and(|looked| looked.elapsed() < EVERY) {
            return;
        }
        match timeout_at(until, self.forget_batches_of_any_process()).await {
            Ok(Ok(())) => *locked(&unforgotten.looked) = Some(Instant::now()),
            Ok(Err(error)) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "notes of finished batches can't be deleted now");
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

    /// Whether none of its notices waits any more: whatever was sent is marked. One Query a participant, until one of
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

    /// Whether a notice of a fact of this time waits, or may do so because a fact can't be read.
    async fn may_wait(&self, event_id: &EventId, participant: &LineUserId, span: FactSpan) -> Result<bool, StoreError> {
        let facts = self.parts.store.facts(event_id, participant).await?;
        let waits = |status: &NoticeStatus| matches!(status, NoticeStatus::Waiting { .. });
        let mut of_batch = facts.in_order().into_iter().filter(|fact| span.contains(fact.at()));
        let one_waits = of_batch.any(|fact| fact.notice().is_some_and(|(_, status)| waits(status)));
        Ok(one_waits || !facts.unreadable.is_empty())
    }
}

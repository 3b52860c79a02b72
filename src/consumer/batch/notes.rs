//! Notes of finished batches that could not be deleted: the next batch of this process deletes them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::time::{Instant, timeout_at};

use crate::store::{
    progress::{BatchNote, Consumers},
    stream::SequenceNumber,
};

/// A note that should be deleted.
#[derive(Debug, Clone)]
pub(super) struct LeftNote {
    /// Where it is.
    pub consumers: Consumers,
    /// Which.
    pub note: BatchNote,
    /// The batch wasn't finished, and the note is the only one of what is left until the batch that begins with this
    /// record is written down.
    pub until: Option<SequenceNumber>,
}

/// All such notes of this process.
#[derive(Debug, Default)]
pub(super) struct LeftNotes(Mutex<Vec<LeftNote>>);

impl LeftNotes {
    /// Adds one.
    pub fn add(&self, note: LeftNote) {
        self.all().push(note);
    }

    /// Notes that the batch that begins with this record is written down (anew): its older note is gone, and what waited
    /// for it waits no more.
    pub fn written(&self, consumers: &Consumers, note: &BatchNote) {
        let mut all = self.all();
        all.retain(|old| !(old.consumers.is_of_the_same_stream(consumers) && old.note.first == note.first));
        let same = |old: &&mut LeftNote| old.consumers.is_of_the_same_stream(consumers);
        for old in all.iter_mut().filter(same).filter(|old| old.until.as_ref() == Some(&note.first)) {
            old.until = None;
        }
    }

    /// Deletes those that can be, for as long as there is time; the others are kept.
    pub async fn forget(&self, until: Instant) {
        let due: Vec<LeftNote> = {
            let mut all = self.all();
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

    fn all(&self) -> MutexGuard<'_, Vec<LeftNote>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! What may have been handed to LINE without being finished: by functions, by runs of `reconcile`, by workers.
//!
//! **Batches that a function was handed**: what a worker's progress says of a shard, these items say where there is none.
//!
//! A function has no shard and no lease: the event source mapping keeps the checkpoint, and hands the same batch over
//! until it is finished. So an item exists only while a batch is worked on. One that stays says that the function broke
//! off, and which facts may have been handed to LINE without a mark.

use crate::domain::time::Timestamp;
use crate::store::{
    Store, StoreError,
    guard::gone,
    ids::{SequenceNumber, WorkerId},
    items::{self, Item, text},
    keys::{self, ProgressKey},
    paging,
    state::{BatchFacts, FactSpan, HandedOut, Run},
};

use super::Consumers;

/// What was written down of a batch, by one function at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchNote {
    /// The record that it is written down under.
    pub first: SequenceNumber,
    /// When it was written.
    pub at: Timestamp,
}

impl Consumers {
    /// Writes down which facts are about to be handed to LINE. `first` is the first notice's record: the same in every
    /// repetition of the batch. One `PutItem`.
    #[tracing::instrument(name = "store.progress.hand_out", level = "debug", skip_all)]
    pub async fn hand_out(
        &self,
        first: &SequenceNumber,
        facts: &BatchFacts,
        now: Timestamp,
    ) -> Result<BatchNote, StoreError> {
        self.store.put_progress(items::batch(&self.partition, first, facts, now)).await?;
        Ok(BatchNote { first: first.clone(), at: now })
    }

    /// Deletes what was written down of a batch, when everything of it is finished or written down under another record.
    /// What another function has written since stays. One conditional `DeleteItem`; repeating it is harmless.
    #[tracing::instrument(name = "store.progress.forget_batch", level = "debug", skip_all)]
    pub async fn forget_batch(&self, note: &BatchNote) -> Result<(), StoreError> {
        let key = ProgressKey::Batch { partition: &self.partition, first: &note.first };
        let delete = self.store.client.delete_item().table_name(&self.store.tables.consumers);
        let delete = delete
            .set_key(Some(items::progress_key(key)))
            .condition_expression("attribute_not_exists(PK) OR updatedAt = :at")
            .expression_attribute_values(":at", text(note.at.to_string()));
        gone(delete.send().await)
    }

    /// Notes that a function is handed the records of this stream: nothing but an event source mapping brings them. One
    /// `PutItem`.
    #[tracing::instrument(name = "store.progress.note_function", level = "debug", skip_all)]
    pub async fn note_function(&self, now: Timestamp) -> Result<(), StoreError> {
        self.store.put_progress(items::function(&self.partition, now)).await
    }
}

/// What a function noted of a batch, as it is stored. Which facts it is about is known, except of other versions.
#[derive(Debug, Clone, PartialEq)]
pub struct NotedBatch {
    /// The facts.
    pub facts: BatchFacts,
    item: Item,
}

impl Store {
    /// Returns what functions have noted of batches and not deleted, of all streams that the table ever had. Reads the
    /// whole table of progress.
    #[tracing::instrument(name = "store.noted_batches", level = "debug", skip_all)]
    pub async fn noted_batches(&self, name: &str) -> Result<Vec<NotedBatch>, StoreError> {
        let scan = self.client.scan().table_name(&self.tables.consumers).consistent_read(true);
        let scan = scan
            .filter_expression("begins_with(PK, :consumer) AND begins_with(SK, :batch)")
            .expression_attribute_values(":consumer", text(keys::consumers_partitions(name)))
            .expression_attribute_values(":batch", text(keys::BATCHES));
        let found = paging::all(|after| scan.clone().set_exclusive_start_key(after).send()).await?;
        Ok(found.into_iter().filter_map(|item| Some(NotedBatch { facts: items::batch_facts(&item)?, item })).collect())
    }

    /// Deletes such a note, unless a function has written it anew since it was read. One conditional `DeleteItem`.
    #[tracing::instrument(name = "store.forget_noted_batch", level = "debug", skip_all)]
    pub async fn forget_noted_batch(&self, noted: &NotedBatch) -> Result<(), StoreError> {
        let seen = noted.item.get("updatedAt").map(|at| [(":seen".to_owned(), at.clone())].into());
        let delete = self.client.delete_item().table_name(&self.tables.consumers);
        let delete = delete
            .set_key(Some(items::key_of(&noted.item)))
            .condition_expression("attribute_not_exists(PK) OR updatedAt = :seen")
            .set_expression_attribute_values(seen);
        gone(delete.send().await)
    }

    /// Returns everything that the consumer `name` may have handed out and not finished, of all streams that the table
    /// ever had. Reads the whole table of progress, consistent: it is small. What can't be read is reported, and what it
    /// may be about counts as handed out.
    #[tracing::instrument(name = "store.handed_out", level = "debug", skip_all)]
    pub async fn handed_out(&self, name: &str) -> Result<Vec<HandedOut>, StoreError> {
        let scan = self.client.scan().table_name(&self.tables.consumers).consistent_read(true);
        let scan = scan
            .filter_expression("begins_with(PK, :consumer) AND NOT begins_with(SK, :worker)")
            .expression_attribute_values(":consumer", text(keys::consumers_partitions(name)))
            .expression_attribute_values(":worker", text(keys::WORKERS));
        let mut all = Vec::new();
        for item in paging::all(|after| scan.clone().set_exclusive_start_key(after).send()).await? {
            let (handed_out, unreadable) = items::all_handed_out(&item);
            if let Some(unreadable) = unreadable {
                self.report(&unreadable);
            }
            all.extend(handed_out);
        }
        Ok(all)
    }

    /// Notes what a run is about to hand out, instead of what it noted before.
    #[tracing::instrument(name = "store.hand_out", level = "debug", skip_all)]
    pub async fn hand_out(&self, name: &str, run: &Run, span: FactSpan) -> Result<(), StoreError> {
        self.put_progress(items::run(name, run, span)).await
    }

    /// Deletes the note of a run: everything that it handed out is finished.
    #[tracing::instrument(name = "store.forget_run", level = "debug", skip_all)]
    pub async fn forget_run(&self, name: &str, id: &WorkerId) -> Result<(), StoreError> {
        self.delete_progress(items::progress_key(ProgressKey::Run { consumer: name, id })).await
    }
}

//! Batches that a function was handed: what a worker's progress says of a shard, these items say where there is none.
//!
//! A function has no shard and no lease: the event source mapping keeps the checkpoint, and hands the same batch over
//! until it is finished. So an item exists only while a batch is worked on. One that stays says that the function broke
//! off, and which facts may have been handed to LINE without a mark.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{
    ids::{EventId, LineUserId},
    time::Timestamp,
};
use crate::store::{Store, StoreError, guard::gone, items::Item, stream::SequenceNumber};

use super::{
    Consumers, FactSpan,
    items::{self, function},
};

/// The facts of a batch that may have been handed to LINE without being finished, by event.
pub type BatchFacts = BTreeMap<EventId, EventFacts>;

/// Facts of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFacts {
    /// Their times.
    pub span: FactSpan,
    /// Whose they are.
    pub participants: BTreeSet<LineUserId>,
}

impl EventFacts {
    /// One fact.
    #[must_use]
    pub fn one(participant: LineUserId, at: Timestamp) -> Self {
        Self { span: FactSpan { from: at, through: at }, participants: BTreeSet::from([participant]) }
    }

    /// All of another one too.
    pub fn add(&mut self, other: Self) {
        self.span = self.span.and(other.span);
        self.participants.extend(other.participants);
    }
}

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
    pub async fn hand_out(
        &self,
        first: &SequenceNumber,
        facts: &BatchFacts,
        now: Timestamp,
    ) -> Result<BatchNote, StoreError> {
        let item = function::batch(&self.partition, first, facts, now);
        let put = self.store.client.put_item().table_name(&self.store.tables.consumers).set_item(Some(item));
        put.send().await?;
        Ok(BatchNote { first: first.clone(), at: now })
    }

    /// Deletes what was written down of a batch, when everything of it is finished or written down under another record.
    /// What another function has written since stays. One conditional `DeleteItem`; repeating it is harmless.
    pub async fn forget_batch(&self, note: &BatchNote) -> Result<(), StoreError> {
        let delete = self.store.client.delete_item().table_name(&self.store.tables.consumers);
        let delete = delete
            .set_key(Some(self.key(function::batch_key(&note.first))))
            .condition_expression("attribute_not_exists(PK) OR updatedAt = :at")
            .expression_attribute_values(":at", items::text(note.at.to_string()));
        gone(delete.send().await)
    }

    /// Notes that a function is handed the records of this stream: nothing but an event source mapping brings them. One
    /// `PutItem`.
    pub async fn note_function(&self, now: Timestamp) -> Result<(), StoreError> {
        let item = function::function(&self.partition, now);
        let put = self.store.client.put_item().table_name(&self.store.tables.consumers).set_item(Some(item));
        put.send().await.map(drop).map_err(StoreError::from)
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
    /// What functions have noted of batches and not deleted, of all streams that the table ever had. Reads the whole
    /// table of progress.
    pub async fn noted_batches(&self, name: &str) -> Result<Vec<NotedBatch>, StoreError> {
        let scan = self.client.scan().table_name(&self.tables.consumers).consistent_read(true);
        let mut pages = scan
            .filter_expression("begins_with(PK, :consumer) AND begins_with(SK, :batch)")
            .expression_attribute_values(":consumer", items::text(format!("CONSUMER#{name}#")))
            .expression_attribute_values(":batch", items::text(function::BATCH))
            .into_paginator()
            .send();
        let mut all = Vec::new();
        while let Some(page) = pages.next().await {
            let noted = |item| Some(NotedBatch { facts: function::batch_facts(&item)?, item });
            all.extend(page?.items.unwrap_or_default().into_iter().filter_map(noted));
        }
        Ok(all)
    }

    /// Deletes such a note, unless a function has written it anew since it was read. One conditional `DeleteItem`.
    pub async fn forget_noted_batch(&self, noted: &NotedBatch) -> Result<(), StoreError> {
        let seen = noted.item.get("updatedAt").map(|at| [(":seen".to_owned(), at.clone())].into());
        let delete = self.client.delete_item().table_name(&self.tables.consumers);
        let delete = delete
            .set_key(Some(items::key_of(&noted.item)))
            .condition_expression("attribute_not_exists(PK) OR updatedAt = :seen")
            .set_expression_attribute_values(seen);
        gone(delete.send().await)
    }
}

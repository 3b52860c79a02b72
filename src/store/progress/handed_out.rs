//! What may have been handed to LINE without being finished, told by everybody who ever consumed the stream: `reconcile`
//! asks, and tells what it hands out itself.

use std::collections::{BTreeSet, HashMap};

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::{
    ids::{EventId, LineUserId},
    time::Timestamp,
};
use crate::store::{Store, StoreError};

use super::{EventFacts, FactSpan, WorkerId, items};

/// Facts that may have been handed to LINE without being finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandedOut {
    /// Their times.
    pub span: FactSpan,
    /// By whom.
    pub by: By,
}

impl HandedOut {
    /// Facts of an event that a function was handed.
    #[must_use]
    pub fn by_function((event_id, facts): (EventId, EventFacts)) -> Self {
        let EventFacts { span, participants } = facts;
        Self { span, by: By::Function { event_id, participants } }
    }

    /// Whether a participant's fact of this event and time is among them.
    #[must_use]
    pub fn covers(&self, event_id: &EventId, participant: &LineUserId, at: Timestamp) -> bool {
        let may_be_theirs = match &self.by {
            By::Function { event_id: event, participants } => event == event_id && participants.contains(participant),
            By::Run(run) => run.event_id == *event_id,
            By::Stream => true,
        };
        may_be_theirs && self.span.contains(at)
    }
}

/// Who handed facts out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// A function that was handed a batch with facts of this event and of these participants.
    Function {
        /// Of which event.
        event_id: EventId,
        /// Whose.
        participants: BTreeSet<LineUserId>,
    },
    /// A run of `reconcile`.
    Run(Run),
    /// A worker that reads the stream, of whatever event and at whatever time.
    Stream,
}

/// A run of `reconcile` that has something under way, or broke off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Its name.
    pub id: WorkerId,
    /// Of which event the facts are.
    pub event_id: EventId,
    /// No push of them was made before, by this run.
    pub since: Timestamp,
}

impl Store {
    /// Everything that the consumer `name` may have handed out and not finished, of all streams that the table ever had.
    /// Reads the whole table of progress, consistent: it is small. What can't be read is reported, and what it may tell
    /// of was perhaps handed out.
    pub async fn handed_out(&self, name: &str) -> Result<Vec<HandedOut>, StoreError> {
        let scan = self.client.scan().table_name(&self.tables.consumers).consistent_read(true);
        let mut pages = scan
            .filter_expression("begins_with(PK, :consumer) AND NOT begins_with(SK, :worker)")
            .expression_attribute_values(":consumer", items::text(format!("CONSUMER#{name}#")))
            .expression_attribute_values(":worker", items::text(items::WORKER))
            .into_paginator()
            .send();
        let mut all = Vec::new();
        while let Some(page) = pages.next().await {
            for item in page?.items.unwrap_or_default() {
                let (handed_out, unreadable) = items::all_handed_out(&item);
                if let Some(unreadable) = &unreadable {
                    self.report(unreadable);
                }
                all.extend(handed_out);
            }
        }
        Ok(all)
    }

    /// Says what a run is about to hand out, instead of what it said before.
    pub async fn hand_out(&self, name: &str, run: &Run, span: FactSpan) -> Result<(), StoreError> {
        let item = items::run(run_key(name, &run.id), run, span);
        let put = self.client.put_item().table_name(&self.tables.consumers).set_item(Some(item));
        put.send().await.map(|_| ()).map_err(StoreError::from)
    }

    /// Everything that a run handed out is finished.
    pub async fn forget_run(&self, name: &str, id: &WorkerId) -> Result<(), StoreError> {
        let delete = self.client.delete_item().table_name(&self.tables.consumers);
        delete.set_key(Some(run_key(name, id))).send().await.map(|_| ()).map_err(StoreError::from)
    }
}

fn run_key(name: &str, id: &WorkerId) -> HashMap<String, AttributeValue> {
    items::key(&format!("CONSUMER#{name}#RECONCILE"), format!("RUN#{id}"))
}

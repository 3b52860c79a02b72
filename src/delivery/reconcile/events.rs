//! A run through the events: every participant of each, and every holder of each of its stamps.

use std::collections::BTreeSet;

use crate::consumer::CONSUMER;
use crate::domain::{
    event::Event,
    ids::{EventId, LineUserId},
    mode::Mode,
};
use crate::store::{StoreError, listing::Rows, progress::EventFacts, waiting::AT_A_TIME};

use super::{
    batch::Work,
    horizon::FORGOTTEN,
    run::{ReconcileError, Reconciling},
    summary::Reconciled,
};

/// Participants that are looked at together, and of whom one write says that they are handed out.
const BATCH: usize = 200;

impl Reconciling<'_> {
    /// Goes through all events, and forgets what earlier runs and functions had noted of those that are decided.
    pub async fn all(&self, events: &[Event]) -> Result<Reconciled, ReconcileError> {
        let (mut done, mut finished, mut whole) = (Reconciled::default(), true, BTreeSet::new());
        for event in events {
            if self.stop.is_cancelled() {
                break;
            }
            let mut work = Work::of(self, event);
            self.event(event, &mut work).await?;
            finished &= work.is_finished();
            whole.extend((work.is_whole() && !self.stop.is_cancelled()).then(|| event.event_id.clone()));
            done.events.push((event.event_id.clone(), work.into_counts()));
        }
        if self.mode == Mode::ForReal && finished {
            self.delivery.parts.store.forget_run(CONSUMER, &self.me).await?;
        }
        if self.mode == Mode::ForReal && !whole.is_empty() {
            self.forget_decided_batches(&whole).await?;
        }
        done.interrupted = self.stop.is_cancelled();
        Ok(done)
    }

    /// Deletes what functions noted of batches whose notices have all come to an end: they are of these events, of which
    /// everything is decided, and so old that no record of them comes any more.
    async fn forget_decided_batches(&self, events: &BTreeSet<EventId>) -> Result<(), StoreError> {
        let store = &self.delivery.parts.store;
        let is_decided = |(event, facts): (&EventId, &EventFacts)| {
            events.contains(event) && self.now.since(facts.span.through) >= FORGOTTEN
        };
        for noted in store.noted_batches(CONSUMER).await? {
            if noted.facts.iter().all(is_decided) {
                store.forget_noted_batch(&noted).await?;
            }
        }
        Ok(())
    }

    async fn event(&self, event: &Event, work: &mut Work<'_>) -> Result<(), ReconcileError> {
        let store = &self.delivery.parts.store;
        let mut registered = store.registered(event, self.now);
        while let Some(some) = self.next_of(&mut registered, BATCH).await? {
            work.batch(some).await?;
        }
        work.passed_over(registered.unreadable());
        for stamp_id in store.masters(&event.event_id).await?.ids() {
            let mut holders = store.holding(event, stamp_id, self.now);
            while let Some(some) = self.next_of(&mut holders, AT_A_TIME).await? {
                let waiting = store.waiting(&event.event_id, stamp_id, &some).await?;
                work.batch(waiting).await?;
            }
            work.passed_over(holders.unreadable());
        }
        if self.mode == Mode::ForReal && work.is_whole() && !self.stop.is_cancelled() {
            // What an earlier run of this event had under way has come to an end now.
            for run in self.others.iter().filter(|run| run.event_id == event.event_id) {
                store.forget_run(CONSUMER, &run.id).await?;
            }
        }
        Ok(())
    }

    /// Returns the next participants of a list; `None` after the last, or when the run is stopped.
    async fn next_of(&self, list: &mut Rows<LineUserId>, most: usize) -> Result<Option<Vec<LineUserId>>, StoreError> {
        let some = list.some(most).await?;
        Ok(Some(some).filter(|some| !some.is_empty() && !self.stop.is_cancelled()))
    }
}

//! What the stream has forgotten: notices that are unsent and whose record can't come any more.
//!
//! The stream keeps records for 24 hours; a consumer that was down for longer has missed some. They are found in the table:
//! every participant of an event (by `GSI1`: their resends and completed cards too), and then every holder of each of
//! its stamps (by `GSI2`), so that a participant who isn't listed isn't missed. Both indexes only say whom to read; what
//! is decided is decided on a consistent read.
//!
//! | the notice | becomes |
//! | --- | --- |
//! | the stream can still bring its record (`horizon`) | left to the stream's readers, and reported |
//! | the stream never had its record | sent with the key that any other reader would use |
//! | certainly never sent | sent, as the workers would: same keys, pace, marks, order per participant |
//! | LINE may have accepted it | `unknown`: an operator decides |
//! | another program has written it (it names no request) | `unknown`, or sent if the operator says that none was |
//!
//! It may have been accepted if an attempt without a clear answer is on its item, or if the time of its fact is in what
//! a reader had handed out and not finished. So before this hands something out itself, it writes that down too; a run
//! that broke off is continued by the next one with the same keys, as long as LINE remembers them.

mod batch;
mod events;
mod finding;
mod horizon;
mod presence;
mod run;
mod summary;

use tokio_util::sync::CancellationToken;

use crate::consumer::{CONSUMER, LeaseStatus};
use crate::domain::{event::Event, ids::EventId, mode::Mode, time::Timestamp};
use crate::store::{
    StoreError,
    listing::Wanted,
    paging::Pages,
    progress::{By, WorkerId},
    table::IndexState,
};

use super::Delivery;
pub use finding::Migrated;
use finding::{Grounds, MaybeSent};
use horizon::Horizon;
pub use horizon::{DISCARDED, FORGOTTEN, Readers};
use presence::Presence;
use run::Reconciling;
pub use run::{Manner, ReconcileError, Report};
pub use summary::{Counts, Left, Reconciled};

impl Delivery {
    /// Looks for what the stream has forgotten, in one event or in all, and sends or parks it. Safe beside live workers and
    /// other runs: every write is guarded, every push carries the key that theirs carry. It takes a share of the pushes a
    /// second as one more worker. When stopped it brings to an end what has begun with LINE.
    pub async fn reconcile(
        &self,
        event: Option<&EventId>,
        manner: impl Into<Manner>,
        report: &Report<'_>,
        stop: &CancellationToken,
    ) -> Result<Reconciled, ReconcileError> {
        let (store, Manner { mode, migrated }) = (&self.parts.store, manner.into());
        match store.holders_index().await? {
            IndexState::Filling => return Err(ReconcileError::IndexNotReady),
            IndexState::Missing => return Err(ReconcileError::NoIndex),
            IndexState::Ready => {}
        }
        let (events, unreadable_events) = self.events_to_reconcile(event).await?;
        let (me, now) = (WorkerId::generate(), self.clock().now());
        let (readers, horizon) = self.horizon(now).await?;
        let handed_out = store.handed_out(CONSUMER).await?;
        let mut presence = match mode {
            Mode::DryRun => None,
            Mode::ForReal => Some(Presence::enter(self, &me).await?),
        };
        let others =
            handed_out.iter().filter_map(|out| if let By::Run(run) = &out.by { Some(run.clone()) } else { None });
        let run = Reconciling {
            delivery: self,
            mode,
            me,
            now,
            others: others.collect(),
            grounds: Grounds { horizon, maybe_sent: MaybeSent::of(handed_out, now), migrated },
            lease: presence.as_ref().map_or_else(LeaseStatus::unlimited, Presence::lease),
            stop,
            report,
        };
        let done = match &mut presence {
            None => Box::pin(run.all(&events)).await,
            Some(presence) => presence.beside(Box::pin(run.all(&events))).await,
        };
        self.give_back_pushes().await;
        done.map(|done| Reconciled { readers, unreadable_events, ..done })
    }

    /// Returns what the table's stream can still bring, and its readers; `None` while there is no stream.
    async fn horizon(&self, now: Timestamp) -> Result<(Option<Readers>, Horizon), StoreError> {
        let store = &self.parts.store;
        let Some(stream) = store.stream().await? else {
            tracing::warn!("the table has no stream, what is acquired now waits: run `stamp-rally table create`");
            return Ok((None, Horizon::of(None, Readers::Workers, now)));
        };
        let readers = Readers::of(&store.consumers(CONSUMER, &stream.arn).board().await?, now);
        Ok((Some(readers), Horizon::of(Some(&stream), readers, now)))
    }

    /// Returns the events, and how many more there are that can't be read.
    async fn events_to_reconcile(&self, event: Option<&EventId>) -> Result<(Vec<Event>, usize), ReconcileError> {
        let store = &self.parts.store;
        if let Some(id) = event {
            let event = store.event(id).await?.ok_or_else(|| ReconcileError::NoSuchEvent(id.clone()))?;
            return Ok((vec![event], 0));
        }
        let (mut pages, mut events, mut unreadable) = (Pages::default(), Vec::new(), 0);
        while let Some(page) = pages.next(async |after| store.events(&Wanted::oldest_first(after)).await).await? {
            events.extend(page.rows);
            unreadable += page.unreadable;
        }
        Ok((events, unreadable))
    }
}

//! What the stream has forgotten: notices that nobody has sent and whose record can't come any more.
//!
//! The stream keeps records for 24 hours; whoever was down for longer has missed some. They are found in the table:
//! every participant of an event (by `GSI1`: their resends and completed cards too), and then every holder of each of
//! its stamps (by `GSI2`), so that nobody is missed who isn't listed. Both indexes only say whom to read; what is
//! decided is decided on a consistent read.
//!
//! | the notice | becomes |
//! | --- | --- |
//! | the stream can still bring its record (`horizon`) | left to the stream's readers, and reported |
//! | the stream never had its record | sent with the key that any other reader would use |
//! | certainly never tried | sent, as the workers would: same keys, pace, marks, order per participant |
//! | LINE may have accepted it | `unknown`: a person decides |
//! | another program has written it (it names no request) | `unknown`, or sent if the operator says that none was |
//!
//! It may have been accepted if an attempt without a clear answer is on its item, or if the time of its fact is in what
//! a reader had handed out and not finished. So before this hands something out itself, it writes that down too; a run
//! that broke off is continued by the next one with the same keys, as long as LINE remembers them.

mod batch;
mod finding;
mod horizon;
mod presence;
mod summary;

use std::collections::BTreeSet;

use tokio_util::sync::CancellationToken;

use crate::domain::{event::Event, ids::EventId, mode::Mode, time::Timestamp};
use crate::store::{
    StoreError,
    listing::{Direction, Wanted},
    progress::{By, EventFacts, Run, WorkerId},
    table::IndexState,
    waiting::AT_A_TIME,
};

use super::{Delivery, handler::Standing, worker::CONSUMER};
use batch::Work;
use finding::{Doubts, Grounds};
use horizon::Horizon;
pub use horizon::{DISCARDED, FORGOTTEN, Readers};
use presence::Presence;
pub use summary::{Counts, Left, Reconciled};

/// Participants that are looked at together, and of whom one write says that they are handed out.
const BATCH: usize = 200;

/// Rows a page of the list of events.
const PAGE: usize = 100;

/// What is known of the notices of stamps that name no request: another program has written them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Migrated {
    /// It may have sent them.
    #[default]
    MaybeSent,
    /// It certainly sent none: they are sent.
    Unsent,
}

/// How a run is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// Whether anything is done.
    pub mode: Mode,
    /// What is known of another program's notices.
    pub migrated: Migrated,
}

impl From<Mode> for Manner {
    fn from(mode: Mode) -> Self {
        Self { mode, migrated: Migrated::default() }
    }
}

/// Why there is no run, or why it broke off. It may always be run again.
#[derive(Debug, thiserror::Error)]
pub enum ReconcileError {
    /// The index of the stamps' holders is being filled: it would show only a part of them.
    #[error("the index GSI2 is still being filled: `stamp-rally table create` waits for it")]
    IndexNotReady,
    /// A table made from the source article has no index of the stamps' holders.
    #[error(
        "the table has no index GSI2, by which stamps are found: run `stamp-rally table create`, then `stamp-rally table backfill`"
    )]
    NoIndex,
    /// The event isn't there.
    #[error("event \"{0}\" does not exist")]
    NoSuchEvent(EventId),
    /// Live workers use up what may be pushed.
    #[error(
        "`delivery.pushes_per_second` is {rate}, and what else pushes ({others}) leaves nothing of it: raise it, or stop one of them meanwhile"
    )]
    NothingLeft {
        /// The setting.
        rate: u32,
        /// How many others push.
        others: usize,
    },
    /// The store did not do as asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What one event has come to so far is told to this.
pub type Told<'a> = dyn Fn(&EventId, &Counts) + Sync + 'a;

/// One run.
struct Reconciling<'a> {
    delivery: &'a Delivery,
    mode: Mode,
    /// Its name in the table of progress.
    me: WorkerId,
    /// When it began: later facts are not looked at.
    now: Timestamp,
    grounds: Grounds,
    /// Runs before this one that broke off, or are still at it.
    others: Vec<Run>,
    standing: Standing,
    stop: &'a CancellationToken,
    tell: &'a Told<'a>,
}

impl Delivery {
    /// Looks for what the stream has forgotten, in one event or in all, and sees to it. Safe beside live workers and
    /// other runs: every write is guarded, every push carries the key that theirs carry. It takes a share of the pushes a
    /// second as one more worker. When stopped it brings to an end what has begun with LINE.
    pub async fn reconcile(
        &self,
        event: Option<&EventId>,
        manner: impl Into<Manner>,
        tell: &Told<'_>,
        stop: &CancellationToken,
    ) -> Result<Reconciled, ReconcileError> {
        let (store, Manner { mode, migrated }) = (&self.parts.store, manner.into());
        match store.holders_index().await? {
            IndexState::Filling => return Err(ReconcileError::IndexNotReady),
            IndexState::Missing => return Err(ReconcileError::NoIndex),
            IndexState::Ready => {}
        }
        let (events, unreadable_events) = self.events_to_reconcile(event).await?;
        let (me, now) = (WorkerId::made(), self.clock().now());
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
            grounds: Grounds { horizon, doubts: Doubts::of(handed_out, now), migrated },
            standing: presence.as_ref().map_or_else(Standing::always, Presence::standing),
            stop,
            tell,
        };
        let done = match &mut presence {
            None => Box::pin(run.all(&events)).await,
            Some(presence) => presence.beside(Box::pin(run.all(&events))).await,
        };
        done.map(|done| Reconciled { readers, unreadable_events, ..done })
    }

    /// What the table's stream can still bring, and its readers; `None` while there is no stream.
    async fn horizon(&self, now: Timestamp) -> Result<(Option<Readers>, Horizon), StoreError> {
        let store = &self.parts.store;
        let Some(stream) = store.stream().await? else {
            tracing::warn!("the table has no stream, what is acquired now waits: run `stamp-rally table create`");
            return Ok((None, Horizon::of(None, Readers::Workers, now)));
        };
        let readers = Readers::of(&store.consumers(CONSUMER, &stream.arn).board().await?, now);
        Ok((Some(readers), Horizon::of(Some(&stream), readers, now)))
    }

    /// The events, and how many more there are that can't be read.
    async fn events_to_reconcile(&self, event: Option<&EventId>) -> Result<(Vec<Event>, usize), ReconcileError> {
        let store = &self.parts.store;
        if let Some(id) = event {
            let event = store.event(id).await?.ok_or_else(|| ReconcileError::NoSuchEvent(id.clone()))?;
            return Ok((vec![event], 0));
        }
        let mut wanted = Wanted { direction: Direction::Asc, limit: PAGE, after: None };
        let (mut events, mut unreadable) = (Vec::new(), 0);
        loop {
            let page = store.events(&wanted).await?;
            events.extend(page.rows);
            unreadable += page.unreadable;
            wanted.after = page.next;
            if wanted.after.is_none() {
                return Ok((events, unreadable));
            }
        }
    }
}

impl Reconciling<'_> {
    async fn all(&self, events: &[Event]) -> Result<Reconciled, ReconcileError> {
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
        let mut people = store.registered(event, self.now);
        loop {
            let some = people.some(BATCH).await?;
            if some.is_empty() || self.stop.is_cancelled() {
                break;
            }
            work.batch(some).await?;
        }
        work.passed_over(people.unreadable());
        for stamp_id in store.masters(&event.event_id).await?.ids() {
            let mut holders = store.holding(event, stamp_id, self.now);
            loop {
                let some = holders.some(AT_A_TIME).await?;
                if some.is_empty() || self.stop.is_cancelled() {
                    break;
                }
                let waiting = store.waiting(&event.event_id, stamp_id, &some).await?;
                work.batch(waiting).await?;
            }
            work.passed_over(holders.unreadable());
        }
        if self.mode == Mode::ForReal && work.is_whole() && !self.stop.is_cancelled() {
            // Whatever an earlier run of this event had under way has come to an end now.
            for run in self.others.iter().filter(|run| run.event_id == event.event_id) {
                store.forget_run(CONSUMER, &run.id).await?;
            }
        }
        Ok(())
    }
}

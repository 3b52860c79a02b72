//! Delivery as an effect of the consumer: each new notice is a job, and the leader drains what is held.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::consumer::{
    effect::{Effect, FactRef, Handling, Job, LeaderWork, Progress, Work},
    place::{Membership, Place},
};
use crate::domain::{causes::Causes, ids::RequestId, notice::NoticeId, time::Timestamp};
use crate::store::{
    keys::ItemKey,
    stream::{Change as RecordChange, Record},
    unreadable::{Unreadable, hashed},
};

use super::{
    Delivery, Tally,
    channel::locked,
    pending::{Path, PendingNotice},
    report::Report,
};

/// The second that the limit of pushes speaks of: others may have used it up.
const SECOND: Duration = Duration::from_secs(1);

/// Brings notices to LINE, as records call for them. Clones share what became of them.
#[derive(Clone)]
pub struct NoticeEffect {
    delivery: Delivery,
    tally: Arc<Mutex<Tally>>,
}

impl NoticeEffect {
    /// Creates the effect.
    #[must_use]
    pub fn new(delivery: Delivery) -> Self {
        unreadable().increment(0);
        Self { delivery, tally: Arc::default() }
    }

    /// Returns what brings its notices to LINE.
    #[must_use]
    pub fn delivery(&self) -> &Delivery {
        &self.delivery
    }

    /// Returns what became of its notices since this was last asked; those that aren't finished are not counted.
    #[must_use]
    pub fn take_tally(&self) -> Tally {
        std::mem::take(&mut *locked(&self.tally))
    }
}

impl Effect for NoticeEffect {
    fn name(&self) -> &'static str {
        "notices"
    }

    fn job(&self, record: &Record, source: &str) -> Option<Job> {
        let called = Called::by(record, source)?;
        let NoticeId { event_id, line_user_id, .. } = called.notice.clone();
        Some(Job {
            order_key: format!("{event_id}#{line_user_id}"),
            fact: FactRef { event_id, participant: line_user_id, at: called.at },
            work: Arc::new(NoticeWork { effect: self.clone(), called }),
        })
    }

    fn leader_work(&self) -> Vec<Arc<dyn LeaderWork>> {
        vec![Arc::new(Drain(self.clone())), Arc::new(Report::new(self.delivery.clone()))]
    }

    /// A worker that comes to others waits until all of them have seen it.
    fn placed(&self, place: &Place) {
        let comes_to_others = place.membership == Membership::Joined && place.workers > 1;
        let after = if comes_to_others { place.seen_within + SECOND } else { SECOND };
        self.delivery.set_share(place.share_of(self.delivery.settings().pushes_per_second), after);
        if place.membership == Membership::Left {
            self.delivery.parts.channels.forget();
        }
    }
}

struct NoticeWork {
    effect: NoticeEffect,
    called: Called,
}

impl Work for NoticeWork {
    fn handle<'a>(&'a self, handling: &'a Handling) -> BoxFuture<'a, Progress> {
        Box::pin(async move {
            let Called { notice, request_id, since, path, .. } = self.called.clone();
            let Handling { lease, maybe_handed_out, stop } = handling;
            let (maybe_sent, lease) = (*maybe_handed_out, lease.clone());
            let pending = PendingNotice { notice, request_id, since, maybe_sent, path, lease };
            let outcome = self.effect.delivery.deliver(&pending, stop).await;
            if !outcome.is_final() {
                return Progress::Unfinished;
            }
            locked(&self.effect.tally).count(outcome);
            Progress::Finished
        })
    }
}

/// Drains what is held: every probe, and as soon as a channel is resumed.
struct Drain(NoticeEffect);

impl LeaderWork for Drain {
    fn interval(&self) -> Duration {
        self.0.delivery.settings().probe_interval
    }

    fn wake(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.0.delivery.parts.resumed.notified())
    }

    fn run<'a>(&'a self, stop: &'a CancellationToken) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            match self.0.delivery.drain(stop).await {
                Ok(tally) => {
                    if tally.total() > 0 {
                        tracing::info!(notices.count = tally.total(), "drained what was held");
                    }
                    locked(&self.0.tally).add(&tally);
                }
                Err(error) => {
                    tracing::warn!(error = %Causes(&error), "what is held can't be listed now");
                }
            }
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Called {
    notice: NoticeId,
    /// The request that its fact names.
    request_id: Option<RequestId>,
    /// When its fact happened; when its record was made, where the fact can't be read.
    at: Timestamp,
    /// When its record was made. The older of both: clocks differ, and the stream need not say.
    since: Timestamp,
    /// Whether it can be sent, or only parked.
    path: Path,
}

fn unreadable() -> metrics::Counter {
    metrics::counter!("stamp_rally_records_unreadable_total")
}

impl Called {
    /// Returns the notice, if the record calls for one. A record that can't be read is logged, and must not stop the
    /// others: if its key names a notice, that one is to be parked. `source` names where it comes from.
    fn by(record: &Record, source: &str) -> Option<Self> {
        match &record.change {
            RecordChange::Inserted(fact) => {
                let (notice, at) = (PendingNotice::named_by(fact)?, fact.at());
                let since = if record.at == Timestamp::EPOCH { at } else { record.at.min(at) };
                Some(Self { notice, request_id: fact.request_id().cloned(), at, since, path: Path::Ordinary })
            }
            RecordChange::Damaged(_) | RecordChange::Passed => None,
            RecordChange::Unreadable(why) => {
                let Unreadable { pk, sk, attribute, problem } = why.as_ref();
                tracing::error!(
                    shard.id = source,
                    sequence = record.sequence.as_str(),
                    item.pk = hashed(pk),
                    item.sk = hashed(sk),
                    item.attribute = attribute,
                    item.problem = hashed(problem),
                    "a record can't be read: its notice is held until its item is mended"
                );
                unreadable().increment(1);
                let Some(ItemKey::Notice(notice)) = ItemKey::parse(pk, sk) else { return None };
                Some(Self { notice, request_id: None, at: record.at, since: record.at, path: Path::Unreadable })
            }
        }
    }
}

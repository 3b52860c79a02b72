//! One notice: pass over, push, mark, or park.
//!
//! The same code serves the polling worker, the drain of held notices, and a Lambda: it is given a notice and
//! says what became of it. Each pass reads the participant's facts anew, so a pass can be repeated by anybody.

mod failure;
mod matter;
mod pass;

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use crate::domain::{
    fact::Fact,
    ids::{ChannelName, EventId, LineUserId},
    notice::{NoticeId, NoticeKey, NoticeStatus, Parked, ParkedState},
    time::{Clock, Timestamp},
};
use crate::line::messaging::{Accepted, Messenger};
use crate::store::{Store, rallies::Rallies};

use super::{DeliverySettings, Outcome, Patience, called, channel::Channels, message::Templates, pace::Share};

/// No push is repeated when its first attempt, or its record, is older than this: LINE forgets a retry key after 24
/// hours (Messaging API: "Retrying an API request"), and a repetition would be a second message.
pub(super) const RETRY_LIMIT: Duration = Duration::from_hours(23);

/// What delivery needs to work.
pub struct DeliveryParts {
    /// The one table.
    pub store: Store,
    /// Events and masters, cached.
    pub rallies: Rallies,
    /// The configured channels.
    pub messengers: HashMap<ChannelName, Messenger>,
    /// Time.
    pub clock: Clock,
    /// Pace.
    pub settings: DeliverySettings,
    /// How long to try.
    pub patience: Patience,
}

/// Brings notices to LINE. Clones share everything.
#[derive(Clone)]
pub struct Delivery {
    pub(super) parts: Arc<Parts>,
}

pub(super) struct Parts {
    pub store: Store,
    pub rallies: Rallies,
    pub channels: Channels,
    pub templates: Templates,
    pub clock: Clock,
    pub settings: DeliverySettings,
    pub patience: Patience,
    /// Counts the drains that met a held channel.
    pub probes: AtomicUsize,
    /// Rung when a channel goes on: what it held can be drained.
    pub goes_on: tokio::sync::Notify,
    /// Notes of finished batches that could not be deleted.
    pub unforgotten: super::batch::AllUnforgotten,
}

/// Where a notice comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// It is taken ahead of the stream, whose readers may be at it too, now or later: its item notes the attempt before a push.
    AheadOfStream,
    /// It is held, and its channel may go on.
    Held,
    /// Its record came.
    Ordinary,
    /// Its record came and can't be read: it can only be parked, until its item is mended.
    Unreadable,
}

impl Path {
    /// The state that a notice on this path is in.
    fn state(self) -> Option<ParkedState> {
        match self {
            Self::Held => Some(ParkedState::Held),
            Self::AheadOfStream | Self::Ordinary | Self::Unreadable => None,
        }
    }
}

/// What the reader of a shard lets those know who work on its notices. Its clones are one.
#[derive(Debug, Clone)]
pub struct Standing(Arc<Told>);

#[derive(Debug)]
struct Told {
    /// Until this uptime (ms) the lease is certainly ours.
    until: AtomicU64,
    /// So much is waiting that nothing more of the shard can be read.
    crowded: AtomicBool,
}

impl Standing {
    /// Good until this uptime, on our own monotonic clock.
    #[must_use]
    pub fn until(uptime: Duration) -> Self {
        Self(Arc::new(Told { until: AtomicU64::new(millis(uptime)), crowded: AtomicBool::new(false) }))
    }

    /// For those who need no shard.
    #[must_use]
    pub fn always() -> Self {
        Self::until(Duration::MAX)
    }

    /// Is good until this uptime from now on.
    pub fn extend(&self, uptime: Duration) {
        self.0.until.store(millis(uptime), Ordering::Release);
    }

    /// Whether it is good at this uptime. If not, the shard may be somebody else's, and nothing may be begun for it.
    #[must_use]
    pub fn is_good(&self, uptime: Duration) -> bool {
        millis(uptime) < self.0.until.load(Ordering::Acquire)
    }

    /// Whether waiting notices stand in the way of others.
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        self.0.crowded.load(Ordering::Relaxed)
    }

    /// See [`Standing::is_crowded`].
    pub fn tell_crowded(&self, crowded: bool) {
        self.0.crowded.store(crowded, Ordering::Relaxed);
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A notice to be brought to LINE.
#[derive(Debug, Clone)]
pub struct Call {
    /// Which.
    pub notice: NoticeId,
    /// When its record was made.
    pub since: Timestamp,
    /// Whether an earlier reader of its shard may have pushed it without leaving a mark.
    pub doubtful: bool,
    /// Where it comes from.
    pub path: Path,
    /// What the reader of its shard lets us know.
    pub standing: Standing,
}

impl Call {
    /// The notice that a fact calls for as it is written: only one that waits. Everything else is passed over.
    #[must_use]
    pub fn named_by(fact: &Fact) -> Option<NoticeId> {
        let (key, status) = fact.notice()?;
        let waits = matches!(status, NoticeStatus::Waiting { .. });
        waits.then(|| NoticeId { event_id: fact.event_id().clone(), line_user_id: fact.line_user_id().clone(), key })
    }

    /// Whose notice it is: notices of one participant keep their order.
    #[must_use]
    pub fn participant(&self) -> (EventId, LineUserId) {
        (self.notice.event_id.clone(), self.notice.line_user_id.clone())
    }
}

/// What this process knows about its own attempts at one notice.
#[derive(Debug, Default)]
pub struct Tries {
    /// LINE has accepted it: only the mark is missing, and a second push would be for nothing.
    accepted: Option<(Timestamp, Accepted)>,
    /// The notices that are done with it, if it is a resend.
    spoken_for: Vec<NoticeKey>,
    /// When an attempt first ended without a clear answer.
    ambiguous: Option<Timestamp>,
    /// How it is held, as the facts said.
    held: Option<Parked>,
    /// Whether the item says so too.
    noted: bool,
    /// Whether the wait has lasted too long for the path it is on.
    pub(super) out_of_patience: bool,
    /// No push before this uptime: the last one was asked to wait.
    wait_until: Duration,
}

/// How one pass ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    /// Try again after a pause, and not before this time is over: we are asked to wait.
    After(Duration),
    /// Try again after a pause.
    Again,
    /// Nothing more to do.
    Done(Outcome),
}

impl Delivery {
    /// Delivery out of its parts.
    #[must_use]
    pub fn new(parts: DeliveryParts) -> Self {
        let channels = Channels::new(parts.messengers, &parts.settings);
        Outcome::tell_all();
        called::unreadable().increment(0);
        Self {
            parts: Arc::new(Parts {
                store: parts.store,
                rallies: parts.rallies,
                channels,
                templates: Templates::default(),
                clock: parts.clock,
                settings: parts.settings,
                patience: parts.patience,
                probes: AtomicUsize::new(0),
                goes_on: tokio::sync::Notify::new(),
                unforgotten: super::batch::AllUnforgotten::default(),
            }),
        }
    }

    /// The pace it was given.
    #[must_use]
    pub fn settings(&self) -> &DeliverySettings {
        &self.parts.settings
    }

    /// Changes how many pushes this worker may make on each channel; more only `after` this long.
    pub fn set_share(&self, share: impl Into<Share>, after: Duration) {
        self.parts.channels.set_share(share, after);
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.parts.clock
    }
}

//! The month's pushes of one channel (`line.channels.{name}.monthly_pushes`), which all processes together never pass.
//!
//! Before a push is made it takes a unit of what this process has reserved in the consumers' table. It reserves for what
//! it has at hand, and no more than a hundredth of the month's at a time: what is reserved and not made when a process dies is lost
//! to the month. When nothing is at hand, when the month turns and when the process ends, the rest is given back.
//!
//! | a push | its unit |
//! | --- | --- |
//! | was accepted | is used |
//! | was accepted in an earlier attempt (409), which had a unit of its own | is free again |
//! | was refused, was too fast, or never left | is free again |
//! | had no clear answer | stays with its notice: the same push again needs no other |

mod state;

use std::{num::NonZeroU32, sync::Mutex, time::Duration};

use tokio::sync::{Semaphore, SemaphorePermit};
use uuid::Uuid;

use crate::domain::{
    causes::Causes,
    ids::ChannelName,
    notice::NoticeId,
    time::{Clock, Month},
};
use crate::line::messaging::Accepted;
use crate::store::{
    Store, StoreError,
    pushes::{GivenBack, PushMonth, Reservation, Reserved},
};

use super::lock::locked;
use state::{Kind, State, Take};

/// The month's pushes of one channel, as one process has its part in them.
pub struct Budget {
    channel: ChannelName,
    limit: NonZeroU32,
    store: Store,
    clock: Clock,
    /// How often it is asked whether there are pushes again.
    probe_interval: Duration,
    /// Pushes that may have a unit at the same time.
    slots: Semaphore,
    /// One task at a time asks the store.
    asking: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

/// What a budget needs to work.
pub struct BudgetParts<'a> {
    /// Where pushes are reserved.
    pub store: &'a Store,
    /// Which month it is.
    pub clock: &'a Clock,
    /// How often it is asked whether there are pushes again.
    pub probe_interval: Duration,
}

/// Why a push has no unit.
pub enum NoUnit {
    /// The store did not do as asked.
    Store(StoreError),
    /// The month's pushes are used up.
    UsedUp,
}

impl Budget {
    /// Creates the budget of a channel. Nothing is reserved yet.
    #[must_use]
    pub fn new(channel: ChannelName, limit: NonZeroU32, parts: &BudgetParts<'_>) -> Self {
        let most = most(limit);
        let slots = usize::try_from(most.get()).unwrap_or(Semaphore::MAX_PERMITS).min(Semaphore::MAX_PERMITS);
        Self {
            state: Mutex::new(State::new(Month::of(parts.clock.now()), most)),
            channel,
            limit,
            store: parts.store.clone(),
            clock: parts.clock.clone(),
            probe_interval: parts.probe_interval,
            slots: Semaphore::new(slots),
            asking: tokio::sync::Mutex::default(),
        }
    }

    /// Takes note of a notice that is worked on, until what is returned is dropped.
    pub fn at_hand(&self) -> AtHand<'_> {
        locked(&self.state).at_hand += 1;
        AtHand(self)
    }

    /// Returns whether the month's pushes are used up, as far as this process knows.
    pub fn is_used_up(&self) -> bool {
        let month = Month::of(self.clock.now());
        locked(&self.state).is_used_up(month)
    }

    /// Returns whether a push may have a unit, or it is time to ask again whether it may.
    pub fn would_admit(&self) -> bool {
        let (month, uptime) = (Month::of(self.clock.now()), self.clock.uptime());
        locked(&self.state).would_admit(month, uptime)
    }

    /// Takes a unit for a push of this notice; waits for others that have one.
    ///
    /// # Cost
    ///
    /// 1 Update where nothing is reserved.
    pub async fn take<'a>(&'a self, notice: &'a NoticeId) -> Result<Unit<'a>, NoUnit> {
        let slot = self.slots.acquire().await.map_err(|_closed| NoUnit::UsedUp)?;
        let _alone = self.asking.lock().await;
        loop {
            let (month, uptime) = (Month::of(self.clock.now()), self.clock.uptime());
            let take = {
                let mut state = locked(&self.state);
                state.turn(month);
                state.take(notice, uptime)
            };
            match take {
                Take::Unit(kind) => {
                    return Ok(Unit { budget: self, notice, month, kind, push: Push::Due, _slot: slot });
                }
                Take::Reserve(pushes) => self.reserve(month, pushes).await.map_err(NoUnit::Store)?,
                Take::UsedUp => return Err(NoUnit::UsedUp),
            }
        }
    }

    /// Gives back what is reserved, if nothing is at hand, and what is left of a month that is over.
    pub async fn rest(&self) {
        if !locked(&self.state).has_rest(Month::of(self.clock.now())) {
            return;
        }
        let _alone = self.asking.lock().await;
        let month = Month::of(self.clock.now());
        let rest = {
            let mut state = locked(&self.state);
            state.turn(month);
            state.take_rest()
        };
        for (month, pushes) in rest {
            self.give_back(month, pushes).await;
        }
    }

    /// Returns how many of the month's pushes nobody has reserved.
    pub async fn left(&self) -> Result<u32, StoreError> {
        let of = self.month(Month::of(self.clock.now()));
        Ok(self.limit.get().saturating_sub(self.store.reserved_pushes(&of).await?))
    }

    /// Reserves pushes, or fewer where fewer are left.
    async fn reserve(&self, month: Month, pushes: u32) -> Result<(), StoreError> {
        let mut wanted = locked(&self.state).asks(|| Uuid::new_v4().to_string(), pushes);
        loop {
            let (of, limit) = (self.month(month), self.limit.get());
            let reservation = Reservation { of: &of, pushes: wanted.pushes, limit, id: &wanted.id };
            match self.store.reserve_pushes(&reservation).await? {
                Reserved::Done => {
                    if locked(&self.state).reserved(wanted.pushes) {
                        tracing::info!(channel = %self.channel, "there are pushes of the month's budget again");
                    }
                    return Ok(());
                }
                Reserved::Only(0) => {
                    self.used_up();
                    return Ok(());
                }
                Reserved::Only(left) => {
                    let mut state = locked(&self.state);
                    state.answered();
                    wanted = state.asks(|| Uuid::new_v4().to_string(), left.min(wanted.pushes));
                }
            }
        }
    }

    fn used_up(&self) {
        let until = self.clock.uptime() + self.probe_interval;
        if locked(&self.state).used_up(until) {
            tracing::error!(
                channel = %self.channel,
                "the month's pushes are used up: the channel's notices are held until the month turns, or `monthly_pushes` is raised"
            );
        }
    }

    async fn give_back(&self, month: Month, pushes: u32) {
        match self.store.give_pushes_back(&self.month(month), pushes).await {
            GivenBack::Done => {}
            GivenBack::Lost(error) => {
                tracing::warn!(channel = %self.channel, error = %Causes(&error), "reserved pushes may be lost to the month: it isn't known whether they were given back");
            }
            GivenBack::NotYet(error) => {
                tracing::warn!(channel = %self.channel, error = %Causes(&error), "reserved pushes are given back later");
                locked(&self.state).keep(month, pushes);
            }
        }
    }

    fn month(&self, month: Month) -> PushMonth {
        PushMonth { channel: self.channel.clone(), month }
    }
}

/// Returns how many pushes a process may have reserved and not made: a hundredth of the month's, at least one.
fn most(limit: NonZeroU32) -> NonZeroU32 {
    NonZeroU32::new(limit.get() / 100).unwrap_or(NonZeroU32::MIN)
}

/// That a notice is worked on.
pub struct AtHand<'a>(&'a Budget);

impl AtHand<'_> {
    /// The notice isn't worked on any more: what is reserved is given back if it was the last one.
    pub async fn leave(self) {
        let budget = self.0;
        drop(self);
        budget.rest().await;
    }
}

impl Drop for AtHand<'_> {
    fn drop(&mut self) {
        let mut state = locked(&self.0.state);
        state.at_hand = state.at_hand.saturating_sub(1);
    }
}

/// One push of the month. Dropped once the push has begun, it stays with its notice: the push may have been accepted.
pub struct Unit<'a> {
    budget: &'a Budget,
    notice: &'a NoticeId,
    month: Month,
    kind: Kind,
    push: Push,
    _slot: SemaphorePermit<'a>,
}

/// How far a push has come.
#[derive(PartialEq)]
enum Push {
    /// It may have reached LINE.
    Begun,
    /// It isn't made yet.
    Due,
    /// What became of it is known.
    Settled,
}

impl Unit<'_> {
    /// Takes note that the push is made now.
    pub fn begin(&mut self) {
        self.push = Push::Begun;
    }

    /// Returns whether it is a unit of this month.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.month == Month::of(self.budget.clock.now())
    }

    /// LINE accepted the push: now, or in an earlier attempt that had a unit of its own.
    pub fn accepted(mut self, accepted: &Accepted) {
        let mut state = locked(&self.budget.state);
        match (self.kind, accepted.before) {
            (Kind::New, true) => state.free(self.month),
            (Kind::New, false) => state.made(),
            (Kind::OfNotice, _) => {}
        }
        state.settled(self.notice);
        self.push = Push::Settled;
    }

    /// The push was certainly not accepted.
    pub fn refused(mut self) {
        self.push = Push::Due;
    }
}

impl Drop for Unit<'_> {
    fn drop(&mut self) {
        let mut state = locked(&self.budget.state);
        match (&self.push, self.kind) {
            (Push::Begun, Kind::New) => state.stays_with(self.notice, self.month),
            (Push::Due, Kind::New) => state.free(self.month),
            (Push::Settled, _) | (_, Kind::OfNotice) => {}
        }
    }
}

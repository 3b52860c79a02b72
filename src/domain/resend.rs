//! A notice sent again: when that is refused, and which notices a resend settles.
//!
//! The notices of one stamp are a chain: its own, then its resends by number; so are those of the completed card. Only the
//! last one counts: while that is on its way nothing more is sent, and when LINE accepts it, the ones before it are done
//! too.

#[cfg(test)]
mod tests;

use super::{
    fact::{Facts, Resend, ResendCompleted},
    ids::{EventId, LineUserId, StampId},
    notice::{NoticeKey, NoticeStatus, ParkedState},
    time::Timestamp,
};

/// The last number there is: a resend's key has three digits.
pub const LAST_NUMBER: u16 = 999;

/// Names the notices of which only the last one counts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Chain {
    /// Those of the completed card.
    Completed,
    /// Those of one stamp.
    Stamp(StampId),
}

impl Chain {
    /// Returns the chain of a notice.
    #[must_use]
    pub fn of(key: &NoticeKey) -> Self {
        match key {
            NoticeKey::Completed | NoticeKey::ResendCompleted { .. } => Self::Completed,
            NoticeKey::Resend { stamp_id, .. } | NoticeKey::Stamp(stamp_id) => Self::Stamp(stamp_id.clone()),
        }
    }

    /// Returns the notice of its n-th resend.
    #[must_use]
    pub fn resend(&self, number: u16) -> NoticeKey {
        match self {
            Self::Completed => NoticeKey::ResendCompleted { number },
            Self::Stamp(stamp_id) => NoticeKey::Resend { stamp_id: stamp_id.clone(), number },
        }
    }

    /// Returns whether a notice is one of it.
    fn has(&self, key: &NoticeKey) -> bool {
        match (self, key) {
            (Self::Completed, NoticeKey::Completed | NoticeKey::ResendCompleted { .. }) => true,
            (Self::Stamp(of), NoticeKey::Resend { stamp_id, .. } | NoticeKey::Stamp(stamp_id)) => of == stamp_id,
            (Self::Completed | Self::Stamp(_), _) => false,
        }
    }

    /// Returns the refusal of an order while its last notice is on its way.
    #[must_use]
    pub fn pending(&self) -> ResendRefusal {
        match self {
            Self::Completed => ResendRefusal::CompletedPending,
            Self::Stamp(_) => ResendRefusal::Pending,
        }
    }

    /// Returns the refusal of an order where there is no notice.
    fn missing(&self) -> ResendRefusal {
        match self {
            Self::Completed => ResendRefusal::NotCompleted,
            Self::Stamp(_) => ResendRefusal::NotAcquired,
        }
    }
}

/// An order to send a notice again.
#[derive(Debug, Clone, Copy)]
pub struct ResendOrder<'a> {
    /// Which notice.
    pub of: &'a Chain,
    /// The name of the admin token, or of the operator at a terminal.
    pub requested_by: &'a str,
    /// When it was given.
    pub requested_at: Timestamp,
    /// Only if its last notice is in this state.
    pub only_in: Option<ParkedState>,
}

/// The fact that an order comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResendFact {
    /// A completed card's notice is sent again.
    Completed(ResendCompleted),
    /// A stamp's notice is sent again.
    Stamp(Resend),
}

impl ResendFact {
    /// Returns which resend it is, from 1.
    #[must_use]
    pub fn number(&self) -> u16 {
        match self {
            Self::Completed(resend) => resend.number,
            Self::Stamp(resend) => resend.number,
        }
    }
}

/// Why a notice isn't sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResendRefusal {
    /// The last notice of the completed card is waiting on the ordinary path, or held.
    #[error("the last notice of the completed card is waiting or held, and goes out by itself")]
    CompletedPending,
    /// The participant doesn't have the stamp, so there is no notice of it.
    #[error("this participant doesn't have that stamp, so there is no notice of it")]
    NotAcquired,
    /// The participant has no completed card, or its event had no message for one: there is no notice of it.
    #[error("this participant has no completed card that called for a notice")]
    NotCompleted,
    /// 999 resends are all there are.
    #[error("this notice was sent again {LAST_NUMBER} times: there are no more numbers")]
    NumbersUsedUp,
    /// Its last notice isn't in the state that the order names.
    #[error("the last notice of it is in another state")]
    OtherState,
    /// The last notice of the stamp is waiting on the ordinary path, or held.
    #[error("the last notice of this stamp is waiting or held, and goes out by itself")]
    Pending,
}

impl ResendCompleted {
    /// Returns the same resend, of a stamp's notice.
    fn of_stamp(self, stamp_id: StampId) -> Resend {
        let Self { event_id, line_user_id, number, requested_by, requested_at, notice } = self;
        Resend { event_id, line_user_id, stamp_id, number, requested_by, requested_at, notice }
    }
}

impl Facts {
    /// Decides on an order to send a notice again: returns the fact to record, or why not. Whatever became of the last
    /// notice, it may be ordered again, unless that is still on its way.
    pub fn resend(&self, order: &ResendOrder<'_>) -> Result<ResendFact, ResendRefusal> {
        let (event_id, line_user_id) = self.owner_of(order.of).ok_or(order.of.missing())?;
        let (last, status) = self.last_notice(order.of).ok_or(order.of.missing())?;
        let number = number_after(&last, status, order)?;
        let again = ResendCompleted {
            event_id: event_id.clone(),
            line_user_id: line_user_id.clone(),
            number,
            requested_by: order.requested_by.to_owned(),
            requested_at: order.requested_at,
            notice: NoticeStatus::Pending { maybe_sent_at: None },
        };
        Ok(match order.of {
            Chain::Completed => ResendFact::Completed(again),
            Chain::Stamp(stamp_id) => ResendFact::Stamp(again.of_stamp(stamp_id.clone())),
        })
    }

    /// Returns the last notice of a chain: its newest resend, or its own where there is none. `None` where no fact calls for
    /// it.
    #[must_use]
    pub fn last_notice(&self, of: &Chain) -> Option<(NoticeKey, &NoticeStatus)> {
        self.owner_of(of)?;
        self.chain(of).max_by_key(|(key, _)| number_of(key))
    }

    /// Returns when LINE may have accepted a notice of this chain without our knowing: the newest such moment of all that
    /// are unsent. `None` where each attempt had a clear answer.
    #[must_use]
    pub fn maybe_sent_at(&self, of: &Chain) -> Option<Timestamp> {
        self.chain(of).filter_map(|(_, status)| maybe_sent_at(status)).max()
    }

    /// Returns the notices that are settled when LINE accepts this one: those of the same chain before it that LINE has not
    /// accepted. Only a resend settles others.
    #[must_use]
    pub fn settled_by(&self, notice: &NoticeKey) -> Vec<NoticeKey> {
        let chain = Chain::of(notice);
        let earlier = self.chain(&chain).filter(|(key, _)| number_of(key) < number_of(notice));
        earlier.filter(|(_, status)| is_unsent(status)).map(|(key, _)| key).collect()
    }

    /// Returns whose notices they are, if the fact that calls for the first of them is there.
    fn owner_of(&self, of: &Chain) -> Option<(&EventId, &LineUserId)> {
        match of {
            Chain::Completed => {
                let card = self.completed.as_ref().filter(|card| card.notice != NoticeStatus::None)?;
                Some((&card.event_id, &card.line_user_id))
            }
            Chain::Stamp(stamp_id) => self.stamp(stamp_id).map(|stamp| (&stamp.event_id, &stamp.line_user_id)),
        }
    }

    /// Returns the notices of a chain that are there.
    pub(super) fn chain(&self, of: &Chain) -> impl Iterator<Item = (NoticeKey, &NoticeStatus)> {
        self.notices().filter(|(key, _)| of.has(key))
    }
}

/// Returns the number of the resend that follows the last notice of a chain, or why there is none.
fn number_after(last: &NoticeKey, status: &NoticeStatus, order: &ResendOrder<'_>) -> Result<u16, ResendRefusal> {
    if is_on_its_way(status) {
        return Err(order.of.pending());
    }
    let number = number_of(last) + 1;
    if number > LAST_NUMBER {
        return Err(ResendRefusal::NumbersUsedUp);
    }
    if order.only_in.is_some_and(|state| !is_in(status, state)) {
        return Err(ResendRefusal::OtherState);
    }
    Ok(number)
}

/// Returns which resend a notice is; 0 = none.
#[must_use]
pub fn number_of(key: &NoticeKey) -> u16 {
    match key {
        NoticeKey::Resend { number, .. } | NoticeKey::ResendCompleted { number } => *number,
        NoticeKey::Completed | NoticeKey::Stamp(_) => 0,
    }
}

fn is_in(status: &NoticeStatus, state: ParkedState) -> bool {
    matches!(status, NoticeStatus::Parked(parked) if parked.state == state)
}

/// Returns whether delivery sends it without an order.
fn is_on_its_way(status: &NoticeStatus) -> bool {
    match status {
        NoticeStatus::None | NoticeStatus::Sent { .. } => false,
        NoticeStatus::Parked(parked) => parked.state == ParkedState::Held,
        NoticeStatus::Pending { .. } => true,
    }
}

fn maybe_sent_at(status: &NoticeStatus) -> Option<Timestamp> {
    match status {
        NoticeStatus::None | NoticeStatus::Sent { .. } => None,
        NoticeStatus::Parked(parked) => parked.maybe_sent_at,
        NoticeStatus::Pending { maybe_sent_at } => *maybe_sent_at,
    }
}

fn is_unsent(status: &NoticeStatus) -> bool {
    matches!(status, NoticeStatus::Parked(_) | NoticeStatus::Pending { .. })
}

//! A stamp's notice sent again: when that is refused, and which notices a resend settles.
//!
//! The notices of one stamp are a chain: its own, then its resends by number. Only the last one counts: while that is
//! on its way nothing more is sent, and when LINE accepts it, the ones before it are done too.

use super::{
    fact::{Facts, Resend},
    ids::StampId,
    notice::{NoticeKey, NoticeStatus, ParkedState},
    time::Timestamp,
};

/// The last number there is: a resend's key has three digits.
pub const LAST_NUMBER: u16 = 999;

/// An order to send a stamp's notice again.
#[derive(Debug, Clone, Copy)]
pub struct ResendOrder<'a> {
    /// Of which stamp.
    pub stamp_id: &'a StampId,
    /// The name of the admin token, or of the operator at a terminal.
    pub requested_by: &'a str,
    /// When it was given.
    pub requested_at: Timestamp,
    /// Only if the stamp's last notice is in this state.
    pub only_in: Option<ParkedState>,
}

/// Why a notice isn't sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResendRefusal {
    /// The participant doesn't have the stamp, so there is no notice of it.
    #[error("this participant doesn't have that stamp, so there is no notice of it")]
    NotAcquired,
    /// 999 resends are all there are.
    #[error("this notice was sent again {LAST_NUMBER} times: there are no more numbers")]
    NumbersUsedUp,
    /// Its last notice isn't in the state that the order names.
    #[error("the last notice of this stamp is in another state")]
    OtherState,
    /// Its last notice is waiting on the ordinary path, or held.
    #[error("the last notice of this stamp is waiting or held, and goes out by itself")]
    Pending,
}

impl Facts {
    /// Decides on an order to send a stamp's notice again: returns the fact to record, or why not. Whatever became of the
    /// last notice, it may be ordered again, unless that is still on its way.
    pub fn resend(&self, order: &ResendOrder<'_>) -> Result<Resend, ResendRefusal> {
        let stamp = self.stamp(order.stamp_id).ok_or(ResendRefusal::NotAcquired)?;
        let (last, status) = self.last_notice(order.stamp_id).ok_or(ResendRefusal::NotAcquired)?;
        if is_on_its_way(status) {
            return Err(ResendRefusal::Pending);
        }
        let number = number_of(&last) + 1;
        if number > LAST_NUMBER {
            return Err(ResendRefusal::NumbersUsedUp);
        }
        if order.only_in.is_some_and(|state| !is_in(status, state)) {
            return Err(ResendRefusal::OtherState);
        }
        Ok(Resend {
            event_id: stamp.event_id.clone(),
            line_user_id: stamp.line_user_id.clone(),
            stamp_id: order.stamp_id.clone(),
            number,
            requested_by: order.requested_by.to_owned(),
            requested_at: order.requested_at,
            notice: NoticeStatus::Pending { maybe_sent_at: None },
        })
    }

    /// Returns the last notice of a stamp: its newest resend, or its own where there is none. `None` where the stamp isn't
    /// acquired.
    #[must_use]
    pub fn last_notice(&self, stamp_id: &StampId) -> Option<(NoticeKey, &NoticeStatus)> {
        let own = self.stamp(stamp_id)?;
        let resends = self.resends.iter().filter(|resend| resend.stamp_id == *stamp_id);
        let newest = resends.max_by_key(|resend| resend.number);
        Some(newest.map_or((NoticeKey::Stamp(stamp_id.clone()), &own.notice), |newest| {
            (NoticeKey::Resend { stamp_id: stamp_id.clone(), number: newest.number }, &newest.notice)
        }))
    }

    /// Returns when LINE may have accepted a notice of this stamp without our knowing: the newest such moment of all that
    /// are unsent. `None` where each attempt had a clear answer.
    #[must_use]
    pub fn maybe_sent_at(&self, stamp_id: &StampId) -> Option<Timestamp> {
        let own = self.stamp(stamp_id).map(|stamp| &stamp.notice);
        let resends = self.resends.iter().filter(|resend| resend.stamp_id == *stamp_id).map(|resend| &resend.notice);
        own.into_iter().chain(resends).filter_map(maybe_sent_at).max()
    }

    /// Returns the notices that are settled when LINE accepts this one: those of the same stamp before it that LINE has not
    /// accepted. Only a resend settles others.
    #[must_use]
    pub fn settled_by(&self, notice: &NoticeKey) -> Vec<NoticeKey> {
        let NoticeKey::Resend { stamp_id, number } = notice else { return Vec::new() };
        let own = self.stamp(stamp_id).map(|stamp| (NoticeKey::Stamp(stamp_id.clone()), &stamp.notice));
        let earlier = self.resends.iter().filter(|resend| resend.stamp_id == *stamp_id && resend.number < *number);
        let earlier = earlier
            .map(|resend| (NoticeKey::Resend { stamp_id: stamp_id.clone(), number: resend.number }, &resend.notice));
        let chain = own.into_iter().chain(earlier);
        chain.filter(|(_, status)| is_unsent(status)).map(|(key, _)| key).collect()
    }
}

/// Returns which resend a notice is; 0 = none.
fn number_of(key: &NoticeKey) -> u16 {
    match key {
        NoticeKey::Resend { number, .. } => *number,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        fact::{Fact, UserStamp},
        ids::LineUserId,
        notice::Parked,
    };

    fn stamp(id: &str, notice: NoticeStatus) -> Fact {
        Fact::UserStamp(UserStamp {
            proof: None,
            event_id: "e".parse().unwrap(),
            line_user_id: LineUserId::stored("U1234567890abcdef").unwrap(),
            stamp_id: id.parse().unwrap(),
            acquired_at: Timestamp::EPOCH,
            request_id: None,
            notice,
        })
    }

    fn again(id: &str, number: u16, notice: NoticeStatus) -> Fact {
        Fact::Resend(Resend {
            event_id: "e".parse().unwrap(),
            line_user_id: LineUserId::stored("U1234567890abcdef").unwrap(),
            stamp_id: id.parse().unwrap(),
            number,
            requested_by: "office".to_owned(),
            requested_at: Timestamp::EPOCH,
            notice,
        })
    }

    fn parked(state: ParkedState) -> NoticeStatus {
        NoticeStatus::Parked(Parked { state, since: Timestamp::EPOCH, reason: None, maybe_sent_at: None, error: None })
    }

    fn waiting() -> NoticeStatus {
        NoticeStatus::Pending { maybe_sent_at: None }
    }

    fn sent() -> NoticeStatus {
        NoticeStatus::Sent { at: Some(Timestamp::EPOCH), request_id: None }
    }

    fn order(stamp_id: &StampId) -> ResendOrder<'_> {
        ResendOrder { stamp_id, requested_by: "office", requested_at: Timestamp::EPOCH, only_in: None }
    }

    fn number(facts: impl IntoIterator<Item = Fact>) -> Result<u16, ResendRefusal> {
        let facts: Facts = facts.into_iter().collect();
        facts.resend(&order(&"001".parse().unwrap())).map(|resend| resend.number)
    }

    fn settled_by(facts: impl IntoIterator<Item = Fact>, number: u16) -> Vec<NoticeKey> {
        let facts: Facts = facts.into_iter().collect();
        facts.settled_by(&NoticeKey::Resend { stamp_id: "001".parse().unwrap(), number })
    }

    #[test]
    fn what_left_its_way_may_be_sent_again() {
        use ParkedState::{Expired, Failed, Suppressed, Unknown};
        let ended = [Expired, Failed, Suppressed, Unknown].map(parked).into_iter().chain([sent(), NoticeStatus::None]);
        for notice in ended {
            assert_eq!(number([stamp("001", notice.clone())]), Ok(1), "{notice:?}");
        }
    }

    #[test]
    fn what_is_on_its_way_is_not_sent_again() {
        for notice in [waiting(), parked(ParkedState::Held)] {
            assert_eq!(number([stamp("001", notice.clone())]), Err(ResendRefusal::Pending), "{notice:?}");
            let failed = stamp("001", parked(ParkedState::Failed));
            assert_eq!(number([failed, again("001", 1, notice)]), Err(ResendRefusal::Pending));
        }
    }

    #[test]
    fn an_order_for_a_state_is_refused_where_the_last_notice_is_in_another() {
        let stamp_id = "001".parse().unwrap();
        let only_in = |state, facts: Vec<Fact>| {
            let facts: Facts = facts.into_iter().collect();
            facts.resend(&ResendOrder { only_in: Some(state), ..order(&stamp_id) }).map(|resend| resend.number)
        };
        let failed = || stamp("001", parked(ParkedState::Failed));
        assert_eq!(only_in(ParkedState::Failed, vec![failed()]), Ok(1));
        assert_eq!(only_in(ParkedState::Unknown, vec![failed()]), Err(ResendRefusal::OtherState));
        assert_eq!(
            only_in(ParkedState::Failed, vec![failed(), again("001", 1, sent())]),
            Err(ResendRefusal::OtherState)
        );
        assert_eq!(
            only_in(ParkedState::Failed, vec![failed(), again("001", 1, waiting())]),
            Err(ResendRefusal::Pending)
        );
    }

    #[test]
    fn a_resend_is_numbered_after_the_newest_of_its_own_stamp() {
        let failed = || parked(ParkedState::Failed);
        let others = [stamp("002", waiting()), again("002", 7, waiting())];
        let mine = [stamp("001", failed()), again("001", 2, failed()), again("001", 1, failed())];
        assert_eq!(number(mine.into_iter().chain(others)), Ok(3));
    }

    #[test]
    fn a_resend_names_who_asked_and_when_and_is_pending() {
        let facts: Facts = [stamp("001", sent())].into_iter().collect();
        let now = Timestamp::EPOCH.plus_millis(7);
        let stamp_id = "001".parse().unwrap();
        let resend = facts.resend(&ResendOrder { requested_at: now, ..order(&stamp_id) }).unwrap();
        assert_eq!((resend.requested_by.as_str(), resend.requested_at, resend.notice), ("office", now, waiting()));
    }

    #[test]
    fn any_unsent_notice_of_a_stamp_may_be_on_the_phone() {
        let tried = |at: i64| {
            let maybe_sent_at = Some(Timestamp::EPOCH.plus_millis(at));
            let NoticeStatus::Parked(parked) = parked(ParkedState::Failed) else { panic!() };
            NoticeStatus::Parked(Parked { maybe_sent_at, ..parked })
        };
        let at = |facts: Vec<Fact>| {
            let facts: Facts = facts.into_iter().collect();
            facts.maybe_sent_at(&"001".parse().unwrap()).map(Timestamp::as_millis)
        };
        assert_eq!(at(vec![stamp("001", tried(7)), again("001", 1, parked(ParkedState::Failed))]), Some(7));
        assert_eq!(at(vec![stamp("001", tried(7)), again("001", 1, tried(9))]), Some(9));
        assert_eq!(at(vec![stamp("001", parked(ParkedState::Failed)), stamp("002", tried(7))]), None);
    }

    #[test]
    fn there_is_no_notice_of_a_stamp_that_is_not_acquired() {
        assert_eq!(number([stamp("002", sent())]), Err(ResendRefusal::NotAcquired));
        assert_eq!(number([]), Err(ResendRefusal::NotAcquired));
    }

    #[test]
    fn the_numbers_of_resends_end() {
        let after = |last| number([stamp("001", sent()), again("001", last, sent())]);
        assert_eq!(after(998), Ok(999));
        assert_eq!(after(999), Err(ResendRefusal::NumbersUsedUp));
    }

    #[test]
    fn an_accepted_resend_settles_all_before_it_that_line_has_not_accepted() {
        let facts = || {
            [
                stamp("001", parked(ParkedState::Failed)),
                again("001", 1, parked(ParkedState::Unknown)),
                again("001", 2, sent()),
                again("001", 3, waiting()),
                again("001", 4, parked(ParkedState::Failed)),
                stamp("002", parked(ParkedState::Failed)),
            ]
        };
        let stamp_id = || "001".parse().unwrap();
        let expected = [NoticeKey::Stamp(stamp_id()), NoticeKey::Resend { stamp_id: stamp_id(), number: 1 }];
        assert_eq!(settled_by(facts(), 3), expected);
        let facts: Facts = facts().into_iter().collect();
        assert_eq!(facts.settled_by(&NoticeKey::Stamp("001".parse().unwrap())), [], "only a resend speaks for others");
    }
}

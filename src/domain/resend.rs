//! A stamp's notice sent again: who may ask, and which notices a resend speaks for.
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

/// Why a notice isn't sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResendRefusal {
    /// They don't hold the stamp, so there is no notice of it.
    #[error("this participant doesn't hold that stamp, so there is no notice of it")]
    NotHeld,
    /// 999 resends are all there are.
    #[error("this notice was sent again {LAST_NUMBER} times: there are no more numbers")]
    NumbersUsedUp,
    /// Its last notice is waiting on the ordinary path, or held.
    #[error("the last notice of this stamp is waiting or held, and goes out by itself")]
    Pending,
}

impl Facts {
    /// Decides on a wish to have a stamp's notice sent again: the fact to record, or why not. Whatever became of the
    /// last notice, it may be asked for again, unless that is still on its way.
    pub fn resend(&self, stamp_id: &StampId, requested_by: &str, now: Timestamp) -> Result<Resend, ResendRefusal> {
        let stamp = self.stamp(stamp_id).ok_or(ResendRefusal::NotHeld)?;
        let (last, status) = self.last_notice(stamp_id).ok_or(ResendRefusal::NotHeld)?;
        if is_on_its_way(status) {
            return Err(ResendRefusal::Pending);
        }
        let number = number_of(&last) + 1;
        if number > LAST_NUMBER {
            return Err(ResendRefusal::NumbersUsedUp);
        }
        Ok(Resend {
            event_id: stamp.event_id.clone(),
            line_user_id: stamp.line_user_id.clone(),
            stamp_id: stamp_id.clone(),
            number,
            requested_by: requested_by.to_owned(),
            requested_at: now,
            notice: NoticeStatus::Waiting { tried_at: None },
        })
    }

    /// The last notice of a stamp: its newest resend, or its own where there is none. `None` where the stamp isn't held.
    #[must_use]
    pub fn last_notice(&self, stamp_id: &StampId) -> Option<(NoticeKey, &NoticeStatus)> {
        let own = self.stamp(stamp_id)?;
        let resends = self.resends.iter().filter(|resend| resend.stamp_id == *stamp_id);
        let newest = resends.max_by_key(|resend| resend.number);
        Some(newest.map_or((NoticeKey::Stamp(stamp_id.clone()), &own.notice), |newest| {
            (NoticeKey::Resend { stamp_id: stamp_id.clone(), number: newest.number }, &newest.notice)
        }))
    }

    /// When LINE may have accepted a notice of this stamp without our knowing: the newest such moment of all that are
    /// unsent. `None` where each attempt had a clear answer.
    #[must_use]
    pub fn may_have_been_accepted_at(&self, stamp_id: &StampId) -> Option<Timestamp> {
        let own = self.stamp(stamp_id).map(|stamp| &stamp.notice);
        let resends = self.resends.iter().filter(|resend| resend.stamp_id == *stamp_id).map(|resend| &resend.notice);
        own.into_iter().chain(resends).filter_map(tried_at).max()
    }

    /// The notices that are done when LINE accepts this one: those of the same stamp before it that LINE has not
    /// accepted. Only a resend speaks for others.
    #[must_use]
    pub fn spoken_for(&self, notice: &NoticeKey) -> Vec<NoticeKey> {
        let NoticeKey::Resend { stamp_id, number } = notice else { return Vec::new() };
        let own = self.stamp(stamp_id).map(|stamp| (NoticeKey::Stamp(stamp_id.clone()), &stamp.notice));
        let earlier = self.resends.iter().filter(|resend| resend.stamp_id == *stamp_id && resend.number < *number);
        let earlier = earlier
            .map(|resend| (NoticeKey::Resend { stamp_id: stamp_id.clone(), number: resend.number }, &resend.notice));
        let chain = own.into_iter().chain(earlier);
        chain.filter(|(_, status)| is_unsent(status)).map(|(key, _)| key).collect()
    }
}

/// Which resend a notice is; 0 = none.
fn number_of(key: &NoticeKey) -> u16 {
    match key {
        NoticeKey::Resend { number, .. } => *number,
        NoticeKey::Completed | NoticeKey::Stamp(_) => 0,
    }
}

/// Whether delivery will send it by itself.
fn is_on_its_way(status: &NoticeStatus) -> bool {
    match status {
        NoticeStatus::None | NoticeStatus::Sent { .. } => false,
        NoticeStatus::Parked(parked) => parked.state == ParkedState::Held,
        NoticeStatus::Waiting { .. } => true,
    }
}

fn tried_at(status: &NoticeStatus) -> Option<Timestamp> {
    match status {
        NoticeStatus::None | NoticeStatus::Sent { .. } => None,
        NoticeStatus::Parked(parked) => parked.tried_at,
        NoticeStatus::Waiting { tried_at } => *tried_at,
    }
}

fn is_unsent(status: &NoticeStatus) -> bool {
    matches!(status, NoticeStatus::Parked(_) | NoticeStatus::Waiting { .. })
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
        NoticeStatus::Parked(Parked { state, since: Timestamp::EPOCH, reason: None, tried_at: None, error: None })
    }

    fn waiting() -> NoticeStatus {
        NoticeStatus::Waiting { tried_at: None }
    }

    fn sent() -> NoticeStatus {
        NoticeStatus::Sent { at: Some(Timestamp::EPOCH), request_id: None }
    }

    fn number(facts: impl IntoIterator<Item = Fact>) -> Result<u16, ResendRefusal> {
        let facts: Facts = facts.into_iter().collect();
        facts.resend(&"001".parse().unwrap(), "office", Timestamp::EPOCH).map(|resend| resend.number)
    }

    fn spoken_for(facts: impl IntoIterator<Item = Fact>, number: u16) -> Vec<NoticeKey> {
        let facts: Facts = facts.into_iter().collect();
        facts.spoken_for(&NoticeKey::Resend { stamp_id: "001".parse().unwrap(), number })
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
    fn a_resend_is_numbered_after_the_newest_of_its_own_stamp() {
        let failed = || parked(ParkedState::Failed);
        let others = [stamp("002", waiting()), again("002", 7, waiting())];
        let mine = [stamp("001", failed()), again("001", 2, failed()), again("001", 1, failed())];
        assert_eq!(number(mine.into_iter().chain(others)), Ok(3));
    }

    #[test]
    fn a_resend_tells_who_asked_when_and_waits() {
        let facts: Facts = [stamp("001", sent())].into_iter().collect();
        let now = Timestamp::EPOCH.plus_millis(7);
        let resend = facts.resend(&"001".parse().unwrap(), "office", now).unwrap();
        assert_eq!((resend.requested_by.as_str(), resend.requested_at, resend.notice), ("office", now, waiting()));
    }

    #[test]
    fn any_unsent_notice_of_a_stamp_may_be_on_the_phone() {
        let tried = |at: i64| {
            let tried_at = Some(Timestamp::EPOCH.plus_millis(at));
            let NoticeStatus::Parked(parked) = parked(ParkedState::Failed) else { panic!() };
            NoticeStatus::Parked(Parked { tried_at, ..parked })
        };
        let at = |facts: Vec<Fact>| {
            let facts: Facts = facts.into_iter().collect();
            facts.may_have_been_accepted_at(&"001".parse().unwrap()).map(Timestamp::as_millis)
        };
        assert_eq!(at(vec![stamp("001", tried(7)), again("001", 1, parked(ParkedState::Failed))]), Some(7));
        assert_eq!(at(vec![stamp("001", tried(7)), again("001", 1, tried(9))]), Some(9));
        assert_eq!(at(vec![stamp("001", parked(ParkedState::Failed)), stamp("002", tried(7))]), None);
    }

    #[test]
    fn there_is_no_notice_of_a_stamp_that_is_not_held() {
        assert_eq!(number([stamp("002", sent())]), Err(ResendRefusal::NotHeld));
        assert_eq!(number([]), Err(ResendRefusal::NotHeld));
    }

    #[test]
    fn the_numbers_of_resends_end() {
        let after = |last| number([stamp("001", sent()), again("001", last, sent())]);
        assert_eq!(after(998), Ok(999));
        assert_eq!(after(999), Err(ResendRefusal::NumbersUsedUp));
    }

    #[test]
    fn an_accepted_resend_speaks_for_all_before_it_that_line_has_not_accepted() {
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
        assert_eq!(spoken_for(facts(), 3), expected);
        let facts: Facts = facts().into_iter().collect();
        assert_eq!(facts.spoken_for(&NoticeKey::Stamp("001".parse().unwrap())), [], "only a resend speaks for others");
    }
}

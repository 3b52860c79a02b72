//! When a notice may be sent again, and what that settles.

use super::*;
use crate::domain::{
    fact::{Completed, Fact, UserStamp},
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
    NoticeStatus::Sent { at: Some(Timestamp::EPOCH), request_id: None, via: None }
}

fn first_stamp() -> Chain {
    Chain::Stamp("001".parse().unwrap())
}

fn order(of: &Chain) -> ResendOrder<'_> {
    ResendOrder { of, requested_by: "office", requested_at: Timestamp::EPOCH, only_in: None }
}

fn number(facts: impl IntoIterator<Item = Fact>) -> Result<u16, ResendRefusal> {
    let facts: Facts = facts.into_iter().collect();
    facts.resend(&order(&first_stamp())).map(|resend| resend.number())
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
    let of = first_stamp();
    let only_in = |state, facts: Vec<Fact>| {
        let facts: Facts = facts.into_iter().collect();
        facts.resend(&ResendOrder { only_in: Some(state), ..order(&of) }).map(|resend| resend.number())
    };
    let failed = || stamp("001", parked(ParkedState::Failed));
    assert_eq!(only_in(ParkedState::Failed, vec![failed()]), Ok(1));
    assert_eq!(only_in(ParkedState::Unknown, vec![failed()]), Err(ResendRefusal::OtherState));
    assert_eq!(only_in(ParkedState::Failed, vec![failed(), again("001", 1, sent())]), Err(ResendRefusal::OtherState));
    assert_eq!(only_in(ParkedState::Failed, vec![failed(), again("001", 1, waiting())]), Err(ResendRefusal::Pending));
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
    let decided = facts.resend(&ResendOrder { requested_at: now, ..order(&first_stamp()) });
    let Ok(ResendFact::Stamp(resend)) = decided else { panic!("{decided:?}") };
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
        facts.maybe_sent_at(&first_stamp()).map(Timestamp::as_millis)
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

fn full(notice: NoticeStatus) -> Fact {
    Fact::Completed(Completed {
        event_id: "e".parse().unwrap(),
        line_user_id: LineUserId::stored("U1234567890abcdef").unwrap(),
        completed_at: Timestamp::EPOCH,
        by_stamp_id: "001".parse().unwrap(),
        notice,
    })
}

fn full_again(number: u16, notice: NoticeStatus) -> Fact {
    Fact::ResendCompleted(ResendCompleted {
        event_id: "e".parse().unwrap(),
        line_user_id: LineUserId::stored("U1234567890abcdef").unwrap(),
        number,
        requested_by: "office".to_owned(),
        requested_at: Timestamp::EPOCH,
        notice,
    })
}

fn number_of_card(facts: impl IntoIterator<Item = Fact>) -> Result<u16, ResendRefusal> {
    let facts: Facts = facts.into_iter().collect();
    facts.resend(&order(&Chain::Completed)).map(|resend| resend.number())
}

#[test]
fn the_notice_of_a_full_card_may_be_sent_again_unless_it_is_on_its_way() {
    use ParkedState::{Expired, Failed, Suppressed, Unknown};
    for notice in [Expired, Failed, Suppressed, Unknown].map(parked).into_iter().chain([sent()]) {
        assert_eq!(number_of_card([full(notice.clone())]), Ok(1), "{notice:?}");
        assert_eq!(number_of_card([full(sent()), full_again(1, notice)]), Ok(2));
    }
    for notice in [waiting(), parked(ParkedState::Held)] {
        assert_eq!(number_of_card([full(notice.clone())]), Err(ResendRefusal::CompletedPending), "{notice:?}");
        assert_eq!(number_of_card([full(sent()), full_again(1, notice)]), Err(ResendRefusal::CompletedPending));
    }
    assert_eq!(number_of_card([full(sent()), full_again(999, sent())]), Err(ResendRefusal::NumbersUsedUp));
}

#[test]
fn a_card_that_is_not_full_or_called_for_no_notice_has_none_to_send_again() {
    assert_eq!(number_of_card([stamp("001", sent())]), Err(ResendRefusal::NotCompleted));
    assert_eq!(number_of_card([stamp("001", sent()), full(NoticeStatus::None)]), Err(ResendRefusal::NotCompleted));
}

#[test]
fn a_stamps_notices_and_those_of_the_full_card_are_two_chains() {
    let failed = || parked(ParkedState::Failed);
    let facts = || {
        [
            stamp("001", failed()),
            again("001", 1, failed()),
            full(failed()),
            full_again(1, failed()),
            full_again(2, failed()),
            full_again(3, waiting()),
        ]
    };
    assert_eq!(number(facts()), Ok(2), "the full card's notice on its way is another matter");
    assert_eq!(number_of_card(facts()), Err(ResendRefusal::CompletedPending));
    let facts: Facts = facts().into_iter().collect();
    let settled = facts.settled_by(&NoticeKey::ResendCompleted { number: 2 });
    assert_eq!(settled, [NoticeKey::Completed, NoticeKey::ResendCompleted { number: 1 }]);
    assert_eq!(facts.settled_by(&NoticeKey::Completed), [], "only a resend speaks for others");
}

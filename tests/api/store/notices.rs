//! The delivery's marks: each one guarded, all of them safe to repeat.

use stamp_rally::{
    domain::{
        event::IndexShards,
        ids::StampId,
        notice::{NoticeId, NoticeKey, NoticeStatus, Parked, ParkedState, PushRefused, Via},
        time::Timestamp,
    },
    store::{
        listing::{Direction, Wanted},
        notices::{Marked, Sending},
    },
};

use super::{
    super::proxy::{Fault, Often},
    Desk, claim, evening, hanako, text,
};

fn first() -> StampId {
    "001".parse().unwrap()
}

fn notice() -> NoticeId {
    NoticeId { event_id: "rally".parse().unwrap(), line_user_id: hanako(), key: NoticeKey::Stamp(first()) }
}

fn pushed(at: Timestamp, request_id: Option<&str>) -> Sending<'_> {
    Sending { at, request_id, via: Via::Push }
}

fn parked(state: ParkedState, minutes: i64) -> Parked {
    Parked {
        state,
        since: evening(minutes),
        reason: Some("monthly_limit".to_owned()),
        maybe_sent_at: None,
        error: None,
    }
}

impl Desk {
    /// A desk where Hanako holds a stamp whose notice waits.
    async fn with_a_stamp(story: &'static str) -> Self {
        let desk = Self::open(story).await;
        desk.store.acquire(&claim(&hanako(), "001", "r", evening(0)), IndexShards::ONE).await.unwrap();
        desk.wire();
        desk
    }

    async fn status(&self) -> NoticeStatus {
        self.store.stamp(&"rally".parse().unwrap(), &hanako(), &first()).await.unwrap().unwrap().notice
    }

    async fn parked(&self, state: ParkedState) -> usize {
        let (rally, all) = ("rally".parse().unwrap(), Wanted { direction: Direction::Asc, limit: 10, after: None });
        let listed = self.store.parked(&rally, state, &all).await.unwrap().rows.len();
        let counted = self.store.count_parked(&rally, state).await.unwrap();
        assert_eq!(usize::try_from(counted).unwrap(), listed, "what is counted is what is listed");
        listed
    }
}

#[tokio::test]
async fn a_notice_is_marked_sent_once_by_one_update() {
    let desk = Desk::with_a_stamp("marked once").await;
    assert_eq!(desk.store.mark_sent(&notice(), &pushed(evening(1), Some("line-1"))).await.unwrap(), Marked::Done);
    assert_eq!(desk.store.mark_sent(&notice(), &pushed(evening(2), Some("line-2"))).await.unwrap(), Marked::Already);
    assert_eq!(desk.wire(), ["2 × UpdateItem line-event"]);
    let sent = NoticeStatus::Sent { at: Some(evening(1)), request_id: Some("line-1".to_owned()), via: Some(Via::Push) };
    assert_eq!(desk.status().await, sent);
}

#[tokio::test]
async fn a_mark_mends_what_was_spoilt_while_the_message_was_pushed_and_is_written_once() {
    let desk = Desk::with_a_stamp("spoilt while it was pushed").await;
    let partition = format!("EVENT#rally#USER#{}", hanako());
    let spoilt = || desk.spoil(&partition, "STAMP#001", "flexMessageSent", Some(text("false")));
    spoilt().await;
    assert_eq!(
        desk.store.note_attempt(&notice(), evening(1)).await.unwrap(),
        Marked::Done,
        "the attempt is not forgotten"
    );
    assert_eq!(desk.store.mark_sent(&notice(), &pushed(evening(2), Some("line-1"))).await.unwrap(), Marked::Done);
    assert_eq!(desk.store.mark_sent(&notice(), &pushed(evening(3), Some("line-2"))).await.unwrap(), Marked::Already);
    let sent = NoticeStatus::Sent { at: Some(evening(2)), request_id: Some("line-1".to_owned()), via: Some(Via::Push) };
    assert_eq!(desk.status().await, sent);
}

#[tokio::test]
async fn a_mark_makes_no_item_of_a_participant_who_was_erased() {
    let desk = Desk::open("erased").await;
    let marks = [
        desk.store.mark_sent(&notice(), &pushed(evening(1), None)).await,
        desk.store.park(&notice(), None, &parked(ParkedState::Held, 1)).await,
        desk.store.note_attempt(&notice(), evening(1)).await,
    ];
    assert!(marks.into_iter().all(|mark| mark.unwrap() == Marked::NoItem));
    assert_eq!(desk.raw(&format!("EVENT#rally#USER#{}", hanako()), "STAMP#001").await, None);
}

#[tokio::test]
async fn a_mark_whose_answer_got_lost_is_marked_before() {
    let desk = Desk::with_a_stamp("mark lost").await;
    desk.proxy.inject("UpdateItem", Fault::LostAnswer, Often::Next(1));
    assert_eq!(desk.store.mark_sent(&notice(), &pushed(evening(1), None)).await.unwrap(), Marked::Already);
    assert!(desk.status().await.is_sent());
}

#[tokio::test]
async fn a_parked_notice_is_listed_with_all_that_is_known_of_it_and_leaves_when_it_is_sent() {
    let desk = Desk::with_a_stamp("parks").await;
    let error = Some(PushRefused { status: 400, message: "no".to_owned(), at: evening(1) });
    let failed = Parked { error, maybe_sent_at: Some(evening(1)), ..parked(ParkedState::Failed, 1) };
    assert_eq!(desk.store.park(&notice(), None, &failed).await.unwrap(), Marked::Done);
    assert_eq!(desk.status().await, NoticeStatus::Parked(failed));
    assert_eq!(desk.parked(ParkedState::Failed).await, 1);

    assert_eq!(desk.store.mark_sent(&notice(), &pushed(evening(2), None)).await.unwrap(), Marked::Done);
    assert_eq!(desk.parked(ParkedState::Failed).await, 0);
    let item = desk.raw(&format!("EVENT#rally#USER#{}", hanako()), "STAMP#001").await.unwrap();
    for left in ["noticeState", "noticeSince", "noticeReason", "GSI1PK", "GSI1SK"] {
        assert!(!item.contains_key(left), "{left}");
    }
    assert!(item.contains_key("flexMessageError") && item.contains_key("noticeTriedAt"), "its history stays");
    assert!(item.contains_key("GSI2PK"), "the stamp is still listed among its holders");
}

#[tokio::test]
async fn an_attempt_that_was_noted_is_taken_back_by_its_own_process_alone() {
    let desk = Desk::with_a_stamp("attempts").await;
    desk.store.park(&notice(), None, &parked(ParkedState::Held, 1)).await.unwrap();
    let maybe_sent_at = async || {
        let NoticeStatus::Parked(parked) = desk.status().await else { panic!("it is parked") };
        parked.maybe_sent_at
    };
    assert_eq!(desk.store.note_attempt(&notice(), evening(2)).await.unwrap(), Marked::Done);
    assert_eq!(desk.store.note_attempt(&notice(), evening(3)).await.unwrap(), Marked::Already);
    assert_eq!(desk.store.forget_attempt(&notice(), evening(3)).await.unwrap(), Marked::Already);
    assert_eq!(maybe_sent_at().await, Some(evening(2)));
    assert_eq!(desk.store.forget_attempt(&notice(), evening(2)).await.unwrap(), Marked::Done);
    assert_eq!(maybe_sent_at().await, None);
}

#[tokio::test]
async fn a_notice_goes_from_the_state_it_is_in_and_from_no_other() {
    let desk = Desk::with_a_stamp("from a state").await;
    let expired = Parked { reason: None, ..parked(ParkedState::Expired, 2) };
    let park = async |from, parked: &Parked| desk.store.park(&notice(), from, parked).await.unwrap();
    assert_eq!(park(Some(ParkedState::Held), &expired).await, Marked::Already, "it is on the ordinary path");
    assert_eq!(park(None, &parked(ParkedState::Held, 1)).await, Marked::Done);
    assert_eq!(park(None, &parked(ParkedState::Failed, 1)).await, Marked::Already, "it is held");
    assert_eq!(park(Some(ParkedState::Held), &expired).await, Marked::Done);
    assert_eq!(desk.status().await, NoticeStatus::Parked(expired));
    assert_eq!((desk.parked(ParkedState::Held).await, desk.parked(ParkedState::Expired).await), (0, 1));
}

#[tokio::test]
async fn a_sent_notice_is_not_parked_any_more() {
    let desk = Desk::with_a_stamp("sent first").await;
    desk.store.mark_sent(&notice(), &pushed(evening(1), None)).await.unwrap();
    assert_eq!(desk.store.park(&notice(), None, &parked(ParkedState::Held, 2)).await.unwrap(), Marked::Already);
    assert_eq!(desk.store.note_attempt(&notice(), evening(3)).await.unwrap(), Marked::Already);
    assert_eq!(desk.parked(ParkedState::Held).await, 0);
}

#[tokio::test]
async fn a_notice_that_is_parked_and_marked_at_once_ends_sent_and_in_no_list() {
    let desk = Desk::with_a_stamp("park and mark").await;
    let (notice, held, sending) = (notice(), parked(ParkedState::Held, 1), pushed(evening(1), None));
    let (mark, park) = tokio::join!(desk.store.mark_sent(&notice, &sending), desk.store.park(&notice, None, &held));
    assert_eq!(mark.unwrap(), Marked::Done);
    park.unwrap();
    assert!(desk.status().await.is_sent());
    assert_eq!(desk.parked(ParkedState::Held).await, 0);
}

#[tokio::test]
async fn the_first_unclear_attempt_stays() {
    let desk = Desk::with_a_stamp("unclear").await;
    assert_eq!(desk.store.note_attempt(&notice(), evening(1)).await.unwrap(), Marked::Done);
    assert_eq!(desk.store.note_attempt(&notice(), evening(2)).await.unwrap(), Marked::Already);
    assert_eq!(desk.status().await, NoticeStatus::Pending { maybe_sent_at: Some(evening(1)) });
    let unknown = Parked { maybe_sent_at: Some(evening(3)), ..parked(ParkedState::Unknown, 4) };
    desk.store.park(&notice(), None, &unknown).await.unwrap();
    assert_eq!(desk.status().await, NoticeStatus::Parked(Parked { maybe_sent_at: Some(evening(1)), ..unknown }));
}

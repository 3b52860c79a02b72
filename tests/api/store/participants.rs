//! Hanako registers and collects: never twice, and nothing is lost.

use aws_sdk_dynamodb::types::AttributeValue;
use stamp_rally::{
    domain::{
        event::IndexShards,
        fact::{Completed, FactKey, Friendship, Resend},
        notice::{NoticeKey, NoticeStatus},
    },
    store::{StoreError, participants::Recorded},
};

use super::{
    super::proxy::{Fault, Often},
    Desk, claim, evening, hanako, item, registration, text,
};

const ONE: IndexShards = IndexShards::ONE;

fn participant() -> String {
    format!("EVENT#rally#USER#{}", hanako())
}

#[tokio::test]
async fn who_registers_again_gets_the_first_time_back_from_the_failed_condition_itself() {
    let desk = Desk::open("registers again").await;
    let first = registration(&hanako(), "r-1", evening(0));
    assert_eq!(desk.store.register(&first, ONE).await.unwrap(), Recorded::Written(first.clone()));
    let again = registration(&hanako(), "r-2", evening(5));
    assert_eq!(desk.store.register(&again, ONE).await.unwrap(), Recorded::Already(first));
    assert_eq!(desk.wire(), ["2 × PutItem line-event"]);
}

#[tokio::test]
async fn of_two_claims_at_once_one_is_now_and_one_is_before_and_both_answer_the_same() {
    let desk = Desk::open("two at once").await;
    let [one, other] = ["r-1", "r-2"].map(|request| claim(&hanako(), "001", request, evening(0)));
    let (one, other) = tokio::join!(desk.store.acquire(&one, ONE), desk.store.acquire(&other, ONE));
    let (one, other) = (one.unwrap(), other.unwrap());
    let is_now = |recorded: &Recorded<_>| matches!(recorded, Recorded::Written(_));
    assert!(is_now(&one) ^ is_now(&other), "{one:?} {other:?}");
    assert_eq!(one.fact(), other.fact());
}

#[tokio::test]
async fn of_two_registrations_at_once_one_is_now_and_one_is_before() {
    let desk = Desk::open("two registrations").await;
    let [one, other] = ["r-1", "r-2"].map(|request| registration(&hanako(), request, evening(0)));
    let (one, other) = tokio::join!(desk.store.register(&one, ONE), desk.store.register(&other, ONE));
    let (one, other) = (one.unwrap(), other.unwrap());
    assert!(matches!(one, Recorded::Written(_)) ^ matches!(other, Recorded::Written(_)), "{one:?} {other:?}");
    assert_eq!(one.fact(), other.fact());
}

#[tokio::test]
async fn our_own_write_whose_answer_got_lost_is_a_success() {
    let desk = Desk::open("own lost answer").await;
    let (user, stamp) = (registration(&hanako(), "r-1", evening(0)), claim(&hanako(), "001", "r-1", evening(0)));
    desk.proxy.inject("PutItem", Fault::LostAnswer, Often::Next(1));
    assert_eq!(desk.store.register(&user, ONE).await.unwrap(), Recorded::Written(user));
    assert_eq!(desk.wire(), ["2 × PutItem line-event"]);
    desk.proxy.inject("PutItem", Fault::LostAnswer, Often::Next(1));
    assert_eq!(desk.store.acquire(&stamp, ONE).await.unwrap(), Recorded::Written(stamp));
    assert_eq!(desk.wire(), ["2 × PutItem line-event"]);
}

#[tokio::test]
async fn a_lost_answer_of_another_request_is_acquired_already() {
    let desk = Desk::open("others lost answer").await;
    let first = claim(&hanako(), "001", "r-1", evening(0));
    desk.store.acquire(&first, ONE).await.unwrap();
    desk.proxy.inject("PutItem", Fault::LostAnswer, Often::Next(1));
    let again = claim(&hanako(), "001", "r-2", evening(1));
    assert_eq!(desk.store.acquire(&again, ONE).await.unwrap(), Recorded::Already(first));
}

#[tokio::test]
async fn a_request_that_is_repeated_later_is_answered_as_the_first_time_with_the_first_time() {
    let desk = Desk::open("same key").await;
    let first = claim(&hanako(), "001", "r-1", evening(0));
    desk.store.acquire(&first, ONE).await.unwrap();
    let again = claim(&hanako(), "001", "r-1", evening(60));
    assert_eq!(desk.store.acquire(&again, ONE).await.unwrap(), Recorded::Written(first));
}

#[tokio::test]
async fn an_articles_stamp_without_a_request_is_acquired_already() {
    let desk = Desk::open("article").await;
    let by_article =
        stamp_rally::domain::fact::UserStamp { request_id: None, ..claim(&hanako(), "001", "x", evening(0)) };
    desk.store.acquire(&by_article, ONE).await.unwrap();
    assert_eq!(desk.store.acquire(&by_article, ONE).await.unwrap(), Recorded::Already(by_article));
}

#[tokio::test]
async fn all_facts_of_a_participant_are_one_query_and_one_stamp_is_one_get() {
    let desk = Desk::open("one query").await;
    let user = registration(&hanako(), "r-1", evening(0));
    let stamps = ["001", "002"].map(|id| claim(&hanako(), id, "r-1", evening(1)));
    desk.store.register(&user, ONE).await.unwrap();
    for stamp in &stamps {
        desk.store.acquire(stamp, ONE).await.unwrap();
    }
    let done = Completed {
        event_id: "rally".parse().unwrap(),
        line_user_id: hanako(),
        completed_at: evening(1),
        by_stamp_id: "002".parse().unwrap(),
        notice: NoticeStatus::None,
    };
    assert_eq!(desk.store.complete(&done).await.unwrap(), Recorded::Written(done.clone()));
    assert_eq!(desk.store.complete(&done).await.unwrap(), Recorded::Already(done.clone()));
    desk.wire();

    let facts = desk.store.facts(&"rally".parse().unwrap(), &hanako()).await.unwrap();
    assert_eq!((facts.user, facts.completed), (Some(user), Some(done)));
    assert_eq!(facts.stamps, stamps);
    assert_eq!(desk.wire(), ["1 × Query line-event"]);

    let [event, first, third] = ["rally", "001", "003"];
    let event = event.parse().unwrap();
    assert_eq!(desk.store.stamp(&event, &hanako(), &first.parse().unwrap()).await.unwrap().as_ref(), stamps.first());
    assert_eq!(desk.store.stamp(&event, &hanako(), &third.parse().unwrap()).await.unwrap(), None);
    assert_eq!(desk.wire(), ["2 × GetItem line-event"]);
}

#[tokio::test]
async fn facts_behind_a_full_page_are_found_and_other_programs_items_are_passed_over() {
    let desk = Desk::open("full page").await;
    for number in 0..4 {
        let mut large = item(&participant(), &format!("PHOTO#{number}"), "PHOTO");
        large.insert("data".to_owned(), text(&"x".repeat(350_000)));
        desk.put(large).await;
    }
    let stamp = claim(&hanako(), "001", "r-1", evening(0));
    desk.store.acquire(&stamp, ONE).await.unwrap();
    desk.wire();
    let facts = desk.store.facts(&"rally".parse().unwrap(), &hanako()).await.unwrap();
    assert_eq!(facts.stamps, [stamp]);
    assert_eq!(desk.wire(), ["2 × Query line-event"]);
}

#[tokio::test]
async fn a_fact_that_cannot_be_read_is_named_among_the_others_and_by_itself() {
    let desk = Desk::open("unreadable").await;
    let second = claim(&hanako(), "002", "r-2", evening(1));
    desk.store.acquire(&claim(&hanako(), "001", "r-1", evening(0)), ONE).await.unwrap();
    desk.store.acquire(&second, ONE).await.unwrap();
    desk.spoil(&participant(), "STAMP#001", "acquiredAt", Some(AttributeValue::N("5".to_owned()))).await;
    let (rally, first) = ("rally".parse().unwrap(), "001".parse().unwrap());
    let facts = desk.store.facts(&rally, &hanako()).await.unwrap();
    assert_eq!(facts.unreadable, [FactKey::Notice(NoticeKey::Stamp("001".parse().unwrap()))]);
    assert_eq!(facts.stamps, [second]);
    let failure = desk.store.stamp(&rally, &hanako(), &first).await.unwrap_err();
    let StoreError::Unreadable(source) = failure else { panic!("{failure:?}") };
    assert_eq!((&source.pk, source.attribute.as_str()), (&participant(), "acquiredAt"));
    assert_eq!(
        source.to_string(),
        "the item EVENT#rally#USER#~83325955 STAMP#001 can't be read: acquiredAt is not a string",
        "as text it may be logged: the user id is hashed"
    );
}

#[tokio::test]
async fn a_store_that_throttles_is_unavailable_and_holds_nothing() {
    let desk = Desk::open("throttles").await;
    desk.proxy.inject("PutItem", Fault::Throttled, Often::Always);
    let failure = desk.store.acquire(&claim(&hanako(), "001", "r-1", evening(0)), ONE).await.unwrap_err();
    assert!(matches!(failure, StoreError::Unavailable(_)), "{failure:?}");
    assert_eq!(desk.raw(&participant(), "STAMP#001").await, None);
}

fn follow(minutes: i64, following: bool, id: &str) -> Friendship {
    Friendship {
        channel: "main".parse().unwrap(),
        line_user_id: hanako(),
        following,
        occurred_at: evening(minutes),
        webhook_event_id: id.parse().unwrap(),
    }
}

impl Desk {
    async fn friendships(&self) -> Vec<Friendship> {
        self.store.friendships(&"main".parse().unwrap(), &hanako()).await.unwrap()
    }
}

#[tokio::test]
async fn follows_and_unfollows_are_read_oldest_first_whatever_order_they_arrive_in() {
    let desk = Desk::open("friendship").await;
    assert_eq!(desk.friendships().await, [], "unknown, never assumed");
    let [first, blocked, again] = [follow(0, true, "01A"), follow(10, false, "01B"), follow(20, true, "01C")];
    for fact in [&again, &first, &blocked, &first] {
        desk.store.record_friendship(fact).await.unwrap();
    }
    desk.wire();
    assert_eq!(desk.friendships().await, [first, blocked, again]);
    assert_eq!(desk.wire(), ["1 × Query line-event"]);
}

#[tokio::test]
async fn a_webhook_event_that_comes_again_changes_nothing() {
    let desk = Desk::open("webhook again").await;
    desk.store.record_friendship(&follow(0, true, "01A")).await.unwrap();
    desk.store.record_friendship(&follow(0, false, "01A")).await.unwrap();
    assert_eq!(desk.friendships().await, [follow(0, true, "01A")]);
}

/// A resend of Hanako's first stamp.
fn resend(number: u16, requested_by: &str, minutes: i64) -> Resend {
    Resend {
        event_id: "rally".parse().unwrap(),
        line_user_id: hanako(),
        stamp_id: "001".parse().unwrap(),
        number,
        requested_by: requested_by.to_owned(),
        requested_at: evening(minutes),
        notice: NoticeStatus::Pending { maybe_sent_at: None },
    }
}

#[tokio::test]
async fn a_resend_of_a_number_is_recorded_once() {
    let desk = Desk::open("resend once").await;
    let (office, agency) = (resend(1, "office", 1), resend(1, "agency", 1));
    let (one, other) = tokio::join!(desk.store.record_resend(&office), desk.store.record_resend(&agency));
    let (one, other) = (one.unwrap(), other.unwrap());
    let written = [&one, &other].into_iter().filter(|recorded| matches!(recorded, Recorded::Written(_))).count();
    assert_eq!(written, 1, "{one:?} {other:?}");
    assert_eq!(one.fact(), other.fact(), "the loser is told what stands");
    assert_eq!(desk.wire(), ["2 × PutItem line-event"]);
    desk.store.record_resend(&resend(2, "agency", 2)).await.unwrap();
    assert_eq!(desk.store.facts(&office.event_id, &hanako()).await.unwrap().resends.len(), 2);
}

#[tokio::test]
async fn a_resend_whose_answer_got_lost_is_our_own() {
    let desk = Desk::open("resend lost").await;
    desk.proxy.inject("PutItem", Fault::LostAnswer, Often::Next(1));
    let office = resend(1, "office", 1);
    assert_eq!(desk.store.record_resend(&office).await.unwrap(), Recorded::Written(office));
    assert_eq!(desk.wire(), ["2 × PutItem line-event"]);
}

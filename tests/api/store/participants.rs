//! Hanako registers and collects: never twice, and nothing is lost.

use aws_sdk_dynamodb::types::AttributeValue;
use stamp_rally::{
    domain::{
        event::IndexShards,
        fact::{Completed, Friendship},
        notice::NoticeStatus,
    },
    store::{StoreError, participants::Recorded},
};

use super::{
    super::proxy::{Fault, Often},
    Desk, at, claim, evening, hanako, item, registration, text,
};

const ONE: IndexShards = IndexShards::ONE;

fn participant() -> String {
    format!("EVENT#rally#USER#{}", hanako())
}

#[tokio::test]
async fn who_registers_again_gets_the_first_time_back_from_the_failed_condition_itself() {
    let desk = Desk::open("registers again").await;
    let first = registration(&hanako(), "r-1", evening(0));
    assert_eq!(desk.store.register(&first, ONE).await.unwrap(), Recorded::Now(first.clone()));
    let again = registration(&hanako(), "r-2", evening(5));
    assert_eq!(desk.store.register(&again, ONE).await.unwrap(), Recorded::Before(first));
    assert_eq!(desk.wire(), ["2 × PutItem line-event"]);
}

#[tokio::test]
async fn of_two_claims_at_once_one_is_now_and_one_is_before_and_both_tell_the_same() {
    let desk = Desk::open("two at once").await;
    let [one, other] = ["r-1", "r-2"].map(|request| claim(&hanako(), "001", request, evening(0)));
    let (one, other) = tokio::join!(desk.store.acquire(&one, ONE), desk.store.acquire(&other, ONE));
    let (one, other) = (one.unwrap(), other.unwrap());
    let is_now = |recorded: &Recorded<_>| matches!(recorded, Recorded::Now(_));
    assert!(is_now(&one) ^ is_now(&other), "{one:?} {other:?}");
    assert_eq!(one.fact(), other.fact());
}

#[tokio::test]
async fn of_two_registrations_at_once_one_is_now_and_one_is_before() {
    let desk = Desk::open("two registrations").await;
    let [one, other] = ["r-1", "r-2"].map(|request| registration(&hanako(), request, evening(0)));
    let (one, other) = tokio::join!(desk.store.register(&one, ONE), desk.store.register(&other, ONE));
    let (one, other) = (one.unwrap(), other.unwrap());
    assert!(matches!(one, Recorded::Now(_)) ^ matches!(other, Recorded::Now(_)), "{one:?} {other:?}");
    assert_eq!(one.fact(), other.fact());
}

#[tokio::test]
async fn our_own_write_whose_answer_got_lost_is_a_success() {
    let desk = Desk::open("own lost answer").await;
    let (user, stamp) = (registration(&hanako(), "r-1", evening(0)), claim(&hanako(), "001", "r-1", evening(0)));
    desk.proxy.inject("PutItem", Fault::LostAnswer, Often::Next(1));
    assert_eq!(desk.store.register(&user, ONE).await.unwrap(), Recorded::Now(user));
    assert_eq!(desk.wire(), ["2 × PutItem line-event"]);
    desk.proxy.inject("PutItem", Fault::LostAnswer, Often::Next(1));
    assert_eq!(desk.store.acquire(&stamp, ONE).await.unwrap(), Recorded::Now(stamp));
    assert_eq!(desk.wire(), ["2 × PutItem line-event"]);
}

#[tokio::test]
async fn somebody_elses_lost_answer_is_held_already() {
    let desk = Desk::open("others lost answer").await;
    let first = claim(&hanako(), "001", "r-1", evening(0));
    desk.store.acquire(&first, ONE).await.unwrap();
    desk.proxy.inject("PutItem", Fault::LostAnswer, Often::Next(1));
    let again = claim(&hanako(), "001", "r-2", evening(1));
    assert_eq!(desk.store.acquire(&again, ONE).await.unwrap(), Recorded::Before(first));
}

#[tokio::test]
async fn a_request_that_is_repeated_later_is_answered_as_the_first_time_with_the_first_time() {
    let desk = Desk::open("same key").await;
    let first = claim(&hanako(), "001", "r-1", evening(0));
    desk.store.acquire(&first, ONE).await.unwrap();
    let again = claim(&hanako(), "001", "r-1", evening(60));
    assert_eq!(desk.store.acquire(&again, ONE).await.unwrap(), Recorded::Now(first));
}

#[tokio::test]
async fn an_articles_stamp_without_a_request_is_held_already() {
    let desk = Desk::open("article").await;
    let by_article =
        stamp_rally::domain::fact::UserStamp { request_id: None, ..claim(&hanako(), "001", "x", evening(0)) };
    desk.store.acquire(&by_article, ONE).await.unwrap();
    assert_eq!(desk.store.acquire(&by_article, ONE).await.unwrap(), Recorded::Before(by_article));
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
    assert_eq!(desk.store.complete(&done).await.unwrap(), Recorded::Now(done.clone()));
    assert_eq!(desk.store.complete(&done).await.unwrap(), Recorded::Before(done.clone()));
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
async fn a_fact_that_cannot_be_read_is_named_and_never_left_out_of_a_card() {
    let desk = Desk::open("unreadable").await;
    desk.store.acquire(&claim(&hanako(), "001", "r-1", evening(0)), ONE).await.unwrap();
    desk.spoil(&participant(), "STAMP#001", "acquiredAt", Some(AttributeValue::N("5".to_owned()))).await;
    let failure = desk.store.facts(&"rally".parse().unwrap(), &hanako()).await.unwrap_err();
    let StoreError::Broken(source) = failure else { panic!("{failure:?}") };
    assert_eq!(
        source.to_string(),
        format!("the item {} STAMP#001 can't be read: acquiredAt is not a string", participant())
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

#[tokio::test]
async fn of_follows_and_unfollows_the_newest_counts_whatever_order_they_arrive_in() {
    let desk = Desk::open("friendship").await;
    let main = "main".parse().unwrap();
    let newest = async |when| desk.store.friendship(&main, &hanako(), when).await.unwrap();
    assert_eq!(newest(None).await, None, "unknown, never assumed");

    let [first, blocked, again] = [follow(0, true, "01A"), follow(10, false, "01B"), follow(20, true, "01C")];
    for fact in [&again, &first, &blocked, &first] {
        desk.store.record_friendship(fact).await.unwrap();
    }
    assert_eq!(newest(None).await, Some(again));
    assert_eq!(newest(Some(evening(19))).await, Some(blocked.clone()));
    assert_eq!(newest(Some(evening(10))).await, Some(blocked), "of that very moment too");
    assert_eq!(newest(Some(evening(9))).await, Some(first));
    assert_eq!(newest(Some(evening(-1))).await, None);
}

#[tokio::test]
async fn a_webhook_event_that_comes_again_changes_nothing() {
    let desk = Desk::open("webhook again").await;
    desk.store.record_friendship(&follow(0, true, "01A")).await.unwrap();
    desk.store.record_friendship(&follow(0, false, "01A")).await.unwrap();
    let known = desk.store.friendship(&"main".parse().unwrap(), &hanako(), Some(at("2026-05-24T00:00:00.000Z"))).await;
    assert!(known.unwrap().unwrap().following);
}

//! A process breaks off between push and mark, and a day later it has to be decided what may have been sent.

use super::*;

/// LINE accepts a push and says nothing.
async fn line_is_silent(house: &House) {
    house.line_faults(json!([{"endpoint": "push", "kind": "timeout_after_accept"}])).await;
}

/// Works until the phone shows a message, and is killed before the mark.
pub async fn is_killed_after_the_push<T>(work: impl Future<Output = T>, hanako: &Person<'_>) {
    line_is_silent(hanako.house).await;
    tokio::select! {
        _ = work => panic!("LINE has not answered"),
        () = async { while hanako.phone().is_empty() { tokio::task::yield_now().await } } => {}
    }
    hanako.house.line_faults(json!([])).await;
    assert_eq!(state(hanako, stamp("001")).await, "waiting");
}

#[tokio::test]
async fn what_a_worker_may_have_pushed_before_it_died_is_unknown() {
    let house = House::open("killed worker").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    let mut worker = house.worker_at(settings());
    is_killed_after_the_push(Box::pin(worker.run_until_idle()), &hanako).await;
    drop(worker);
    house.pass(Duration::from_mins(1)).await;
    taro.acquire("001").await.is(201);
    house.pass_a_day().await;

    assert_eq!(counts(&reconcile(&house).await), (1, 1));
    assert_eq!((state(&hanako, stamp("001")).await, hanako.phone().len()), ("unknown", 1), "a person decides");
    assert_eq!((state(&taro, stamp("001")).await, taro.phone().len()), ("sent", 1), "it can't have been attempted");
    let unknown = house.organiser().get(&format!("/{RALLY}/deliveries?state=unknown")).await.is(200);
    assert_eq!(unknown.body["deliveries"][0]["lineUserId"], hanako.id.as_str());
}

#[tokio::test]
async fn a_maybe_sent_notice_outlives_a_worker_that_came_when_the_stream_had_forgotten() {
    let house = House::open("doubt outlives").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    let mut worker = house.worker_at(settings());
    is_killed_after_the_push(Box::pin(worker.run_until_idle()), &hanako).await;
    drop(worker);
    house.pass_a_day().await;
    let mut next = house.worker_at(settings());
    next.run_until_idle().await.unwrap();
    house.pass(settings().lease * 2).await;
    assert_eq!(next.run_until_idle().await.unwrap().total(), 0, "it reads from the horizon, and finds nothing");
    next.stop().await;

    assert_eq!(counts(&reconcile(&house).await), (0, 1));
    assert_eq!(hanako.phone().len(), 1);
}

#[tokio::test]
async fn a_run_that_was_killed_is_continued_by_the_next_one_with_the_same_keys() {
    let house = House::open("killed run").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    taro.acquire("001").await.is(201);
    house.pass_a_day().await;
    let first = delivery(&house);
    is_killed_after_the_push(Box::pin(run(&first, Mode::ForReal, &CancellationToken::new())), &hanako).await;
    assert_eq!(runs(&house).await, 1, "what it had under way is told");
    house.pass(Duration::from_hours(2)).await;

    assert_eq!(counts(&reconcile(&house).await), (2, 0));
    assert_eq!((hanako.phone().len(), taro.phone().len()), (1, 1));
    assert_eq!(runs(&house).await, 0, "it has come to an end");
}

#[tokio::test]
async fn what_a_killed_run_had_under_way_is_unknown_when_line_has_forgotten_the_keys() {
    let house = House::open("killed long ago").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    house.pass(Duration::from_mins(1)).await;
    taro.acquire("001").await.is(201);
    house.pass(Duration::from_hours(24)).await;
    house.pass(Duration::from_mins(14)).await;
    let first = delivery(&house);
    is_killed_after_the_push(Box::pin(run(&first, Mode::ForReal, &CancellationToken::new())), &hanako).await;
    house.pass_a_day().await;

    assert_eq!(counts(&reconcile(&house).await), (1, 1), "taro was too young for the first one");
    assert_eq!((state(&hanako, stamp("001")).await, hanako.phone().len()), ("unknown", 1));
    assert_eq!(taro.phone().len(), 1);
    assert_eq!(runs(&house).await, 0);
}

#[tokio::test]
async fn a_held_notice_that_may_have_been_pushed_before_is_not_pushed_again_days_later() {
    let house = House::open("held in doubt").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    let mut worker = house.worker_at(settings());
    is_killed_after_the_push(Box::pin(worker.run_until_idle()), &hanako).await;
    drop(worker);
    house.line_faults(json!([{"endpoint": "push", "kind": "expired_token"}])).await;
    let mut next = house.worker_at(settings());
    next.run_until_idle().await.unwrap();
    house.pass(settings().lease * 2).await;
    next.run_until_idle().await.unwrap();
    assert_eq!(state(&hanako, stamp("001")).await, "held");
    house.line_faults(json!([])).await;
    house.pass(Duration::from_hours(30)).await;
    next.run_until_idle().await.unwrap();
    assert_eq!((state(&hanako, stamp("001")).await, hanako.phone().len()), ("unknown", 1));
}

#[tokio::test]
async fn a_run_that_is_stopped_finishes_what_it_began_and_the_next_one_does_the_rest() {
    let house = House::open("stopped run").await;
    let people: Vec<Person> = (0..30).map(|n| house.person(&format!("{n}人目"))).collect();
    for person in &people {
        person.acquire("001").await.is(201);
    }
    house.pass_a_day().await;
    house.line_faults(json!([{"endpoint": "push", "kind": "delay", "ms": 20}])).await;
    let (few, stop) = (house.delivery_at(DeliverySettings { concurrency: 2, ..settings() }), CancellationToken::new());
    let stopping = async {
        while people.iter().all(|person| person.phone().is_empty()) {
            tokio::task::yield_now().await;
        }
        stop.cancel();
    };
    let (first, ()) = tokio::join!(run(&few, Mode::ForReal, &stop), stopping);
    let first = first.unwrap();
    let (sent, _) = counts(&first);
    assert!(first.interrupted && (1..30).contains(&sent), "{first:?}");
    house.line_faults(json!([])).await;

    let second = reconcile(&house).await;
    assert_eq!((counts(&second), second.interrupted), ((30 - sent, 0), false));
    assert!(people.iter().all(|person| person.phone().len() == 1));
    assert_eq!(runs(&house).await, 0);
}

#[tokio::test]
async fn a_store_that_can_not_answer_ends_a_run_and_the_next_one_continues() {
    let house = House::open("store is ill").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    house.pass_a_day().await;
    house.wire.inject("BatchGetItem", crate::proxy::Fault::Throttled, crate::proxy::Often::Always);
    let failed = run(&delivery(&house), Mode::ForReal, &CancellationToken::new()).await.unwrap_err();
    assert!(matches!(failed, ReconcileError::Store(_)), "{failed:?}");
    house.wire.heal();
    assert_eq!(counts(&reconcile(&house).await), (0, 0), "it was sent before the store failed");
    assert_eq!((hanako.phone().len(), runs(&house).await), (1, 0));
}

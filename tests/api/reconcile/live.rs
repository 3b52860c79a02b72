//! Beside live workers, and beside each other.

use super::*;

#[tokio::test]
async fn beside_a_live_worker_each_participant_gets_every_message_once_and_in_order() {
    let house = House::open("beside a worker").await;
    let old: Vec<Person> = (0..12).map(|n| house.person(&format!("{n}人目"))).collect();
    for person in &old {
        person.acquire("001").await.is(201);
    }
    house.pass(Duration::from_secs(1)).await;
    for person in &old {
        person.acquire("002").await.is(201);
    }
    house.pass_a_day().await;
    let new: Vec<Person> = (0..12).map(|n| house.person(&format!("{n}人目の新しい人"))).collect();
    let (mut worker, stop) = (house.worker_at(settings()), CancellationToken::new());
    let rest = async {
        let acquiring = async {
            for person in &new {
                person.acquire("001").await.is(201);
            }
        };
        let (done, ()) = tokio::join!(reconcile(&house), acquiring);
        let is_waiting = |person: &&Person| person.phone().is_empty();
        while new.iter().any(|person| is_waiting(&person)) {
            tokio::task::yield_now().await;
        }
        stop.cancel();
        done
    };
    let (done, ()) = tokio::join!(rest, worker.run(stop.clone()));

    // The messages of full cards follow from the stream too: the first to come sends them.
    assert!((24..=36).contains(&counts(&done).0), "{done:?}");
    for person in &old {
        assert_eq!(person.phone(), ["第1スタンプ 1/2", "第2スタンプ 2/2", COMPLETE]);
        assert_eq!(state(person, NoticeKey::Completed).await, "sent");
    }
    assert!(new.iter().all(|person| person.phone() == ["第1スタンプ 1/2"]));
    let arn = house.store.stream_arn().await.unwrap().unwrap();
    let board = house.store.consumers("delivery", &arn).board().await.unwrap();
    assert_eq!(board.candidates, [], "it has taken its leave");
}

#[tokio::test]
async fn a_full_cards_message_waits_for_a_forgotten_stamp_that_is_just_being_sent() {
    let house = House::open("waits for a forgotten stamp").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    house.pass_a_day().await;
    let hanako = hanako.with(&house.line.id_token(&hanako.id, "main").unwrap());
    hanako.acquire("002").await.is(201);
    let mut worker = house.worker_at(settings());
    let run = async {
        while hanako.phone().is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(counts(&reconcile(&house).await), (1, 0));
    };
    let (tally, ()) = tokio::join!(worker.run_until_idle(), run);
    assert_eq!(tally.unwrap().of(Outcome::Sent), 2);
    assert_eq!(hanako.phone(), ["第2スタンプ 2/2", "第1スタンプ 1/2", COMPLETE]);
}

#[tokio::test]
async fn two_runs_at_once_are_one_message_each() {
    let house = House::open("two runs").await;
    let people: Vec<Person> = (0..10).map(|n| house.person(&format!("{n}人目"))).collect();
    for person in &people {
        person.acquire("001").await.is(201);
    }
    house.pass_a_day().await;
    let (one, other) = tokio::join!(reconcile(&house), reconcile(&house));
    let settled = |done: &Reconciled| done.events[0].1.tally.total();
    assert!(settled(&one) + settled(&other) >= 10, "{one:?} {other:?}");
    assert!(people.iter().all(|person| person.phone().len() == 1));
    for person in &people {
        assert_eq!(state(person, stamp("001")).await, "sent");
    }
}

#[tokio::test]
async fn a_run_takes_no_push_that_live_workers_need_all_of() {
    let house = House::open("no push left").await;
    house.hanako().acquire("001").await.is(201);
    house.pass_a_day().await;
    let slow = DeliverySettings { pushes_per_second: 1, ..settings() };
    let mut worker = house.worker_at(slow.clone());
    worker.run_until_idle().await.unwrap();
    let refused = run(&house.delivery_at(slow), Mode::ForReal, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`delivery.pushes_per_second` is 1, and what else pushes (1) leaves nothing of it: raise it, or stop one of them \
         meanwhile"
    );
    worker.stop().await;
}

//! What the table's stream never had: it was off, or on for another program. What it can still bring is left to its readers.

use stamp_rally::{
    delivery::reconcile::{Left, Manner, Migrated, Readers},
    domain::time::Timestamp,
    store::progress::{EventFacts, HandedOut},
};

use super::*;
use crate::tables::turn_the_stream;

const MINUTE: Duration = Duration::from_mins(1);

fn left(done: &Reconciled) -> Option<Left> {
    done.events[0].1.left
}

fn until(at: Timestamp, hours: i64, minutes: i64) -> Timestamp {
    at.plus_millis((hours * 60 + minutes) * 60_000)
}

async fn maybe_sent(house: &House) -> Vec<HandedOut> {
    house.store.handed_out("delivery").await.unwrap()
}

/// A function notes that it is handed the records of the table's stream.
async fn a_function_runs(house: &House) {
    let arn = house.store.stream_arn().await.unwrap().unwrap();
    house.store.consumers("delivery", &arn).note_function(house.clock.now()).await.unwrap();
}

/// As the article's own program writes a stamp: no request is named.
async fn is_migrated(person: &Person<'_>) {
    let table = &person.house.clients.table;
    let bare = table.update_item().table_name("line-event");
    let bare = bare.key("PK", text(&format!("EVENT#{RALLY}#USER#{}", person.id))).key("SK", text("STAMP#001"));
    bare.update_expression("REMOVE requestId").send().await.unwrap();
}

#[tokio::test]
async fn a_stamp_acquired_while_the_stream_was_off_is_sent_at_once_and_a_later_one_is_left_to_the_workers() {
    let house = House::open("the stream was off").await;
    let [hanako, taro, jiro] = ["花子", "太郎", "次郎"].map(|name| house.person(name));
    hanako.acquire("001").await.is(201);
    house.deliver().await;
    turn_the_stream(&house.clients, false).await;
    taro.acquire("001").await.is(201);
    turn_the_stream(&house.clients, true).await;
    house.pass(MINUTE).await;
    jiro.acquire("001").await.is(201);

    let done = reconcile(&house).await;
    let (now, readers) = (house.clock.now(), Some(Readers::Workers));
    assert_eq!((counts(&done), done.readers), ((1, 0), readers));
    assert_eq!(left(&done), Some(Left::one(until(now, 24, 15))));
    assert_eq!((taro.phone(), jiro.phone()), (vec!["第1スタンプ 1/2".to_owned()], vec![]));
    house.deliver().await;
    assert_eq!(jiro.phone(), ["第1スタンプ 1/2"]);
    assert_eq!(left(&reconcile(&house).await), None);
    assert_eq!([hanako.phone().len(), taro.phone().len(), runs(&house).await], [1, 1, 0]);
}

#[tokio::test]
async fn while_the_table_has_no_stream_everything_that_waits_is_taken_beside_its_last_worker_too() {
    let house = House::open("no stream").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    let mut worker = house.worker_at(settings());
    hanako.acquire("001").await.is(201);
    worker.run_until_idle().await.unwrap();
    turn_the_stream(&house.clients, false).await;
    taro.acquire("001").await.is(201);
    house.pass(Duration::from_millis(1)).await;
    taro.acquire("002").await.is(201);
    let done = reconcile(&house).await;
    assert_eq!((counts(&done), left(&done), done.readers), ((3, 0), None, None));
    assert_eq!(taro.phone(), ["第1スタンプ 1/2", "第2スタンプ 2/2", COMPLETE]);
    worker.stop().await;
    assert_eq!(counts(&reconcile(&house).await), (0, 0));
}

#[tokio::test]
async fn a_stamp_taken_ahead_of_the_stream_notes_the_attempt_before_the_push_and_is_one_message_also_by_the_next_reader()
 {
    let house = House::open("ahead of the stream").await;
    let hanako = house.hanako();
    // A server whose clock is slow: the stream has the record of a stamp that seems to be older than it.
    hanako.acquire("001").await.is(201);
    turn_the_stream(&house.clients, false).await;
    turn_the_stream(&house.clients, true).await;
    house.pass(MINUTE).await;
    let first = delivery(&house);
    let stop = CancellationToken::new();
    breaks::is_killed_after_the_push(Box::pin(run(&first, Mode::ForReal, &stop)), &hanako).await;
    let facts = house.store.facts(&rally(), &hanako.id.parse().unwrap()).await.unwrap();
    let noted = facts.notice(&stamp("001"));
    assert!(matches!(noted, Some(NoticeStatus::Pending { maybe_sent_at: Some(_) })), "{noted:?}");

    let tally = house.deliver().await;
    assert_eq!((tally.of(Outcome::Sent), hanako.phone().len()), (1, 1), "the same key");
    assert_eq!(counts(&reconcile(&house).await), (0, 0));
}

#[tokio::test]
async fn a_stamp_taken_ahead_of_the_stream_is_not_sent_again_when_line_has_forgotten_the_key() {
    let house = House::open("ahead, a day ago").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    turn_the_stream(&house.clients, false).await;
    house.pass(MINUTE).await;
    let first = delivery(&house);
    let stop = CancellationToken::new();
    breaks::is_killed_after_the_push(Box::pin(run(&first, Mode::ForReal, &stop)), &hanako).await;
    house.pass(Duration::from_mins(23 * 60 + 30)).await;
    assert_eq!(counts(&reconcile(&house).await), (0, 1));
    assert_eq!((state(&hanako, stamp("001")).await, hanako.phone().len()), ("unknown", 1));
}

#[tokio::test]
async fn an_attempt_ahead_of_the_stream_that_line_refused_is_not_maybe_sent() {
    let house = House::open("ahead and held").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    turn_the_stream(&house.clients, false).await;
    house.line_faults(json!([{"endpoint": "push", "kind": "expired_token"}])).await;
    let done = reconcile(&house).await;
    assert_eq!(done.events[0].1.tally.of(Outcome::Parked(ParkedState::Held)), 1);
    let facts = house.store.facts(&rally(), &hanako.id.parse().unwrap()).await.unwrap();
    let Some(NoticeStatus::Parked(held)) = facts.notice(&stamp("001")) else { panic!("{facts:?}") };
    assert_eq!(held.maybe_sent_at, None);
}

#[tokio::test]
async fn what_a_mapping_discards_is_taken_at_23_hours_and_what_is_younger_is_left_to_the_function() {
    let house = House::open("a mapping discards").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    house.pass(MINUTE * 10).await;
    taro.acquire("001").await.is(201);
    let acquired = house.clock.now();
    house.pass(Duration::from_mins(22 * 60 + 55)).await;
    let workers = run(&delivery(&house), Mode::DryRun, &CancellationToken::new()).await.unwrap();
    assert_eq!((counts(&workers), left(&workers).unwrap().notices), ((0, 0), 2), "workers may come back");

    a_function_runs(&house).await;
    let done = reconcile(&house).await;
    assert_eq!((counts(&done), done.readers), ((1, 0), Some(Readers::Function)));
    assert_eq!(left(&done), Some(Left::one(until(acquired, 23, 0))));
    assert_eq!((hanako.phone().len(), taro.phone().len()), (1, 0));
    house.pass(MINUTE * 5).await;
    assert_eq!(counts(&reconcile(&house).await), (1, 0), "as it reported");
}

#[tokio::test]
async fn beside_a_live_worker_a_function_of_the_same_stream_is_not_believed() {
    let house = House::open("a function and a worker").await;
    house.hanako().acquire("001").await.is(201);
    house.pass(Duration::from_hours(23) + MINUTE).await;
    a_function_runs(&house).await;
    let mut worker = house.worker_at(settings());
    house.line_faults(json!([{"endpoint": "push", "kind": "status", "code": 500}])).await;
    let reading = async {
        let arn = house.store.stream_arn().await.unwrap().unwrap();
        let consumers = house.store.consumers("delivery", &arn);
        while !consumers.board().await.unwrap().shards.iter().any(|shard| shard.owner.is_some()) {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = worker.run_until_idle() => panic!("LINE takes nothing"),
        () = reading => {}
    }
    let done = run(&delivery(&house), Mode::DryRun, &CancellationToken::new()).await.unwrap();
    assert_eq!((counts(&done), done.readers), ((0, 0), Some(Readers::Workers)));
}

#[tokio::test]
async fn what_a_function_noted_of_one_event_concerns_no_other_and_goes_when_all_of_its_event_is_decided() {
    let house = House::open("a note of another event").await;
    let hanako = house.hanako();
    hanako.acquire("001").await.is(201);
    let now = house.clock.now();
    house
        .organiser()
        .put_event(
            "another",
            &json!({
                "name": "別のラリー", "channel": "main",
                "startsAt": now.plus_millis(-3_600_000), "endsAt": now.plus_millis(3_600_000),
            }),
        )
        .await
        .is(201);
    let arn = house.store.stream_arn().await.unwrap().unwrap();
    let consumers = house.store.consumers("delivery", &arn);
    let of_hanako = EventFacts::one(hanako.id.parse().unwrap(), now);
    let first = "100000000000000000001".parse().unwrap();
    consumers.hand_out(&first, &[("another".parse().unwrap(), of_hanako)].into(), now).await.unwrap();
    house.pass_a_day().await;

    let only: EventId = RALLY.parse().unwrap();
    let (one, stop) = (delivery(&house), CancellationToken::new());
    let done = one.reconcile(Some(&only), Mode::ForReal, &|_, _| {}, &stop).await.unwrap();
    assert_eq!((counts(&done), maybe_sent(&house).await.len()), ((1, 0), 1), "never tried, in spite of the note");
    assert_eq!(hanako.phone().len(), 1);
    reconcile(&house).await;
    assert_eq!(maybe_sent(&house).await, [], "nothing of that event waits for a decision");
}

#[tokio::test]
async fn what_a_function_noted_of_one_participant_concerns_no_other() {
    let house = House::open("a note of another participant").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    for person in [&hanako, &taro] {
        person.acquire("001").await.is(201);
    }
    let (arn, now) = (house.store.stream_arn().await.unwrap().unwrap(), house.clock.now());
    let mut of_taro = EventFacts::one(taro.id.parse().unwrap(), now.plus_millis(-60_000));
    of_taro.add(EventFacts::one(taro.id.parse().unwrap(), now));
    let first = "100000000000000000001".parse().unwrap();
    house.store.consumers("delivery", &arn).hand_out(&first, &[(rally(), of_taro)].into(), now).await.unwrap();
    house.pass(Duration::from_hours(23) + MINUTE).await;

    let done = reconcile(&house).await;
    assert_eq!((counts(&done), done.readers), ((1, 1), Some(Readers::Function)), "a batch is a function's");
    assert_eq!((state(&hanako, stamp("001")).await, state(&taro, stamp("001")).await), ("sent", "unknown"));
    assert_eq!((hanako.phone().len(), taro.phone().len()), (1, 0));
}

#[tokio::test]
async fn a_migrated_stamp_may_have_been_sent_so_a_person_decides_unless_the_operator_knows_better() {
    let house = House::open("migrated").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    for person in [&hanako, &taro] {
        person.acquire("001").await.is(201);
    }
    is_migrated(&hanako).await;
    house.pass_a_day().await;
    let (one, stop) = (delivery(&house), CancellationToken::new());
    let unsent = async |mode| {
        let manner = Manner { mode, migrated: Migrated::Unsent };
        one.reconcile(None, manner, &|_, _| {}, &stop).await.unwrap()
    };
    assert_eq!(counts(&unsent(Mode::DryRun).await), (2, 0));
    assert_eq!(counts(&reconcile(&house).await), (1, 1));
    assert_eq!((hanako.phone().len(), taro.phone().len()), (0, 1));
    let unknown = house.organiser().get(&format!("/{RALLY}/deliveries?state=unknown")).await.is(200);
    let (row, reason) = (&unknown.body["deliveries"][0], "former_program");
    assert_eq!((row["lineUserId"].as_str(), row["noticeReason"].as_str()), (Some(hanako.id.as_str()), Some(reason)));
}

#[tokio::test]
async fn migrated_stamps_of_a_table_whose_stream_was_just_turned_on_are_no_exception() {
    let house = House::over_the_articles_table("migrated lately").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    hanako.acquire("001").await.is(201);
    taro.acquire("001").await.is(201);
    is_migrated(&hanako).await;
    let tables = crate::house::defaults().store;
    stamp_rally::store::table::create(&house.clients.table, &tables).await.unwrap();
    house.pass(MINUTE).await;
    assert_eq!(counts(&reconcile(&house).await), (1, 1));
    assert_eq!((state(&hanako, stamp("001")).await, taro.phone().len()), ("unknown", 1));
    assert_eq!(house.deliver().await.total(), 0);
}

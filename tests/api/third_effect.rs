//! An effect beside delivery and counts: it greets each participant who registers. Neither the consumer nor the others
//! know of it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem};
use futures_util::{StreamExt as _, future::BoxFuture, stream};
use stamp_rally::{
    consumer::{
        LeaseStatus,
        effect::{CheckpointWrites, Effect, FactRef, Handling, Job, LeaderWork, Progress, Work},
    },
    domain::{
        fact::{Fact, User},
        ids::LineUserId,
        time::TimeSource as _,
    },
    store::{
        StoreError,
        stream::{Change, Record, SequenceNumber, ShardId},
    },
};
use tokio_util::sync::CancellationToken;

use super::{
    house::{House, Person, RALLY},
    proxy::{Calls, Fault, Often},
};

/// Who was greeted, in order, and what was known then.
#[derive(Default)]
struct Greetings {
    greeted: Mutex<Vec<Greeted>>,
    is_busy: AtomicBool,
    waits_for_backpressure: AtomicBool,
    led: AtomicUsize,
}

#[derive(Clone)]
struct Greeted {
    participant: LineUserId,
    maybe_handed_out: bool,
    lease: LeaseStatus,
}

/// The effect; its clones are one.
#[derive(Clone, Default)]
struct Greeting(Arc<Greetings>);

impl Greeting {
    fn as_list(&self) -> Vec<Arc<dyn Effect>> {
        vec![Arc::new(self.clone())]
    }

    fn greeted(&self) -> Vec<Greeted> {
        self.0.greeted.lock().unwrap().clone()
    }

    fn participants(&self) -> Vec<LineUserId> {
        self.greeted().into_iter().map(|greeted| greeted.participant).collect()
    }

    fn runs_of_the_leader(&self) -> usize {
        self.0.led.load(Ordering::Relaxed)
    }
}

fn registered(record: &Record) -> Option<&User> {
    match &record.change {
        Change::Inserted(fact) => match fact.as_ref() {
            Fact::User(user) => Some(user),
            _ => None,
        },
        _ => None,
    }
}

impl Effect for Greeting {
    fn name(&self) -> &'static str {
        "greetings"
    }

    /// One after the other in each event.
    fn job(&self, record: &Record, _source: &str) -> Option<Job> {
        let User { event_id, line_user_id, created_at, .. } = registered(record)?.clone();
        let work = Arc::new(Greet { all: self.0.clone(), participant: line_user_id.clone() });
        let fact = FactRef { event_id, participant: line_user_id, at: created_at };
        Some(Job { order_key: fact.event_id.to_string(), fact, work })
    }

    fn checkpoint_writes(&self, _stream_arn: &str, _shard: &ShardId) -> Option<Arc<dyn CheckpointWrites>> {
        Some(Arc::new(GreetedOfShard::default()))
    }

    fn leader_work(&self) -> Vec<Arc<dyn LeaderWork>> {
        vec![Arc::new(self.clone())]
    }
}

impl LeaderWork for Greeting {
    fn interval(&self) -> Duration {
        Duration::from_hours(1)
    }

    fn run<'a>(&'a self, _stop: &'a CancellationToken) -> BoxFuture<'a, ()> {
        self.0.led.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(()))
    }
}

struct Greet {
    all: Arc<Greetings>,
    participant: LineUserId,
}

impl Work for Greet {
    fn handle<'a>(&'a self, handling: &'a Handling) -> BoxFuture<'a, Progress> {
        Box::pin(async move {
            while self.all.waits_for_backpressure.load(Ordering::Relaxed) && !handling.lease.has_backpressure() {
                tokio::task::yield_now().await;
            }
            self.all.waits_for_backpressure.store(false, Ordering::Relaxed);
            let Handling { lease, maybe_handed_out, .. } = handling.clone();
            self.all.greeted.lock().unwrap().push(Greeted {
                participant: self.participant.clone(),
                maybe_handed_out,
                lease,
            });
            if self.all.is_busy.load(Ordering::Relaxed) { Progress::Unfinished } else { Progress::Finished }
        })
    }
}

/// An item for each participant who was greeted, written with the checkpoint.
#[derive(Default)]
struct GreetedOfShard(Mutex<BTreeMap<SequenceNumber, LineUserId>>);

impl CheckpointWrites for GreetedOfShard {
    fn note(&self, record: &Record) {
        if let Some(user) = registered(record) {
            self.0.lock().unwrap().insert(record.sequence.clone(), user.line_user_id.clone());
        }
    }

    fn limit(&self, checkpoint: SequenceNumber, room: usize) -> SequenceNumber {
        let noted = self.0.lock().unwrap();
        let beyond = noted.range(..=&checkpoint).nth(room).is_some();
        noted.keys().nth(room - 1).filter(|_| beyond).cloned().unwrap_or(checkpoint)
    }

    fn writes<'a>(
        &'a self,
        checkpoint: &'a SequenceNumber,
    ) -> BoxFuture<'a, Result<Vec<TransactWriteItem>, StoreError>> {
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let write = |user: &LineUserId| {
            let put = Put::builder().table_name("line-event-consumers").item("PK", text("GREETED"));
            TransactWriteItem::builder().put(put.item("SK", text(user.as_str())).build().unwrap()).build()
        };
        let writes = self.0.lock().unwrap().range(..=checkpoint).map(|(_, user)| write(user)).collect();
        Box::pin(std::future::ready(Ok(writes)))
    }

    fn written(&self, checkpoint: &SequenceNumber) {
        self.0.lock().unwrap().retain(|sequence, _| sequence > checkpoint);
    }
}

/// The participants whose greeting is written.
async fn written(house: &House) -> Vec<String> {
    let query = house.clients.table.query().table_name("line-event-consumers").consistent_read(true);
    let query = query.key_condition_expression("PK = :pk");
    let found = query.expression_attribute_values(":pk", AttributeValue::S("GREETED".to_owned())).send().await.unwrap();
    found.items().iter().map(|item| item["SK"].as_s().unwrap().clone()).collect()
}

/// Whether the checkpoint is behind the first registration.
async fn has_passed_the_registration(house: &House) -> bool {
    let registration = house.records().await.into_iter().find(|record| registered(record).is_some()).unwrap();
    house.progress().await[0].reached.checkpoint.as_ref().is_some_and(|checkpoint| *checkpoint >= registration.sequence)
}

#[tokio::test]
async fn a_third_effect_gets_the_records_that_concern_it_in_order_and_the_others_get_theirs() {
    let (house, greeting) = (House::for_delivery("a_third_effect").await, Greeting::default());
    let [hanako, taro, jiro] = ["Hanako", "Taro", "Jiro"].map(|name| house.person(name));
    let mut worker = house.worker_with(greeting.as_list());
    for person in [&hanako, &taro, &jiro] {
        person.registered().await;
    }
    hanako.acquired("001").await;
    worker.run_until_idle().await.unwrap();
    assert_eq!(greeting.participants(), [&hanako, &taro, &jiro].map(Person::line_user_id));
    assert!(greeting.greeted().iter().all(|greeted| !greeted.maybe_handed_out));
    assert_eq!(hanako.phone(), ["Stamp 001 1/2"]);
    let counted = house.store.counts(&RALLY.parse().unwrap()).await.unwrap().hours;
    assert_eq!(counted.values().map(|counts| counts.registrations).sum::<i64>(), 3);
    assert_eq!(written(&house).await.len(), 3, "beside the counts, in the same transaction");
}

#[tokio::test]
async fn a_job_that_is_not_finished_pins_the_checkpoint_and_comes_to_the_next_owner_as_maybe_handed_out() {
    let (house, greeting) = (House::for_delivery("a_job_that_is_not_finished").await, Greeting::default());
    let hanako = house.person("Hanako");
    hanako.registered().await;
    hanako.acquired("001").await;
    greeting.0.is_busy.store(true, Ordering::Relaxed);
    let mut first = house.worker_with(greeting.as_list());
    let comes_again = async {
        while greeting.greeted().len() < 3 || hanako.state("001").await != "sent" {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = first.run_until_idle() => panic!("it is never finished"),
        () = comes_again => {}
    }
    drop(first);
    assert!(!has_passed_the_registration(&house).await, "nor what came after it, although that is finished");
    assert_eq!(written(&house).await, [""; 0]);
    let attempts = greeting.greeted();
    assert_eq!([attempts[0].maybe_handed_out, attempts[1].maybe_handed_out], [false, true]);
    assert!(attempts[0].lease.is_valid(house.clock.uptime()), "its deadline has not come");

    greeting.0.is_busy.store(false, Ordering::Relaxed);
    house.pass_a_lease().await;
    assert!(!attempts[0].lease.is_valid(house.clock.uptime()), "its deadline is over");
    let (mut second, next) = (house.worker_with(greeting.as_list()), attempts.len());
    second.run_until_idle().await.unwrap();
    assert_eq!(greeting.greeted().len(), next, "the first one's lease may not be over, as far as the second knows");
    house.pass_a_lease().await;
    second.run_until_idle().await.unwrap();
    let attempts = greeting.greeted().split_off(next);
    assert_eq!(attempts.iter().map(|greeted| greeted.maybe_handed_out).collect::<Vec<_>>(), [true]);
    assert_eq!((written(&house).await, hanako.phone().len()), (vec![hanako.id.clone()], 1));
}

#[tokio::test]
async fn what_waits_for_long_sees_that_reading_pauses_for_it() {
    let (house, greeting) = (House::for_delivery("what_waits_for_long").await, Greeting::default());
    greeting.0.waits_for_backpressure.store(true, Ordering::Relaxed);
    let people: Vec<Person<'_>> = (0..1200).map(|n| house.person(&format!("Person {n}"))).collect();
    stream::iter(&people)
        .for_each_concurrent(8, async |person| {
            person.registered().await;
        })
        .await;
    house.worker_with(greeting.as_list()).run_until_idle().await.unwrap();
    assert_eq!((greeting.greeted().len(), written(&house).await.len()), (1200, 1200), "and all came in the end");
    assert!(!greeting.greeted()[0].lease.has_backpressure(), "it is over");
}

#[tokio::test]
async fn the_work_of_the_leader_runs_on_one_of_two_workers_and_on_the_other_when_that_one_stops() {
    let house = House::for_delivery("the_work_of_the_leader").await;
    let greetings = [Greeting::default(), Greeting::default()];
    let [mut first, mut second] = [&greetings[0], &greetings[1]].map(|greeting| house.worker_with(greeting.as_list()));
    for _ in 0..2 {
        first.run_until_idle().await.unwrap();
        second.run_until_idle().await.unwrap();
    }
    let before = greetings[0].runs_of_the_leader();
    assert_eq!((before >= 2, greetings[1].runs_of_the_leader()), (true, 0));
    first.stop().await;
    second.run_until_idle().await.unwrap();
    assert_eq!((greetings[0].runs_of_the_leader(), greetings[1].runs_of_the_leader() >= 1), (before, true));
}

#[tokio::test]
async fn what_an_effect_writes_with_the_checkpoint_is_written_with_it_or_not_at_all() {
    let (house, greeting) = (House::for_delivery("what_an_effect_writes").await, Greeting::default());
    let hanako = house.person("Hanako");
    hanako.registered().await;
    house.wire.inject(Calls::Operation("TransactWriteItems"), Fault::Throttled, Often::Always);
    let mut worker = house.worker_with(greeting.as_list());
    let is_refused = async {
        while house.wire.faults() == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = worker.run_until_idle() => panic!("it can't write"),
        () = is_refused => {}
    }
    assert_eq!((has_passed_the_registration(&house).await, written(&house).await), (false, Vec::new()));

    house.wire.heal();
    worker.run_until_idle().await.unwrap();
    assert!(has_passed_the_registration(&house).await);
    assert_eq!(
        (written(&house).await, greeting.participants()),
        (vec![hanako.id.clone()], vec![hanako.line_user_id()])
    );
}

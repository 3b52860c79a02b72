//! The month's pushes of a channel (`monthly_pushes`): never passed, whatever happens, and none of them wasted.

use std::{num::NonZeroU32, time::Duration};

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future;
use serde_json::json;
use stamp_rally::{
    consumer::limits::Limits,
    delivery::Outcome,
    domain::time::Month,
    store::pushes::{GivenBack, PushMonth, Reservation, Reserved},
};

use crate::{
    consumers::Worker,
    house::{CHANNEL, Fittings, House, Person},
    proxy::{Calls, Fault, Often},
};

/// The last evening of May in Tokyo.
const EVENING: &str = "2026-05-31T12:00:00.000Z";

impl House {
    /// A house in the evening before the month turns, whose channel `main` may push so often a month.
    async fn with_budget(story: &'static str, pushes: u32) -> Self {
        let begins = Some(EVENING.parse().unwrap());
        let mut house = Self::fitted(story, Fittings { begins, ..Fittings::for_delivery() }).await;
        house.set_budget(pushes);
        house
    }

    /// What is made from now on may push so often a month.
    pub fn set_budget(&mut self, pushes: u32) {
        let main = self.settings.line.channels.get_mut(&CHANNEL.parse().unwrap()).unwrap();
        main.monthly_pushes = NonZeroU32::new(pushes);
    }

    fn month(&self) -> PushMonth {
        PushMonth { channel: CHANNEL.parse().unwrap(), month: Month::of(self.now()) }
    }

    /// How many pushes of this month are reserved.
    pub async fn reserved(&self) -> u32 {
        self.store.reserved_pushes(&self.month()).await.unwrap()
    }

    /// How many pushes LINE has accepted.
    async fn accepted(&self) -> u64 {
        self.pushes().await.get("200").copied().unwrap_or_default()
    }

    /// A function that begins anew is handed all records of the stream.
    async fn cold_start(&self) {
        let stream = self.store.stream_arn().await.unwrap().unwrap();
        let limits = Limits::within(Duration::from_mins(1), Duration::from_secs(3));
        self.function().deliver_batch(self.records().await, &stream, limits).await;
    }
}

async fn acquired(house: &House, people: usize) -> Vec<Person<'_>> {
    let people: Vec<_> = (0..people).map(|n| house.person(&format!("Person {n}"))).collect();
    for person in &people {
        person.acquired("001").await;
    }
    people
}

/// Two workers, which see who works before them.
async fn two_workers(house: &House) -> [Worker; 2] {
    let mut crew = [house.worker(), house.worker()];
    for _ in 0..2 {
        for worker in &mut crew {
            worker.run_until_idle().await.unwrap();
        }
    }
    crew
}

/// Two workers push, and are killed so often; others follow them. Returns how many pushes LINE accepted in the end.
async fn killed_while_pushing(house: &House, kills: u64) -> u64 {
    let mut crew = two_workers(house).await;
    let people = acquired(house, 40).await;
    for kill in 1..=kills {
        let [one, other] = &mut crew;
        let many = async { while house.accepted().await < 4 * kill {} };
        tokio::select! {
            () = many => {}
            idle = future::join(one.run_until_idle(), other.run_until_idle()) => panic!("nothing is left: {idle:?}"),
        }
        // The dead ones' leases end when the others have seen them silent for as long.
        crew = two_workers(house).await;
        house.pass_a_lease().await;
    }
    for _ in 0..2 {
        for worker in &mut crew {
            worker.run_until_idle().await.unwrap();
        }
        house.pass(house.settings.delivery.probe_interval).await;
    }
    let shown: usize = people.iter().map(|person| person.phone().len()).sum();
    assert_eq!(shown as u64, house.accepted().await, "each is one message");
    assert_eq!(house.reserved().await, 20);
    shown as u64
}

#[tokio::test]
async fn two_workers_and_kills_never_pass_the_budget_and_lose_one_push_a_kill_at_most() {
    let house = House::with_budget("budget and kills", 20).await;
    let accepted = killed_while_pushing(&house, 4).await;
    assert!((20 - 4..=20).contains(&accepted), "one of both has the shard, and so a push: {accepted}");
}

#[tokio::test]
async fn two_workers_that_both_push_lose_one_push_each_when_they_are_killed() {
    let house = House::with_budget("budget of two shards", 20).await;
    house.wire.deal(2);
    house.pushes_fail(json!({ "kind": "delay", "ms": 30 })).await;
    let accepted = killed_while_pushing(&house, 4).await;
    assert!((20 - 2 * 4..=20).contains(&accepted), "{accepted}");
}

#[tokio::test]
async fn what_the_budget_does_not_allow_is_held_and_follows_when_the_month_turns() {
    let house = House::with_budget("budget and month", 2).await;
    let people = acquired(&house, 5).await;
    let mut worker = house.worker();
    let tally = worker.run_until_idle().await.unwrap();
    assert_eq!((tally.of(Outcome::Sent), house.accepted().await), (2, 2));
    let mut held = 0;
    for person in &people {
        held += usize::from(person.state("001").await == "held budget");
    }
    assert_eq!(held, 3);
    let hanako = &people[0];
    hanako.acquired("002").await;
    worker.run_until_idle().await.unwrap();
    assert_eq!(hanako.state("002").await, "held budget");
    house.pass(house.settings.delivery.probe_interval).await;
    assert_eq!(worker.run_until_idle().await.unwrap().total(), 0, "the month is not over");

    house.pass(Duration::from_hours(3)).await;
    worker.run_until_idle().await.unwrap();
    assert_eq!((house.accepted().await, house.reserved().await), (4, 2), "June has two as well");
}

#[tokio::test]
async fn a_raised_limit_lets_what_is_held_go_out() {
    let mut house = House::with_budget("budget raised", 1).await;
    let people = acquired(&house, 3).await.into_iter().map(|person| person.id).collect::<Vec<_>>();
    house.deliver().await;
    assert_eq!(house.accepted().await, 1);
    house.set_budget(3);
    house.pass(house.settings.delivery.probe_interval).await;
    house.deliver().await;
    let shown: usize = people.iter().map(|id| house.line.phone(id).unwrap().len()).sum();
    assert_eq!((house.accepted().await, shown, house.reserved().await), (3, 3, 3));
}

#[tokio::test]
async fn a_hundred_cold_starts_use_up_nothing() {
    let house = House::with_budget("cold starts", 5).await;
    house.person("Hanako").acquired("001").await;
    house.cold_start().await;
    assert_eq!((house.accepted().await, house.reserved().await), (1, 1));
    for _ in 0..100 {
        house.cold_start().await;
    }
    assert_eq!((house.accepted().await, house.reserved().await), (1, 1));
    for _ in 0..5 {
        house.deliver().await;
    }
    assert_eq!(house.reserved().await, 1);
}

#[tokio::test]
async fn a_push_that_is_refused_uses_up_nothing() {
    let house = House::with_budget("budget and refusals", 5).await;
    house.pushes_fail(json!({ "kind": "status", "code": 400, "body": { "message": "no" } })).await;
    acquired(&house, 8).await;
    assert_eq!(house.deliver().await.of(Outcome::Failed), 8);
    assert_eq!(house.reserved().await, 0);
    house.pushes_fail(json!({ "kind": "rate_limited", "times": 3 })).await;
    let taro = house.person("Taro");
    taro.acquired("001").await;
    house.deliver().await;
    assert_eq!((taro.phone().len(), house.reserved().await), (1, 1));
}

#[tokio::test]
async fn a_push_without_a_clear_answer_keeps_its_unit_and_its_repetition_needs_no_other() {
    let house = House::with_budget("budget and no answer", 5).await;
    let (hanako, taro) = (house.person("Hanako"), house.person("Taro"));
    house.pushes_fail(json!({ "kind": "status", "code": 500, "times": 2 })).await;
    hanako.acquired("001").await;
    house.deliver().await;
    assert_eq!((hanako.phone().len(), house.reserved().await), (1, 1));
    house.pushes_fail(json!({ "kind": "drop_after_accept", "times": 1 })).await;
    taro.acquired("001").await;
    house.deliver().await;
    assert_eq!((taro.phone().len(), house.reserved().await), (1, 2));
}

#[tokio::test]
async fn a_push_that_was_accepted_before_a_crash_is_counted_once() {
    let house = House::with_budget("budget and a lost mark", 5).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    house.wire.inject(Calls::OperationOn("UpdateItem", "line-event"), Fault::Throttled, Often::Always);
    let mut first = house.worker();
    let accepted = async { while house.accepted().await == 0 {} };
    tokio::select! {
        () = accepted => {}
        _ = first.run_until_idle() => panic!("it can't mark"),
    }
    drop(first);
    house.wire.heal();
    let mut second = house.worker();
    assert_eq!(second.run_until_idle().await.unwrap().total(), 0, "the first one may live");
    house.pass_a_lease().await;
    second.run_until_idle().await.unwrap();
    assert_eq!((hanako.state("001").await.as_str(), hanako.phone().len()), ("sent", 1));
    assert_eq!(house.reserved().await, 1, "the repetition's unit is given back");
}

#[tokio::test]
async fn a_push_costs_one_update_more_where_there_is_a_budget_and_nothing_where_there_is_none() {
    let mut house = House::with_budget("budget on the wire", 1_000).await;
    let asked = |house: &House| {
        let counts = house.wire.forget_counts();
        counts.iter().find(|(call, _)| call.to_string() == "UpdateItem line-event-consumers").map(|(_, count)| *count)
    };
    house.person("Hanako").acquired("001").await;
    asked(&house);
    house.cold_start().await;
    assert_eq!((asked(&house), house.reserved().await), (Some(1), 1));
    house.settings.line.channels.get_mut(&CHANNEL.parse().unwrap()).unwrap().monthly_pushes = None;
    house.person("Taro").acquired("001").await;
    asked(&house);
    house.cold_start().await;
    assert_eq!((asked(&house), house.accepted().await), (None, 2));
}

#[tokio::test]
async fn many_who_reserve_at_once_never_pass_the_limit() {
    let house = House::with_budget("reserving at once", 20).await;
    let of = house.month();
    let reserve = async |n: u32| {
        let id = format!("r-{n}");
        house.store.reserve_pushes(&Reservation { of: &of, pushes: 3, limit: 20, id: &id }).await.unwrap()
    };
    let all = future::join_all((0..40).map(reserve)).await;
    assert_eq!(all.iter().filter(|reserved| **reserved == Reserved::Done).count(), 6);
    assert!(all.contains(&Reserved::Only(2)), "{all:?}");
    assert_eq!(house.reserved().await, 18);
}

#[tokio::test]
async fn a_reservation_whose_answer_got_lost_is_made_once_and_giving_back_is_never_repeated() {
    let house = House::with_budget("a reservation's answer", 20).await;
    let of = house.month();
    let updates = || Calls::OperationOn("UpdateItem", "line-event-consumers");
    house.wire.inject(updates(), Fault::LostAnswer, Often::Next(1));
    let wanted = Reservation { of: &of, pushes: 5, limit: 20, id: "r-1" };
    assert_eq!(house.store.reserve_pushes(&wanted).await.unwrap(), Reserved::Done);
    assert_eq!(house.reserved().await, 5);
    house.wire.inject(updates(), Fault::LostAnswer, Often::Next(1));
    assert!(matches!(house.store.give_pushes_back(&of, 2).await, GivenBack::Lost(_)));
    assert_eq!(house.reserved().await, 3, "once, or not at all");
    house.wire.inject(updates(), Fault::Throttled, Often::Next(1));
    assert!(matches!(house.store.give_pushes_back(&of, 2).await, GivenBack::NotYet(_)));
    assert!(matches!(house.store.give_pushes_back(&of, 4).await, GivenBack::Lost(_)), "more than there are");
    assert!(matches!(house.store.give_pushes_back(&of, 3).await, GivenBack::Done));
    assert_eq!(house.reserved().await, 0);
}

#[tokio::test]
async fn the_months_item_is_pinned() {
    let house = House::with_budget("the month's item", 20).await;
    let of = house.month();
    house.store.reserve_pushes(&Reservation { of: &of, pushes: 5, limit: 20, id: "r-1" }).await.unwrap();
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let get = house.clients.table.get_item().table_name("line-event-consumers");
    let stored = get.key("PK", text("PUSHES#main")).key("SK", text("2026-05")).send().await.unwrap().item.unwrap();
    let expected = [
        ("PK", text("PUSHES#main")),
        ("SK", text("2026-05")),
        ("entityType", text("PUSHES")),
        ("reserved", AttributeValue::N("5".to_owned())),
        ("reservation", text("r-1")),
    ];
    assert_eq!(stored, expected.map(|(name, value)| (name.to_owned(), value)).into());
}

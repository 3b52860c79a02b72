//! Three rallies in one house, with the same three participants in each: what they do, and what they must be answered.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use reqwest::Method;
use serde_json::{Value, json};
use stamp_rally::{delivery::DeliverySettings, domain::time::TimeSource};

use super::plan::Concern;
use crate::consumers::Worker;
use crate::house::{Answer, CHANNEL, House, Person, flex};

pub const STAMPS: [&str; 3] = ["001", "002", "003"];

/// The one that is acquired when the item is there.
pub const LAST: &str = STAMPS[2];

/// How long the workers may take for what is due, on a busy machine. A shard that stands still takes for ever.
const LIMIT: Duration = Duration::from_secs(30);

/// Longer than anything is remembered, and than a channel that can't send waits for its next attempt.
pub const A_WHILE: Duration = Duration::from_secs(31);

pub struct Rallies<'h> {
    pub house: &'h House,
    /// The ids of the rallies.
    pub ids: [String; 3],
    pub people: Vec<Person<'h>>,
    worker: Worker,
    /// Which stamps were acquired when, by rally and participant, in order.
    acquired: BTreeMap<(usize, usize), Vec<(&'static str, Value)>>,
    registered: BTreeMap<(usize, usize), Value>,
}

impl<'h> Rallies<'h> {
    /// Each participant is registered everywhere and was sent the notice of the first stamp.
    pub async fn open(house: &'h House) -> Self {
        static CASES: AtomicU32 = AtomicU32::new(0);
        let case = CASES.fetch_add(1, Ordering::Relaxed);
        house.wire.deal(3);
        let ids = ["spring", "summer", "autumn"].map(|season| format!("{season}-{case}"));
        let people = ["花子", "太郎", "次郎"].map(|name| house.person(name)).into();
        let worker = house.worker_at(settings());
        let mut rallies = Self { house, ids, people, worker, acquired: BTreeMap::new(), registered: BTreeMap::new() };
        for rally in 0..3 {
            rallies.set_up(rally).await;
        }
        for (rally, person) in pairs() {
            let card = rallies.asks(rally, person, Method::PUT, "/me").await.is(201);
            rallies.registered.insert((rally, person), card.body["createdAt"].clone());
        }
        rallies.all_acquire("001", Concern::Nothing).await;
        rallies.deliver().await;
        rallies
    }

    async fn set_up(&self, rally: usize) {
        let organiser = self.house.organiser();
        organiser.put_event(&self.ids[rally], &self.event(rally)).await.is(201);
        for (stamp, order) in STAMPS.into_iter().zip(1..) {
            organiser.put_stamp(&self.ids[rally], stamp, &self.stamp(rally, stamp, order)).await.is(201);
        }
    }

    /// A rally as its organiser puts it.
    pub fn event(&self, rally: usize) -> Value {
        let (now, day) = (self.house.clock.now(), 24 * 3600 * 1000);
        json!({
            "name": "ラリー", "channel": CHANNEL, "liffId": "1234567890-AbcdEfgh",
            "startsAt": now.plus_millis(-day), "endsAt": now.plus_millis(30 * day),
            "completionMessageContent": flex(&format!("{} complete", self.ids[rally])),
        })
    }

    /// A stamp as its organiser puts it.
    pub fn stamp(&self, rally: usize, stamp: &str, order: u16) -> Value {
        json!({
            "name": format!("{}-{stamp}", self.ids[rally]), "order": order, "isActive": true,
            "flexMessageContent": flex("{{stamp.name}} {{card.acquired}}/{{card.total}}"),
        })
    }

    /// A participant's request.
    pub async fn asks(&self, rally: usize, person: usize, method: Method, path: &str) -> Answer {
        let request = self.house.request(method, &format!("/api/events/{}{path}", self.ids[rally]));
        Answer::to(request.bearer_auth(&self.people[person].token)).await
    }

    /// The organiser looks at something of a rally.
    pub async fn looks(&self, rally: usize, path: &str) -> Answer {
        self.house.organiser().get(&format!("/{}{path}", self.ids[rally])).await
    }

    /// Each participant acquires a stamp, a second after what was before. Those whom the item doesn't concern get it at once.
    pub async fn all_acquire(&mut self, stamp: &'static str, concern: Concern) {
        self.house.pass(Duration::from_secs(1)).await;
        for (rally, person) in pairs() {
            self.acquires(rally, person, stamp, concern).await;
        }
    }

    pub async fn acquires(&mut self, rally: usize, person: usize, stamp: &'static str, concern: Concern) {
        let path = format!("/me/stamps/{stamp}");
        let answer = self.asks(rally, person, Method::POST, &path).await;
        if concern.spares_stamp(rally, person, stamp) {
            let answer = answer.is(201);
            let expected = self.on_card(rally, stamp, Some(&answer.body["acquiredAt"]), false);
            assert_eq!(answer.body, expected);
            if stamp == LAST {
                let again = self.asks(rally, person, Method::POST, &path).await.is(200);
                assert_eq!(again.body, expected, "acquired again");
                let shown = self.asks(rally, person, Method::GET, &path).await.is(200);
                assert_eq!(shown.body, expected, "looked at");
            }
            let acquired = self.acquired.entry((rally, person)).or_default();
            acquired.push((stamp, answer.body["acquiredAt"].clone()));
        } else {
            // Its own trouble, but an answer, and never one that says to try again and again.
            assert!([200, 201, 404, 409, 500].contains(&answer.status), "{answer:?}");
        }
    }

    /// The workers bring everything to LINE that can be brought.
    pub async fn deliver(&mut self) {
        // Cards that are completed when an item is mended come by the stream, after what was read before.
        for _ in 0..2 {
            let delivered = tokio::time::timeout(LIMIT, self.worker.run_until_idle()).await;
            delivered.expect("a shard stands still").expect("the worker can't work");
        }
    }

    /// Another worker begins where this one was.
    pub async fn restart(&mut self) {
        self.restart_at(settings()).await;
    }

    /// The same with other settings.
    pub async fn restart_at(&mut self, settings: DeliverySettings) {
        self.worker.stop().await;
        self.worker = self.house.worker_at(settings);
    }

    /// A stamp of a card, as it must be answered.
    fn on_card(&self, rally: usize, stamp: &str, acquired_at: Option<&Value>, is_sent: bool) -> Value {
        let order: u16 = stamp.parse().unwrap();
        let name = format!("{}-{stamp}", self.ids[rally]);
        let mut shown = json!({ "stampId": stamp, "name": name, "order": order, "acquired": acquired_at.is_some() });
        if let Some(at) = acquired_at {
            shown["acquiredAt"] = at.clone();
            shown["flexMessageSent"] = json!(is_sent);
        }
        shown
    }

    /// Each participant and organiser whom the item doesn't concern is answered as if it weren't there.
    pub async fn others_are_answered(&self, concern: Concern) {
        for (rally, person) in pairs() {
            self.card_is_right(rally, person, concern).await;
        }
        for rally in 0..3 {
            self.lists_are_right(rally, concern).await;
        }
        let events = self.house.organiser().get("").await.is(200).body["events"].clone();
        for (rally, id) in self.ids.iter().enumerate().filter(|(rally, _)| concern != Concern::Rally(*rally)) {
            assert!(events.as_array().unwrap().iter().any(|event| event["eventId"] == **id), "{rally}: {events}");
        }
        Answer::to(self.house.request(Method::GET, "/readyz")).await.is(200);
    }

    async fn card_is_right(&self, rally: usize, person: usize, concern: Concern) {
        let mut card = self.asks(rally, person, Method::GET, "/me").await;
        let shown = self.looks(rally, &format!("/users/{}", self.people[person].id)).await;
        if !concern.spares(rally, person) {
            assert!([200, 404, 500].contains(&card.status), "{card:?}");
            assert!([200, 404, 500].contains(&shown.status), "{shown:?}");
            return;
        }
        assert_eq!((card.status, shown.status), (200, 200), "{card:?}, {shown:?}");
        assert_eq!(shown.body["card"], card.body, "the organiser sees the same card");
        let mut stamps = std::mem::take(card.body["stamps"].as_array_mut().unwrap());
        for stamp in &mut stamps {
            stamp.as_object_mut().unwrap().remove("flexMessageSentAt");
        }
        stamps.retain(|stamp| concern.spares_stamp(rally, person, stamp["stampId"].as_str().unwrap()));
        let acquired = self.acquired.get(&(rally, person)).map_or(&[][..], Vec::as_slice);
        let expected = STAMPS.into_iter().filter(|stamp| concern.spares_stamp(rally, person, stamp)).map(|stamp| {
            let found = acquired.iter().find(|(id, _)| *id == stamp);
            self.on_card(rally, stamp, found.map(|(_, at)| at), true)
        });
        assert_eq!(stamps, expected.collect::<Vec<_>>());
        assert_eq!(card.body["createdAt"], self.registered[&(rally, person)]);
        if concern.spares_rally(rally) {
            let [acquired, total] = ["acquiredCount", "totalCount"].map(|name| card.body[name].clone());
            assert_eq!((acquired, total), (json!(stamps.len()), json!(STAMPS.len())));
            assert_eq!(card.body["completed"], true);
        }
    }

    async fn lists_are_right(&self, rally: usize, concern: Concern) {
        if concern == Concern::Rally(rally) {
            return;
        }
        let ids = |answer: &Answer, list: &str| -> Vec<String> {
            let rows = answer.body[list].as_array().unwrap_or_else(|| panic!("{answer:?}"));
            rows.iter().map(|row| row["lineUserId"].as_str().unwrap().to_owned()).collect()
        };
        let stamps = Answer::to(self.house.request(Method::GET, &format!("/api/events/{}/stamps", self.ids[rally])));
        let stamps = stamps.await.is(200);
        let users = self.looks(rally, "/users").await.is(200);
        let csv = self.looks(rally, "/users.csv").await.is(200);
        let holders = self.looks(rally, "/stamps/001/holders").await.is(200);
        let held = self.looks(rally, "/deliveries?state=held").await.is(200);
        for person in (0..3).filter(|person| concern.spares(rally, *person)) {
            let id = &self.people[person].id;
            assert!(ids(&users, "users").contains(id) && csv.body.as_str().unwrap().contains(id), "{users:?}");
            assert!(ids(&holders, "holders").contains(id), "{holders:?}");
            let is_theirs = |row: &&Value| row["lineUserId"] == **id && concern.spares_rally(rally);
            assert_eq!(held.body["deliveries"].as_array().unwrap().iter().find(is_theirs), None);
        }
        let listed = |stamp: &str| stamps.body["stamps"].as_array().unwrap().iter().any(|one| one["stampId"] == stamp);
        for stamp in STAMPS.into_iter().filter(|stamp| concern.spares_stamp_of(rally, stamp)) {
            assert!(listed(stamp), "{stamps:?}");
        }
    }

    /// The phones of those whom the item doesn't concern show what they must.
    pub fn others_have_their_notices(&self, concern: Concern) {
        for (rally, person) in pairs().filter(|(rally, person)| concern.spares(*rally, *person)) {
            let id = &self.ids[rally];
            let shown = self.phone(rally, person);
            if concern.spares_rally(rally) {
                let expected = ["-001 1/3", "-002 2/3", "-003 3/3", " complete"].map(|text| format!("{id}{text}"));
                assert_eq!(shown, expected);
                continue;
            }
            for stamp in STAMPS.into_iter().filter(|stamp| concern.spares_stamp_of(rally, stamp)) {
                let name = format!("{id}-{stamp} ");
                assert_eq!(shown.iter().filter(|text| text.starts_with(&name)).count(), 1, "{stamp}: {shown:?}");
            }
        }
    }

    /// What a participant's phone shows of one rally.
    pub fn phone(&self, rally: usize, person: usize) -> Vec<String> {
        let id = &self.ids[rally];
        let is_of_it = |text: &String| text.starts_with(&format!("{id}-")) || *text == format!("{id} complete");
        self.people[person].phone().into_iter().filter(is_of_it).collect()
    }
}

/// Time passes in leaps here, and a worker that holds its shards must not lose them for that.
fn settings() -> DeliverySettings {
    DeliverySettings { pushes_per_second: 100_000, lease: Duration::from_hours(1), ..crate::house::defaults().delivery }
}

/// Every participant of every rally.
pub fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..3).flat_map(|rally| (0..3).map(move |person| (rally, person)))
}

impl Concern {
    /// Whether one participant's answers in a rally are as if the item weren't there, but for a stamp.
    pub fn spares(self, rally: usize, person: usize) -> bool {
        match self {
            Self::Nothing | Self::Stamp(..) => true,
            Self::Person(of, whom) => (of, whom) != (rally, person),
            Self::Rally(of) => of != rally,
        }
    }

    /// Whether none of a rally's stamps is concerned.
    pub fn spares_rally(self, rally: usize) -> bool {
        !matches!(self, Self::Rally(of) | Self::Stamp(of, _) if of == rally)
    }

    fn spares_stamp_of(self, rally: usize, stamp: &str) -> bool {
        match self {
            Self::Stamp(of, concerned) if of == rally => {
                STAMPS.get(concerned) != Some(&stamp) && STAMPS.contains(&stamp)
            }
            _ => true,
        }
    }

    fn spares_stamp(self, rally: usize, person: usize, stamp: &str) -> bool {
        self.spares(rally, person) && self.spares_stamp_of(rally, stamp)
    }
}

//! One case: the item is planted, the rallies continue, and it is mended.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use aws_sdk_dynamodb::types::AttributeValue;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use stamp_rally::{
    consumer::CONSUMER,
    domain::{
        card::Progress,
        counts::{self, Hours},
        fact::{Fact, Facts},
        ids::EventId,
        notice::NoticeStatus,
        time::TimeSource,
    },
};

use super::{
    attributes::Entity,
    ears::Ears,
    items::{self, Item, NEW_STAMP_ID, Names, key_of, string},
    plan::{Concern, Harm, Mend, Moment, Place, Plan},
    rallies::{A_WHILE, LAST, Rallies, STAMPS, pairs},
};
use crate::house::{CHANNEL, House};

/// An item that was planted.
struct Planted {
    /// As it was, or would be if nothing were wrong with it.
    whole: Item,
    broken: Item,
    harm: Harm,
}

impl Planted {
    fn was_sent(&self) -> bool {
        self.whole.get("flexMessageSent") == Some(&AttributeValue::Bool(true))
    }
}

/// Plays a case; panics where a promise is broken.
pub async fn play(plan: &Plan) {
    let (ears, concern) = (Ears::here(), plan.concern());
    let house = House::empty("bad items").await;
    let mut rallies = Rallies::open(&house).await;
    let met_before = ears.met();
    rallies.until_the_moment(plan).await;
    let planted = rallies.plant(plan).await;
    if plan.restart {
        rallies.restart().await;
    }

    house.pass(A_WHILE).await;
    rallies.all_acquire(LAST, concern).await;
    rallies.deliver().await;
    rallies.others_are_answered(concern).await;
    rallies.others_have_their_notices(concern);
    rallies.no_shard_stands_still().await;
    rallies.is_reported(ears, &planted, met_before).await;

    rallies.mend(plan, &planted).await;
    house.pass(A_WHILE).await;
    rallies.deliver().await;
    rallies.all_went_on_by_itself(plan).await;

    rallies.the_concerned_acquire_everything(plan).await;
    rallies.deliver().await;
    rallies.others_have_their_notices(concern);
    rallies.nothing_is_missing_or_doubled(plan, &planted).await;
    rallies.no_shard_stands_still().await;
    house.close().await;
}

impl Rallies<'_> {
    fn names(&self, plan: &Plan) -> Names {
        let (rally, person) = (plan.target.rally, plan.target.person);
        let now = self.house.clock.now();
        Names {
            rally: self.ids[rally].clone(),
            person: self.people[person].id.clone(),
            stamp: STAMPS[plan.target.stamp],
            other_rally: self.ids[(rally + 1) % 3].clone(),
            other_person: self.people[(person + 1) % 3].id.clone(),
            new_rally: self.ids[rally].replace('-', "-new-"),
            new_person: format!("U{:0>32}", rally * 3 + person),
            now: now.to_string(),
            later: now.plus_millis(24 * 3600 * 1000).to_string(),
        }
    }

    /// Each participant acquires the second stamp, and its notice is where the plan wants it.
    async fn until_the_moment(&mut self, plan: &Plan) {
        let (rally, person) = (plan.target.rally, plan.target.person);
        if plan.moment == Moment::NoticesAreHeld {
            self.month_has(json!(0)).await;
        }
        self.all_acquire("002", Concern::Nothing).await;
        match (plan.target.entity, plan.target.place) {
            (Entity::Completed, Place::Instead) => {
                self.house.pass(Duration::from_secs(1)).await;
                self.asks(rally, person, Method::POST, "/me/stamps/003").await.is(201);
            }
            (Entity::Resend, Place::Instead) => {
                let path = format!("/{}/deliveries/{}/001/resend", self.ids[rally], self.people[person].id);
                self.house.organiser().post(&path).await.is(202);
            }
            (Entity::Friendship, Place::Instead) => self.put(items::whole(plan, &self.names(plan))).await,
            _ => {}
        }
        if plan.moment != Moment::OnTheWay {
            self.deliver().await;
        }
    }

    /// What LINE lets the channel send this month.
    async fn month_has(&self, quota: Value) {
        let path = format!("/channels/{CHANNEL}");
        self.house.control(Method::PATCH, &path, &json!({ "quota": quota })).await.is(200);
    }

    async fn plant(&self, plan: &Plan) -> Planted {
        let names = self.names(plan);
        let made = items::whole(plan, &names);
        let whole = self.item(&made).await.unwrap_or(made);
        let broken = plan.damage.done_to(plan.target.entity, &whole, &names);
        self.put(broken.clone()).await;
        if plan.moment == Moment::NoticesAreHeld {
            self.month_has(Value::Null).await;
        }
        let sent = whole.get("flexMessageSent").map(|sent| *sent.as_bool().unwrap());
        Planted { whole, broken, harm: plan.damage.harm(sent) }
    }

    /// The stored item with the key of this one.
    async fn item(&self, item: &Item) -> Option<Item> {
        let get = self.house.clients.table.get_item().table_name("line-event").consistent_read(true);
        get.set_key(Some(key_of(item))).send().await.unwrap().item
    }

    async fn put(&self, item: Item) {
        let put = self.house.clients.table.put_item().table_name("line-event").set_item(Some(item));
        put.send().await.unwrap();
    }

    /// An item that is refused or passed over is found by its key in the log, where no user id is, by `table check`, and in
    /// the metric.
    async fn is_reported(&self, ears: &Ears, planted: &Planted, met_before: u64) {
        let [pk, sk] = ["PK", "SK"].map(|name| hashed(string(&planted.broken, name)));
        let heard = ears.heard_of(&pk, &sk);
        if planted.harm == Harm::Whole {
            assert!(heard.is_empty(), "nothing is wrong with it: {heard:?}");
            return;
        }
        let is_it =
            |said: &&Value| said["message"].as_str().is_some_and(|text| text.starts_with("an item can't be read"));
        let times = heard.iter().filter(is_it).count();
        if planted.harm == Harm::AstrayUntilSent {
            assert!(times <= 1, "{pk} {sk} is reported once: {heard:?}");
        } else {
            assert_eq!(times, 1, "{pk} {sk} is reported once: {heard:?}");
            assert!(ears.met() > met_before, "the metric counts it");
            assert!(self.checked(&planted.broken).await, "{pk} {sk} is not found by `table check`");
        }
        for person in &self.people {
            assert_eq!(ears.mentions(&person.id), Vec::<String>::new());
        }
    }

    /// Whether `table check` finds something wrong with the item that has this one's key.
    pub async fn checked(&self, item: &Item) -> bool {
        let mut check = self.house.store.check(None, self.house.clock.now());
        let mut findings = Vec::new();
        while !check.is_over() {
            findings.extend(check.step().await.unwrap());
        }
        findings.iter().any(|finding| (&*finding.pk, &*finding.sk) == (string(item, "PK"), string(item, "SK")))
    }

    async fn mend(&self, plan: &Plan, planted: &Planted) {
        let (table, rally) = (&self.house.clients.table, plan.target.rally);
        let organiser = self.house.organiser();
        match plan.mend {
            Mend::Attributes => self.mend_attributes(planted).await,
            Mend::Remove => {
                let delete = table.delete_item().table_name("line-event").set_key(Some(key_of(&planted.whole)));
                drop(delete.send().await.unwrap());
            }
            Mend::Whole => self.put(planted.whole.clone()).await,
            Mend::Put if plan.target.entity == Entity::Event => {
                let id = string(&planted.whole, "PK").trim_start_matches("EVENT#");
                let put = organiser.put_event(id, &self.event(rally)).await;
                assert!([200, 201].contains(&put.status), "{put:?}");
            }
            Mend::Put => {
                let names = self.names(plan);
                let (id, order) = match plan.target.place {
                    Place::New => (NEW_STAMP_ID, 900),
                    Place::Instead => (names.stamp, names.stamp.parse().unwrap()),
                };
                let put = organiser.put_stamp(&names.rally, id, &self.stamp(rally, id, order)).await;
                assert!([200, 201].contains(&put.status), "{put:?}");
            }
        }
    }

    /// Writes what was changed as it was, and nothing else.
    async fn mend_attributes(&self, Planted { whole, broken, .. }: &Planted) {
        if whole == broken {
            return;
        }
        let names: BTreeSet<&String> = whole.keys().chain(broken.keys()).collect();
        let changed = names.into_iter().filter(|name| whole.get(*name) != broken.get(*name)).enumerate();
        let (mut set, mut removed) = (Vec::new(), Vec::new());
        let mut update = self.house.clients.table.update_item().table_name("line-event").set_key(Some(key_of(whole)));
        for (n, name) in changed {
            update = update.expression_attribute_names(format!("#n{n}"), name);
            match whole.get(name) {
                Some(value) => {
                    set.push(format!("#n{n} = :v{n}"));
                    update = update.expression_attribute_values(format!(":v{n}"), value.clone());
                }
                None => removed.push(format!("#n{n}")),
            }
        }
        let clause = |verb: &str, parts: &[String]| {
            if parts.is_empty() { String::new() } else { format!("{verb} {} ", parts.join(", ")) }
        };
        let expression = clause("SET", &set) + &clause("REMOVE", &removed);
        update.update_expression(expression).send().await.unwrap();
    }

    /// Nothing was done but mend the item: what waited for it is sent, and full cards are complete.
    async fn all_went_on_by_itself(&self, plan: &Plan) {
        for (rally, person) in pairs() {
            let facts = self.facts(rally, person).await;
            all_notices_are_sent(plan, &facts);
            let masters = self.house.store.masters(&self.event_id(rally)).await.unwrap();
            let is_complete = Progress::of(&masters, &facts).is_complete();
            let is_completed = facts.completed.is_some() || plan.removes_the_completion_of(rally, person);
            assert!(!is_complete || is_completed, "not completed: {facts:#?}");
        }
    }

    async fn the_concerned_acquire_everything(&self, plan: &Plan) {
        self.house.pass(Duration::from_secs(1)).await;
        for (rally, person) in pairs().filter(|(rally, _)| *rally == plan.target.rally) {
            let card = self.asks(rally, person, Method::PUT, "/me").await;
            assert!([200, 201].contains(&card.status), "{card:?}");
            for stamp in card.body["stamps"].as_array().unwrap() {
                let path = format!("/me/stamps/{}", stamp["stampId"].as_str().unwrap());
                let acquired = self.asks(rally, person, Method::POST, &path).await;
                assert!([200, 201].contains(&acquired.status), "{acquired:?}");
            }
        }
    }

    /// Every notice is sent, each message is on its phone as often as there are facts that call for it, LINE took no key
    /// twice, and what was counted is what the facts say.
    async fn nothing_is_missing_or_doubled(&self, plan: &Plan, planted: &Planted) {
        for (rally, person) in pairs() {
            let facts = self.facts(rally, person).await;
            all_notices_are_sent(plan, &facts);
            let mut expected = self.called_for(rally, &facts);
            let is_concerned = (rally, person) == (plan.target.rally, plan.target.person);
            if is_concerned && plan.mend == Mend::Remove && planted.was_sent() {
                let name = self.first_word_of(rally, plan);
                let count = expected.entry(name).or_default();
                *count = if plan.target.entity == Entity::Completed { 1 } else { *count + 1 };
            }
            let mut shown: BTreeMap<String, usize> = BTreeMap::new();
            for text in self.phone(rally, person) {
                let name = text.split(' ').next().unwrap().to_owned();
                *shown.entry(name).or_default() += 1;
            }
            assert_eq!(shown, expected, "{facts:#?}");
            let is_completed = facts.completed.is_some() || plan.removes_the_completion_of(rally, person);
            assert!(is_completed, "every card is full: {facts:#?}");
        }
        self.line_took_no_key_twice().await;
        for rally in 0..3 {
            self.counts_are_what_the_facts_say(rally).await;
        }
    }

    /// How many messages there must be, by their first word.
    fn called_for(&self, rally: usize, facts: &Facts) -> BTreeMap<String, usize> {
        let mut called: BTreeMap<String, usize> = BTreeMap::new();
        for fact in facts.in_order() {
            let is_sent = fact.notice().is_some_and(|(_, status)| status.is_sent());
            let name = match &fact {
                Fact::Completed(_) | Fact::ResendCompleted(_) => self.ids[rally].clone(),
                Fact::Resend(resend) => format!("{}-{}", self.ids[rally], resend.stamp_id),
                Fact::User(_) => continue,
                Fact::UserStamp(stamp) => format!("{}-{}", self.ids[rally], stamp.stamp_id),
            };
            *called.entry(name).or_default() += usize::from(is_sent);
        }
        called.retain(|_, count| *count > 0);
        called
    }

    /// The first word of the message that the planted item called for.
    fn first_word_of(&self, rally: usize, plan: &Plan) -> String {
        match plan.target.entity {
            Entity::Completed => self.ids[rally].clone(),
            Entity::Resend => format!("{}-001", self.ids[rally]),
            _ => format!("{}-{}", self.ids[rally], STAMPS[plan.target.stamp]),
        }
    }

    pub async fn line_took_no_key_twice(&self) {
        let keys = self.house.control(Method::GET, "/retry-keys", &Value::Null).await.is(200);
        for key in keys.body["retryKeys"].as_array().unwrap() {
            assert_eq!(key["accepted"], 1, "{key}");
        }
    }

    pub async fn counts_are_what_the_facts_say(&self, rally: usize) {
        let event = self.house.store.event(&self.event_id(rally)).await.unwrap().unwrap();
        let facts = self.house.store.count_facts(&event, |_| ()).await.unwrap().hours;
        let counted = self.house.store.counts(&event.event_id).await.unwrap().hours;
        assert_eq!(counts::differences(&facts, &counted), Hours::new());
    }

    /// Everything that happened is behind the checkpoints.
    pub async fn no_shard_stands_still(&self) {
        let arn = self.house.store.stream_arn().await.unwrap().unwrap();
        let board = self.house.store.consumers(CONSUMER, &arn).board().await.unwrap();
        for (shard, tail) in self.house.wire.tails().await {
            let item = board.shards.iter().find(|item| item.shard.as_str() == shard);
            let reached = item.and_then(|item| item.reached.checkpoint.as_ref());
            let reached = reached.map(|sequence| sequence.as_str().parse::<u128>().unwrap());
            assert!(reached >= tail, "{shard} stands at {reached:?}, its last record is {tail:?}");
        }
    }

    fn event_id(&self, rally: usize) -> EventId {
        self.ids[rally].parse().unwrap()
    }

    async fn facts(&self, rally: usize, person: usize) -> Facts {
        let user = self.people[person].id.parse().unwrap();
        self.house.store.facts(&self.event_id(rally), &user).await.unwrap()
    }
}

fn all_notices_are_sent(plan: &Plan, facts: &Facts) {
    assert!(facts.unreadable.is_empty(), "{facts:#?}");
    let of_a_removed_stamp = |fact: &Fact| {
        let is_of_it = matches!(fact, Fact::UserStamp(stamp) if stamp.stamp_id.as_str() == STAMPS[plan.target.stamp]);
        let is_removed = plan.target.entity == Entity::Master && plan.mend == Mend::Remove;
        is_of_it && is_removed && plan.target.place == Place::Instead
    };
    for fact in facts.in_order().iter().filter(|fact| !of_a_removed_stamp(fact)) {
        let Some((key, status)) = fact.notice() else { continue };
        assert!(matches!(status, NoticeStatus::Sent { .. } | NoticeStatus::None), "{key:?} is {status:?}: {facts:#?}");
    }
}

impl Plan {
    /// Whether a person takes the fact away that this card is full: no later stamp brings it back.
    fn removes_the_completion_of(&self, rally: usize, person: usize) -> bool {
        let is_it = (rally, person) == (self.target.rally, self.target.person);
        is_it && self.target.entity == Entity::Completed && self.mend == Mend::Remove
    }
}

/// A key as the log must show it: each user id as `~` and the first 8 hex digits of its SHA-256.
pub fn hashed(key: &str) -> String {
    let is_user = |part: &&str| part.len() == 33 && part.starts_with('U');
    let shown = key.split('#').map(|part| match Some(part).filter(is_user) {
        Some(user) => {
            let digest = Sha256::digest(user);
            digest.iter().take(4).fold("~".to_owned(), |shown, byte| shown + &format!("{byte:02x}"))
        }
        None => part.to_owned(),
    });
    shown.collect::<Vec<_>>().join("#")
}

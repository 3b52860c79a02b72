//! The books: what was promised, looked up past the proxy and at LINE.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use stamp_rally::{
    domain::{
        counts::{self, Hours},
        fact::Facts,
        notice::{NoticeStatus, ParkedState},
    },
    store::listing::{Direction, Wanted},
};

use super::stage::{Stage, event, stamp};

/// Between two looks at whether everything is done.
const LOOK: Duration = Duration::from_millis(100);

const STATES: [ParkedState; 5] =
    [ParkedState::Expired, ParkedState::Failed, ParkedState::Held, ParkedState::Suppressed, ParkedState::Unknown];

impl Stage {
    /// Waits until every notice is marked, and everything is behind the checkpoints. It may take its time, but never so
    /// long without getting any further.
    pub async fn is_drained(&self, limit: Duration) {
        let (mut since, mut last) = (Instant::now(), String::new());
        while let Some(missing) = self.missing().await {
            if missing != last {
                (since, last) = (Instant::now(), missing);
            }
            assert!(since.elapsed() < limit, "no further for {limit:?}: {last}");
            tokio::time::sleep(LOOK).await;
        }
    }

    /// What is still to be done, the cheapest question first.
    async fn missing(&self) -> Option<String> {
        let (accepted, expected) = (self.accepted().await, self.expected());
        if accepted < expected {
            return Some(format!("LINE has accepted {accepted} of {expected} messages"));
        }
        let mut unmarked = Vec::new();
        for person in &self.people {
            let facts = self.facts_of(person).await;
            unmarked.extend(
                notices(&facts)
                    .into_iter()
                    .filter(|(_, notice)| !notice.is_sent())
                    .map(|(name, notice)| format!("{name} of {}: {notice:?}", person.id)),
            );
        }
        if let Some(first) = unmarked.first() {
            return Some(format!("{} notices are not marked, {first}", unmarked.len()));
        }
        self.behind().await
    }

    /// The first shard whose progress isn't at its end.
    async fn behind(&self) -> Option<String> {
        let (tails, board) = (self.wire.tails().await, self.board().await);
        let parents: BTreeSet<_> = board.shards.iter().filter_map(|item| item.parent.as_ref()).collect();
        tails.into_iter().find_map(|(id, tail)| {
            let Some(item) = board.shards.iter().find(|item| item.shard.as_str() == id) else {
                return Some(format!("{id} was not found"));
            };
            let checkpoint =
                item.reached.checkpoint.as_ref().map(|sequence| sequence.as_str().parse::<u128>().unwrap());
            let done = if parents.contains(&item.shard) { item.reached.finished } else { checkpoint >= tail };
            (!done).then(|| format!("the progress of {id} is {:?}, its last record {tail:?}", item.reached))
        })
    }

    /// Every promise about every participant.
    pub async fn every_promise_is_kept(&self) {
        let accepted = self.control("GET", "/pushes", &json!({})).await;
        let mut phones: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
        for push in accepted["pushes"].as_array().unwrap() {
            phones.entry(push["userId"].as_str().unwrap()).or_default().push(push);
        }
        for (number, person) in self.people.iter().enumerate() {
            let facts = self.facts_of(person).await;
            let order = self.acknowledged_are_stored(number, &facts);
            let phone = phones.remove(person.id.as_str()).unwrap_or_default();
            self.phone_tells_each_once(&order, &phone);
            marks_are_true(&facts, &phone);
        }
        assert!(phones.is_empty(), "strangers got messages: {phones:?}");
        self.no_key_was_accepted_twice().await;
        self.nothing_is_parked().await;
        self.counts_equal_the_facts().await;
        assert_eq!(self.behind().await, None);
    }

    /// Stored is what was acknowledged: the same stamps with the same times. Their numbers, in order of acquisition.
    fn acknowledged_are_stored(&self, person: usize, facts: &Facts) -> Vec<usize> {
        let acknowledged = self.acquired.lock().unwrap();
        let stored = |number: usize| facts.stamp(&stamp(number)).map(|fact| fact.acquired_at.to_string());
        for number in 0..self.stamps {
            let told = acknowledged.get(&(person, number)).cloned();
            assert_eq!(stored(number), told, "participant {person}, stamp {}", stamp(number));
        }
        assert_eq!(facts.stamps.len(), self.stamps);
        let mut order: Vec<usize> = (0..self.stamps).collect();
        order.sort_by_key(|number| stored(*number));
        order
    }

    /// Each stamp's message once, in the order of acquisition, each counting right; then the completed card's, once.
    fn phone_tells_each_once(&self, order: &[usize], phone: &[&Value]) {
        let counted = order.iter().enumerate();
        let stamps = counted.map(|(n, number)| format!("{} {}/{}", stamp(*number), n + 1, self.stamps));
        let expected: Vec<String> = stamps.chain(["complete".to_owned()]).collect();
        let shown: Vec<&str> = phone.iter().filter(|push| push["shown"] == true).map(|push| text(push)).collect();
        assert_eq!(shown, expected);
        assert_eq!(shown.len(), phone.len(), "everything accepted is shown");
    }

    /// Nor with another text: a repeated push is the same one.
    async fn no_key_was_accepted_twice(&self) {
        let keys = self.control("GET", "/retry-keys", &json!({})).await;
        let keys = keys["retryKeys"].as_array().unwrap();
        assert_eq!(keys.len(), self.expected(), "a key a message");
        for key in keys {
            assert_eq!((&key["accepted"], &key["changedBody"]), (&json!(1), &json!(0)), "{key}");
        }
    }

    /// What was counted as it came is what the facts say, hour by hour: nothing twice, and nothing forgotten.
    async fn counts_equal_the_facts(&self) {
        let event = self.store.event(&event()).await.unwrap().unwrap();
        let facts = self.store.count_facts(&event, |_| ()).await.unwrap().hours;
        let counted = self.store.counts(&event.event_id).await.unwrap();
        assert_eq!(counts::differences(&facts, &counted.hours), Hours::new());
        let (all, people) = (counts::total(&counted.hours), i64::try_from(self.people.len()).unwrap());
        assert_eq!((all.registrations, all.completions), (people, people));
        let expected = (0..self.stamps).map(|number| (stamp(number), people));
        assert_eq!(all.stamps, expected.collect());
    }

    async fn nothing_is_parked(&self) {
        for state in STATES {
            let wanted = Wanted { direction: Direction::Asc, limit: 10, after: None };
            let parked = self.store.parked(&event(), state, &wanted).await.unwrap().rows;
            assert!(parked.is_empty(), "{state}: {parked:?}");
        }
    }

    /// Messages that there must be: one a stamp, one a completed card.
    pub fn expected(&self) -> usize {
        self.people.len() * (self.stamps + 1)
    }

    /// Messages that LINE has accepted so far.
    pub async fn accepted(&self) -> usize {
        let told = self.control("GET", "/pushes?messages=false&limit=0", &json!({})).await;
        usize::try_from(told["total"].as_u64().unwrap()).unwrap()
    }

    async fn facts_of(&self, person: &super::stage::Person) -> Facts {
        self.store.facts(&event(), &person.id).await.unwrap()
    }
}

/// A mark names LINE's own request that accepted this very message.
fn marks_are_true(facts: &Facts, phone: &[&Value]) {
    for (name, notice) in notices(facts) {
        let push = phone.iter().find(|push| text(push).split(' ').next() == Some(name.as_str())).unwrap();
        let NoticeStatus::Sent { at: Some(_), request_id } = notice else { panic!("{name}: {notice:?}") };
        assert_eq!(request_id.as_deref(), push["requestId"].as_str(), "{name}");
    }
}

/// All notices of a participant, by the first word of their message.
fn notices(facts: &Facts) -> Vec<(String, &NoticeStatus)> {
    let stamps = facts.stamps.iter().map(|fact| (fact.stamp_id.to_string(), &fact.notice));
    let completed = facts.completed.iter().map(|fact| ("complete".to_owned(), &fact.notice));
    stamps.chain(completed).collect()
}

fn text(push: &Value) -> &str {
    push["messages"][0]["altText"].as_str().unwrap()
}

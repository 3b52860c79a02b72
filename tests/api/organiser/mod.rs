//! What organisers do over HTTP: settings, lists, files, one participant; and who may do it.

mod access;
mod article;
mod codes;
mod csv;
mod facts;
mod hostile;
mod lists;
mod messages;
mod races;
mod settings;

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use stamp_rally::domain::{
    event::IndexShards,
    fact::User,
    ids::{EventId, LineUserId, RequestId},
    time::Timestamp,
};

use super::house::{Answer, House, Organiser, RALLY};

/// Participants by number.
fn user(number: u32) -> LineUserId {
    format!("U{number:032x}").parse().unwrap()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn rally() -> EventId {
    RALLY.parse().unwrap()
}

impl House {
    /// These people registered at these times, whatever the clock says.
    async fn registered(&self, people: impl IntoIterator<Item = (u32, Timestamp)>) {
        let shards = self.store.event(&rally()).await.unwrap().unwrap().index_shards;
        let puts = people.into_iter().map(|(number, at)| self.registers(number, at, shards));
        stream::iter(puts).buffer_unordered(16).collect::<()>().await;
    }

    async fn registers(&self, number: u32, at: Timestamp, shards: IndexShards) {
        let user = User::registers(rally(), user(number), RequestId::generate(), at);
        self.store.register(&user, shards).await.unwrap();
    }
}

impl Organiser<'_> {
    /// The numbers of the participants on one page of a list.
    async fn people(&self, query: &str) -> Vec<u32> {
        numbers(&self.get(&format!("/{RALLY}/users?{query}")).await.is(200))
    }

    /// All pages of a list, one after the other.
    async fn pages(&self, query: &str) -> Vec<Vec<u32>> {
        let (mut pages, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = self.get(&format!("/{RALLY}/users?{query}{cursor}")).await.is(200);
            pages.push(numbers(&page));
            match page.body.get("nextCursor") {
                Some(next) => cursor = format!("&cursor={}", next.as_str().unwrap()),
                None => return pages,
            }
        }
    }

    async fn change_event(&self, id: &str, condition: (&str, &str), change: &Value) -> Answer {
        let request = self.request(reqwest::Method::PUT, &format!("/{id}"));
        Answer::to(request.header(condition.0, condition.1).json(change)).await
    }

    async fn change_stamp(&self, id: &str, condition: (&str, &str), change: &Value) -> Answer {
        let request = self.request(reqwest::Method::PUT, &format!("/{RALLY}/stamps/{id}"));
        Answer::to(request.header(condition.0, condition.1).json(change)).await
    }
}

/// The participants of a page, by number.
fn numbers(page: &Answer) -> Vec<u32> {
    let rows = page.body["users"].as_array().unwrap();
    rows.iter().map(|row| number(row["lineUserId"].as_str().unwrap())).collect()
}

fn number(line_user_id: &str) -> u32 {
    u32::from_str_radix(&line_user_id[1..], 16).unwrap()
}

/// The least that an event needs; it begins after every other one.
fn event() -> Value {
    json!({
        "name": "秋のラリー", "channel": "main",
        "startsAt": "2096-09-01T09:00:00+09:00", "endsAt": "2096-10-01T00:00:00.123456Z",
    })
}

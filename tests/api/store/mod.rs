//! The store against a real engine: guards, races, lost answers, lists that grow while they are read.

mod candidates;
mod lists;
mod notices;
mod participants;
mod settings;

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use stamp_rally::{
    dev::engine::Engine,
    domain::{
        event::{Event, EventChange, IndexShards},
        fact::{User, UserStamp},
        ids::LineUserId,
        notice::NoticeStatus,
        setting::Name,
        stamp::{StampMaster, StampMasterChange, StampOrder},
        time::Timestamp,
    },
    store::{Store, client::Clients},
};

use super::{
    house::{Dynamo, hurried, store_of},
    proxy::Proxy,
};

/// A store with empty tables, and the wire to it.
struct Desk {
    store: Store,
    clients: Clients,
    proxy: Proxy,
    _engine: Engine,
}

impl Desk {
    /// Every story has a name of its own: with it comes a budget of repetitions of its own.
    async fn open(story: &'static str) -> Self {
        let Dynamo { wire: proxy, clients, engine } = Dynamo::with_tables(&hurried(story)).await;
        Self { store: store_of(&clients), clients, proxy, _engine: engine }
    }

    /// What went over the wire since the last time: `2 × PutItem line-event`.
    fn wire(&self) -> Vec<String> {
        self.proxy.forget_counts().iter().map(|(call, count)| format!("{count} × {call}")).collect()
    }

    /// Puts an item as it is.
    async fn put(&self, item: HashMap<String, AttributeValue>) {
        self.clients.table.put_item().table_name("line-event").set_item(Some(item)).send().await.unwrap();
    }

    /// Takes one attribute away, or makes it something else.
    async fn spoil(&self, pk: &str, sk: &str, attribute: &str, value: Option<AttributeValue>) {
        let update = self.clients.table.update_item().table_name("line-event").key("PK", text(pk)).key("SK", text(sk));
        let update = update.expression_attribute_names("#a", attribute);
        let update = match value {
            Some(value) => update.update_expression("SET #a = :v").expression_attribute_values(":v", value),
            None => update.update_expression("REMOVE #a"),
        };
        update.send().await.unwrap();
    }

    /// An item as it is.
    async fn raw(&self, pk: &str, sk: &str) -> Option<HashMap<String, AttributeValue>> {
        let get = self.clients.table.get_item().table_name("line-event").key("PK", text(pk)).key("SK", text(sk));
        get.send().await.unwrap().item
    }
}

fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

fn item(pk: &str, sk: &str, entity_type: &str) -> HashMap<String, AttributeValue> {
    [("PK", pk), ("SK", sk), ("entityType", entity_type)].map(|(name, value)| (name.to_owned(), text(value))).into()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// 19:00 on the 23rd of May in Tokyo, and so many minutes.
fn evening(minutes: i64) -> Timestamp {
    at("2026-05-23T10:00:00.000Z").plus_millis(minutes * 60_000)
}

fn hanako() -> LineUserId {
    user_id(0xa)
}

/// Participants by number.
fn user_id(number: u32) -> LineUserId {
    format!("U{number:032x}").parse().unwrap()
}

fn rally(shards: i64) -> Event {
    let change = EventChange {
        name: Some(Name::try_from("初夏のラリー".to_owned()).unwrap()),
        starts_at: Some(at("2026-05-23T00:00:00.000Z")),
        ends_at: Some(at("2026-06-30T15:00:00.000Z")),
        channel: Some("main".parse().unwrap()),
        index_shards: Some(IndexShards::try_from(shards).unwrap()),
        ..EventChange::default()
    };
    change.create("rally".parse().unwrap(), at("2026-05-01T00:00:00.000Z")).unwrap()
}

fn master(id: &str, order: i64) -> StampMaster {
    let change = StampMasterChange {
        name: Some(Name::try_from(format!("スタンプ{id}")).unwrap()),
        order: Some(StampOrder::try_from(order).unwrap()),
        flex_message_content: Some(serde_json::json!({"type": "flex", "altText": "", "contents": {"flex": 1}})),
        ..StampMasterChange::default()
    };
    change.create("rally".parse().unwrap(), id.parse().unwrap(), at("2026-05-01T00:00:00.000Z")).unwrap()
}

fn registration(who: &LineUserId, request: &str, now: Timestamp) -> User {
    User::registers("rally".parse().unwrap(), who.clone(), request.parse().unwrap(), now)
}

fn claim(who: &LineUserId, stamp: &str, request: &str, now: Timestamp) -> UserStamp {
    UserStamp {
        proof: None,
        event_id: "rally".parse().unwrap(),
        line_user_id: who.clone(),
        stamp_id: stamp.parse().unwrap(),
        acquired_at: now,
        request_id: Some(request.parse().unwrap()),
        notice: NoticeStatus::Pending { maybe_sent_at: None },
    }
}

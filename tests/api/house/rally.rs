//! The rallies of a house.

use serde_json::{Value, json};
use stamp_rally::{
    domain::{
        event::{Event, EventChange},
        stamp::{StampMaster, StampMasterChange, StampOrder},
    },
    store::masters::Expected,
};

use super::{CHANNEL, House, RALLY};

impl House {
    /// Two stamps, a completion message, open from yesterday to next month.
    pub(super) async fn set_up_the_demo_rally(&self) {
        let now = self.now();
        let day = 24 * 3600 * 1000;
        let event = json!({
            "name": "初夏のラリー", "channel": CHANNEL,
            "startsAt": now.plus_millis(-day), "endsAt": now.plus_millis(30 * day),
            "completionMessageContent": flex("{{event.name}}、{{card.total}}個そろいました"),
        });
        let organiser = self.organiser();
        organiser.put_event(RALLY, &event).await.is(201);
        for (id, name, order) in [("001", "第1スタンプ", 1), ("002", "第2スタンプ", 2)] {
            let stamp = json!({"name": name, "order": order, "flexMessageContent": flex("{{stamp.name}} {{card.acquired}}/{{card.total}}")});
            organiser.put_stamp(RALLY, id, &stamp).await.is(201);
        }
    }

    /// Two stamps and a completion message, open since an hour ago.
    pub(super) async fn store_the_rally(&self) {
        self.put_event(RALLY, CHANNEL, Some(flex("{{event.name}} complete with {{stamp.name}}"))).await;
        for (id, order) in [("001", 1), ("002", 2)] {
            self.put_stamp(RALLY, id, order, flex("{{stamp.name}} {{card.acquired}}/{{card.total}}")).await;
        }
    }

    /// Changes the rally, as its organiser does.
    pub async fn change_the_rally(&self, change: &Value) {
        self.organiser().put_event(RALLY, change).await.is(200);
    }

    /// Changes one of its stamps.
    pub async fn change_stamp(&self, id: &str, change: &Value) {
        self.organiser().put_stamp(RALLY, id, change).await.is(200);
    }

    /// Puts an event into the store, also one that the organiser's API would refuse.
    pub async fn put_event(&self, id: &str, channel: &str, completion: Option<Value>) -> Event {
        let change = EventChange {
            name: Some("初夏のラリー".to_owned().try_into().unwrap()),
            starts_at: Some(self.now().plus_millis(-3_600_000)),
            ends_at: Some(self.now().plus_millis(100 * 3_600_000)),
            channel: Some(channel.parse().unwrap()),
            completion_message_content: Some(completion),
            ..EventChange::default()
        };
        let event = change.create(id.parse().unwrap(), self.now()).unwrap();
        self.store.put_event(&event, Expected::Absent).await.unwrap();
        event
    }

    /// Puts a stamp into the store, also one that the organiser's API would refuse.
    pub async fn put_stamp(&self, event: &str, id: &str, order: i64, message: Value) -> StampMaster {
        let change = StampMasterChange {
            name: Some(format!("Stamp {id}").try_into().unwrap()),
            order: Some(StampOrder::try_from(order).unwrap()),
            flex_message_content: Some(message),
            ..StampMasterChange::default()
        };
        let master = change.create(event.parse().unwrap(), id.parse().unwrap(), self.now()).unwrap();
        self.store.put_master(&master, Expected::Absent).await.unwrap();
        master
    }
}

/// A small Flex message with one text.
pub fn flex(text: &str) -> Value {
    json!({
        "type": "flex", "altText": text,
        "contents": {"type": "bubble", "body": {"type": "box", "layout": "vertical", "contents": [{"type": "text", "text": text}]}}
    })
}

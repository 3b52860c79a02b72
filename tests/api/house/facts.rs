//! A participant's facts, written and read in the store without a request.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use stamp_rally::domain::{
    fact::{Facts, User, UserStamp},
    ids::{EventId, LineUserId, RequestId},
    notice::{NoticeKey, NoticeStatus},
};

use super::Person;

impl Person<'_> {
    fn event_id(&self) -> EventId {
        self.event.parse().unwrap()
    }

    pub fn line_user_id(&self) -> LineUserId {
        self.id.parse().unwrap()
    }

    fn partition(&self) -> AttributeValue {
        AttributeValue::S(format!("EVENT#{}#USER#{}", self.event, self.id))
    }

    /// Registers, a second after what was before.
    pub async fn registered(&self) -> &Self {
        self.house.pass(Duration::from_secs(1)).await;
        let event = self.house.store.event(&self.event_id()).await.unwrap().unwrap();
        let user = User::registers(self.event_id(), self.line_user_id(), RequestId::generate(), self.house.now());
        self.house.store.register(&user, event.index_shards).await.unwrap();
        self
    }

    /// Registers and acquires a stamp, a second after what was before.
    pub async fn acquired(&self, stamp: &str) -> &Self {
        self.registered().await;
        let event = self.house.store.event(&self.event_id()).await.unwrap().unwrap();
        let stamp = UserStamp {
            proof: None,
            event_id: self.event_id(),
            line_user_id: self.line_user_id(),
            stamp_id: stamp.parse().unwrap(),
            acquired_at: self.house.now(),
            request_id: Some(RequestId::generate()),
            notice: NoticeStatus::Pending { maybe_sent_at: None },
        };
        self.house.store.acquire(&stamp, event.index_shards).await.unwrap();
        self
    }

    /// An operator asks for a stamp's notice again.
    pub async fn is_resent(&self, stamp: &str, number: u16) {
        let text = |text: &str| AttributeValue::S(text.to_owned());
        self.house
            .put_raw(&[
                ("PK", self.partition()),
                ("SK", text(&format!("RESEND#{stamp}#{number:03}"))),
                ("entityType", text("RESEND")),
                ("eventId", text(self.event)),
                ("lineUserId", text(&self.id)),
                ("stampId", text(stamp)),
                ("number", AttributeValue::N(number.to_string())),
                ("requestedBy", text("office")),
                ("requestedAt", text(&self.house.now().to_string())),
                ("flexMessageSent", AttributeValue::Bool(false)),
            ])
            .await;
    }

    /// One attribute of a stamp's item is changed by hand.
    pub async fn stamp_has(&self, stamp: &str, name: &str, value: AttributeValue) {
        let update = self.house.clients.table.update_item().table_name("line-event").key("PK", self.partition());
        let update = update.key("SK", AttributeValue::S(format!("STAMP#{stamp}")));
        let update = update.update_expression("SET #name = :value");
        let update = update.expression_attribute_names("#name", name).expression_attribute_values(":value", value);
        update.send().await.unwrap();
    }

    pub async fn facts(&self) -> Facts {
        self.house.store.facts(&self.event_id(), &self.line_user_id()).await.unwrap()
    }

    pub async fn notice(&self, stamp: &str) -> NoticeStatus {
        let key = NoticeKey::Stamp(stamp.parse().unwrap());
        self.facts().await.notice(&key).cloned().unwrap()
    }

    /// The state of a stamp's notice, in a word: `waiting`, `sent`, or the special state and its reason.
    pub async fn state(&self, stamp: &str) -> String {
        match self.notice(stamp).await {
            NoticeStatus::None => "none".to_owned(),
            NoticeStatus::Parked(parked) => format!("{} {}", parked.state, parked.reason.unwrap_or_default()),
            NoticeStatus::Sent { .. } => "sent".to_owned(),
            NoticeStatus::Pending { .. } => "waiting".to_owned(),
        }
    }
}

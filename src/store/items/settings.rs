//! Events and stamp masters.

use std::collections::BTreeSet;

use serde_json::json;

use crate::domain::{
    event::{Event, IndexShards, Window},
    stamp::{StampMaster, StampOrder},
    time::{TimeZone, Timestamp},
};

use super::{
    super::keys::{Gsi1Key, ItemKey},
    Entity, Item,
    attributes::{Attributes, Unreadable, Writer},
};

impl Entity for Event {
    const TYPE: &'static str = "EVENT";

    fn key(&self) -> ItemKey {
        ItemKey::Event(self.event_id.clone())
    }

    fn read(item: &mut Attributes) -> Result<Self, Unreadable> {
        let (starts_at, ends_at) = (item.required("startsAt")?, item.required("endsAt")?);
        let former: BTreeSet<IndexShards> = match item.json("formerIndexShards")? {
            Some(former) => serde_json::from_value(former)
                .map_err(|error| item.unreadable("formerIndexShards", error.to_string()))?,
            None => BTreeSet::new(),
        };
        Ok(Self {
            event_id: item.required("eventId")?,
            name: item.required("name")?,
            window: Window::new(starts_at, ends_at).map_err(|error| item.unreadable("endsAt", error.rule))?,
            time_zone: item.optional("timeZone")?.unwrap_or(TimeZone::TOKYO),
            channel: item.required("channel")?,
            liff_id: item.optional("liffId")?,
            index_shards: item.number("indexShards")?.unwrap_or(IndexShards::ONE),
            former_index_shards: former,
            completion_message_content: item.json("completionMessageContent")?.filter(|message| !message.is_null()),
            created_at: item.required("createdAt")?,
            updated_at: item.required("updatedAt")?,
        })
    }
}

/// An event as its item.
pub(in super::super) fn event(event: &Event) -> Item {
    let listed = Gsi1Key::Event { starts_at: event.window.starts_at(), event_id: event.event_id.clone() };
    let former = Some(&event.former_index_shards).filter(|former| !former.is_empty());
    Writer::entity(event)
        .text("eventId", &event.event_id)
        .text("name", event.name.as_str())
        .text("startsAt", event.window.starts_at())
        .text("endsAt", event.window.ends_at())
        .text("timeZone", event.time_zone)
        .text("channel", &event.channel)
        .some("liffId", event.liff_id.as_ref(), |item, name, id| item.text(name, id.as_str()))
        .number("indexShards", event.index_shards.count())
        .some("formerIndexShards", former, |item, name, former| item.json(name, &json!(former)))
        .some("completionMessageContent", event.completion_message_content.as_ref(), Writer::json)
        .text("createdAt", event.created_at)
        .text("updatedAt", event.updated_at)
        .gsi1(&listed)
        .done()
}

impl Entity for StampMaster {
    const TYPE: &'static str = "STAMP_MASTER";

    fn key(&self) -> ItemKey {
        ItemKey::Master { event_id: self.event_id.clone(), stamp_id: self.stamp_id.clone() }
    }

    fn read(item: &mut Attributes) -> Result<Self, Unreadable> {
        let order: Option<StampOrder> = item.number("order")?;
        Ok(Self {
            event_id: item.required("eventId")?,
            stamp_id: item.required("stampId")?,
            name: item.required("name")?,
            order: order.ok_or_else(|| item.missing("order"))?,
            is_active: item.flag("isActive")?.ok_or_else(|| item.missing("isActive"))?,
            flex_message_content: item.json("flexMessageContent")?.ok_or_else(|| item.missing("flexMessageContent"))?,
            // The source article's masters have none.
            updated_at: item.optional("updatedAt")?.unwrap_or(Timestamp::EPOCH),
        })
    }
}

/// A stamp master as its item.
pub(in super::super) fn master(master: &StampMaster) -> Item {
    let version = Some(master.updated_at).filter(|at| *at != Timestamp::EPOCH);
    Writer::entity(master)
        .text("eventId", &master.event_id)
        .text("stampId", &master.stamp_id)
        .text("name", master.name.as_str())
        .number("order", master.order.number())
        .flag("isActive", master.is_active)
        .json("flexMessageContent", &master.flex_message_content)
        .some("updatedAt", version, Writer::text)
        .gsi1(&Gsi1Key::Master { event_id: master.event_id.clone(), order: master.order })
        .done()
}

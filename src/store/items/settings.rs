//! Events and stamp masters.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue as Attribute;
use serde_json::json;

use crate::domain::{
    bounded::Whole,
    event::{ClaimLimits, Event, EventChange, EventRemains, IndexShards, Window},
    schedule::{Availability, Schedule},
    stamp::{ClaimRules, ClaimRulesChange, StampMaster, StampMasterChange, StampMasterRemains, StampOrder},
    time::{TimeZone, Timestamp},
};

use super::{
    super::{
        keys::{Gsi1Key, ItemKey},
        unreadable::Unreadable,
    },
    Entity, Item,
    attributes::{Attributes, Writer},
};

/// A setting: an item that each change replaces whole.
pub(in super::super) trait Setting: Entity {
    /// Every attribute that this version of the program may write to its item; any other one is of a newer version.
    const ATTRIBUTES: &'static [&'static str];

    /// Its place in the list of its kind.
    fn listed(&self) -> Gsi1Key;
}

/// Returns the attributes of a setting's item that this version of the program doesn't know.
pub(in super::super) fn unknown<T: Setting>(item: &Item) -> Item {
    let unknown = item.iter().filter(|(name, _)| !T::ATTRIBUTES.contains(&name.as_str()));
    unknown.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Returns whether an item has the index keys that its list shows a setting by.
pub(in super::super) fn is_listed<T: Setting>(setting: &T, item: &Item) -> bool {
    let (key, has) = (setting.listed(), |name: &str, key: String| item.get(name) == Some(&Attribute::S(key)));
    has("GSI1PK", key.pk()) && has("GSI1SK", key.sk())
}

impl Setting for Event {
    #[rustfmt::skip] // A name a line would hide the rest.
    const ATTRIBUTES: &'static [&'static str] = &[
        "PK", "SK", "entityType", "eventId", "name", "startsAt", "endsAt", "timeZone", "channel", "liffId",
        "indexShards", "formerIndexShards", "completionMessageContent", "minIntervalSeconds", "maxSpeedKmh", "lateMinutes",
        "createdAt", "updatedAt", "GSI1PK", "GSI1SK",
    ];

    fn listed(&self) -> Gsi1Key {
        Gsi1Key::Event { starts_at: self.window.starts_at(), event_id: self.event_id.clone() }
    }
}

impl Setting for StampMaster {
    #[rustfmt::skip] // A name a line would hide the rest.
    const ATTRIBUTES: &'static [&'static str] = &[
        "PK", "SK", "entityType", "eventId", "stampId", "name", "order", "isActive", "flexMessageContent",
        "proofs", "proofSettings", "passcodeHash", "availableFrom", "availableUntil", "hours", "after", "codes",
        "notify", "updatedAt", "GSI1PK", "GSI1SK",
    ];

    fn listed(&self) -> Gsi1Key {
        Gsi1Key::Master { event_id: self.event_id.clone(), order: self.order }
    }
}

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
            completion_message_content: item.message("completionMessageContent")?,
            limits: ClaimLimits {
                min_interval_seconds: item.value("minIntervalSeconds")?,
                max_speed_kmh: item.value("maxSpeedKmh")?,
                late_minutes: item.value("lateMinutes")?,
            },
            created_at: item.required("createdAt")?,
            updated_at: item.required("updatedAt")?,
        })
    }
}

/// Returns what can be read of an event's item that can't be read whole.
pub(in super::super) fn event_remains(item: Item) -> EventRemains {
    let (mut item, mut lost, mut unneeded) = (Attributes::of(item.into()), Vec::new(), Vec::new());
    let lost = &mut lost;
    // Without a default: the caller who completes the event is asked for them anyway.
    let required = &mut unneeded;
    let index_shards = item.salvage("indexShards", lost, Attributes::number);
    let former = item.json("formerIndexShards").map(|former| former.map(serde_json::from_value));
    let former_index_shards = match former {
        Ok(None) => BTreeSet::new(),
        Ok(Some(Ok(former))) => former,
        // Its participants may be in any partition there can be.
        Ok(Some(Err(_))) | Err(_) => BTreeSet::from([IndexShards::ONE, IndexShards::MOST]),
    };
    let readable = EventChange {
        name: item.salvage("name", required, Attributes::optional),
        starts_at: item.salvage("startsAt", required, Attributes::optional),
        ends_at: item.salvage("endsAt", required, Attributes::optional),
        time_zone: item.salvage("timeZone", lost, Attributes::optional),
        channel: item.salvage("channel", required, Attributes::optional),
        liff_id: item.salvage("liffId", lost, Attributes::optional).map(Some),
        index_shards,
        completion_message_content: item.salvage("completionMessageContent", lost, Attributes::message).map(Some),
        min_interval_seconds: item.salvage("minIntervalSeconds", lost, Attributes::value).map(Some),
        max_speed_kmh: item.salvage("maxSpeedKmh", lost, Attributes::value).map(Some),
        late_minutes: item.salvage("lateMinutes", lost, Attributes::value).map(Some),
    };
    let created_at = item.salvage("createdAt", required, Attributes::optional);
    let updated_at = item.salvage("updatedAt", required, Attributes::optional);
    let unreadable = std::mem::take(lost);
    EventRemains { readable, former_index_shards, created_at, updated_at, unreadable }
}

pub(in super::super) fn event(event: &Event) -> Item {
    let former = Some(&event.former_index_shards).filter(|former| !former.is_empty());
    Writer::of(&event.key(), Event::TYPE)
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
        .some("minIntervalSeconds", event.limits.min_interval_seconds.map(Whole::get), Writer::number)
        .some("maxSpeedKmh", event.limits.max_speed_kmh.map(Whole::get), Writer::number)
        .some("lateMinutes", event.limits.late_minutes.map(Whole::get), Writer::number)
        .text("createdAt", event.created_at)
        .text("updatedAt", event.updated_at)
        .gsi1(&event.listed())
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
            flex_message_content: item
                .message("flexMessageContent")?
                .ok_or_else(|| item.missing("flexMessageContent"))?,
            rules: rules(item)?,
            notify: item.value("notify")?.unwrap_or_default(),
            // The source article's masters have none.
            updated_at: item.optional("updatedAt")?.unwrap_or(Timestamp::EPOCH),
        })
    }
}

/// Returns what can be read of a stamp master's item that can't be read whole.
pub(in super::super) fn master_remains(item: Item) -> StampMasterRemains {
    let (mut item, mut unreadable, mut required) = (Attributes::of(item.into()), Vec::new(), Vec::new());
    let readable = StampMasterChange {
        name: item.salvage("name", &mut required, Attributes::optional),
        order: item.salvage("order", &mut required, Attributes::number),
        is_active: item.salvage("isActive", &mut unreadable, |item, name| {
            // A whole master has it: whether it was active isn't known.
            item.flag(name)?.map(Some).ok_or_else(|| item.missing(name))
        }),
        flex_message_content: item.salvage("flexMessageContent", &mut required, Attributes::message),
        rules: ClaimRulesChange {
            proofs: item.salvage("proofs", &mut unreadable, Attributes::value),
            settings: item.salvage("proofSettings", &mut unreadable, Attributes::value).map(Some),
            passcode_hash: item.salvage("passcodeHash", &mut unreadable, Attributes::value).map(Some),
            available_from: item.salvage("availableFrom", &mut unreadable, Attributes::optional).map(Some),
            available_until: item.salvage("availableUntil", &mut unreadable, Attributes::optional).map(Some),
            hours: item.salvage("hours", &mut unreadable, Attributes::value).map(Some),
            after: item.salvage("after", &mut unreadable, Attributes::value).map(Some),
        },
        notify: item.salvage("notify", &mut unreadable, Attributes::value),
    };
    let codes = item.salvage("codes", &mut unreadable, Attributes::value).unwrap_or_default();
    let updated_at = item.salvage("updatedAt", &mut required, Attributes::optional);
    StampMasterRemains { readable, codes, updated_at, unreadable }
}

/// Takes what a claim for a stamp must satisfy; a stamp without any of it asks for nothing.
fn rules(item: &mut Attributes) -> Result<ClaimRules, Unreadable> {
    let available = Availability { from: item.optional("availableFrom")?, until: item.optional("availableUntil")? };
    Ok(ClaimRules {
        proofs: item.value("proofs")?.unwrap_or_default(),
        settings: item.value("proofSettings")?.unwrap_or_default(),
        passcode_hash: item.value("passcodeHash")?,
        schedule: Schedule { available, hours: item.value("hours")?.unwrap_or_default() },
        after: item.value("after")?.unwrap_or_default(),
        codes: item.value("codes")?.unwrap_or_default(),
    })
}

pub(in super::super) fn master(master: &StampMaster) -> Item {
    let version = Some(master.updated_at).filter(|at| *at != Timestamp::EPOCH);
    Writer::of(&master.key(), StampMaster::TYPE)
        .text("eventId", &master.event_id)
        .text("stampId", &master.stamp_id)
        .text("name", master.name.as_str())
        .number("order", master.order.number())
        .flag("isActive", master.is_active)
        .json("flexMessageContent", &master.flex_message_content)
        .unless_default("proofs", &master.rules.proofs)
        .unless_default("proofSettings", &master.rules.settings)
        .some("passcodeHash", master.rules.passcode_hash, Writer::text)
        .some("availableFrom", master.rules.schedule.available.from, Writer::text)
        .some("availableUntil", master.rules.schedule.available.until, Writer::text)
        .unless_default("hours", &master.rules.schedule.hours)
        .unless_default("after", &master.rules.after)
        .unless_default("codes", &master.rules.codes)
        .unless_default("notify", &master.notify)
        .some("updatedAt", version, Writer::text)
        .gsi1(&master.listed())
        .done()
}

/// Returns the time zone that an event's item names, whatever else is wrong with the item: absent, Tokyo.
pub(in super::super) fn time_zone(item: &Item) -> Option<TimeZone> {
    item.get("timeZone").map_or(Some(TimeZone::TOKYO), |zone| zone.as_s().ok()?.parse().ok())
}

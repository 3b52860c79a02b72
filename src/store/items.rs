//! Domain values as items and back: the only encoder, and the only decoder, for what requests read, what
//! the stream brings and what a Lambda is handed alike.
//!
//! The stored form is pinned by the golden tests beside this file. The source article's items read back:
//! they know no `requestId`, no `GSI2…`, and no `updatedAt` on a `STAMP_MASTER`.

mod attributes;
mod json;
mod notice;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::{
    event::{Event, IndexShards, Window},
    fact::{Completed, Fact, Friendship, Resend, User, UserStamp},
    notice::{NoticeId, NoticeKey},
    stamp::{StampMaster, StampOrder},
    time::{TimeZone, Timestamp},
};

use super::keys::{Gsi1Key, Gsi2Key, ItemKey, Shard};
use attributes::{Attributes, Writer};

pub use attributes::Unreadable;
pub use json::storable;
pub(super) use notice::refusal;

/// An item as the table client takes and gives it.
pub type Item = HashMap<String, AttributeValue>;

/// What an item holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Stored {
    /// `EVENT`
    Event(Event),
    /// `USER`, `USER_STAMP`, `RESEND`, `COMPLETED`
    Fact(Fact),
    /// `FRIENDSHIP`
    Friendship(Friendship),
    /// An `entityType` of another program, or of a later version of this one: passed over.
    Other(String),
    /// `STAMP_MASTER`
    StampMaster(StampMaster),
}

impl Stored {
    /// Its `entityType`.
    #[must_use]
    pub fn entity_type(&self) -> &str {
        match self {
            Self::Event(_) => Event::TYPE,
            Self::Fact(Fact::Completed(_)) => Completed::TYPE,
            Self::Fact(Fact::Resend(_)) => Resend::TYPE,
            Self::Fact(Fact::User(_)) => User::TYPE,
            Self::Fact(Fact::UserStamp(_)) => UserStamp::TYPE,
            Self::Friendship(_) => Friendship::TYPE,
            Self::Other(entity_type) => entity_type,
            Self::StampMaster(_) => StampMaster::TYPE,
        }
    }
}

/// Reads an item of the main table: from the table client, a record's image, or a Lambda event (all three
/// turn into a `serde_dynamo::Item`).
///
/// An item of a known `entityType` must be whole, and its primary key must be that of its attributes.
pub fn decode(item: impl Into<serde_dynamo::Item>) -> Result<Stored, Unreadable> {
    let mut item = Attributes::of(item.into());
    let entity_type: String = item.required("entityType")?;
    let (key, stored) = match entity_type.as_str() {
        Event::TYPE => Event::read(&mut item)?.keyed(Stored::Event),
        StampMaster::TYPE => StampMaster::read(&mut item)?.keyed(Stored::StampMaster),
        User::TYPE => User::read(&mut item)?.keyed(|user| Stored::Fact(Fact::User(user))),
        UserStamp::TYPE => UserStamp::read(&mut item)?.keyed(|stamp| Stored::Fact(Fact::UserStamp(stamp))),
        Resend::TYPE => Resend::read(&mut item)?.keyed(|resend| Stored::Fact(Fact::Resend(resend))),
        Completed::TYPE => Completed::read(&mut item)?.keyed(|done| Stored::Fact(Fact::Completed(done))),
        Friendship::TYPE => Friendship::read(&mut item)?.keyed(Stored::Friendship),
        _ => return Ok(Stored::Other(entity_type)),
    };
    item.must_have_key(&key)?;
    Ok(stored)
}

/// Reads an item that must be of one entity, because its key says so.
pub(super) fn decode_as<T: Entity>(item: impl Into<serde_dynamo::Item>) -> Result<T, Unreadable> {
    let mut item = Attributes::of(item.into());
    let entity_type: String = item.required("entityType")?;
    if entity_type != T::TYPE {
        return Err(item.unreadable("entityType", format!("is {entity_type}, not {}", T::TYPE)));
    }
    let value = T::read(&mut item)?;
    item.must_have_key(&value.key())?;
    Ok(value)
}

/// A domain value that is one item.
pub(super) trait Entity: Sized {
    /// Its `entityType`.
    const TYPE: &'static str;

    /// Its primary key.
    fn key(&self) -> ItemKey;

    /// Takes it out of an item of its type.
    fn read(item: &mut Attributes) -> Result<Self, Unreadable>;

    /// It, its key apart.
    fn keyed(self, stored: impl FnOnce(Self) -> Stored) -> (ItemKey, Stored) {
        (self.key(), stored(self))
    }
}

impl Entity for Event {
    const TYPE: &'static str = "EVENT";

    fn key(&self) -> ItemKey {
        ItemKey::Event(self.event_id.clone())
    }

    fn read(item: &mut Attributes) -> Result<Self, Unreadable> {
        let (starts_at, ends_at) = (item.required("startsAt")?, item.required("endsAt")?);
        Ok(Self {
            event_id: item.required("eventId")?,
            name: item.required("name")?,
            window: Window::new(starts_at, ends_at).map_err(|error| item.unreadable("endsAt", error.rule))?,
            time_zone: item.optional("timeZone")?.unwrap_or(TimeZone::TOKYO),
            channel: item.required("channel")?,
            liff_id: item.optional("liffId")?,
            index_shards: item.number("indexShards")?.unwrap_or(IndexShards::ONE),
            completion_message_content: item.json("completionMessageContent")?.filter(|message| !message.is_null()),
            created_at: item.required("createdAt")?,
            updated_at: item.required("updatedAt")?,
        })
    }
}

/// An event as its item.
pub(super) fn event(event: &Event) -> Item {
    let listed = Gsi1Key::Event { starts_at: event.window.starts_at(), event_id: event.event_id.clone() };
    Writer::entity(event)
        .text("eventId", &event.event_id)
        .text("name", event.name.as_str())
        .text("startsAt", event.window.starts_at())
        .text("endsAt", event.window.ends_at())
        .text("timeZone", event.time_zone)
        .text("channel", &event.channel)
        .some("liffId", event.liff_id.as_ref(), |item, name, id| item.text(name, id.as_str()))
        .number("indexShards", event.index_shards.count())
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
pub(super) fn master(master: &StampMaster) -> Item {
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

impl Entity for User {
    const TYPE: &'static str = "USER";

    fn key(&self) -> ItemKey {
        ItemKey::Profile { event_id: self.event_id.clone(), line_user_id: self.line_user_id.clone() }
    }

    fn read(item: &mut Attributes) -> Result<Self, Unreadable> {
        Ok(Self {
            event_id: item.required("eventId")?,
            line_user_id: item.user("lineUserId")?,
            created_at: item.required("createdAt")?,
            updated_at: item.required("updatedAt")?,
            request_id: item.optional("requestId")?,
        })
    }
}

/// A registration as its item, in the index of an event with so many shards.
pub(super) fn user(user: &User, shards: IndexShards) -> Item {
    let listed = Gsi1Key::User {
        event_id: user.event_id.clone(),
        shard: Shard::of(&user.line_user_id, shards),
        created_at: user.created_at,
        line_user_id: user.line_user_id.clone(),
    };
    Writer::entity(user)
        .text("eventId", &user.event_id)
        .text("lineUserId", &user.line_user_id)
        .text("createdAt", user.created_at)
        .text("updatedAt", user.updated_at)
        .some("requestId", user.request_id.as_ref(), Writer::text)
        .gsi1(&listed)
        .done()
}

impl Entity for UserStamp {
    const TYPE: &'static str = "USER_STAMP";

    fn key(&self) -> ItemKey {
        notice_key(&self.event_id, &self.line_user_id, NoticeKey::Stamp(self.stamp_id.clone()))
    }

    fn read(item: &mut Attributes) -> Result<Self, Unreadable> {
        Ok(Self {
            event_id: item.required("eventId")?,
            line_user_id: item.user("lineUserId")?,
            stamp_id: item.required("stampId")?,
            acquired_at: item.required("acquiredAt")?,
            request_id: item.optional("requestId")?,
            notice: notice::read(item)?,
        })
    }
}

/// A held stamp as its item, in the index of an event with so many shards.
pub(super) fn user_stamp(stamp: &UserStamp, shards: IndexShards) -> Item {
    let held = Gsi2Key {
        event_id: stamp.event_id.clone(),
        stamp_id: stamp.stamp_id.clone(),
        shard: Shard::of(&stamp.line_user_id, shards),
        acquired_at: stamp.acquired_at,
        line_user_id: stamp.line_user_id.clone(),
    };
    Writer::entity(stamp)
        .text("eventId", &stamp.event_id)
        .text("lineUserId", &stamp.line_user_id)
        .text("stampId", &stamp.stamp_id)
        .text("acquiredAt", stamp.acquired_at)
        .some("requestId", stamp.request_id.as_ref(), Writer::text)
        .notice(&stamp.key(), &stamp.notice)
        .gsi2(&held)
        .done()
}

impl Entity for Resend {
    const TYPE: &'static str = "RESEND";

    fn key(&self) -> ItemKey {
        let key = NoticeKey::Resend { stamp_id: self.stamp_id.clone(), number: self.number };
        notice_key(&self.event_id, &self.line_user_id, key)
    }

    fn read(item: &mut Attributes) -> Result<Self, Unreadable> {
        let number: Option<i64> = item.number("number")?;
        let number = number.ok_or_else(|| item.missing("number"))?;
        Ok(Self {
            event_id: item.required("eventId")?,
            line_user_id: item.user("lineUserId")?,
            stamp_id: item.required("stampId")?,
            number: u16::try_from(number).map_err(|_| item.unreadable("number", "is out of range"))?,
            requested_by: item.required("requestedBy")?,
            requested_at: item.required("requestedAt")?,
            notice: notice::read(item)?,
        })
    }
}

/// A resend as its item.
#[cfg_attr(not(test), expect(dead_code, reason = "resends are written from the next release on"))]
pub(super) fn resend(resend: &Resend) -> Item {
    Writer::entity(resend)
        .text("eventId", &resend.event_id)
        .text("lineUserId", &resend.line_user_id)
        .text("stampId", &resend.stamp_id)
        .number("number", resend.number)
        .text("requestedBy", &resend.requested_by)
        .text("requestedAt", resend.requested_at)
        .notice(&resend.key(), &resend.notice)
        .done()
}

impl Entity for Completed {
    const TYPE: &'static str = "COMPLETED";

    fn key(&self) -> ItemKey {
        notice_key(&self.event_id, &self.line_user_id, NoticeKey::Completed)
    }

    fn read(item: &mut Attributes) -> Result<Self, Unreadable> {
        Ok(Self {
            event_id: item.required("eventId")?,
            line_user_id: item.user("lineUserId")?,
            completed_at: item.required("completedAt")?,
            by_stamp_id: item.required("byStampId")?,
            notice: notice::read(item)?,
        })
    }
}

/// A completed card as its item.
pub(super) fn completed(completed: &Completed) -> Item {
    Writer::entity(completed)
        .text("eventId", &completed.event_id)
        .text("lineUserId", &completed.line_user_id)
        .text("completedAt", completed.completed_at)
        .text("byStampId", &completed.by_stamp_id)
        .notice(&completed.key(), &completed.notice)
        .done()
}

impl Entity for Friendship {
    const TYPE: &'static str = "FRIENDSHIP";

    fn key(&self) -> ItemKey {
        ItemKey::Friendship {
            channel: self.channel.clone(),
            line_user_id: self.line_user_id.clone(),
            occurred_at: self.occurred_at,
            webhook_event_id: self.webhook_event_id.clone(),
        }
    }

    fn read(item: &mut Attributes) -> Result<Self, Unreadable> {
        Ok(Self {
            channel: item.required("channel")?,
            line_user_id: item.user("lineUserId")?,
            following: item.flag("following")?.ok_or_else(|| item.missing("following"))?,
            occurred_at: item.required("occurredAt")?,
            webhook_event_id: item.required("webhookEventId")?,
        })
    }
}

/// A follow or unfollow as its item.
pub(super) fn friendship(friendship: &Friendship) -> Item {
    Writer::entity(friendship)
        .text("channel", &friendship.channel)
        .text("lineUserId", &friendship.line_user_id)
        .flag("following", friendship.following)
        .text("occurredAt", friendship.occurred_at)
        .text("webhookEventId", &friendship.webhook_event_id)
        .done()
}

fn notice_key(
    event_id: &crate::domain::ids::EventId,
    line_user_id: &crate::domain::ids::LineUserId,
    key: NoticeKey,
) -> ItemKey {
    ItemKey::Notice(NoticeId { event_id: event_id.clone(), line_user_id: line_user_id.clone(), key })
}

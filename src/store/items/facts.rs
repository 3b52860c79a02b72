//! What happened: registrations, stamps, resends, completed cards, follows and unfollows.

use crate::domain::{
    event::IndexShards,
    fact::{Completed, Friendship, Pace, Resend, User, UserStamp},
    ids::{EventId, LineUserId},
    notice::{NoticeId, NoticeKey},
};

use super::{
    super::{
        keys::{Gsi1Key, Gsi2Key, ItemKey, Shard},
        unreadable::Unreadable,
    },
    Entity, Item,
    attributes::{Attributes, Writer},
    notice,
};

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

/// Returns the place of a registration among those of its event, in one of the partitions of its index.
pub(in super::super) fn user_key(user: &User, shard: Shard) -> Gsi1Key {
    Gsi1Key::User {
        event_id: user.event_id.clone(),
        shard,
        created_at: user.created_at,
        line_user_id: user.line_user_id.clone(),
    }
}

/// Returns a registration as its item, in the index of an event with so many shards.
pub(in super::super) fn user(user: &User, shards: IndexShards) -> Item {
    Writer::of(&user.key(), User::TYPE)
        .text("eventId", &user.event_id)
        .text("lineUserId", &user.line_user_id)
        .text("createdAt", user.created_at)
        .text("updatedAt", user.updated_at)
        .some("requestId", user.request_id.as_ref(), Writer::text)
        .gsi1(&user_key(user, Shard::of(&user.line_user_id, shards)))
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
            proof: item.value("proof")?,
            notice: notice::read(item)?,
        })
    }
}

/// Returns the place of an acquired stamp among the holders, in one of the partitions of its index.
pub(in super::super) fn holder_key(stamp: &UserStamp, shard: Shard) -> Gsi2Key {
    Gsi2Key {
        event_id: stamp.event_id.clone(),
        stamp_id: stamp.stamp_id.clone(),
        shard,
        acquired_at: stamp.acquired_at,
        line_user_id: stamp.line_user_id.clone(),
    }
}

/// Returns an acquired stamp as its item, in the index of an event with so many shards.
pub(in super::super) fn user_stamp(stamp: &UserStamp, shards: IndexShards) -> Item {
    Writer::of(&stamp.key(), UserStamp::TYPE)
        .text("eventId", &stamp.event_id)
        .text("lineUserId", &stamp.line_user_id)
        .text("stampId", &stamp.stamp_id)
        .text("acquiredAt", stamp.acquired_at)
        .some("requestId", stamp.request_id.as_ref(), Writer::text)
        .unless_default("proof", &stamp.proof)
        .notice(&stamp.key(), &stamp.notice)
        .gsi2(&holder_key(stamp, Shard::of(&stamp.line_user_id, shards)))
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

pub(in super::super) fn resend(resend: &Resend) -> Item {
    Writer::of(&resend.key(), Resend::TYPE)
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

pub(in super::super) fn completed(completed: &Completed) -> Item {
    Writer::of(&completed.key(), Completed::TYPE)
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

pub(in super::super) fn friendship(friendship: &Friendship) -> Item {
    Writer::of(&friendship.key(), Friendship::TYPE)
        .text("channel", &friendship.channel)
        .text("lineUserId", &friendship.line_user_id)
        .flag("following", friendship.following)
        .text("occurredAt", friendship.occurred_at)
        .text("webhookEventId", &friendship.webhook_event_id)
        .done()
}

impl Entity for Pace {
    const TYPE: &'static str = "PACE";

    fn key(&self) -> ItemKey {
        ItemKey::Pace { event_id: self.event_id.clone(), line_user_id: self.line_user_id.clone() }
    }

    fn read(item: &mut Attributes) -> Result<Self, Unreadable> {
        Ok(Self {
            event_id: item.required("eventId")?,
            line_user_id: item.user("lineUserId")?,
            stamp_id: item.required("stampId")?,
            acquired_at: item.required("acquiredAt")?,
        })
    }
}

pub(in super::super) fn pace(pace: &Pace) -> Item {
    Writer::of(&pace.key(), Pace::TYPE)
        .text("eventId", &pace.event_id)
        .text("lineUserId", &pace.line_user_id)
        .text("stampId", &pace.stamp_id)
        .text("acquiredAt", pace.acquired_at)
        .done()
}

fn notice_key(event_id: &EventId, line_user_id: &LineUserId, key: NoticeKey) -> ItemKey {
    ItemKey::Notice(NoticeId { event_id: event_id.clone(), line_user_id: line_user_id.clone(), key })
}

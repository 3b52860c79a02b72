//! Every key of the main table, in both directions: nowhere else is one built or taken apart.
//!
//! | item | `PK` | `SK` | in |
//! | --- | --- | --- | --- |
//! | `EVENT` | `EVENT#{eventId}` | `METADATA` | [`ItemKey::Event`] |
//! | `STAMP_MASTER` | `EVENT#{eventId}#STAMP#{stampId}` | `MASTER` | [`ItemKey::Master`] |
//! | `USER` | `EVENT#{eventId}#USER#{lineUserId}` | `PROFILE` | [`ItemKey::Profile`] |
//! | `USER_STAMP` | the participant's | `STAMP#{stampId}` | [`ItemKey::Notice`] |
//! | `RESEND` | the participant's | `RESEND#{stampId}#{number as 3 digits}` | [`ItemKey::Notice`] |
//! | `COMPLETED` | the participant's | `COMPLETED` | [`ItemKey::Notice`] |
//! | `FRIENDSHIP` | `CHANNEL#{channel}#USER#{lineUserId}` | `FRIEND#{occurredAt}#{webhookEventId}` | [`ItemKey::Friendship`] |
//!
//! | in an index | partition | sort key | in |
//! | --- | --- | --- | --- |
//! | events by start | `EVENTS` | `{startsAt}#{eventId}` | [`Gsi1Key::Event`] |
//! | masters by order | `EVENT#{eventId}#STAMP_MASTERS` | `{order as 3 digits}` | [`Gsi1Key::Master`] |
//! | notices in a special state | `EVENT#{eventId}#PUSH_{STATE}` | `{noticeSince}#{lineUserId}#{SK}` | [`Gsi1Key::Parked`] |
//! | participants by registration | `EVENT#{eventId}#USERS`, `…#{nn}` | `{createdAt}#{lineUserId}` | [`Gsi1Key::User`] |
//! | holders of a stamp (`GSI2`) | `EVENT#{eventId}#STAMP#{stampId}`, `…#{nn}` | `{acquiredAt}#{lineUserId}` | [`Gsi2Key`] |
//!
//! `#` separates, and no id can hold one. Times are of one fixed form, so text order is time order.
//! `nn` is the [`Shard`] of an event whose index is spread.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::domain::{
    event::IndexShards,
    ids::{ChannelName, EventId, LineUserId, StampId, WebhookEventId},
    notice::{NoticeId, NoticeKey, ParkedState},
    stamp::StampOrder,
    time::{Span, Timestamp},
};

#[cfg(test)]
mod tests;

/// Names one item among all: a primary key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ItemKey {
    /// An event.
    Event(EventId),
    /// A follow or unfollow.
    Friendship {
        /// Of which channel's Official Account.
        channel: ChannelName,
        /// Who.
        line_user_id: LineUserId,
        /// The webhook event's own time.
        occurred_at: Timestamp,
        /// Which webhook event.
        webhook_event_id: WebhookEventId,
    },
    /// A stamp master.
    Master {
        /// Of which event.
        event_id: EventId,
        /// Which stamp.
        stamp_id: StampId,
    },
    /// A fact that calls for a notice: a stamp, a resend, a completed card.
    Notice(NoticeId),
    /// A registration.
    Profile {
        /// For which event.
        event_id: EventId,
        /// Who.
        line_user_id: LineUserId,
    },
}

impl ItemKey {
    /// The partition key.
    #[must_use]
    pub fn pk(&self) -> String {
        match self {
            Self::Event(event_id) => format!("EVENT#{event_id}"),
            Self::Friendship { channel, line_user_id, .. } => friend_partition(channel, line_user_id),
            Self::Master { event_id, stamp_id } => format!("EVENT#{event_id}#STAMP#{stamp_id}"),
            Self::Notice(notice) => participant_partition(&notice.event_id, &notice.line_user_id),
            Self::Profile { event_id, line_user_id } => participant_partition(event_id, line_user_id),
        }
    }

    /// The sort key.
    #[must_use]
    pub fn sk(&self) -> String {
        match self {
            Self::Event(_) => "METADATA".to_owned(),
            Self::Friendship { occurred_at, webhook_event_id, .. } => {
                format!("FRIEND#{occurred_at}#{webhook_event_id}")
            }
            Self::Master { .. } => "MASTER".to_owned(),
            Self::Notice(notice) => notice_sk(&notice.key),
            Self::Profile { .. } => "PROFILE".to_owned(),
        }
    }

    /// Takes a primary key apart; `None` = the key of something this program doesn't know.
    #[must_use]
    pub fn parse(pk: &str, sk: &str) -> Option<Self> {
        let [pk_parts, sk_parts] = [pk, sk].map(|key| key.split('#').collect::<Vec<_>>());
        let key = match (pk_parts.as_slice(), sk_parts.as_slice()) {
            (["EVENT", event_id], ["METADATA"]) => Self::Event(event_id.parse().ok()?),
            (["EVENT", event_id, "STAMP", stamp_id], ["MASTER"]) => {
                Self::Master { event_id: event_id.parse().ok()?, stamp_id: stamp_id.parse().ok()? }
            }
            (["EVENT", event_id, "USER", user], ["PROFILE"]) => {
                Self::Profile { event_id: event_id.parse().ok()?, line_user_id: LineUserId::stored(user).ok()? }
            }
            (["EVENT", event_id, "USER", user], _) => Self::Notice(NoticeId {
                event_id: event_id.parse().ok()?,
                line_user_id: LineUserId::stored(user).ok()?,
                key: parse_notice_sk(sk)?,
            }),
            (["CHANNEL", channel, "USER", user], ["FRIEND", at, id]) => Self::Friendship {
                channel: channel.parse().ok()?,
                line_user_id: LineUserId::stored(user).ok()?,
                occurred_at: at.parse().ok()?,
                webhook_event_id: id.parse().ok()?,
            },
            _ => return None,
        };
        Some(key)
    }
}

/// The partition of all facts of one participant (access pattern 1).
pub(super) fn participant_partition(event_id: &EventId, line_user_id: &LineUserId) -> String {
    format!("EVENT#{event_id}#USER#{line_user_id}")
}

/// The partition of all follows and unfollows of one person.
pub(super) fn friend_partition(channel: &ChannelName, line_user_id: &LineUserId) -> String {
    format!("CHANNEL#{channel}#USER#{line_user_id}")
}

/// The sort key of a fact that calls for a notice.
fn notice_sk(key: &NoticeKey) -> String {
    match key {
        NoticeKey::Completed => "COMPLETED".to_owned(),
        NoticeKey::Resend { stamp_id, number } => format!("RESEND#{stamp_id}#{number:03}"),
        NoticeKey::Stamp(stamp_id) => format!("STAMP#{stamp_id}"),
    }
}

fn parse_notice_sk(sk: &str) -> Option<NoticeKey> {
    match sk.split('#').collect::<Vec<_>>().as_slice() {
        ["COMPLETED"] => Some(NoticeKey::Completed),
        ["RESEND", stamp_id, number] => {
            Some(NoticeKey::Resend { stamp_id: stamp_id.parse().ok()?, number: padded(number)? })
        }
        ["STAMP", stamp_id] => Some(NoticeKey::Stamp(stamp_id.parse().ok()?)),
        _ => None,
    }
}

/// A number written with at least three digits, and no more zeros than that takes.
fn padded(text: &str) -> Option<u16> {
    text.parse().ok().filter(|number| format!("{number:03}") == text)
}

/// Where an item stands in `GSI1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gsi1Key {
    /// An event among all, by start.
    Event {
        /// Its start.
        starts_at: Timestamp,
        /// Which event.
        event_id: EventId,
    },
    /// A master among those of its event, by order. Two may have the same: ties go by stamp id, which
    /// the reader sees to.
    Master {
        /// Of which event.
        event_id: EventId,
        /// Its place.
        order: StampOrder,
    },
    /// A notice among those of its event in the same special state, by the time it got there.
    Parked {
        /// Which notice.
        notice: NoticeId,
        /// The state.
        state: ParkedState,
        /// Since when.
        since: Timestamp,
    },
    /// A participant among those of the event, by registration time.
    User {
        /// Of which event.
        event_id: EventId,
        /// In which of its partitions.
        shard: Shard,
        /// When they registered.
        created_at: Timestamp,
        /// Who.
        line_user_id: LineUserId,
    },
}

impl Gsi1Key {
    /// `GSI1PK`
    #[must_use]
    pub fn pk(&self) -> String {
        match self {
            Self::Event { .. } => events_partition(),
            Self::Master { event_id, .. } => masters_partition(event_id),
            Self::Parked { notice, state, .. } => parked_partition(&notice.event_id, *state),
            Self::User { event_id, shard, .. } => users_partition(event_id, *shard),
        }
    }

    /// `GSI1SK`
    #[must_use]
    pub fn sk(&self) -> String {
        match self {
            Self::Event { starts_at, event_id } => format!("{starts_at}#{event_id}"),
            Self::Master { order, .. } => format!("{:03}", order.number()),
            Self::Parked { notice, since, .. } => format!("{since}#{}#{}", notice.line_user_id, notice_sk(&notice.key)),
            Self::User { created_at, line_user_id, .. } => format!("{created_at}#{line_user_id}"),
        }
    }

    /// Takes an index key apart; `None` = the key of something this program doesn't know.
    #[must_use]
    pub fn parse(pk: &str, sk: &str) -> Option<Self> {
        let key = match pk.split('#').collect::<Vec<_>>().as_slice() {
            ["EVENTS"] => {
                let (starts_at, event_id) = sk.split_once('#')?;
                Self::Event { starts_at: starts_at.parse().ok()?, event_id: event_id.parse().ok()? }
            }
            ["EVENT", event_id, "STAMP_MASTERS"] => Self::Master {
                event_id: event_id.parse().ok()?,
                order: StampOrder::try_from(i64::from(padded(sk)?)).ok()?,
            },
            ["EVENT", event_id, "USERS", shard @ ..] => {
                let (created_at, line_user_id) = timed_user(sk)?;
                Self::User { event_id: event_id.parse().ok()?, shard: Shard::parse(shard)?, created_at, line_user_id }
            }
            ["EVENT", event_id, state] => Self::parse_parked(event_id, state.strip_prefix("PUSH_")?, sk)?,
            _ => return None,
        };
        Some(key)
    }

    fn parse_parked(event_id: &str, state: &str, sk: &str) -> Option<Self> {
        let (since, rest) = sk.split_once('#')?;
        let (line_user_id, fact) = rest.split_once('#')?;
        let notice = NoticeId {
            event_id: event_id.parse().ok()?,
            line_user_id: LineUserId::stored(line_user_id).ok()?,
            key: parse_notice_sk(fact)?,
        };
        let state = ParkedState::ALL.into_iter().find(|known| in_capitals(*known) == state)?;
        Some(Self::Parked { notice, state, since: since.parse().ok()? })
    }
}

/// The partition of all events.
pub(super) fn events_partition() -> String {
    "EVENTS".to_owned()
}

/// The partition of an event's stamp masters.
pub(super) fn masters_partition(event_id: &EventId) -> String {
    format!("EVENT#{event_id}#STAMP_MASTERS")
}

/// The partition of an event's notices in a special state.
pub(super) fn parked_partition(event_id: &EventId, state: ParkedState) -> String {
    format!("EVENT#{event_id}#PUSH_{}", in_capitals(state))
}

/// One partition of an event's participants.
pub(super) fn users_partition(event_id: &EventId, shard: Shard) -> String {
    format!("EVENT#{event_id}#USERS{shard}")
}

/// One partition of a stamp's holders.
pub(super) fn holders_partition(event_id: &EventId, stamp_id: &StampId, shard: Shard) -> String {
    format!("EVENT#{event_id}#STAMP#{stamp_id}{shard}")
}

fn in_capitals(state: ParkedState) -> String {
    state.as_str().to_ascii_uppercase()
}

/// Where a held stamp stands in `GSI2`: among the holders of that stamp, by time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gsi2Key {
    /// Of which event.
    pub event_id: EventId,
    /// Which stamp.
    pub stamp_id: StampId,
    /// In which of its partitions.
    pub shard: Shard,
    /// Since when.
    pub acquired_at: Timestamp,
    /// Who.
    pub line_user_id: LineUserId,
}

impl Gsi2Key {
    /// `GSI2PK`
    #[must_use]
    pub fn pk(&self) -> String {
        holders_partition(&self.event_id, &self.stamp_id, self.shard)
    }

    /// `GSI2SK`
    #[must_use]
    pub fn sk(&self) -> String {
        format!("{}#{}", self.acquired_at, self.line_user_id)
    }

    /// Takes an index key apart; `None` = the key of something this program doesn't know.
    #[must_use]
    pub fn parse(pk: &str, sk: &str) -> Option<Self> {
        let parts = pk.split('#').collect::<Vec<_>>();
        let ["EVENT", event_id, "STAMP", stamp_id, shard @ ..] = parts.as_slice() else { return None };
        let (acquired_at, line_user_id) = timed_user(sk)?;
        Some(Self {
            event_id: event_id.parse().ok()?,
            stamp_id: stamp_id.parse().ok()?,
            shard: Shard::parse(shard)?,
            acquired_at,
            line_user_id,
        })
    }
}

fn timed_user(sk: &str) -> Option<(Timestamp, LineUserId)> {
    let (at, line_user_id) = sk.split_once('#')?;
    Some((at.parse().ok()?, LineUserId::stored(line_user_id).ok()?))
}

/// Which of an event's index partitions somebody's entries are in. An event of one partition has no
/// number in its keys, as in the source article.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shard(Option<u8>);

impl Shard {
    /// The shard of a person: SHA-256 of the user id, its first 8 bytes as a big-endian number, modulo the
    /// number of shards. Part of the contract: another answer would look for people where they aren't.
    #[must_use]
    pub fn of(line_user_id: &LineUserId, shards: IndexShards) -> Self {
        if shards == IndexShards::ONE {
            return Self(None);
        }
        let hash = Sha256::digest(line_user_id.as_str());
        let number = hash.iter().take(8).fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
        Self(u8::try_from(number % u64::from(shards.count())).ok())
    }

    /// All shards of an event.
    pub fn all(shards: IndexShards) -> impl Iterator<Item = Self> {
        let numbered = shards != IndexShards::ONE;
        (0..shards.count()).map(move |number| Self(numbered.then_some(number)))
    }

    /// Every shard that any event could have.
    pub(super) fn possible() -> impl Iterator<Item = Self> {
        std::iter::once(Self(None)).chain((0..32).map(|number| Self(Some(number))))
    }

    fn parse(parts: &[&str]) -> Option<Self> {
        match parts {
            [] => Some(Self(None)),
            [number] => number.parse().ok().filter(|n| *n < 32 && format!("{n:02}") == *number).map(|n| Self(Some(n))),
            _ => None,
        }
    }
}

impl fmt::Display for Shard {
    /// What a key says at its end: nothing, or `#07`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |number| write!(f, "#{number:02}"))
    }
}

/// Sort keys from one to another, both included: what `BETWEEN` takes. `~` comes after every character of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SortKeys {
    pub(super) low: String,
    pub(super) high: String,
}

impl SortKeys {
    /// Those that begin with a time of the span.
    pub(super) fn within(span: Span) -> Self {
        Self {
            low: span.from.map_or_else(|| "0".to_owned(), |from| from.to_string()),
            high: span.to.map_or_else(|| "~".to_owned(), |to| format!("{}#~", to.plus_millis(-1))),
        }
    }

    /// Those of follows and unfollows up to a moment, that one included.
    pub(super) fn friendships(at: Option<Timestamp>) -> Self {
        let high = at.map_or_else(|| "FRIEND#~".to_owned(), |at| format!("FRIEND#{at}#~"));
        Self { low: "FRIEND#".to_owned(), high }
    }

    /// Whether there can be none. DynamoDB refuses a `BETWEEN` whose ends are the wrong way round.
    pub(super) fn is_empty(&self) -> bool {
        self.low > self.high
    }
}

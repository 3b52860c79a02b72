//! Where the indexes list items.

use crate::domain::{
    ids::{EventId, LineUserId, StampId},
    notice::{NoticeId, ParkedState},
    stamp::StampOrder,
    time::Timestamp,
};

use super::{Shard, notice_sk, padded, parse_notice_sk};

/// Where `GSI1` lists an item.
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
            Self::Event { .. } => EVENTS.to_owned(),
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

/// Whether an index partition is one that this program lists; anything in it that isn't of its list is passed over.
pub(in super::super) fn is_listed_partition(pk: &str) -> bool {
    match pk.split('#').collect::<Vec<_>>().as_slice() {
        ["EVENTS"] | ["EVENT", _, "STAMP_MASTERS"] | ["EVENT", _, "STAMP" | "USERS", ..] => true,
        ["EVENT", _, state] => state.starts_with("PUSH_"),
        _ => false,
    }
}

pub(in super::super) const EVENTS: &str = "EVENTS";

pub(in super::super) fn masters_partition(event_id: &EventId) -> String {
    format!("EVENT#{event_id}#STAMP_MASTERS")
}

pub(in super::super) fn parked_partition(event_id: &EventId, state: ParkedState) -> String {
    format!("EVENT#{event_id}#PUSH_{}", in_capitals(state))
}

pub(in super::super) fn users_partition(event_id: &EventId, shard: Shard) -> String {
    format!("EVENT#{event_id}#USERS{shard}")
}

pub(in super::super) fn holders_partition(event_id: &EventId, stamp_id: &StampId, shard: Shard) -> String {
    format!("EVENT#{event_id}#STAMP#{stamp_id}{shard}")
}

fn in_capitals(state: ParkedState) -> String {
    state.as_str().to_ascii_uppercase()
}

/// Where `GSI2` lists an acquired stamp: among the holders of that stamp, by time.
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

/// Returns what the sort key of a participant's entry in either index says: since when, and who.
pub(in super::super) fn timed_user(sk: &str) -> Option<(Timestamp, LineUserId)> {
    let (at, line_user_id) = sk.split_once('#')?;
    Some((at.parse().ok()?, LineUserId::stored(line_user_id).ok()?))
}

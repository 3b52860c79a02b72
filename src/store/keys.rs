//! Every key of both tables, in both directions: nowhere else is one built or taken apart. Those of the consumers' table:
//! `keys/progress.rs`.
//!
//! | item | `PK` | `SK` | in |
//! | --- | --- | --- | --- |
//! | `EVENT` | `EVENT#{eventId}` | `METADATA` | [`ItemKey::Event`] |
//! | `STAMP_MASTER` | `EVENT#{eventId}#STAMP#{stampId}` | `MASTER` | [`ItemKey::Master`] |
//! | `USER` | `EVENT#{eventId}#USER#{lineUserId}` | `PROFILE` | [`ItemKey::Profile`] |
//! | `USER_STAMP` | the participant's | `STAMP#{stampId}` | [`ItemKey::Notice`] |
//! | `RESEND` | the participant's | `RESEND#{stampId}#{number as 3 digits}` | [`ItemKey::Notice`] |
//! | `COMPLETED` | the participant's | `COMPLETED` | [`ItemKey::Notice`] |
//! | `RESEND_COMPLETED` | the participant's | `RESEND_COMPLETED#{number as 3 digits}` | [`ItemKey::Notice`] |
//! | `PACE` | the participant's | `PACE` | [`ItemKey::Pace`] |
//! | `REFUSALS` | `EVENT#{eventId}#REFUSALS` | `{hour}#{process}` | [`ItemKey::Refusals`] |
//! | `STAFF` | `EVENT#{eventId}#STAFF` | `{staffId}` | [`ItemKey::Staff`] |
//! | `TRIES` | `EVENT#{eventId}#USER#{lineUserId}#TRIES` | `{stampId}#{Unix seconds / 600}` | [`ItemKey::Tries`] |
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

mod index;
mod progress;
mod shard;

#[cfg(test)]
mod tests;

use crate::domain::{
    counts::Hour,
    ids::{ChannelName, EventId, LineUserId, StampId, WebhookEventId},
    notice::{NoticeId, NoticeKey},
    staff::StaffId,
    time::{Span, Timestamp},
};

use super::ids::ProcessId;

pub(super) use index::{
    EVENTS, holders_partition, is_listed_partition, masters_partition, parked_partition, timed_user, users_partition,
};
pub use index::{Gsi1Key, Gsi2Key};
pub(super) use progress::{
    BATCHES, PENDING_COMPLETIONS, Progress, ProgressKey, WORKERS, card_of, consumers_partitions, counts_partition,
    is_batch, is_followed, is_functions, is_of_an_hour, is_progress_partition, names_hour, reading_partition, run_of,
    shard_of, worker_of,
};
pub use shard::Shard;

const PACE: &str = "PACE";

pub(super) const PROFILE: &str = "PROFILE";

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
    /// Which stamp a participant acquired last.
    Pace {
        /// In which event.
        event_id: EventId,
        /// Who.
        line_user_id: LineUserId,
    },
    /// A registration.
    Profile {
        /// For which event.
        event_id: EventId,
        /// Who.
        line_user_id: LineUserId,
    },
    /// What one process refused of an event's claims in one hour.
    Refusals {
        /// Of which event.
        event_id: EventId,
        /// In which hour.
        hour: Hour,
        /// Which process.
        process: ProcessId,
    },
    /// A member of the staff, or a screen.
    Staff {
        /// Of which event.
        event_id: EventId,
        /// Which one.
        staff_id: StaffId,
    },
    /// How many passcodes a participant tried at a stamp in one stretch of time.
    Tries {
        /// In which event.
        event_id: EventId,
        /// Who.
        line_user_id: LineUserId,
        /// At which stamp.
        stamp_id: StampId,
        /// Which stretch: Unix seconds / 600.
        stretch: i64,
    },
}

impl ItemKey {
    /// Returns the partition key.
    #[must_use]
    pub fn pk(&self) -> String {
        match self {
            Self::Event(event_id) => format!("EVENT#{event_id}"),
            Self::Friendship { channel, line_user_id, .. } => friend_partition(channel, line_user_id),
            Self::Master { event_id, stamp_id } => format!("EVENT#{event_id}#STAMP#{stamp_id}"),
            Self::Notice(notice) => participant_partition(&notice.event_id, &notice.line_user_id),
            Self::Pace { event_id, line_user_id } | Self::Profile { event_id, line_user_id } => {
                participant_partition(event_id, line_user_id)
            }
            Self::Refusals { event_id, .. } => refusals_partition(event_id),
            Self::Staff { event_id, .. } => staff_partition(event_id),
            Self::Tries { event_id, line_user_id, .. } => {
                format!("{}#TRIES", participant_partition(event_id, line_user_id))
            }
        }
    }

    /// Returns the sort key.
    #[must_use]
    pub fn sk(&self) -> String {
        match self {
            Self::Event(_) => "METADATA".to_owned(),
            Self::Friendship { occurred_at, webhook_event_id, .. } => {
                format!("FRIEND#{occurred_at}#{webhook_event_id}")
            }
            Self::Master { .. } => "MASTER".to_owned(),
            Self::Notice(notice) => notice_sk(&notice.key),
            Self::Pace { .. } => PACE.to_owned(),
            Self::Profile { .. } => PROFILE.to_owned(),
            Self::Refusals { hour, process, .. } => format!("{}#{process}", hour.as_str()),
            Self::Staff { staff_id, .. } => staff_id.to_string(),
            Self::Tries { stamp_id, stretch, .. } => format!("{stamp_id}#{stretch}"),
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
            (["EVENT", event_id, "USER", user], [PROFILE]) => {
                Self::Profile { event_id: event_id.parse().ok()?, line_user_id: LineUserId::stored(user).ok()? }
            }
            (["EVENT", event_id, "USER", user], [PACE]) => {
                Self::Pace { event_id: event_id.parse().ok()?, line_user_id: LineUserId::stored(user).ok()? }
            }
            (["EVENT", event_id, "REFUSALS"], [hour, process]) => Self::Refusals {
                event_id: event_id.parse().ok()?,
                hour: Some(Hour::stored(hour)).filter(|hour| hour.start().is_some())?,
                process: ProcessId::from((*process).to_owned()),
            },
            (["EVENT", event_id, "STAFF"], [staff_id]) => {
                Self::Staff { event_id: event_id.parse().ok()?, staff_id: staff_id.parse().ok()? }
            }
            (["EVENT", event_id, "USER", user, "TRIES"], [stamp_id, stretch]) => Self::Tries {
                event_id: event_id.parse().ok()?,
                line_user_id: LineUserId::stored(user).ok()?,
                stamp_id: stamp_id.parse().ok()?,
                stretch: stretch.parse().ok().filter(|number: &i64| number.to_string() == *stretch)?,
            },
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

/// Returns the partition of all facts of one participant (access pattern 1).
pub(super) fn participant_partition(event_id: &EventId, line_user_id: &LineUserId) -> String {
    format!("EVENT#{event_id}#USER#{line_user_id}")
}

/// Returns the partition of an event's refused claims.
pub(super) fn refusals_partition(event_id: &EventId) -> String {
    format!("EVENT#{event_id}#REFUSALS")
}

/// Returns the partition of an event's staff and screens.
pub(super) fn staff_partition(event_id: &EventId) -> String {
    format!("EVENT#{event_id}#STAFF")
}

/// Returns whether a key, primary or of an index, is one of an event.
pub(super) fn is_of_event(key: &str, event_id: &EventId) -> bool {
    event_part(key) == Some(event_id.as_str())
}

/// Returns the event that a key, primary or of an index, names.
pub(super) fn event_part(key: &str) -> Option<&str> {
    key.strip_prefix("EVENT#")?.split('#').next()
}

pub(super) fn is_participants(pk: &str) -> bool {
    matches!(pk.split('#').collect::<Vec<_>>().as_slice(), ["EVENT", _, "USER", _])
}

pub(super) fn friend_partition(channel: &ChannelName, line_user_id: &LineUserId) -> String {
    format!("CHANNEL#{channel}#USER#{line_user_id}")
}

pub(super) fn notice_sk(key: &NoticeKey) -> String {
    match key {
        NoticeKey::Completed => "COMPLETED".to_owned(),
        NoticeKey::Resend { stamp_id, number } => format!("RESEND#{stamp_id}#{number:03}"),
        NoticeKey::ResendCompleted { number } => format!("RESEND_COMPLETED#{number:03}"),
        NoticeKey::Stamp(stamp_id) => format!("STAMP#{stamp_id}"),
    }
}

fn parse_notice_sk(sk: &str) -> Option<NoticeKey> {
    match sk.split('#').collect::<Vec<_>>().as_slice() {
        ["COMPLETED"] => Some(NoticeKey::Completed),
        ["RESEND", stamp_id, number] => {
            Some(NoticeKey::Resend { stamp_id: stamp_id.parse().ok()?, number: padded(number)? })
        }
        ["RESEND_COMPLETED", number] => Some(NoticeKey::ResendCompleted { number: padded(number)? }),
        ["STAMP", stamp_id] => Some(NoticeKey::Stamp(stamp_id.parse().ok()?)),
        _ => None,
    }
}

/// Reads a number written with at least three digits, and no more zeros than that takes.
fn padded(text: &str) -> Option<u16> {
    text.parse().ok().filter(|number| format!("{number:03}") == text)
}

/// Sort keys from one to another, both included: what `BETWEEN` takes. `~` comes after every character of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SortKeys {
    pub(super) low: String,
    pub(super) high: String,
}

impl SortKeys {
    /// Returns those that begin with a time of the span.
    pub(super) fn within(span: Span) -> Self {
        Self {
            low: span.from.map_or_else(|| "0".to_owned(), |from| from.to_string()),
            high: span.to.map_or_else(|| "~".to_owned(), |to| format!("{}#~", to.plus_millis(-1))),
        }
    }

    /// Returns those of follows and unfollows.
    pub(super) fn friendships() -> Self {
        Self { low: "FRIEND#".to_owned(), high: "FRIEND#~".to_owned() }
    }

    /// Returns whether there can be none. DynamoDB refuses a `BETWEEN` whose ends are the wrong way round.
    pub(super) fn is_empty(&self) -> bool {
        self.low > self.high
    }
}

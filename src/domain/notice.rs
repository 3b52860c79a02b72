//! The notice: the message that follows from a fact, its retry key, and what became of it.

use std::str::FromStr;

use uuid::Uuid;

use super::{
    Malformed,
    ids::{ChannelName, EventId, LineUserId, StampId},
    time::Timestamp,
    worded::worded,
};

/// The namespace of our retry keys (UUID v5, RFC 9562 section 5.5); part of the contract.
const RETRY_KEYS: Uuid = Uuid::from_u128(0xf220_63c5_5a68_466b_bb76_0682_a022_90f8);

/// The fact of a participant from which the notice follows; as a sort key it names the item that has the state of the
/// notice.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NoticeKey {
    /// The completed card.
    Completed,
    /// The n-th resend of a stamp's notice, n from 1.
    Resend {
        /// The stamp whose notice is sent again.
        stamp_id: StampId,
        /// Which resend of it.
        number: u16,
    },
    /// An acquired stamp.
    Stamp(StampId),
}

/// Names one notice among all.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NoticeId {
    /// The event.
    pub event_id: EventId,
    /// Whom it is for.
    pub line_user_id: LineUserId,
    /// From which of their facts it follows.
    pub key: NoticeKey,
}

/// What a notice is about: the acquired stamp (again), or the completed card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The card was completed at this time.
    Completed {
        /// `completedAt` of the fact.
        completed_at: Timestamp,
    },
    /// A stamp was acquired at this time.
    Stamp {
        /// The stamp.
        stamp_id: StampId,
        /// `acquiredAt` of the fact.
        acquired_at: Timestamp,
    },
}

/// Returns the key under which LINE remembers a push for 24 hours (Messaging API: "Retrying an API request").
///
/// The same fact always has the same key, on every process and at every attempt: that makes a push idempotent. `number`
/// is 0, or the number of the RESEND.
#[must_use]
pub fn retry_key(channel: &ChannelName, notice: &NoticeId, subject: &Subject, number: u16) -> Uuid {
    let NoticeId { event_id, line_user_id, .. } = notice;
    let name = match subject {
        Subject::Completed { completed_at } => {
            format!("{channel}#{event_id}#{line_user_id}#COMPLETED#{completed_at}#{number}")
        }
        Subject::Stamp { stamp_id, acquired_at } => {
            format!("{channel}#{event_id}#{line_user_id}#STAMP#{stamp_id}#{acquired_at}#{number}")
        }
    };
    Uuid::new_v5(&RETRY_KEYS, name.as_bytes())
}

/// What became of a notice, as its item says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoticeStatus {
    /// No message follows from the fact: a completed card of an event without a completion message.
    None,
    /// It left the ordinary path.
    Parked(Parked),
    /// LINE accepted it.
    Sent {
        /// When we marked it. The source article's items always have it.
        at: Option<Timestamp>,
        /// LINE's `x-line-request-id` of the accepted push.
        request_id: Option<String>,
    },
    /// It is pending: delivery sends it.
    Pending {
        /// When an attempt first ended without a clear answer, so that LINE may have accepted it.
        maybe_sent_at: Option<Timestamp>,
    },
}

impl NoticeStatus {
    /// Returns whether LINE accepted it.
    #[must_use]
    pub fn is_sent(&self) -> bool {
        matches!(self, Self::Sent { .. })
    }
}

/// A notice that left the ordinary path: why, and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parked {
    /// The state it is in.
    pub state: ParkedState,
    /// `noticeSince`: when it got there; part of its index key.
    pub since: Timestamp,
    /// `noticeReason`: a short code (`monthly_limit`) or sentence.
    pub reason: Option<String>,
    /// `noticeTriedAt`: when an attempt first ended without a clear answer.
    pub maybe_sent_at: Option<Timestamp>,
    /// `flexMessageError`: LINE's last refusal.
    pub error: Option<PushRefused>,
}

worded! {
    /// The special states of a notice, as `noticeState` and `?state=` spell them.
    ParkedState {
        /// Was parked when the event ended; never sent silently.
        Expired = "expired",
        /// LINE refused this message for good.
        Failed = "failed",
        /// Its channel can't send now; drained when it can.
        Held = "held",
        /// An operator or a rule decided that it isn't sent.
        Suppressed = "suppressed",
        /// LINE may have accepted it, and can't be asked any more; an operator decides.
        Unknown = "unknown",
    }
}

impl FromStr for ParkedState {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let found = Self::ALL.into_iter().find(|state| state.as_str() == text);
        found.ok_or_else(|| Malformed::new("state", "must be expired, failed, held, suppressed or unknown"))
    }
}

/// LINE's refusal of a push (`flexMessageError`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushRefused {
    /// The HTTP status; 0 where the message never left, because its template is unusable.
    pub status: u16,
    /// LINE's own words, or ours.
    pub message: String,
    /// When.
    pub at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_keys_are_pinned() {
        let channel = "main".parse().unwrap();
        let notice = NoticeId {
            event_id: "stamp-rally-202606".parse().unwrap(),
            line_user_id: LineUserId::stored("U1234567890abcdef").unwrap(),
            key: NoticeKey::Completed,
        };
        let acquired_at = "2026-05-23T11:30:00.000Z".parse().unwrap();
        let stamp = Subject::Stamp { stamp_id: "001".parse().unwrap(), acquired_at };
        let completed = Subject::Completed { completed_at: acquired_at };
        let keys = [(&stamp, 0), (&stamp, 1), (&completed, 0)]
            .map(|(subject, n)| retry_key(&channel, &notice, subject, n).to_string());
        // Computed with another implementation (Python's uuid.uuid5).
        assert_eq!(
            keys,
            [
                "a899849e-45bd-51cd-b516-408bd4ea6e78",
                "a0a6d13b-e65a-58ee-a5e7-8baae811a37e",
                "9f64cf5b-e94e-541f-8b87-d657391fba93"
            ]
        );
    }

    #[test]
    fn a_state_is_read_as_it_is_written() {
        for state in ParkedState::ALL {
            assert_eq!(state.as_str().parse(), Ok(state));
        }
        assert!("Held".parse::<ParkedState>().is_err());
    }
}

//! Why a claim or a registration is refused, with the figures that a page needs.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::domain::{
    ids::StampId,
    proof::{Meters, Proofs},
    schedule::Closed,
};

/// Why a claim or a registration is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// `now >= endsAt`
    EventEnded,
    /// `now < startsAt`
    EventNotStarted,
    /// Too soon after the last stamp.
    Interval {
        /// How long to wait.
        retry_after: Duration,
    },
    /// Other stamps come first.
    Prerequisite {
        /// Which of them are missing.
        missing: Vec<StampId>,
    },
    /// None of the alternatives was brought whole.
    ProofRequired {
        /// What the stamp takes.
        proofs: Proofs,
    },
    /// What was brought is no proof.
    Rejected(Rejection),
    /// The stamp is closed now.
    StampClosed(Closed),
    /// The master's `isActive` is false.
    StampInactive,
    /// Too many passcodes were tried.
    TooManyTries {
        /// How long to wait.
        retry_after: Duration,
    },
    /// Too far from the last stamp to have come here since.
    Travel {
        /// How long to wait.
        retry_after: Duration,
    },
}

/// Why what a claim brings is no proof for the stamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// The code's time begins only later.
    CodeEarly,
    /// The code's time is over.
    CodeExpired,
    /// The code is of another stamp.
    CodeOtherStamp(StampId),
    /// The code was good once.
    CodeRevoked,
    /// It is no code of this event.
    CodeUnknown,
    /// The stamp takes no grant of staff.
    KindNotTaken,
    /// The phone's place is less exact than this.
    LocationInaccurate(Meters),
    /// The phone's place is too old.
    LocationStale,
    /// The passcode is another one.
    PasscodeWrong {
        /// How many more may be tried.
        tries_left: u32,
    },
    /// The phone is this far away from the stamp.
    TooFar(Meters),
}

impl Refusal {
    /// Returns the reason within its problem code, where that has several.
    #[must_use]
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Self::EventEnded | Self::EventNotStarted | Self::ProofRequired { .. } | Self::StampInactive => None,
            Self::Interval { .. } => Some("interval"),
            Self::Prerequisite { .. } => Some("prerequisite"),
            Self::Rejected(rejection) => Some(rejection.reason()),
            Self::StampClosed(Closed::Hours(_)) => Some("hours"),
            Self::StampClosed(Closed::NotYet(_)) => Some("not_yet"),
            Self::StampClosed(Closed::Over) => Some("over"),
            Self::TooManyTries { .. } => Some("passcode"),
            Self::Travel { .. } => Some("travel"),
        }
    }

    /// Every word by which refusals are counted.
    pub const REASONS: [&str; 21] = [
        "code_early",
        "code_expired",
        "code_other_stamp",
        "code_revoked",
        "code_unknown",
        "event_ended",
        "event_not_started",
        "hours",
        "interval",
        "kind_not_taken",
        "location_inaccurate",
        "location_stale",
        "not_yet",
        "over",
        "passcode",
        "passcode_wrong",
        "prerequisite",
        "proof_required",
        "stamp_inactive",
        "too_far",
        "travel",
    ];

    /// Returns the word by which it is counted: its reason, or its code where that has one reason only.
    #[must_use]
    pub fn counted_as(&self) -> &'static str {
        match self {
            Self::EventEnded => "event_ended",
            Self::EventNotStarted => "event_not_started",
            Self::ProofRequired { .. } => "proof_required",
            Self::StampInactive => "stamp_inactive",
            other => other.reason().unwrap_or("other"),
        }
    }

    /// Returns how long to wait before a repeat can succeed, where that is known.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Interval { retry_after } | Self::TooManyTries { retry_after } | Self::Travel { retry_after } => {
                Some(*retry_after)
            }
            _ => None,
        }
    }

    /// Returns the figures, as members of its problem document.
    #[must_use]
    pub fn members(&self) -> Map<String, Value> {
        let figure = match self {
            Self::Prerequisite { missing } => Some(("missing", json!(missing))),
            Self::ProofRequired { proofs } => Some(("proofs", json!(proofs))),
            Self::Rejected(rejection) => rejection.figure(),
            Self::StampClosed(Closed::Hours(opens_at)) => opens_at.map(|at| ("opensAt", json!(at))),
            Self::StampClosed(Closed::NotYet(opens_at)) => Some(("opensAt", json!(opens_at))),
            other => other.retry_after().map(|wait| ("retryAfterSeconds", json!(whole_seconds(wait)))),
        };
        let reason = self.reason().map(|reason| ("reason", json!(reason)));
        reason.into_iter().chain(figure).map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

impl Rejection {
    fn reason(&self) -> &'static str {
        match self {
            Self::CodeEarly => "code_early",
            Self::CodeExpired => "code_expired",
            Self::CodeOtherStamp(_) => "code_other_stamp",
            Self::CodeRevoked => "code_revoked",
            Self::CodeUnknown => "code_unknown",
            Self::KindNotTaken => "kind_not_taken",
            Self::LocationInaccurate(_) => "location_inaccurate",
            Self::LocationStale => "location_stale",
            Self::PasscodeWrong { .. } => "passcode_wrong",
            Self::TooFar(_) => "too_far",
        }
    }

    fn figure(&self) -> Option<(&'static str, Value)> {
        match self {
            Self::CodeOtherStamp(stamp_id) => Some(("stampId", json!(stamp_id))),
            Self::LocationInaccurate(limit) => Some(("accuracyMeters", json!(limit))),
            Self::PasscodeWrong { tries_left } => Some(("triesLeft", json!(tries_left))),
            Self::TooFar(distance) => Some(("distanceMeters", json!(distance))),
            _ => None,
        }
    }
}

/// Returns a wait in whole seconds, rounded up: after them it is over.
#[must_use]
pub fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

//! What a rally is: pure, no I/O, no async; knows no other room.
//!
//! A [`claim::Claim`] is decided on and becomes a **fact**, which is written once and never changed. A
//! [`card::StampCard`] folds the facts of one participant into what a screen shows. A notice ([`notice::NoticeId`]) is
//! the message that follows from a fact, and [`delivery_state::fold`] says what became of it.

use std::borrow::Cow;

pub mod bounded;
pub mod card;
pub mod causes;
pub mod claim;
pub mod config_value;
pub mod counts;
pub mod delivery_state;
pub mod encoding;
pub mod event;
pub mod fact;
pub mod ids;
pub mod json;
pub mod language;
#[cfg(any(test, feature = "dev"))]
pub mod manual_clock;
pub mod mode;
pub mod notice;
pub mod proof;
pub mod qr;
pub mod resend;
pub mod schedule;
pub mod setting;
pub mod stamp;
pub mod time;
pub mod trace;
pub(crate) mod worded;

/// A text that is not what its type promises.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {rule}")]
pub struct Malformed {
    /// The thing that was expected, by its name in JSON (`eventId`, `startsAt`).
    pub what: Cow<'static, str>,
    /// The rule it breaks, as a sentence that says what to do.
    pub rule: String,
}

impl Malformed {
    /// Says that `what` breaks `rule`.
    pub fn new(what: impl Into<Cow<'static, str>>, rule: impl Into<String>) -> Self {
        Self { what: what.into(), rule: rule.into() }
    }
}

//! Notices in words for a terminal.

use crate::domain::{
    notice::{NoticeKey, Parked},
    time::{TimeZone, Timestamp},
};

/// Returns what a notice is about.
pub(super) fn subject(key: &NoticeKey) -> String {
    match key {
        NoticeKey::Completed => "completed card".to_owned(),
        NoticeKey::Resend { stamp_id, number } => format!("stamp {stamp_id}, resend {number}"),
        NoticeKey::ResendCompleted { number } => format!("completed card, resend {number}"),
        NoticeKey::Stamp(stamp_id) => format!("stamp {stamp_id}"),
    }
}

/// Returns why it was parked.
pub(super) fn why(parked: &Parked) -> String {
    let reason = parked.reason.clone();
    let error = parked.error.as_ref().map(|error| match error.status {
        0 => error.message.clone(),
        status => format!("LINE answered {status}: {}", error.message),
    });
    let words: Vec<_> = reason.into_iter().chain(error).collect();
    if words.is_empty() { "no reason recorded".to_owned() } else { printable(&words.join("; ")) }
}

/// Returns that LINE may have accepted it, where an attempt ended without a clear answer.
pub(super) fn maybe_sent(at: Option<Timestamp>, zone: TimeZone) -> Option<String> {
    at.map(|at| format!("may have been accepted at {}", at.in_zone(zone)))
}

/// Returns what others wrote without what could move the cursor.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Returns who asked for it, before what else is said.
pub(super) fn asked_by(name: &str) -> String {
    format!("asked for by {}; ", printable(name))
}

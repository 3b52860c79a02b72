//! A push or reply on its way into the ledger, and what becomes of it.

use serde_json::Value;

/// `sentMessages` of a push answer, in the order of its messages.
pub type SentMessages = Value;

/// A push or reply that passed every check of its request.
pub struct NewPush<'a> {
    pub channel: &'a str,
    pub user_id: &'a str,
    pub request_id: &'a str,
    pub messages: &'a [Value],
    pub now_ms: i64,
    pub way: Way<'a>,
}

/// How the messages came.
pub enum Way<'a> {
    Push { retry_key: Option<&'a str>, quota: Option<u64>, rate: Rate },
    Reply { token: &'a str },
}

/// What the rate bucket said when the request came in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Rate {
    Exceeded,
    Within,
}

/// What became of it.
pub enum Acceptance {
    Accepted(SentMessages),
    AlreadyAccepted { request_id: String, sent: SentMessages },
    MonthlyLimit,
    RateLimited,
    UnknownUser,
}

/// Returns messages as they are kept.
pub(super) fn text(messages: &[Value]) -> String {
    serde_json::to_string(messages).unwrap_or_default()
}

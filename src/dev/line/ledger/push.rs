//! A push or reply on its way into the ledger, and what becomes of it.

use serde_json::Value;

/// `sentMessages` of a push answer, in the order of its messages.
pub(in super::super) type SentMessages = Value;

/// A push or reply that passed every check of its request.
pub(in super::super) struct NewPush<'a> {
    pub(in super::super) channel: &'a str,
    pub(in super::super) user_id: &'a str,
    pub(in super::super) request_id: &'a str,
    pub(in super::super) messages: &'a [Value],
    pub(in super::super) now_ms: i64,
    pub(in super::super) way: Way<'a>,
}

/// How the messages came.
pub(in super::super) enum Way<'a> {
    Push { retry_key: Option<&'a str>, quota: Option<u64>, rate: Rate },
    Reply { token: &'a str },
}

/// What the rate bucket said when the request came in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in super::super) enum Rate {
    Exceeded,
    Within,
}

/// What became of it.
pub(in super::super) enum Acceptance {
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

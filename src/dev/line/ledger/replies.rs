//! Reply tokens: single use, good for one minute after the webhook was received.

use rusqlite::{OptionalExtension, params};

use super::Ledger;

/// One minute from receipt (Messaging API reference, reply token).
const FRESH_MS: i64 = 60_000;
/// A redelivered webhook makes its token good again, but not later than this after the event.
const REDELIVERY_MS: i64 = 20 * 60_000;

/// A token that goes out with a webhook.
pub(in super::super) struct ReplyToken<'a> {
    pub(in super::super) token: &'a str,
    pub(in super::super) channel: &'a str,
    /// The user, group or room that the answer goes to.
    pub(in super::super) target: &'a str,
    pub(in super::super) happened_at: i64,
    pub(in super::super) received_at: i64,
}

/// Whether a token still answers something.
pub(in super::super) enum TokenState {
    Good { target: String },
    Invalid,
}

impl Ledger {
    /// Notes a token as received now; one that was used stays used.
    pub(in super::super) fn hand_out(&self, token: &ReplyToken<'_>) -> rusqlite::Result<()> {
        self.db
            .prepare_cached(
                "INSERT INTO reply_tokens (token, channel, target, happened_at, received_at) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (token) DO UPDATE SET received_at = excluded.received_at",
            )?
            .execute(params![token.token, token.channel, token.target, token.happened_at, token.received_at])
            .map(drop)
    }

    pub(in super::super) fn token_state(
        &self,
        channel: &str,
        token: &str,
        now_ms: i64,
    ) -> rusqlite::Result<TokenState> {
        let found = self
            .db
            .prepare_cached(
                "SELECT target FROM reply_tokens WHERE token = ?1 AND channel = ?2 AND used = 0
                 AND ?3 - received_at <= ?4 AND ?3 - happened_at <= ?5",
            )?
            .query_row(params![token, channel, now_ms, FRESH_MS, REDELIVERY_MS], |row| row.get(0))
            .optional()?;
        Ok(found.map_or(TokenState::Invalid, |target| TokenState::Good { target }))
    }
}

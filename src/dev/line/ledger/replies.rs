//! Reply tokens: single use, good for one minute after the webhook was received.

use rusqlite::params;

use super::{
    Ledger,
    sql::{first, run},
};

/// One minute from receipt (Messaging API reference, reply token).
const FRESH_MS: i64 = 60_000;
/// A redelivered webhook makes its token good again, but not later than this after the event.
const REDELIVERY_MS: i64 = 20 * 60_000;

/// A token that goes out with a webhook.
pub struct ReplyToken<'a> {
    pub token: &'a str,
    pub channel: &'a str,
    /// The user, group or room that the answer goes to.
    pub target: &'a str,
    pub happened_at: i64,
    pub received_at: i64,
}

/// Whether a token still answers something.
pub enum TokenState {
    Good { target: String },
    Invalid,
}

impl Ledger {
    /// Notes a token as received now; one that was used stays used.
    pub fn hand_out(&self, token: &ReplyToken<'_>) -> rusqlite::Result<()> {
        let sql =
            "INSERT INTO reply_tokens (token, channel, target, happened_at, received_at) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (token) DO UPDATE SET received_at = excluded.received_at";
        let ReplyToken { token, channel, target, happened_at, received_at } = token;
        run(&self.db, sql, params![token, channel, target, happened_at, received_at])
    }

    pub fn token_state(&self, channel: &str, token: &str, now_ms: i64) -> rusqlite::Result<TokenState> {
        let sql = "SELECT target FROM reply_tokens WHERE token = ?1 AND channel = ?2 AND used = 0
             AND ?3 - received_at <= ?4 AND ?3 - happened_at <= ?5";
        let found = first(&self.db, sql, params![token, channel, now_ms, FRESH_MS, REDELIVERY_MS], |row| row.get(0))?;
        Ok(found.map_or(TokenState::Invalid, |target| TokenState::Good { target }))
    }
}

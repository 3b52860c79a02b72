//! Retry keys: remembered for a day, by channel.

use rusqlite::{Transaction, params};
use serde::Serialize;

use super::{
    Ledger,
    push::{Acceptance, NewPush, text},
    sql::{first, run},
};

/// A day, counted from the acceptance (Messaging API reference, retry-api-request).
const KEY_MS: i64 = 24 * 3_600_000;

/// A retry key and what was done with it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UsedKey {
    channel: String,
    retry_key: String,
    /// Accepted requests with this key: 1, unless it was used again after its 24 hours.
    accepted: i64,
    /// How often it was answered with 409.
    conflicts: i64,
    /// How many of those came with another recipient or other messages.
    changed_body: i64,
}

impl Ledger {
    /// Every retry key that was accepted, in the order of its last acceptance.
    pub fn retry_keys(&self, channel: Option<&str>) -> rusqlite::Result<Vec<UsedKey>> {
        let mut found = self.db.prepare_cached(
            "SELECT k.channel, k.retry_key, p.accepted, k.conflicts, k.changed FROM retry_keys k
             JOIN (SELECT channel, retry_key, count(*) AS accepted FROM pushes GROUP BY 1, 2) p
             USING (channel, retry_key) WHERE ?1 IS NULL OR k.channel = ?1 ORDER BY k.push",
        )?;
        let rows = found.query_map([channel], |row| {
            Ok(UsedKey {
                channel: row.get(0)?,
                retry_key: row.get(1)?,
                accepted: row.get(2)?,
                conflicts: row.get(3)?,
                changed_body: row.get(4)?,
            })
        })?;
        rows.collect()
    }
}

/// The request that this key accepted within its 24 hours; notes the conflict.
pub(super) fn earlier(change: &Transaction<'_>, push: &NewPush<'_>, key: &str) -> rusqlite::Result<Option<Acceptance>> {
    let sql = "SELECT p.request_id, p.sent_messages, p.user_id, p.messages FROM retry_keys k
         JOIN pushes p ON p.ordinal = k.push
         WHERE k.channel = ?1 AND k.retry_key = ?2 AND ?3 - k.accepted_at < ?4";
    let found = first(change, sql, params![push.channel, key, push.now_ms, KEY_MS], |row| {
        let sent: String = row.get(1)?;
        let same = row.get_ref(2)?.as_str()? == push.user_id && row.get_ref(3)?.as_str()? == text(push.messages);
        Ok((row.get::<_, String>(0)?, sent, same))
    })?;
    let Some((request_id, sent, same)) = found else { return Ok(None) };
    let sql = "UPDATE retry_keys SET conflicts = conflicts + 1, changed = changed + ?3
         WHERE channel = ?1 AND retry_key = ?2";
    run(change, sql, params![push.channel, key, i64::from(!same)])?;
    let sent = serde_json::from_str(&sent).unwrap_or_default();
    Ok(Some(Acceptance::AlreadyAccepted { request_id, sent }))
}

/// A key whose day is over may be accepted anew; its conflicts begin anew too.
pub(super) fn keep(
    change: &Transaction<'_>,
    ordinal: i64,
    push: &NewPush<'_>,
    retry_key: Option<&str>,
) -> rusqlite::Result<()> {
    let Some(key) = retry_key else { return Ok(()) };
    let sql = "INSERT OR REPLACE INTO retry_keys (channel, retry_key, push, accepted_at) VALUES (?1, ?2, ?3, ?4)";
    run(change, sql, params![push.channel, key, ordinal, push.now_ms])
}

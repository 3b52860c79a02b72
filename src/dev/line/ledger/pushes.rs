//! Accepted messages. What was accepted but isn't shown (the user blocked the account) is kept too: only so can a test
//! distinguish the two.

use rusqlite::{Row, Transaction, params};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    super::{chance, clock::month},
    Ledger,
    push::{Acceptance, NewPush, Rate, SentMessages, Way, text},
    retry_keys,
    sql::{first, run},
};

/// Message ids are decimal strings of 18 digits; each push has room for its five messages.
const FIRST_MESSAGE_ID: i64 = 560_000_000_000_000_000;

/// Which accepted messages to list.
#[derive(Clone, Debug, Default)]
pub struct PushFilter {
    pub channel: Option<String>,
    pub user_id: Option<String>,
    pub retry_key: Option<String>,
    pub shown: Option<bool>,
    /// Only later ones than this ordinal.
    pub after: i64,
    pub limit: Option<u32>,
}

/// One accepted push or reply.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedPush {
    pub ordinal: i64,
    pub channel: String,
    pub user_id: String,
    pub kind: String,
    pub request_id: String,
    pub retry_key: Option<String>,
    pub accepted_at: i64,
    pub shown: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Value>,
    pub sent_messages: Value,
}

impl Ledger {
    /// Recipient, retry key, rate, quota, in this order; then the message, its key and its count in
    /// one transaction.
    pub fn accept(&mut self, push: &NewPush<'_>) -> rusqlite::Result<Acceptance> {
        let Some((relation, wrote_at)) = self.relation(push.channel, push.user_id)? else {
            return Ok(Acceptance::UnknownUser);
        };
        let shown = relation.shows(wrote_at, push.now_ms);
        let ordinal = self.next_ordinal;
        let change = self.db.transaction()?;
        if let Some(refusal) = refusal(&change, push)? {
            change.commit()?;
            return Ok(refusal);
        }
        let accepted = Accepted { ordinal, push, shown, sent: sent_messages(ordinal, push.messages) };
        accepted.insert(&change)?;
        accepted.follow_up(&change)?;
        change.commit()?;
        self.next_ordinal = ordinal + 1;
        Ok(Acceptance::Accepted(accepted.sent))
    }

    /// Messages that count in the quota this month.
    pub fn usage(&self, channel: &str, now_ms: i64) -> rusqlite::Result<u64> {
        used(&self.db, channel, now_ms)
    }

    pub fn set_usage(&self, channel: &str, now_ms: i64, used: u64) -> rusqlite::Result<()> {
        let used = i64::try_from(used).unwrap_or(i64::MAX);
        run(&self.db, "INSERT OR REPLACE INTO usage VALUES (?1, ?2, ?3)", params![channel, month(now_ms), used])
    }

    /// How many match and how many of them are shown, whatever `after` and `limit` say.
    pub fn count_pushes(&self, filter: &PushFilter) -> rusqlite::Result<(i64, i64)> {
        self.db.query_row(
            &format!("SELECT count(*), coalesce(sum(shown), 0) FROM pushes WHERE {MATCHES}"),
            params![filter.channel, filter.user_id, filter.retry_key, filter.shown],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }

    /// The matching ones in the order of acceptance; `messages` only if asked for.
    pub fn pushes(&self, filter: &PushFilter, with: With) -> rusqlite::Result<Vec<AcceptedPush>> {
        let mut found = self.db.prepare_cached(&format!(
            "SELECT ordinal, channel, user_id, kind, request_id, retry_key, accepted_at, shown, sent_messages, messages
             FROM pushes WHERE {MATCHES} AND ordinal > ?5 ORDER BY ordinal LIMIT ?6"
        ))?;
        let limit = filter.limit.map_or(-1, i64::from);
        let filters = params![filter.channel, filter.user_id, filter.retry_key, filter.shown, filter.after, limit];
        found.query_map(filters, |row| accepted_push(row, with))?.collect()
    }
}

/// Whether a listing carries the messages themselves: 20,000 Flex Messages are a lot of text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum With {
    Messages,
    Nothing,
}

const MATCHES: &str = "(?1 IS NULL OR channel = ?1) AND (?2 IS NULL OR user_id = ?2)
     AND (?3 IS NULL OR retry_key = ?3) AND (?4 IS NULL OR shown = ?4)";

fn refusal(change: &Transaction<'_>, push: &NewPush<'_>) -> rusqlite::Result<Option<Acceptance>> {
    let Way::Push { retry_key, quota, rate } = push.way else { return Ok(None) };
    if let Some(key) = retry_key
        && let Some(earlier) = retry_keys::earlier(change, push, key)?
    {
        return Ok(Some(earlier));
    }
    if rate == Rate::Exceeded {
        return Ok(Some(Acceptance::RateLimited));
    }
    match quota {
        Some(quota) if used(change, push.channel, push.now_ms)? >= quota => Ok(Some(Acceptance::MonthlyLimit)),
        _ => Ok(None),
    }
}

/// A push or reply that is accepted, with its place among all of them.
struct Accepted<'a> {
    ordinal: i64,
    push: &'a NewPush<'a>,
    shown: bool,
    sent: SentMessages,
}

impl Accepted<'_> {
    fn insert(&self, change: &Transaction<'_>) -> rusqlite::Result<()> {
        let (kind, retry_key) = match self.push.way {
            Way::Push { retry_key, .. } => ("push", retry_key),
            Way::Reply { .. } => ("reply", None),
        };
        let NewPush { channel, user_id, request_id, messages, now_ms, .. } = *self.push;
        let (ordinal, shown, messages, sent) = (self.ordinal, self.shown, text(messages), self.sent.to_string());
        run(
            change,
            "INSERT INTO pushes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            (ordinal, channel, user_id, kind, request_id, retry_key, now_ms, shown, messages, sent),
        )
    }

    /// Keeps the retry key and counts the push, or uses up the reply token.
    fn follow_up(&self, change: &Transaction<'_>) -> rusqlite::Result<()> {
        match self.push.way {
            Way::Push { retry_key, .. } => {
                retry_keys::keep(change, self.ordinal, self.push, retry_key)?;
                if self.shown { self.count(change) } else { Ok(()) }
            }
            Way::Reply { token } => run(change, "UPDATE reply_tokens SET used = 1 WHERE token = ?1", [token]),
        }
    }

    /// One recipient counts once, however many messages the request has.
    fn count(&self, change: &Transaction<'_>) -> rusqlite::Result<()> {
        let sql = "INSERT INTO usage VALUES (?1, ?2, 1) ON CONFLICT (channel, month) DO UPDATE SET used = used + 1";
        run(change, sql, params![self.push.channel, month(self.push.now_ms)])
    }
}

fn used(db: &rusqlite::Connection, channel: &str, now_ms: i64) -> rusqlite::Result<u64> {
    let sql = "SELECT used FROM usage WHERE channel = ?1 AND month = ?2";
    let used: Option<i64> = first(db, sql, params![channel, month(now_ms)], |row| row.get(0))?;
    Ok(used.unwrap_or(0).unsigned_abs())
}

/// Quote tokens only for the types that LINE gives one for (reference, push).
fn sent_messages(ordinal: i64, messages: &[Value]) -> SentMessages {
    let ids = (FIRST_MESSAGE_ID + ordinal * 8)..;
    let sent = messages.iter().zip(ids).map(|(message, id)| {
        let quotable = matches!(
            message.get("type").and_then(Value::as_str),
            Some("text" | "textV2" | "sticker" | "image" | "video" | "template" | "flex")
        );
        if quotable {
            json!({ "id": id.to_string(), "quoteToken": chance::opaque(48) })
        } else {
            json!({ "id": id.to_string() })
        }
    });
    Value::Array(sent.collect())
}

fn accepted_push(row: &Row<'_>, with: With) -> rusqlite::Result<AcceptedPush> {
    let messages = match with {
        With::Messages => Some(parsed(row.get_ref(9)?)?),
        With::Nothing => None,
    };
    Ok(AcceptedPush {
        ordinal: row.get(0)?,
        channel: row.get(1)?,
        user_id: row.get(2)?,
        kind: row.get(3)?,
        request_id: row.get(4)?,
        retry_key: row.get(5)?,
        accepted_at: row.get(6)?,
        shown: row.get(7)?,
        sent_messages: parsed(row.get_ref(8)?)?,
        messages,
    })
}

fn parsed(text: rusqlite::types::ValueRef<'_>) -> rusqlite::Result<Value> {
    Ok(serde_json::from_str(text.as_str()?).unwrap_or_default())
}

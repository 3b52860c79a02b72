//! Users, and what each is to each channel.

use rusqlite::params;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    Ledger,
    sql::{first, run},
};

/// What a user is to an Official Account.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Relation {
    Blocked,
    Deleted,
    Friend,
    NotFriend,
}

/// A user who wrote to the account still receives pushes for seven days without being a friend.
const CHAT_MS: i64 = 7 * 24 * 3_600_000;

impl Relation {
    /// Returns whether an accepted message is really shown.
    pub(super) fn shows(self, wrote_at: Option<i64>, now_ms: i64) -> bool {
        match self {
            Self::Friend => true,
            Self::NotFriend => wrote_at.is_some_and(|at| now_ms - at <= CHAT_MS),
            Self::Blocked | Self::Deleted => false,
        }
    }
}

/// A user with the relations, by channel name. A channel that isn't listed doesn't know the user
/// (it belongs to another provider).
#[derive(Clone, Debug, Serialize)]
pub struct User {
    #[serde(rename = "userId")]
    id: String,
    name: String,
    relations: Map<String, Value>,
}

impl Ledger {
    /// Makes a user, or renames and relates one anew.
    pub fn put_user(
        &mut self,
        user_id: &str,
        name: &str,
        relations: &[(String, Relation)],
        now_ms: i64,
    ) -> rusqlite::Result<()> {
        let change = self.db.transaction()?;
        let sql = "INSERT INTO users VALUES (?1, ?2, ?3) ON CONFLICT (user_id) DO UPDATE SET name = excluded.name";
        run(&change, sql, params![user_id, name, now_ms])?;
        for (channel, relation) in relations {
            relate(&change, channel, user_id, *relation)?;
        }
        change.commit()
    }

    pub fn set_relation(&mut self, channel: &str, user_id: &str, relation: Relation) -> rusqlite::Result<()> {
        relate(&self.db, channel, user_id, relation)
    }

    /// Notes that the user wrote to the account in the one-to-one chat.
    pub fn note_chat(&self, channel: &str, user_id: &str, now_ms: i64) -> rusqlite::Result<()> {
        let sql = "UPDATE relations SET wrote_at = ?3 WHERE channel = ?1 AND user_id = ?2";
        run(&self.db, sql, params![channel, user_id, now_ms])
    }

    /// Returns the relation and the time of the last chat; `None` if the channel doesn't know the user.
    pub fn relation(&self, channel: &str, user_id: &str) -> rusqlite::Result<Option<(Relation, Option<i64>)>> {
        let sql = "SELECT relation, wrote_at FROM relations WHERE channel = ?1 AND user_id = ?2";
        let relation = |word: Value| serde_json::from_value(word).unwrap_or(Relation::NotFriend);
        first(&self.db, sql, [channel, user_id], |row| Ok((relation(row.get_ref(0)?.as_str()?.into()), row.get(1)?)))
    }

    /// Returns the name, if the profile can be read: that of a friend, or of a user in a chat.
    pub fn profile_name(&self, channel: &str, user_id: &str, now_ms: i64) -> rusqlite::Result<Option<String>> {
        match self.relation(channel, user_id)? {
            Some((relation, wrote_at)) if relation.shows(wrote_at, now_ms) => self.user_name(user_id),
            _ => Ok(None),
        }
    }

    pub fn user_name(&self, user_id: &str) -> rusqlite::Result<Option<String>> {
        first(&self.db, "SELECT name FROM users WHERE user_id = ?1", [user_id], |row| row.get(0))
    }

    /// Returns one user, or all of them in the order of their ids.
    pub fn users(&self, only: Option<&str>) -> rusqlite::Result<Vec<User>> {
        let mut found = self.db.prepare_cached(
            "SELECT u.user_id, u.name, r.channel, r.relation FROM users u LEFT JOIN relations r USING (user_id)
             WHERE ?1 IS NULL OR u.user_id = ?1 ORDER BY u.user_id, r.channel",
        )?;
        let mut rows = found.query([only])?;
        let mut users: Vec<User> = Vec::new();
        while let Some(row) = rows.next()? {
            let user_id: String = row.get(0)?;
            if users.last().is_none_or(|last| last.id != user_id) {
                users.push(User { id: user_id, name: row.get(1)?, relations: Map::new() });
            }
            if let (Some(channel), Some(user)) = (row.get::<_, Option<String>>(2)?, users.last_mut()) {
                user.relations.insert(channel, row.get::<_, String>(3)?.into());
            }
        }
        Ok(users)
    }
}

fn relate(db: &rusqlite::Connection, channel: &str, user_id: &str, relation: Relation) -> rusqlite::Result<()> {
    let sql = "INSERT INTO relations (channel, user_id, relation) VALUES (?1, ?2, ?3)
         ON CONFLICT (channel, user_id) DO UPDATE SET relation = excluded.relation";
    run(db, sql, params![channel, user_id, json!(relation).as_str()])
}

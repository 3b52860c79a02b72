//! Users, and what each is to each channel.

use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::Ledger;

/// What a user is to an Official Account.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in super::super) enum Relation {
    Blocked,
    Deleted,
    Friend,
    NotFriend,
}

/// A user who wrote to the account still receives pushes for seven days without being a friend.
const CHAT_MS: i64 = 7 * 24 * 3_600_000;

impl Relation {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Deleted => "deleted",
            Self::Friend => "friend",
            Self::NotFriend => "notFriend",
        }
    }

    pub(super) fn from_word(word: &str) -> Self {
        match word {
            "blocked" => Self::Blocked,
            "deleted" => Self::Deleted,
            "friend" => Self::Friend,
            _ => Self::NotFriend,
        }
    }

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
pub(in super::super) struct User {
    #[serde(rename = "userId")]
    id: String,
    name: String,
    relations: serde_json::Map<String, serde_json::Value>,
}

impl Ledger {
    /// Makes a user, or renames and relates one anew.
    pub(in super::super) fn put_user(
        &mut self,
        user_id: &str,
        name: &str,
        relations: &[(String, Relation)],
        now_ms: i64,
    ) -> rusqlite::Result<()> {
        let change = self.db.transaction()?;
        change
            .prepare_cached(
                "INSERT INTO users VALUES (?1, ?2, ?3) ON CONFLICT (user_id) DO UPDATE SET name = excluded.name",
            )?
            .execute(params![user_id, name, now_ms])?;
        for (channel, relation) in relations {
            relate(&change, channel, user_id, *relation)?;
        }
        change.commit()
    }

    pub(in super::super) fn set_relation(
        &mut self,
        channel: &str,
        user_id: &str,
        relation: Relation,
    ) -> rusqlite::Result<()> {
        relate(&self.db, channel, user_id, relation)
    }

    /// Notes that the user wrote to the account in the one-to-one chat.
    pub(in super::super) fn note_chat(&self, channel: &str, user_id: &str, now_ms: i64) -> rusqlite::Result<()> {
        self.db
            .execute(
                "UPDATE relations SET wrote_at = ?3 WHERE channel = ?1 AND user_id = ?2",
                params![channel, user_id, now_ms],
            )
            .map(drop)
    }

    /// Returns the relation and the time of the last chat; `None` if the channel doesn't know the user.
    pub(in super::super) fn relation(
        &self,
        channel: &str,
        user_id: &str,
    ) -> rusqlite::Result<Option<(Relation, Option<i64>)>> {
        self.db
            .prepare_cached("SELECT relation, wrote_at FROM relations WHERE channel = ?1 AND user_id = ?2")?
            .query_row([channel, user_id], |row| Ok((Relation::from_word(row.get_ref(0)?.as_str()?), row.get(1)?)))
            .optional()
    }

    /// Returns the name, if the profile can be read: that of a friend, or of a user in a chat.
    pub(in super::super) fn profile_name(
        &self,
        channel: &str,
        user_id: &str,
        now_ms: i64,
    ) -> rusqlite::Result<Option<String>> {
        match self.relation(channel, user_id)? {
            Some((relation, wrote_at)) if relation.shows(wrote_at, now_ms) => self.user_name(user_id),
            _ => Ok(None),
        }
    }

    pub(in super::super) fn user_name(&self, user_id: &str) -> rusqlite::Result<Option<String>> {
        self.db
            .prepare_cached("SELECT name FROM users WHERE user_id = ?1")?
            .query_row([user_id], |row| row.get(0))
            .optional()
    }

    /// Returns one user, or all of them in the order of their ids.
    pub(in super::super) fn users(&self, only: Option<&str>) -> rusqlite::Result<Vec<User>> {
        let mut found = self.db.prepare_cached(
            "SELECT u.user_id, u.name, r.channel, r.relation FROM users u LEFT JOIN relations r USING (user_id)
             WHERE ?1 IS NULL OR u.user_id = ?1 ORDER BY u.user_id, r.channel",
        )?;
        let mut rows = found.query([only])?;
        let mut users: Vec<User> = Vec::new();
        while let Some(row) = rows.next()? {
            let user_id: String = row.get(0)?;
            if users.last().is_none_or(|last| last.id != user_id) {
                users.push(User { id: user_id, name: row.get(1)?, relations: serde_json::Map::new() });
            }
            if let (Some(channel), Some(user)) = (row.get::<_, Option<String>>(2)?, users.last_mut()) {
                user.relations.insert(channel, row.get::<_, String>(3)?.into());
            }
        }
        Ok(users)
    }
}

fn relate(db: &rusqlite::Connection, channel: &str, user_id: &str, relation: Relation) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO relations (channel, user_id, relation) VALUES (?1, ?2, ?3)
         ON CONFLICT (channel, user_id) DO UPDATE SET relation = excluded.relation",
    )?
    .execute([channel, user_id, relation.word()])
    .map(drop)
}

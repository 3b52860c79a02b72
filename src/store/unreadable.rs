//! Items that can't be read: each harms itself alone.
//!
//! Items come from consoles, scripts, and older and newer versions of this program. One that is not what its key or its
//! `entityType` promises is passed over, or ends the one request that asked for it, and is reported: its key and what is
//! wrong once in the log, and each time in a metric. `stamp-rally table check` lists all of them.

use std::{num::NonZeroUsize, sync::Arc};

use lru::LruCache;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};

use crate::domain::{
    fact::FactKey,
    ids::{EventId, StampId},
};

use super::keys::ItemKey;

/// An item that is not what its `entityType` promises. Names the item: an operator has to look at it.
///
/// As text it is fit for the log: user ids are [`hashed`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[error("the item {} {} can't be read: {attribute} {}", hashed(pk), hashed(sk), hashed(problem))]
pub struct Unreadable {
    /// Its `PK`; empty if it has none.
    pub pk: String,
    /// Its `SK`; empty if it has none.
    pub sk: String,
    /// The attribute that is wrong.
    pub attribute: String,
    /// What is wrong with it.
    pub problem: String,
}

impl Unreadable {
    /// Returns which fact of its participant it is, as its key says; `None` if it is none.
    #[must_use]
    pub fn fact_key(&self) -> Option<FactKey> {
        match ItemKey::parse(&self.pk, &self.sk)? {
            ItemKey::Notice(notice) => Some(FactKey::Notice(notice.key)),
            ItemKey::Profile { .. } => Some(FactKey::User),
            ItemKey::Event(_)
            | ItemKey::Friendship { .. }
            | ItemKey::Master { .. }
            | ItemKey::Pace { .. }
            | ItemKey::Refusals { .. }
            | ItemKey::Staff { .. }
            | ItemKey::Tries { .. } => None,
        }
    }

    /// Returns which stamp of an event it is, as its key says; `None` if it is none of this event.
    #[must_use]
    pub fn stamp_of(&self, event_id: &EventId) -> Option<StampId> {
        match ItemKey::parse(&self.pk, &self.sk)? {
            ItemKey::Master { event_id: found, stamp_id } if found == *event_id => Some(stamp_id),
            _ => None,
        }
    }
}

/// How many items a process remembers as reported; the oldest of more may be logged again.
const MOST_REMEMBERED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9_999);

fn counter() -> metrics::Counter {
    metrics::counter!("stamp_rally_items_unreadable_total")
}

/// The items that were logged already. Clones share one memory.
#[derive(Debug, Clone)]
pub struct Reported(Arc<Mutex<LruCache<Unreadable, ()>>>);

impl Default for Reported {
    fn default() -> Self {
        counter().increment(0);
        Self(Arc::new(Mutex::new(LruCache::new(MOST_REMEMBERED))))
    }
}

impl Reported {
    /// Counts an item that can't be read, and logs its key the first time.
    ///
    /// User ids in the key are logged as [`hashed`]; the whole key is logged at `debug`.
    pub(super) fn report(&self, unreadable: &Unreadable) {
        counter().increment(1);
        if !self.is_new(unreadable) {
            return;
        }
        let Unreadable { pk, sk, attribute, problem } = unreadable;
        tracing::error!(
            item.pk = hashed(pk),
            item.sk = hashed(sk),
            item.attribute = attribute,
            item.problem = hashed(problem),
            "an item can't be read: `stamp-rally table check` lists it with its remedy"
        );
        tracing::debug!(item.pk = pk, item.sk = sk, "the key of an item that can't be read");
    }

    /// Returns whether this is the first report of the item and of what is wrong with it.
    fn is_new(&self, unreadable: &Unreadable) -> bool {
        self.0.lock().put(unreadable.clone(), ()).is_none()
    }
}

/// Returns a key as the log shows it: each user id in it is replaced by `~` and the first 8 hex digits of its SHA-256.
#[must_use]
pub fn hashed(key: &str) -> String {
    let parts: Vec<String> =
        key.split('#').map(|part| if is_user_id(part) { short_hash(part) } else { part.to_owned() }).collect();
    parts.join("#")
}

/// Returns whether a part of a key has the form of a user id, LINE's own or the shorter one of the source article.
fn is_user_id(part: &str) -> bool {
    let digits = part.strip_prefix('U').unwrap_or_default();
    digits.len() >= 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn short_hash(user_id: &str) -> String {
    let digest = Sha256::digest(user_id);
    digest.iter().take(4).fold("~".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_ids_of_a_key_are_hashed_and_nothing_else() {
        assert_eq!(hashed("EVENT#rally#STAMP#001"), "EVENT#rally#STAMP#001");
        let user = "U1234567890abcdef1234567890abcdef";
        let logged = hashed(&format!("EVENT#rally#USER#{user}"));
        assert!(logged.starts_with("EVENT#rally#USER#~") && !logged.contains(user), "{logged}");
        assert_eq!(hashed(&format!("2026-05-23T10:00:00.000Z#{user}")).len(), "2026-05-23T10:00:00.000Z#".len() + 9);
    }

    #[test]
    fn an_item_is_logged_once_and_again_when_something_else_is_wrong_with_it() {
        let reported = Reported::default();
        let one = |attribute: &str| Unreadable {
            pk: "EVENT#e".to_owned(),
            sk: "METADATA".to_owned(),
            attribute: attribute.to_owned(),
            problem: "is missing".to_owned(),
        };
        assert!(reported.is_new(&one("name")));
        assert!(!reported.is_new(&one("name")));
        assert!(reported.is_new(&one("startsAt")));
    }
}

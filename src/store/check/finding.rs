//! What is wrong with an item, and what to do about it.

use crate::domain::ids::EventId;
use crate::store::{
    items::{Fields, Item},
    unreadable::hashed,
};

/// An item that can't be read or that contradicts another, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The table it lies in.
    pub table: String,
    /// Its partition key.
    pub pk: String,
    /// Its sort key.
    pub sk: String,
    /// The attribute that is wrong.
    pub attribute: String,
    /// What is wrong with it.
    pub problem: String,
    /// What to do about it.
    pub remedy: String,
}

impl Finding {
    /// Its two keys as the log shows them (`item.pk`, `item.sk`), user ids hashed.
    #[must_use]
    pub fn logged_key(&self) -> [String; 2] {
        [hashed(&self.pk), hashed(&self.sk)]
    }
}

/// What is wrong with an item.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) attribute: String,
    pub(super) problem: String,
    pub(super) remedy: String,
}

impl Fault {
    pub(super) fn new(attribute: &str, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { attribute: attribute.to_owned(), problem: problem.into(), remedy: remedy.into() }
    }

    pub(super) fn of(self, item: &Item, table: &str) -> Finding {
        let (fields, table) = (Fields::of(item), table.to_owned());
        let (pk, sk) = (fields.pk().to_owned(), fields.sk().to_owned());
        let Self { attribute, problem, remedy } = self;
        Finding { table, pk, sk, attribute, problem, remedy }
    }
}

/// Returns what is wrong with an item of an event that isn't there.
pub(super) fn of_no_event(event_id: &EventId) -> Fault {
    let remedy = format!(
        "bring the event back (`event apply`, or `PUT /admin/api/events/{event_id}`), or delete the item if the event \
         was given up"
    );
    Fault::new("eventId", format!("is {event_id}, and there is no such event"), remedy)
}

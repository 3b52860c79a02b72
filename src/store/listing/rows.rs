//! Long lists, row by row, in constant memory.

use crate::domain::{
    event::Event,
    fact::User,
    ids::{LineUserId, StampId},
    time::{Span, Timestamp},
};

use super::{
    super::{
        Store, StoreError,
        items::Fields,
        keys::{self, SortKeys},
        unreadable::Unreadable,
    },
    holders_partitions,
    merge::{Index, Merge, Row},
    page::Direction,
    user_of, users_partitions,
};

/// How many rows are fetched at a time.
const AT_A_TIME: usize = 1000;

/// The rows of a long list, one after the other, in constant memory.
pub struct Rows<T> {
    store: Store,
    merge: Merge,
    read: Box<dyn Fn(Row) -> Result<T, Unreadable> + Send + Sync>,
    unreadable: usize,
}

/// All participants of an event.
pub type Users = Rows<User>;

impl<T> Rows<T> {
    /// Returns the next one; `None` after the last. After [`StoreError::Unavailable`] it may be asked for again.
    ///
    /// One that can't be read is reported, counted, and passed over.
    pub async fn next(&mut self) -> Result<Option<T>, StoreError> {
        self.next_of(AT_A_TIME).await
    }

    /// Returns the next ones, at most `most`; none after the last.
    pub async fn some(&mut self, most: usize) -> Result<Vec<T>, StoreError> {
        let mut some = Vec::new();
        while some.len() < most {
            let Some(row) = self.next_of(most).await? else { break };
            some.push(row);
        }
        Ok(some)
    }

    async fn next_of(&mut self, expected: usize) -> Result<Option<T>, StoreError> {
        while let Some(row) = self.merge.next(expected).await? {
            match (self.read)(row) {
                Ok(row) => return Ok(Some(row)),
                Err(error) => {
                    self.store.report(&error);
                    self.unreadable += 1;
                }
            }
        }
        Ok(None)
    }

    /// Returns how many were passed over so far.
    #[must_use]
    pub fn unreadable(&self) -> usize {
        self.unreadable
    }
}

impl Store {
    /// Returns the participants of an event by registration time, for an export: it holds some thousand rows at a time,
    /// however many there are.
    #[must_use]
    pub fn all_users(&self, event: &Event, span: Span, direction: Direction) -> Users {
        let merge = self.merge(Index::Gsi1, users_partitions(event), SortKeys::within(span), direction);
        let event_id = event.event_id.clone();
        let read = Box::new(move |row: Row| user_of(&event_id, row.item));
        Rows { store: self.clone(), merge, read, unreadable: 0 }
    }

    /// Returns the participants who registered for an event up to a moment, that one included, oldest first: out of the
    /// index keys alone, so that none is left out, whatever their items hold.
    #[must_use]
    pub fn registered(&self, event: &Event, until: Timestamp) -> Rows<LineUserId> {
        self.participants(Index::Gsi1, users_partitions(event), until)
    }

    /// Returns the participants who acquired a stamp up to a moment, in the same way.
    #[must_use]
    pub fn holding(&self, event: &Event, stamp_id: &StampId, until: Timestamp) -> Rows<LineUserId> {
        self.participants(Index::Gsi2, holders_partitions(event, stamp_id), until)
    }

    fn participants(&self, index: Index, partitions: Vec<String>, until: Timestamp) -> Rows<LineUserId> {
        let range = SortKeys::within(Span { from: None, to: Some(until.plus_millis(1)) });
        let merge = self.merge(index, partitions, range, Direction::Asc);
        Rows { store: self.clone(), merge, read: Box::new(move |row| participant(&row, index)), unreadable: 0 }
    }
}

fn participant(row: &Row, index: Index) -> Result<LineUserId, Unreadable> {
    let named = keys::timed_user(&row.sort_key).map(|(_, user)| user);
    named.ok_or_else(|| {
        let problem = "names no time and participant, in a list of participants";
        Fields::of(&row.item).unreadable(index.sort_key(), problem)
    })
}

//! People of a long list, out of the index keys alone: whatever their items hold, nobody is left out.

use crate::domain::{
    event::Event,
    ids::{LineUserId, StampId},
    time::{Span, Timestamp},
};

use super::{
    super::{
        Store, StoreError,
        items::Unreadable,
        keys::{self, SortKeys},
    },
    Direction, Index, holders_partitions,
    merge::{Merge, Row, string},
    users_partitions,
};

/// People, oldest entry first, some at a time in constant memory.
pub struct People {
    store: Store,
    index: Index,
    merge: Merge,
    unreadable: usize,
}

impl People {
    /// The next ones, at most `most`; none after the last. After [`StoreError::Unavailable`] it may be asked for again.
    ///
    /// An entry that names no participant is reported, counted, and passed over.
    pub async fn some(&mut self, most: usize) -> Result<Vec<LineUserId>, StoreError> {
        let mut people = Vec::new();
        while people.len() < most {
            let Some(row) = self.merge.next(most).await? else { break };
            if let Some((_, user)) = keys::timed_user(&row.sort_key) {
                people.push(user);
            } else {
                self.store.report(&names_no_participant(&row, self.index));
                self.unreadable += 1;
            }
        }
        Ok(people)
    }

    /// How many entries were passed over so far.
    #[must_use]
    pub fn unreadable(&self) -> usize {
        self.unreadable
    }
}

fn names_no_participant(row: &Row, index: Index) -> Unreadable {
    let [pk, sk] = ["PK", "SK"].map(|name| string(&row.item, name).to_owned());
    let problem = "names no time and participant, in a list of participants".to_owned();
    Unreadable { pk, sk, attribute: index.sort_key().to_owned(), problem }
}

impl Store {
    /// Everybody who registered for an event up to a moment, that one included.
    #[must_use]
    pub fn registered(&self, event: &Event, until: Timestamp) -> People {
        self.people(Index::Gsi1, users_partitions(event), until)
    }

    /// Everybody who acquired a stamp up to a moment, that one included.
    #[must_use]
    pub fn holding(&self, event: &Event, stamp_id: &StampId, until: Timestamp) -> People {
        self.people(Index::Gsi2, holders_partitions(event, stamp_id), until)
    }

    fn people(&self, index: Index, partitions: Vec<String>, until: Timestamp) -> People {
        let merge = self.merge(index, partitions, up_to(until), Direction::Asc);
        People { store: self.clone(), index, merge, unreadable: 0 }
    }
}

fn up_to(until: Timestamp) -> SortKeys {
    SortKeys::within(Span { from: None, to: Some(until.plus_millis(1)) })
}

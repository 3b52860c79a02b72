//! People of a long list, out of the index keys alone: whatever their items hold, nobody is left out.

use crate::domain::{
    event::Event,
    ids::{LineUserId, StampId},
    time::{Span, Timestamp},
};

use super::{
    super::{
        Store, StoreError,
        keys::{self, SortKeys},
    },
    Direction, Index, holders_partitions,
    merge::Merge,
    users_partitions,
};

/// People, oldest entry first, some at a time in constant memory.
pub struct People(Merge);

impl People {
    /// The next ones, at most `most`; none after the last. After [`StoreError::Unavailable`] it may be asked for again.
    pub async fn some(&mut self, most: usize) -> Result<Vec<LineUserId>, StoreError> {
        let mut people = Vec::new();
        while people.len() < most {
            let Some(row) = self.0.next(most).await? else { break };
            if let Some((_, user)) = keys::timed_user(&row.sort_key) {
                people.push(user);
            } else {
                tracing::error!("an index key names nobody: it is passed over");
            }
        }
        Ok(people)
    }
}

impl Store {
    /// Everybody who registered for an event up to a moment, that one included.
    #[must_use]
    pub fn registered(&self, event: &Event, until: Timestamp) -> People {
        People(self.merge(Index::Gsi1, users_partitions(event), up_to(until), Direction::Asc))
    }

    /// Everybody who acquired a stamp up to a moment, that one included.
    #[must_use]
    pub fn holding(&self, event: &Event, stamp_id: &StampId, until: Timestamp) -> People {
        let partitions = holders_partitions(event, stamp_id);
        People(self.merge(Index::Gsi2, partitions, up_to(until), Direction::Asc))
    }
}

fn up_to(until: Timestamp) -> SortKeys {
    SortKeys::within(Span { from: None, to: Some(until.plus_millis(1)) })
}

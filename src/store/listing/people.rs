//! Participants of a long list, out of the index keys alone: whatever their items hold, none is left out.

use crate::domain::{
    event::Event,
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
    users_partitions,
};

/// Participants, oldest entry first, some at a time in constant memory.
pub struct ParticipantIds {
    store: Store,
    index: Index,
    merge: Merge,
    unreadable: usize,
}

impl ParticipantIds {
    /// The next ones, at most `most`; none after the last. After [`StoreError::Unavailable`] it may be asked for again.
    ///
    /// An entry that names no participant is reported, counted, and passed over.
    pub async fn some(&mut self, most: usize) -> Result<Vec<LineUserId>, StoreError> {
        let mut participants = Vec::new();
        while participants.len() < most {
            let Some(row) = self.merge.next(most).await? else { break };
            if let Some((_, user)) = keys::timed_user(&row.sort_key) {
                participants.push(user);
            } else {
                self.store.report(&names_no_participant(&row, self.index));
                self.unreadable += 1;
            }
        }
        Ok(participants)
    }

    /// Returns how many entries were passed over so far.
    #[must_use]
    pub fn unreadable(&self) -> usize {
        self.unreadable
    }
}

fn names_no_participant(row: &Row, index: Index) -> Unreadable {
    Fields::of(&row.item).unreadable(index.sort_key(), "names no time and participant, in a list of participants")
}

impl Store {
    /// Returns the participants who registered for an event up to a moment, that one included.
    #[must_use]
    pub fn registered(&self, event: &Event, until: Timestamp) -> ParticipantIds {
        self.people(Index::Gsi1, users_partitions(event), until)
    }

    /// Returns the participants who acquired a stamp up to a moment, that one included.
    #[must_use]
    pub fn holding(&self, event: &Event, stamp_id: &StampId, until: Timestamp) -> ParticipantIds {
        self.people(Index::Gsi2, holders_partitions(event, stamp_id), until)
    }

    fn people(&self, index: Index, partitions: Vec<String>, until: Timestamp) -> ParticipantIds {
        let merge = self.merge(index, partitions, up_to(until), Direction::Asc);
        ParticipantIds { store: self.clone(), index, merge, unreadable: 0 }
    }
}

fn up_to(until: Timestamp) -> SortKeys {
    SortKeys::within(Span { from: None, to: Some(until.plus_millis(1)) })
}

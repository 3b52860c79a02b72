//! Lists by index: participants by registration time, holders of a stamp, events by start, notices
//! in special states. A list continues exactly after the last row, also while rows are added.
//!
//! A page is one request for each index shard, give or take: a shard is asked for its share of the page and
//! a margin, and asked again only where that was not enough.

mod merge;
mod page;
mod proofs;
mod rows;

use aws_sdk_dynamodb::types::Select;

use crate::domain::{
    event::Event,
    fact::{Fact, User},
    ids::{EventId, LineUserId, StampId},
    notice::{NoticeId, NoticeKey, ParkedState},
    time::{Span, Timestamp},
};

use super::{
    Store, StoreError,
    items::{self, Fields, Item, Stored},
    keys::{self, Gsi2Key, ItemKey, Shard, SortKeys},
    unreadable::Unreadable,
};
use merge::{Index, Merge, Source};
pub use page::{Direction, Page, Position, Wanted};
pub use proofs::Proofs;
pub use rows::{Rows, Users};

/// A participant who acquired a stamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Who.
    pub line_user_id: LineUserId,
    /// Since when.
    pub acquired_at: Timestamp,
}

impl Store {
    /// Access pattern 6: participants by registration time (merges the index shards in order).
    ///
    /// One that can't be read is reported, counted, and passed over.
    #[tracing::instrument(name = "store.users", level = "debug", skip_all)]
    pub async fn users(&self, event: &Event, span: Span, wanted: &Wanted) -> Result<Page<User>, StoreError> {
        let partitions = users_partitions(event);
        let merge = self.merge(Index::Gsi1, partitions, SortKeys::within(span), wanted.direction);
        self.page(merge, wanted, |item| user_of(&event.event_id, item)).await
    }

    /// Access pattern 9: who holds a stamp, by time.
    #[tracing::instrument(name = "store.holders", level = "debug", skip_all)]
    pub async fn holders(
        &self,
        event: &Event,
        stamp_id: &StampId,
        wanted: &Wanted,
    ) -> Result<Page<Holder>, StoreError> {
        let partitions = holders_partitions(event, stamp_id);
        let merge = self.merge(Index::Gsi2, partitions, SortKeys::within(Span::default()), wanted.direction);
        self.page(merge, wanted, |item| holder(&event.event_id, stamp_id, &item)).await
    }

    /// Returns all events by start. One that can't be read is reported, counted, and passed over.
    #[tracing::instrument(name = "store.events", level = "debug", skip_all)]
    pub async fn events(&self, wanted: &Wanted) -> Result<Page<Event>, StoreError> {
        let range = SortKeys::within(Span::default());
        let merge = self.merge(Index::Gsi1, vec![keys::EVENTS.to_owned()], range, wanted.direction);
        self.page(merge, wanted, items::decode_as).await
    }

    /// Returns the facts of an event whose notices are in a special state, by the time they got there.
    ///
    /// One that can't be read is reported, counted, and passed over: the others behind it must be sent.
    #[tracing::instrument(name = "store.parked", level = "debug", skip_all)]
    pub async fn parked(
        &self,
        event_id: &EventId,
        state: ParkedState,
        wanted: &Wanted,
    ) -> Result<Page<Fact>, StoreError> {
        let range = SortKeys::within(Span::default());
        let merge = self.merge(Index::Gsi1, vec![keys::parked_partition(event_id, state)], range, wanted.direction);
        self.page(merge, wanted, |item| parked_fact(event_id, item)).await
    }

    /// Returns how many notices of an event are in a special state, for a gauge: 1 Query, which counts what one page
    /// holds (1 MB, some thousand) and no more.
    #[tracing::instrument(name = "store.count_parked", level = "debug", skip_all)]
    pub async fn count_parked(&self, event_id: &EventId, state: ParkedState) -> Result<u32, StoreError> {
        let query = self.listed(keys::parked_partition(event_id, state)).select(Select::Count);
        Ok(u32::try_from(query.send().await?.count).unwrap_or_default())
    }

    /// Takes a page off a merged list, and looks one row further to know whether there is more.
    async fn page<T>(
        &self,
        merge: Merge,
        wanted: &Wanted,
        read: impl Fn(Item) -> Result<T, Unreadable>,
    ) -> Result<Page<T>, StoreError> {
        let mut merge = merge.after(wanted.after.as_ref().map(|position| position.0.as_str()));
        let expected = wanted.limit + 1;
        let mut page = Page { rows: Vec::new(), next: None, unreadable: 0 };
        while let Some(row) = merge.next(expected).await? {
            let position = Position(row.sort_key);
            // A page continues after its last sort key, so it never ends between two rows with the same one (of which one
            // was written by others: ours name their item).
            if page.rows.len() >= wanted.limit && page.next.as_ref() != Some(&position) {
                return Ok(page);
            }
            page.next = Some(position);
            match read(row.item) {
                Ok(row) => page.rows.push(row),
                Err(error) => {
                    self.report(&error);
                    page.unreadable += 1;
                }
            }
        }
        page.next = None;
        Ok(page)
    }

    fn merge(&self, index: Index, partitions: Vec<String>, range: SortKeys, direction: Direction) -> Merge {
        let (client, table) = (self.client.clone(), self.tables.main.clone());
        Merge::new(Source { client, table, index, range, direction }, partitions)
    }
}

fn users_partitions(event: &Event) -> Vec<String> {
    let shards = Shard::all(event.all_index_shards()).into_iter();
    shards.map(|shard| keys::users_partition(&event.event_id, shard)).collect()
}

fn holders_partitions(event: &Event, stamp_id: &StampId) -> Vec<String> {
    let shards = Shard::all(event.all_index_shards()).into_iter();
    shards.map(|shard| keys::holders_partition(&event.event_id, stamp_id, shard)).collect()
}

fn user_of(event_id: &EventId, item: Item) -> Result<User, Unreadable> {
    items::listed_in(item, |user: &User| user.event_id == *event_id)
}

/// Reads a holder, out of the keys alone: there is nothing else in that index.
fn holder(event_id: &EventId, stamp_id: &StampId, item: &Item) -> Result<Holder, Unreadable> {
    let [pk, sk, listed_in, listed_at] = ["PK", "SK", "GSI2PK", "GSI2SK"].map(|name| Fields::of(item).key(name));
    let fact = match ItemKey::parse(pk, sk) {
        Some(ItemKey::Notice(NoticeId { event_id: event, line_user_id, key: NoticeKey::Stamp(stamp) })) => {
            (event == *event_id && stamp == *stamp_id).then_some(line_user_id)
        }
        _ => None,
    };
    let listed = Gsi2Key::parse(listed_in, listed_at).filter(|key| fact.as_ref() == Some(&key.line_user_id));
    let holder = listed.map(|key| Holder { line_user_id: key.line_user_id, acquired_at: key.acquired_at });
    holder.ok_or_else(|| Unreadable {
        pk: pk.to_owned(),
        sk: sk.to_owned(),
        attribute: "GSI2SK".to_owned(),
        problem: "lists it among holders of a stamp that it doesn't name".to_owned(),
    })
}

fn parked_fact(event_id: &EventId, item: Item) -> Result<Fact, Unreadable> {
    let [pk, sk] = ["PK", "SK"].map(|name| Fields::of(&item).key(name).to_owned());
    match items::decode(item)? {
        Stored::Fact(fact) if fact.event_id() == event_id => Ok(fact),
        other => {
            let problem = format!("lists it among parked notices, and it is {}", other.entity_type());
            Err(Unreadable { pk, sk, attribute: "GSI1PK".to_owned(), problem })
        }
    }
}

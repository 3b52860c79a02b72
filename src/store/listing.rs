//! Lists by index: participants by registration time, holders of a stamp, events by start, notices
//! in special states. A list continues exactly after the last row, also while rows are added.
//!
//! A page is one request for each index shard, give or take: a shard is asked for its share of the page and
//! a margin, and asked again only where that was not enough.

mod merge;
mod people;

use aws_sdk_dynamodb::types::Select;
use serde::{Deserialize, Serialize};

use crate::domain::{
    Malformed,
    event::Event,
    fact::{Fact, User},
    ids::{EventId, LineUserId, StampId},
    notice::ParkedState,
    time::{Span, Timestamp},
};

use super::{
    Store, StoreError,
    items::{self, Item, Stored},
    keys::{self, Gsi2Key, Shard, SortKeys},
    participants::text,
};
use merge::{Index, Merge, Source};
pub use people::People;

/// Which end a list begins at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Oldest first.
    Asc,
    /// Newest first.
    Desc,
}

/// Where a list goes on: the index sort key of the last row that was given out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Position(String);

impl TryFrom<String> for Position {
    type Error = Malformed;

    /// Takes what DynamoDB takes as a sort key.
    fn try_from(text: String) -> Result<Self, Malformed> {
        let fits = (1..=1024).contains(&text.len());
        if fits { Ok(Self(text)) } else { Err(Malformed::new("cursor", "a position is 1 to 1024 bytes")) }
    }
}

impl From<Position> for String {
    fn from(position: Position) -> Self {
        position.0
    }
}

/// Which part of a list is wanted.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// From which end.
    pub direction: Direction,
    /// At most so many rows (1 to 1000).
    pub limit: usize,
    /// After this one.
    pub after: Option<Position>,
}

/// A part of a list.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// Where to go on; `None` when there is nothing more.
    pub next: Option<Position>,
}

/// Somebody who holds a stamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Who.
    pub line_user_id: LineUserId,
    /// Since when.
    pub acquired_at: Timestamp,
}

/// All participants of an event, one after the other, in constant memory.
pub struct Users(Merge);

/// How many rows of a long list are fetched at a time.
const AT_A_TIME: usize = 1000;

impl Users {
    /// The next one; `None` after the last. After [`StoreError::Unavailable`] it may be asked for again.
    pub async fn next(&mut self) -> Result<Option<User>, StoreError> {
        Ok(self.0.next(AT_A_TIME).await?.map(|row| items::decode_as(row.item)).transpose()?)
    }
}

impl Store {
    /// Access pattern 6: participants by registration time (merges the index shards in order).
    ///
    /// One that can't be read fails the page and is named: a list that leaves people out would be believed.
    pub async fn users(&self, event: &Event, span: Span, wanted: &Wanted) -> Result<Page<User>, StoreError> {
        let partitions = users_partitions(event);
        let merge = self.merge(Index::Gsi1, partitions, SortKeys::within(span), wanted.direction);
        page(merge, wanted, |item| Ok(Some(items::decode_as(item)?))).await
    }

    /// The same as one long list, for an export: it holds some thousand rows at a time, however many there are.
    #[must_use]
    pub fn all_users(&self, event: &Event, span: Span, direction: Direction) -> Users {
        Users(self.merge(Index::Gsi1, users_partitions(event), SortKeys::within(span), direction))
    }

    /// Access pattern 9: who holds a stamp, by time.
    pub async fn holders(
        &self,
        event: &Event,
        stamp_id: &StampId,
        wanted: &Wanted,
    ) -> Result<Page<Holder>, StoreError> {
        let partitions = holders_partitions(event, stamp_id);
        let merge = self.merge(Index::Gsi2, partitions, SortKeys::within(Span::default()), wanted.direction);
        page(merge, wanted, |item| holder(&item).map(Some)).await
    }

    /// All events by start.
    pub async fn events(&self, wanted: &Wanted) -> Result<Page<Event>, StoreError> {
        let range = SortKeys::within(Span::default());
        let merge = self.merge(Index::Gsi1, vec![keys::events_partition()], range, wanted.direction);
        page(merge, wanted, |item| Ok(Some(items::decode_as(item)?))).await
    }

    /// The facts of an event whose notices are in a special state, by the time they got there.
    ///
    /// One that can't be read is left out, and logged as an error: the others behind it must be sent.
    pub async fn parked(
        &self,
        event_id: &EventId,
        state: ParkedState,
        wanted: &Wanted,
    ) -> Result<Page<Fact>, StoreError> {
        let range = SortKeys::within(Span::default());
        let merge = self.merge(Index::Gsi1, vec![keys::parked_partition(event_id, state)], range, wanted.direction);
        page(merge, wanted, |item| Ok(parked_fact(item))).await
    }

    /// How many notices of an event are in a special state, for a gauge: 1 Query, which counts what one page holds (1 MB,
    /// some thousand) and no more.
    pub async fn count_parked(&self, event_id: &EventId, state: ParkedState) -> Result<u32, StoreError> {
        let query = self.client.query().table_name(&self.tables.main).index_name("GSI1").select(Select::Count);
        let query = query.key_condition_expression("GSI1PK = :pk");
        let query = query.expression_attribute_values(":pk", text(keys::parked_partition(event_id, state)));
        Ok(u32::try_from(query.send().await?.count).unwrap_or_default())
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

/// Takes a page off a merged list, and looks one row further to know whether there is more.
async fn page<T>(
    merge: Merge,
    wanted: &Wanted,
    read: impl Fn(Item) -> Result<Option<T>, StoreError>,
) -> Result<Page<T>, StoreError> {
    let mut merge = merge.after(wanted.after.as_ref().map(|position| position.0.as_str()));
    let expected = wanted.limit + 1;
    let mut rows = Vec::new();
    let mut last = None;
    while rows.len() < wanted.limit {
        let Some(row) = merge.next(expected).await? else { return Ok(Page { rows, next: None }) };
        rows.extend(read(row.item)?);
        last = Some(Position(row.sort_key));
    }
    let more = merge.next(expected).await?.is_some();
    Ok(Page { rows, next: last.filter(|_| more) })
}

/// A holder, out of the keys alone: there is nothing else in that index.
fn holder(item: &Item) -> Result<Holder, StoreError> {
    let [pk, sk] = ["GSI2PK", "GSI2SK"].map(|name| merge::string(item, name));
    let key = Gsi2Key::parse(pk, sk).ok_or_else(|| StoreError::broken(format!("not a holder's key: {pk} {sk}")))?;
    Ok(Holder { line_user_id: key.line_user_id, acquired_at: key.acquired_at })
}

fn parked_fact(item: Item) -> Option<Fact> {
    match items::decode(item) {
        Ok(Stored::Fact(fact)) => Some(fact),
        Ok(other) => {
            tracing::error!(store.entity_type = other.entity_type(), "something that is no fact is listed as parked");
            None
        }
        Err(error) => {
            // The key names a person, so it is told where user ids may be.
            tracing::error!(store.attribute = error.attribute, store.sk = error.sk, "a parked notice can't be read");
            tracing::debug!(store.pk = error.pk, "the notice that can't be read");
            None
        }
    }
}

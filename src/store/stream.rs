//! The table's stream: shards, iterators, records as facts
//! (AWS developer guide: "Change data capture for DynamoDB Streams"; API reference: "Amazon DynamoDB Streams").

mod error;
#[cfg(feature = "lambda")]
pub mod lambda;
mod record;
mod sequence;
#[cfg(test)]
mod tests;

use std::fmt;

use aws_sdk_dynamodbstreams::{
    Client,
    types::{Shard, ShardFilter, ShardFilterType, ShardIteratorType, StreamDescription},
};

pub use error::StreamError;
pub use record::{Change, Record};
pub use sequence::{MalformedSequence, SequenceNumber};

/// Names a shard of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShardId(String);

impl ShardId {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for ShardId {
    /// Any text: the stream makes the names, and promises no form.
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for ShardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A shard as the stream lists it. Whether it is closed isn't told: only a shard that was read to its end is
/// certainly closed (listings are eventually consistent, and emulators disagree about `EndingSequenceNumber`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedShard {
    /// Its name.
    pub id: ShardId,
    /// The shard that must be read to its end before this one; it may be trimmed already.
    pub parent: Option<ShardId>,
}

/// A part of the list of shards.
#[derive(Debug, Clone)]
pub struct ShardsPage {
    /// The shards, at most 100.
    pub shards: Vec<ListedShard>,
    /// Where the list goes on; `None` when there is nothing more.
    pub next: Option<ShardId>,
}

/// Where reading a shard begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// After this record.
    After(SequenceNumber),
    /// With the oldest record that the stream still has.
    TrimHorizon,
}

/// A place in a shard, good for 15 minutes.
#[derive(Debug, Clone)]
pub struct Iterator(String);

/// Some records of a shard, in order. None at all is normal, also before the end.
#[derive(Debug)]
pub struct RecordsPage {
    /// The records.
    pub records: Vec<Record>,
    /// Where to go on; `None` when the shard is closed and this was its end.
    pub next: Option<Iterator>,
}

/// Reads one stream. Clones share the client.
#[derive(Debug, Clone)]
pub struct StreamReader {
    client: Client,
    arn: String,
}

impl StreamReader {
    /// A reader of the stream with this ARN (`Store::stream_arn`).
    #[must_use]
    pub fn new(client: Client, arn: String) -> Self {
        Self { client, arn }
    }

    /// The stream's ARN.
    #[must_use]
    pub fn arn(&self) -> &str {
        &self.arn
    }

    /// One page of the list of shards (at most ten such calls a second for everybody together).
    pub async fn shards(&self, after: Option<&ShardId>) -> Result<ShardsPage, StreamError> {
        let request = self.client.describe_stream().stream_arn(&self.arn);
        let answer = request.set_exclusive_start_shard_id(after.map(|id| id.0.clone())).send().await?;
        Ok(answer.stream_description.map_or_else(ShardsPage::nothing, ShardsPage::from))
    }

    /// The children of a shard. An engine without that filter lists whatever it has; only children are given back.
    pub async fn children(&self, parent: &ShardId) -> Result<Vec<ListedShard>, StreamError> {
        let filter = ShardFilter::builder().r#type(ShardFilterType::ChildShards).shard_id(&parent.0).build();
        let request = self.client.describe_stream().stream_arn(&self.arn).shard_filter(filter);
        let page = request.send().await?.stream_description.map_or_else(ShardsPage::nothing, ShardsPage::from);
        Ok(page.shards.into_iter().filter(|shard| shard.parent.as_ref() == Some(parent)).collect())
    }

    /// A place in a shard.
    pub async fn iterator(&self, shard: &ShardId, start: &Start) -> Result<Iterator, StreamError> {
        let (kind, after) = match start {
            Start::After(sequence) => (ShardIteratorType::AfterSequenceNumber, Some(sequence.as_str().to_owned())),
            Start::TrimHorizon => (ShardIteratorType::TrimHorizon, None),
        };
        let request = self.client.get_shard_iterator().stream_arn(&self.arn).shard_id(&shard.0);
        let answer = request.shard_iterator_type(kind).set_sequence_number(after).send().await?;
        // No iterator in a good answer: there is nothing to read, now or ever.
        answer.shard_iterator.map(Iterator).ok_or(StreamError::ShardGone)
    }

    /// The records from a place on, at most `limit` (1 to 1000).
    pub async fn records(&self, from: &Iterator, limit: u16) -> Result<RecordsPage, StreamError> {
        let answer = self.client.get_records().shard_iterator(&from.0).limit(i32::from(limit)).send().await?;
        let records = answer.records.unwrap_or_default().into_iter().filter_map(Record::read).collect();
        Ok(RecordsPage { records, next: answer.next_shard_iterator.map(Iterator) })
    }
}

impl ShardsPage {
    fn nothing() -> Self {
        Self { shards: Vec::new(), next: None }
    }
}

impl From<StreamDescription> for ShardsPage {
    fn from(stream: StreamDescription) -> Self {
        Self {
            shards: stream.shards.unwrap_or_default().into_iter().filter_map(listed).collect(),
            next: stream.last_evaluated_shard_id.map(ShardId),
        }
    }
}

fn listed(shard: Shard) -> Option<ListedShard> {
    Some(ListedShard { id: ShardId(shard.shard_id?), parent: shard.parent_shard_id.map(ShardId) })
}

impl super::Store {
    /// The ARN of the table's present stream; `None` while it has none.
    pub async fn stream_arn(&self) -> Result<Option<String>, super::StoreError> {
        Ok(self.stream().await?.map(|stream| stream.arn))
    }

    /// The table's present stream; `None` while it has none. One `DescribeTable`.
    pub async fn stream(&self) -> Result<Option<super::table::TableStream>, super::StoreError> {
        super::table::stream(&self.client, &self.tables.main).await
    }
}

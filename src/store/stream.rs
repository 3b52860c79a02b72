//! The table's stream: shards, iterators, records as facts
//! (AWS developer guide: "Change data capture for DynamoDB Streams"; API reference: "Amazon DynamoDB Streams").

#[cfg(feature = "lambda")]
pub mod lambda;
mod record;
#[cfg(test)]
mod tests;

use aws_sdk_dynamodbstreams::{
    Client,
    config::http::HttpResponse,
    error::{ProvideErrorMetadata, SdkError},
    types::{Shard, ShardFilter, ShardFilterType, ShardIteratorType, StreamDescription},
};

use super::{Store, StoreError, paging::Paged, table};

pub use super::ids::{ListedShard, MalformedSequence, SequenceNumber, ShardId};
pub use record::{Change, Record};

/// Why a shard could not be read.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The iterator is older than 15 minutes: make one after the last record read.
    #[error("the iterator has expired")]
    Expired,
    /// The place where reading should begin is none of this shard's: its checkpoint was changed by another program.
    #[error("the stream refuses the place where reading should begin")]
    Misplaced(#[source] StoreError),
    /// There is no such shard (any more): nothing of it can be read, its children can.
    #[error("the shard is gone")]
    ShardGone,
    /// Throttled, out of reach, or something that a person must see to.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Records after that place are gone, unread: continue at the trim horizon and report it.
    #[error("records were trimmed before they were read")]
    Trimmed,
}

/// By code: `ThrottlingException`, for one, comes from the streams without being in their API's model.
impl<E> From<SdkError<E, HttpResponse>> for StreamError
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    fn from(failure: SdkError<E, HttpResponse>) -> Self {
        match failure.as_service_error().and_then(ProvideErrorMetadata::code) {
            Some("ExpiredIteratorException") => Self::Expired,
            Some("ResourceNotFoundException") => Self::ShardGone,
            Some("ValidationException") => Self::Misplaced(failure.into()),
            Some("TrimmedDataAccessException") => Self::Trimmed,
            _ => Self::Store(failure.into()),
        }
    }
}

/// A part of the list of shards.
#[derive(Debug, Clone, Default)]
pub struct ShardsPage {
    /// The shards, at most 100.
    pub shards: Vec<ListedShard>,
    /// Where the list continues; `None` when there is nothing more.
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
    /// Where to continue; `None` when the shard is closed and this was its end.
    pub next: Option<Iterator>,
}

/// Reads one stream. Clones share the client.
#[derive(Debug, Clone)]
pub struct StreamReader {
    client: Client,
    arn: String,
}

impl StreamReader {
    /// Makes a reader of the stream with this ARN (`Store::stream_arn`).
    #[must_use]
    pub fn new(client: Client, arn: String) -> Self {
        Self { client, arn }
    }

    /// Returns the stream's ARN.
    #[must_use]
    pub fn arn(&self) -> &str {
        &self.arn
    }

    /// Reads one page of the list of shards (at most ten such calls a second for all readers together).
    #[tracing::instrument(name = "store.stream.shards", level = "debug", skip_all)]
    pub async fn shards(&self, after: Option<&ShardId>) -> Result<ShardsPage, StreamError> {
        let request = self.client.describe_stream().stream_arn(&self.arn);
        let answer = request.set_exclusive_start_shard_id(after.map(|id| id.as_str().to_owned())).send().await?;
        Ok(answer.stream_description.map(ShardsPage::from).unwrap_or_default())
    }

    /// The children of a shard. An engine without that filter lists whatever it has; only children are given back.
    #[tracing::instrument(name = "store.stream.children", level = "debug", skip_all)]
    pub async fn children(&self, parent: &ShardId) -> Result<Vec<ListedShard>, StreamError> {
        let filter = ShardFilter::builder().r#type(ShardFilterType::ChildShards).shard_id(parent.as_str()).build();
        let request = self.client.describe_stream().stream_arn(&self.arn).shard_filter(filter);
        let page = request.send().await?.stream_description.map(ShardsPage::from).unwrap_or_default();
        Ok(page.shards.into_iter().filter(|shard| shard.parent.as_ref() == Some(parent)).collect())
    }

    /// Returns a place in a shard.
    #[tracing::instrument(name = "store.stream.iterator", level = "debug", skip_all)]
    pub async fn iterator(&self, shard: &ShardId, start: &Start) -> Result<Iterator, StreamError> {
        let (kind, after) = match start {
            Start::After(sequence) => (ShardIteratorType::AfterSequenceNumber, Some(sequence.as_str().to_owned())),
            Start::TrimHorizon => (ShardIteratorType::TrimHorizon, None),
        };
        let request = self.client.get_shard_iterator().stream_arn(&self.arn).shard_id(shard.as_str());
        let answer = request.shard_iterator_type(kind).set_sequence_number(after).send().await?;
        // No iterator in a good answer: there is nothing to read, now or ever.
        answer.shard_iterator.map(Iterator).ok_or(StreamError::ShardGone)
    }

    /// Returns the records from a place on, at most `limit` (1 to 1000).
    #[tracing::instrument(name = "store.stream.records", level = "debug", skip_all)]
    pub async fn records(&self, from: &Iterator, limit: u16) -> Result<RecordsPage, StreamError> {
        let answer = self.client.get_records().shard_iterator(&from.0).limit(i32::from(limit)).send().await?;
        let records = answer.records.unwrap_or_default().into_iter().filter_map(Record::read).collect();
        Ok(RecordsPage { records, next: answer.next_shard_iterator.map(Iterator) })
    }
}

impl Paged for ShardsPage {
    type Cursor = ShardId;

    fn cursor(&self) -> Option<ShardId> {
        self.next.clone()
    }
}

impl From<StreamDescription> for ShardsPage {
    fn from(stream: StreamDescription) -> Self {
        Self {
            shards: stream.shards.unwrap_or_default().into_iter().filter_map(listed).collect(),
            next: stream.last_evaluated_shard_id.map(ShardId::from),
        }
    }
}

fn listed(shard: Shard) -> Option<ListedShard> {
    Some(ListedShard { id: shard.shard_id?.into(), parent: shard.parent_shard_id.map(ShardId::from) })
}

impl Store {
    /// Returns the ARN of the table's present stream; `None` while it has none.
    #[tracing::instrument(name = "store.stream_arn", level = "debug", skip_all)]
    pub async fn stream_arn(&self) -> Result<Option<String>, StoreError> {
        Ok(self.stream().await?.map(|stream| stream.arn))
    }

    /// Returns the table's present stream; `None` while it has none. One `DescribeTable`.
    #[tracing::instrument(name = "store.stream", level = "debug", skip_all)]
    pub async fn stream(&self) -> Result<Option<table::TableStream>, StoreError> {
        table::stream(&self.client, &self.tables.main).await
    }
}

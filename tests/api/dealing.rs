//! The dealing proxy itself, read with the real SDK: it must do what stories with several shards rely on.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use aws_sdk_dynamodbstreams::{
    error::ProvideErrorMetadata,
    types::{ShardFilter, ShardFilterType, ShardIteratorType},
};
use stamp_rally::{
    dev::engine::Engine,
    store::{
        client::{Clients, Timeouts},
        stream::StreamReader,
    },
};

use super::{house::Dynamo, proxy::Proxy};

struct Stream {
    proxy: Proxy,
    clients: Clients,
    arn: String,
    _engine: Engine,
}

impl Stream {
    /// A stream that is dealt into four.
    async fn open() -> Self {
        let dynamo = Dynamo::with_tables(&Timeouts { attempts: 1, ..Timeouts::request() }).await;
        let arn = dynamo.store().stream_arn().await.unwrap().unwrap();
        let Dynamo { wire: proxy, clients, engine } = dynamo;
        proxy.deal(4);
        Self { proxy, clients, arn, _engine: engine }
    }

    async fn put(&self, partitions: std::ops::Range<usize>) {
        for n in partitions {
            let text = |text: String| AttributeValue::S(text);
            let put = self.clients.table.put_item().table_name("line-event");
            put.item("PK", text(format!("P{n}"))).item("SK", text("S".to_owned())).send().await.unwrap();
        }
    }

    async fn begin(&self, shard: &str) -> String {
        let ask = self.clients.streams.get_shard_iterator().stream_arn(&self.arn).shard_id(shard);
        let answer = ask.shard_iterator_type(ShardIteratorType::TrimHorizon).send().await.unwrap();
        answer.shard_iterator.unwrap()
    }

    /// Partitions of a page, and the next iterator.
    async fn read(&self, iterator: &str) -> (Vec<String>, Option<String>) {
        let answer = self.clients.streams.get_records().shard_iterator(iterator).limit(1000).send().await.unwrap();
        let partition = |record: &aws_sdk_dynamodbstreams::types::Record| {
            record.dynamodb.as_ref().unwrap().keys.as_ref().unwrap()["PK"].as_s().unwrap().clone()
        };
        (answer.records.unwrap_or_default().iter().map(partition).collect(), answer.next_shard_iterator)
    }

    async fn refusal(&self, iterator: &str) -> String {
        let asked = self.clients.streams.get_records().shard_iterator(iterator).send().await;
        asked.unwrap_err().code().unwrap_or_default().to_owned()
    }
}

#[tokio::test]
async fn four_shards_hold_together_what_the_engine_holds_in_one() {
    let stream = Stream::open().await;
    stream.put(0..40).await;
    let reader = StreamReader::new(stream.clients.streams.clone(), stream.arn.clone());
    let listed = reader.shards(None).await.unwrap();
    assert_eq!((listed.shards.len(), listed.next), (4, None));
    let (mut all, mut shards) = (Vec::new(), 0);
    for shard in &listed.shards {
        let (partitions, next) = stream.read(&stream.begin(shard.id.as_str()).await).await;
        assert!(partitions.iter().all(|partition| stream.proxy.shard_of(partition) == shard.id.as_str()));
        assert!(next.is_some());
        shards += usize::from(!partitions.is_empty());
        all.extend(partitions);
    }
    assert_eq!((all.len(), all.iter().collect::<BTreeSet<_>>().len(), shards), (40, 40, 4));
}

#[tokio::test]
async fn a_split_is_seen_by_list_filter_and_readers() {
    let stream = Stream::open().await;
    stream.put(0..40).await;
    let parent = stream.proxy.shard_of("P0");
    let begin = stream.begin(&parent).await;
    let (before, open) = stream.read(&begin).await;
    let children = stream.proxy.split(&parent).await;
    stream.put(0..40).await;

    assert_eq!(stream.read(&open.unwrap()).await, (Vec::new(), None), "the parent has ended");
    let filter = ShardFilter::builder().r#type(ShardFilterType::ChildShards).shard_id(&parent).build();
    let described = stream.clients.streams.describe_stream().stream_arn(&stream.arn).shard_filter(filter).send();
    let described = described.await.unwrap().stream_description.unwrap();
    let found: Vec<_> = described.shards().iter().map(|shard| shard.shard_id().unwrap()).collect();
    assert_eq!(found, children);
    assert!(described.shards().iter().all(|shard| shard.parent_shard_id() == Some(&parent)));

    let mut after = Vec::new();
    for child in &children {
        after.extend(stream.read(&stream.begin(child).await).await.0);
    }
    assert_eq!(after.iter().collect::<BTreeSet<_>>(), before.iter().collect::<BTreeSet<_>>());
    let tails = stream.proxy.tails().await;
    assert!(tails[&parent] < tails[&children[0]] && tails[&parent] < tails[&children[1]]);
}

#[tokio::test]
async fn what_is_expired_trimmed_or_gone_is_refused_by_its_name() {
    let stream = Stream::open().await;
    stream.put(0..40).await;
    let shard = stream.proxy.shard_of("P0");
    let begin = stream.begin(&shard).await;
    stream.proxy.expire_iterators();
    assert_eq!(stream.refusal(&begin).await, "ExpiredIteratorException");
    let begin = stream.begin(&shard).await;
    stream.proxy.trim(&shard).await;
    assert_eq!(stream.refusal(&begin).await, "TrimmedDataAccessException");
    stream.proxy.roll_over(&shard).await;
    stream.proxy.trim(&shard).await;
    assert_eq!(stream.refusal(&begin).await, "ResourceNotFoundException");
}

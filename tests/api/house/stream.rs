//! The stream of a house's table, and how far its workers are.

use aws_sdk_dynamodb::types::AttributeValue;
use stamp_rally::{
    consumer::CONSUMER,
    store::{
        progress::{Board, ShardProgress},
        stream::{Record, Start, StreamReader},
    },
};

use super::House;

impl House {
    pub async fn board(&self) -> Board {
        let arn = self.store.stream_arn().await.unwrap().unwrap();
        self.store.consumers(CONSUMER, &arn).board().await.unwrap()
    }

    pub async fn progress(&self) -> Vec<ShardProgress> {
        self.board().await.shards
    }

    /// How many workers wait for a shard.
    pub async fn candidates(&self) -> usize {
        self.board().await.candidates.len()
    }

    /// All records of the stream, as a function is handed them.
    pub async fn records(&self) -> Vec<Record> {
        let arn = self.store.stream_arn().await.unwrap().unwrap();
        let reader = StreamReader::new(self.clients.streams.clone(), arn);
        let mut records = Vec::new();
        for shard in reader.shards(None).await.unwrap().shards {
            let from = reader.iterator(&shard.id, &Start::TrimHorizon).await.unwrap();
            records.extend(reader.records(&from, 1000).await.unwrap().records);
        }
        records
    }

    /// Writes an item as it is.
    pub async fn put_raw(&self, item: &[(&str, AttributeValue)]) {
        let item = item.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        self.clients.table.put_item().table_name("line-event").set_item(Some(item)).send().await.unwrap();
    }
}

//! Workers without a shard: what stands in the table about them.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use stamp_rally::store::progress::{CandidateRole, WorkerId};

use super::Desk;

#[tokio::test]
async fn a_workers_item_is_pinned() {
    let desk = Desk::open("a worker's item").await;
    let arn = desk.store.stream_arn().await.unwrap().unwrap();
    let consumers = desk.store.consumers("delivery", &arn);
    let ann = WorkerId::from("ann".to_owned());
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let with_beat = |heartbeat: &str| {
        HashMap::from([
            ("PK".to_owned(), text(&format!("CONSUMER#delivery#STREAM#{arn}"))),
            ("SK".to_owned(), text("WORKER#ann")),
            ("beat".to_owned(), AttributeValue::N(heartbeat.to_owned())),
        ])
    };

    consumers.announce(&ann, CandidateRole::Waiter).await.unwrap();
    assert_eq!(desk.consumer_items().await, [with_beat("1")]);

    consumers.announce(&ann, CandidateRole::Pusher).await.unwrap();
    let mut pushing = with_beat("2");
    pushing.insert("errand".to_owned(), text("push"));
    assert_eq!(desk.consumer_items().await, [pushing]);

    consumers.forget_worker(&ann).await.unwrap();
    assert!(desk.consumer_items().await.is_empty());
}

impl Desk {
    async fn consumer_items(&self) -> Vec<HashMap<String, AttributeValue>> {
        self.clients.table.scan().table_name("line-event-consumers").send().await.unwrap().items().to_vec()
    }
}

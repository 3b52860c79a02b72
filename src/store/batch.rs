//! Many items by their keys, consistent.

use std::time::Duration;

use aws_sdk_dynamodb::types::KeysAndAttributes;

use super::{Store, StoreError, items::Item};

/// Keys of one `BatchGetItem` at most (API reference).
pub const AT_A_TIME: usize = 100;

/// How often what DynamoDB left undone is asked for again before it counts as unavailable.
const ROUNDS: u32 = 8;

/// The pause before the first repetition; doubled each time.
const PAUSE: Duration = Duration::from_millis(50);

impl Store {
    /// Returns those of at most [`AT_A_TIME`] items that are there, in no order, with the attributes that a projection names
    /// (all of them without one): one consistent `BatchGetItem`, and more for what DynamoDB left undone.
    pub(super) async fn batch(&self, mut keys: Vec<Item>, projection: Option<&str>) -> Result<Vec<Item>, StoreError> {
        let (main, mut found) = (&self.tables.main, Vec::new());
        for round in 0..ROUNDS {
            if keys.is_empty() {
                return Ok(found);
            }
            if round > 0 {
                tokio::time::sleep(PAUSE * 2_u32.pow(round - 1)).await;
            }
            let wanted = KeysAndAttributes::builder()
                .set_keys(Some(keys))
                .consistent_read(true)
                .set_projection_expression(projection.map(ToOwned::to_owned))
                .build()
                .map_err(StoreError::broken)?;
            // On the heap, as every request that many futures may make.
            let mut answer = Box::pin(self.client.batch_get_item().request_items(main, wanted).send()).await?;
            found.extend(answer.responses.as_mut().and_then(|tables| tables.remove(main)).unwrap_or_default());
            keys =
                answer.unprocessed_keys.and_then(|mut left| left.remove(main)).map_or_else(Vec::new, |left| left.keys);
        }
        Err(StoreError::Unavailable("a BatchGetItem was left undone again and again".into()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::{
        TableNames,
        client::{Clients, Timeouts},
        items::text,
    };
    use super::*;
    use crate::stub::Stub;

    fn key(id: &str) -> Item {
        [("PK", id), ("SK", "PROFILE")].map(|(name, value)| (name.to_owned(), text(value))).into()
    }

    #[tokio::test]
    async fn what_was_left_undone_is_asked_for_again_and_nothing_else_is() {
        let item = |id: &str| json!({"PK": {"S": id}, "SK": {"S": "PROFILE"}});
        let left = json!({"line-event": {"Keys": [item("b")]}});
        let answers = [
            json!({"Responses": {"line-event": [item("a")]}, "UnprocessedKeys": left}),
            json!({"Responses": {}, "UnprocessedKeys": left}),
            json!({"Responses": {"line-event": [item("b")]}, "UnprocessedKeys": {}}),
        ]
        .map(|answer| answer.to_string());
        let stub = Stub::in_order(&answers.each_ref().map(|answer| (200, answer.as_str())));
        let tables = TableNames { main: "line-event".to_owned(), consumers: "line-event-consumers".to_owned() };
        let store = Store::new(Clients::at(stub.url(), &Timeouts::request()).table, tables);

        let found = store.batch(vec![key("a"), key("b")], None).await.unwrap();
        assert_eq!(found, [key("a"), key("b")]);
        let asked = stub.requests().into_iter().map(|request| {
            let body: Value = serde_json::from_str(&request.body).unwrap();
            body["RequestItems"]["line-event"]["Keys"].as_array().unwrap().len()
        });
        assert_eq!(asked.collect::<Vec<_>>(), [2, 1, 1]);
    }
}

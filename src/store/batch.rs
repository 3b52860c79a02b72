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

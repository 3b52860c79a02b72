//! Items as the house writes them, made without it, and a quick way to put many of them into the table.

use std::{collections::HashMap, time::SystemTime};

use aws_sdk_dynamodb::{
    Client,
    types::{AttributeValue, PutRequest, WriteRequest},
};
use stamp_rally::domain::time::Timestamp;

use super::scene::{self, EVENT, TABLE};

pub type Item = HashMap<String, AttributeValue>;

/// What one `BatchWriteItem` takes.
const BATCH: usize = 25;

/// Batches on their way at once.
const BATCHES: usize = 8;

/// The user id number `n`; LINE knows no user of that name.
pub fn user_id(n: usize) -> String {
    format!("U{n:032x}")
}

pub fn stamp_id(n: usize) -> String {
    format!("{n:03}")
}

/// Now, as items say it.
pub fn now() -> String {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let millis = i64::try_from(since_1970.as_millis()).unwrap_or_default();
    Timestamp::from_millis(millis).unwrap_or(Timestamp::EPOCH).to_string()
}

pub fn partition(user_id: &str) -> String {
    format!("EVENT#{EVENT}#USER#{user_id}")
}

/// A USER.
pub fn user(user_id: &str, at: &str) -> Item {
    let texts = [
        ("PK", partition(user_id)),
        ("SK", "PROFILE".to_owned()),
        ("entityType", "USER".to_owned()),
        ("eventId", EVENT.to_owned()),
        ("lineUserId", user_id.to_owned()),
        ("createdAt", at.to_owned()),
        ("updatedAt", at.to_owned()),
        ("requestId", format!("r-{user_id}")),
        ("GSI1PK", format!("EVENT#{EVENT}#USERS")),
        ("GSI1SK", format!("{at}#{user_id}")),
    ];
    texts.into_iter().map(|(name, text)| (name.to_owned(), AttributeValue::S(text))).collect()
}

/// A `USER_STAMP` whose notice waits.
pub fn user_stamp(user_id: &str, stamp_id: &str, at: &str) -> Item {
    let texts = [
        ("PK", partition(user_id)),
        ("SK", format!("STAMP#{stamp_id}")),
        ("entityType", "USER_STAMP".to_owned()),
        ("eventId", EVENT.to_owned()),
        ("lineUserId", user_id.to_owned()),
        ("stampId", stamp_id.to_owned()),
        ("acquiredAt", at.to_owned()),
        ("requestId", format!("r-{user_id}-{stamp_id}")),
        ("GSI2PK", format!("EVENT#{EVENT}#STAMP#{stamp_id}")),
        ("GSI2SK", format!("{at}#{user_id}")),
    ];
    let mut item: Item = texts.into_iter().map(|(name, text)| (name.to_owned(), AttributeValue::S(text))).collect();
    item.insert("flexMessageSent".to_owned(), AttributeValue::Bool(false));
    item
}

/// Puts `count` items into the table, the `n`th made by `item`.
pub async fn fill(
    table: &Client,
    count: usize,
    item: impl Fn(usize) -> Item + Send + Sync + 'static,
) -> anyhow::Result<()> {
    let table = table.clone();
    let item = std::sync::Arc::new(item);
    scene::all(count.div_ceil(BATCH), BATCHES, move |batch| {
        let (table, item) = (table.clone(), item.clone());
        async move {
            let items = (batch * BATCH..count.min((batch + 1) * BATCH)).map(|n| item(n));
            let writes = items.map(|item| {
                let put = PutRequest::builder().set_item(Some(item)).build()?;
                anyhow::Ok(WriteRequest::builder().put_request(put).build())
            });
            let writes = writes.collect::<Result<Vec<_>, _>>()?;
            let answer = table.batch_write_item().request_items(TABLE, writes).send().await?;
            anyhow::ensure!(answer.unprocessed_items.is_none_or(|left| left.is_empty()), "the engine left items out");
            Ok(())
        }
    })
    .await
}

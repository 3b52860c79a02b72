//! Items and values as the table client takes and gives them.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use super::super::keys::{ItemKey, ProgressKey};

/// An item as the table client takes and gives it.
pub type Item = HashMap<String, AttributeValue>;

pub(in super::super) fn text(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

pub(in super::super) fn number(number: impl Into<i128>) -> AttributeValue {
    AttributeValue::N(number.into().to_string())
}

/// Returns a primary key of the main table as its attributes.
pub(in super::super) fn primary_key(key: &ItemKey) -> Item {
    keyed(key.pk(), key.sk())
}

/// Returns a key of the consumers' table as its attributes.
pub(in super::super) fn progress_key(key: ProgressKey<'_>) -> Item {
    keyed(key.pk(), key.sk())
}

/// Returns the key of an item that was read.
pub(in super::super) fn key_of(item: &Item) -> Item {
    ["PK", "SK"].into_iter().filter_map(|name| Some((name.to_owned(), item.get(name)?.clone()))).collect()
}

fn keyed(pk: String, sk: String) -> Item {
    HashMap::from([("PK".to_owned(), text(pk)), ("SK".to_owned(), text(sk))])
}

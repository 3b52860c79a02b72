//! One record of the stream, as what delivery can do with it.

use aws_sdk_dynamodbstreams::types::{self as stream, OperationType};
use serde_dynamo::{AttributeValue, Item};

use crate::domain::{fact::Fact, time::Timestamp};
use crate::store::{
    ids::SequenceNumber,
    items::{self, Stored},
    keys::ItemKey,
    unreadable::Unreadable,
};

/// One change of one item.
#[derive(Debug)]
pub struct Record {
    /// Its place in its shard.
    pub sequence: SequenceNumber,
    /// When the item changed, roughly (`ApproximateCreationDateTime`, cut to the second); the epoch if it isn't known.
    pub at: Timestamp,
    /// What happened to the item.
    pub change: Change,
}

/// What happened to an item.
#[derive(Debug)]
pub enum Change {
    /// A fact of a participant was written, or one that couldn't be read was mended.
    Inserted(Box<Fact>),
    /// A fact was changed so that it can't be read any more: until it is mended, it counts as nothing.
    Damaged(Box<Fact>),
    /// Anything else: settings, marks, deletions, friendships.
    Passed,
    /// An item of ours was written that we can't read. It must not stop its shard.
    Unreadable(Box<Unreadable>),
}

impl Record {
    /// Reads a record. One without a sequence number has no place in a shard and can't be finished: there is none on AWS.
    pub(super) fn read(record: stream::Record) -> Option<Self> {
        let name = record.event_name?;
        let change = record.dynamodb?;
        let sequence = SequenceNumber::try_from(change.sequence_number?).ok()?;
        let millis = change.approximate_creation_date_time.and_then(|at| at.to_millis().ok());
        let at = millis.and_then(Timestamp::from_millis).unwrap_or(Timestamp::EPOCH);
        let change = match (name, change.old_image, change.new_image) {
            (OperationType::Insert, _, Some(new)) => Change::by_inserting(new),
            (OperationType::Modify, Some(old), Some(new)) => Change::by_modifying(old, new),
            _ => Change::Passed,
        };
        Some(Self { sequence, at, change })
    }
}

impl Change {
    /// Returns what it means that an item was changed: nothing, unless it was a fact that couldn't be read and now can
    /// (that one is met here for the first time), or the other way round.
    pub(super) fn by_modifying(old: impl Into<Item>, new: impl Into<Item>) -> Self {
        let (old, new) = (old.into(), new.into());
        if !is_fact(&old) && !is_fact(&new) {
            return Self::Passed;
        }
        match (items::decode(old), items::decode(new)) {
            (Err(_), Ok(Stored::Fact(fact))) => Self::Inserted(Box::new(fact)),
            (Ok(Stored::Fact(fact)), Err(_)) => Self::Damaged(Box::new(fact)),
            // Our own marks, and what others change.
            _ => Self::Passed,
        }
    }

    /// Returns what it means that this item was written for the first time. The items of others, settings and
    /// friendships are passed over without a closer look.
    pub(super) fn by_inserting(image: impl Into<Item>) -> Self {
        let image = image.into();
        if !is_fact(&image) {
            return Self::Passed;
        }
        match items::decode(image) {
            Ok(Stored::Fact(fact)) => Self::Inserted(Box::new(fact)),
            Ok(_) => Self::Passed,
            Err(source) => Self::Unreadable(Box::new(source)),
        }
    }
}

/// Returns whether it is a fact of a participant, as its type or its key says.
fn is_fact(image: &Item) -> bool {
    let text = |name: &str| match image.get(name) {
        Some(AttributeValue::S(text)) => text.as_str(),
        _ => "",
    };
    matches!(text("entityType"), "COMPLETED" | "RESEND" | "RESEND_COMPLETED" | "USER" | "USER_STAMP")
        || matches!(ItemKey::parse(text("PK"), text("SK")), Some(ItemKey::Notice(_) | ItemKey::Profile { .. }))
}

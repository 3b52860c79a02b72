//! One record of the stream, as what delivery can do with it.

use std::collections::HashMap;

use aws_sdk_dynamodbstreams::types::{self as stream, OperationType};

use crate::domain::{fact::Fact, time::Timestamp};
use crate::store::items::{self, Stored, Unreadable};

use super::SequenceNumber;

/// One change of one item.
#[derive(Debug)]
pub struct Record {
    /// Its place in its shard.
    pub sequence: SequenceNumber,
    /// When the item changed, roughly (`ApproximateCreationDateTime`, cut to the second); the epoch if it isn't told.
    pub at: Timestamp,
    /// What happened to the item.
    pub change: Change,
}

/// What happened to an item.
#[derive(Debug)]
pub enum Change {
    /// A fact of a participant was written.
    Inserted(Box<Fact>),
    /// Anything else: settings, marks, deletions, friendships.
    Passed,
    /// An item of ours was written that we can't read. It must not stop its shard.
    Unreadable(Box<Unreadable>),
}

impl Record {
    /// A record without a sequence number has no place in a shard and can't be finished: there is none on AWS.
    pub(super) fn read(record: stream::Record) -> Option<Self> {
        let inserted = record.event_name == Some(OperationType::Insert);
        let change = record.dynamodb?;
        let sequence = SequenceNumber::try_from(change.sequence_number?).ok()?;
        let millis = change.approximate_creation_date_time.and_then(|at| at.to_millis().ok());
        let at = millis.and_then(Timestamp::from_millis).unwrap_or(Timestamp::EPOCH);
        let change = match change.new_image {
            Some(image) if inserted && is_fact(&image) => Change::of(image),
            _ => Change::Passed,
        };
        Some(Self { sequence, at, change })
    }
}

impl Change {
    fn of(image: HashMap<String, stream::AttributeValue>) -> Self {
        match items::decode(image) {
            Ok(Stored::Fact(fact)) => Self::Inserted(Box::new(fact)),
            Ok(_) => Self::Passed,
            Err(source) => Self::Unreadable(Box::new(source)),
        }
    }
}

/// The facts of participants; everything else is passed over without a closer look.
fn is_fact(image: &HashMap<String, stream::AttributeValue>) -> bool {
    matches!(text(image, "entityType"), "COMPLETED" | "RESEND" | "USER" | "USER_STAMP")
}

fn text<'a>(image: &'a HashMap<String, stream::AttributeValue>, name: &str) -> &'a str {
    image.get(name).and_then(|value| value.as_s().ok()).map_or("", String::as_str)
}

//! One dealt shard, and the records that lie in it.

use std::ops::Range;

use serde_json::{Value, json, value::RawValue};

use super::Sequence;

/// A shard.
#[derive(Debug)]
pub struct Dealt {
    pub id: String,
    pub parent: Option<String>,
    pub hashes: Range<u64>,
    /// It holds records after this one…
    pub after: Sequence,
    /// …through this one; open while there is none.
    pub through: Option<Sequence>,
    /// Up to here its records are gone; 0 while none are.
    pub horizon: Sequence,
    /// The first listing that knows of it, and of its end.
    pub listed_from: u64,
    pub closed_from: u64,
}

/// A record of the engine, as it came.
#[derive(Clone, Debug)]
pub struct Record {
    pub hash: u64,
    pub sequence: Sequence,
    pub text: Box<RawValue>,
}

impl Record {
    pub fn read(text: Box<RawValue>) -> Option<Self> {
        #[derive(serde::Deserialize)]
        struct Whole {
            dynamodb: Change,
        }
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Change {
            keys: Keys,
            sequence_number: String,
        }
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "UPPERCASE")]
        struct Keys {
            pk: Text,
        }
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "UPPERCASE")]
        struct Text {
            s: String,
        }
        let whole: Whole = serde_json::from_str(text.get()).ok()?;
        let sequence = whole.dynamodb.sequence_number.parse().ok()?;
        Some(Self { hash: hash(&whole.dynamodb.keys.pk.s), sequence, text })
    }
}

impl Dealt {
    /// Whether a record lies in it.
    pub fn holds(&self, record: &Record) -> bool {
        let within = record.sequence > self.after && self.through.is_none_or(|through| record.sequence <= through);
        within && self.hashes.contains(&record.hash)
    }

    /// A closed shard of which nothing is left is gone itself.
    pub fn is_gone(&self) -> bool {
        self.horizon > 0 && self.through.is_some_and(|through| through <= self.horizon)
    }

    /// As `DescribeStream` lists it.
    pub fn listed(&self, listing: u64) -> Value {
        let mut listed = json!({
            "ShardId": self.id,
            "SequenceNumberRange": { "StartingSequenceNumber": digits(self.after + 1) },
        });
        if let Some(through) = self.through.filter(|_| self.closed_from <= listing) {
            listed["SequenceNumberRange"]["EndingSequenceNumber"] = json!(digits(through));
        }
        if let Some(parent) = &self.parent {
            listed["ParentShardId"] = json!(parent);
        }
        listed
    }
}

/// As the API writes it.
pub fn digits(sequence: Sequence) -> String {
    format!("{sequence:021}")
}

/// FNV-1a, its bits mixed once more: the keys differ in their last letters only.
pub fn hash(partition: &str) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in partition.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
}

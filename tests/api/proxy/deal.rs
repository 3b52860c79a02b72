//! A stream's one shard, dealt into several by hash of the partition key, as DynamoDB Streams has them: pure.
//!
//! The embedded engine has one shard that never closes, iterators that never expire and records that are never trimmed.
//! What is dealt here has shards that are split or rolled over while they are read, lineage, listings that lag behind,
//! iterators that grow old and records that are gone (AWS developer guide: "Change data capture for DynamoDB Streams").
//! Every record of the engine lies in exactly one of the dealt shards.

mod refused;
mod shard;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, ops::Range};

use serde_json::{Value, value::RawValue};

pub use refused::Refused;
use shard::{Dealt, Record, hash};

/// A sequence number; 0 is before all of them. The engine's have 21 digits.
pub type Sequence = u128;

/// Partition keys are hashed into `0..HASHES`.
const HASHES: u64 = 1 << 32;

/// The stream's own limit of shards a page.
const PAGE: usize = 100;

/// All dealt shards, what they hold, and what has happened to them.
#[derive(Debug)]
pub struct Deal {
    shards: Vec<Dealt>,
    /// Everything that was read of the engine, in order: it reads slowly, and shards are read again and again.
    records: Vec<Record>,
    /// `GetRecords` and `DescribeStream` so far.
    reads: u64,
    listings: u64,
    /// Iterators made before this read are expired.
    expired_before: u64,
    /// Iterators older than this many reads are expired.
    life: Option<u64>,
    /// How many listings don't know of a new shard yet.
    lag: u64,
    pages: Vec<Page>,
}

/// A page that was read of a dealt shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The shard.
    pub shard: String,
    /// How many records it brought.
    pub records: usize,
    /// Whether it was the last one of a closed shard.
    pub last: bool,
}

/// What a good iterator asks for: records of the engine after this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    shard: String,
    pub after: Sequence,
}

/// What a read brings: the answer of `GetRecords`.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Dealings {
    pub records: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_shard_iterator: Option<String>,
}

/// Which shards a listing is about.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'a> {
    pub after: Option<&'a str>,
    pub limit: Option<usize>,
    pub children_of: Option<&'a str>,
}

impl Deal {
    /// So many shards, none with a parent.
    pub fn into(shards: usize) -> Self {
        let mut deal = Self {
            shards: Vec::new(),
            records: Vec::new(),
            reads: 0,
            listings: 0,
            expired_before: 0,
            life: None,
            lag: 0,
            pages: Vec::new(),
        };
        deal.add(None, 0..HASHES, shards, 0);
        deal
    }

    /// The shard that gets what happens next to items with this partition key.
    pub fn shard_of(&self, partition: &str) -> &str {
        let hash = hash(partition);
        let open = self.shards.iter().find(|shard| shard.through.is_none() && shard.hashes.contains(&hash));
        open.map(|shard| shard.id.as_str()).unwrap_or_default()
    }

    /// All names, in the order of listing.
    pub fn ids(&self) -> Vec<String> {
        self.shards.iter().map(|shard| shard.id.clone()).collect()
    }

    /// Closes an open shard after the engine's latest record: what comes later goes to its children, one or two of them.
    pub fn close(&mut self, id: &str, latest: Sequence, children: usize) -> Vec<String> {
        // Records that were read while the engine was asked for the latest are this shard's too.
        let through = self.last().max(latest);
        let closed_from = self.listings + self.lag;
        let found = self.shards.iter_mut().find(|shard| shard.id == id && shard.through.is_none());
        let Some(shard) = found else { return Vec::new() };
        (shard.through, shard.closed_from) = (Some(through), closed_from);
        let (parent, hashes) = (shard.id.clone(), shard.hashes.clone());
        self.add(Some(&parent), hashes, children, through)
    }

    fn add(&mut self, parent: Option<&str>, hashes: Range<u64>, parts: usize, after: Sequence) -> Vec<String> {
        let parts = parts as u64;
        let edge = |n: u64| hashes.start + (hashes.end - hashes.start) * n / parts;
        let mut made = Vec::new();
        for n in 0..parts {
            let id = format!("shardId-{:020}", self.shards.len() + 1);
            made.push(id.clone());
            self.shards.push(Dealt {
                id,
                parent: parent.map(str::to_owned),
                hashes: edge(n)..edge(n + 1),
                after,
                through: None,
                horizon: 0,
                listed_from: self.listings + self.lag,
                closed_from: 0,
            });
        }
        made
    }

    /// Every iterator that was given out so far is expired.
    pub fn expire(&mut self) {
        self.expired_before = self.reads + 1;
    }

    /// Iterators live for so many reads (of all shards together) from now on.
    pub fn iterators_live(&mut self, reads: u64) {
        self.life = Some(reads);
    }

    /// So many listings don't know of a split yet.
    pub fn list_late(&mut self, listings: u64) {
        self.lag = listings;
    }

    /// What a shard holds up to this record is gone.
    pub fn trim(&mut self, id: &str, through: Sequence) {
        if let Some(shard) = self.shards.iter_mut().find(|shard| shard.id == id) {
            shard.horizon = through;
        }
    }

    /// What was read, in order.
    pub fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// A page of the list, and where the next one begins.
    pub fn list(&mut self, listing: Listing<'_>) -> (Vec<Value>, Option<String>) {
        let number = self.listings;
        self.listings += 1;
        let children = |shard: &&Dealt| listing.children_of.is_none() || shard.parent.as_deref() == listing.children_of;
        let known = self.shards.iter().filter(|shard| shard.listed_from <= number && !shard.is_gone()).filter(children);
        let all: Vec<&Dealt> = known.collect();
        let start = listing.after.map_or(0, |after| all.partition_point(|shard| shard.id.as_str() <= after));
        let end = (start + listing.limit.unwrap_or(PAGE).clamp(1, PAGE)).min(all.len());
        let next = (end < all.len()).then(|| all[end - 1].id.clone());
        (all[start..end].iter().map(|shard| shard.listed(number)).collect(), next)
    }

    /// An iterator; `sequence` for the kinds that begin at a record.
    pub fn iterator(
        &self,
        id: &str,
        kind: &str,
        sequence: Option<Sequence>,
        latest: Sequence,
    ) -> Result<String, Refused> {
        let shard = self.find(id)?;
        let after = match (kind, sequence) {
            ("TRIM_HORIZON", None) => shard.horizon,
            ("LATEST", None) => latest,
            ("AFTER_SEQUENCE_NUMBER", Some(sequence)) => sequence,
            ("AT_SEQUENCE_NUMBER", Some(sequence)) => sequence.saturating_sub(1),
            _ => return Err(Refused::Invalid),
        };
        Ok(self.token(&shard.id, after.max(shard.after)))
    }

    /// Takes in an iterator: one read.
    pub fn ask(&mut self, iterator: &str) -> Result<Asked, Refused> {
        self.reads += 1;
        let mut parts = iterator.split('|');
        let (shard, after, made) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
        let number = |text: Option<&str>| text.and_then(|text| text.parse().ok()).ok_or(Refused::Invalid);
        let (after, made): (Sequence, Sequence) = (number(after)?, number(made)?);
        let made = u64::try_from(made).map_err(|_| Refused::Invalid)?;
        let too_old = self.life.is_some_and(|life| self.reads.saturating_sub(made) > life);
        if made < self.expired_before || too_old {
            return Err(Refused::Expired);
        }
        Ok(Asked { shard: self.find(shard)?.id.clone(), after })
    }

    /// The engine's records after those that are known.
    pub fn take_in(&mut self, records: Vec<Box<RawValue>>) {
        let last = self.last();
        let records = records.into_iter().filter_map(Record::read);
        self.records.extend(records.filter(|record| record.sequence > last));
    }

    /// The last record of the engine that is known.
    pub fn last(&self) -> Sequence {
        self.records.last().map_or(0, |record| record.sequence)
    }

    /// Deals: this shard's part of the next `limit` records of the engine (so there may be none although more come), and
    /// the next iterator unless the shard ends here. All that the engine has must have been taken in.
    pub fn deal(&mut self, asked: &Asked, limit: usize) -> Result<Dealings, Refused> {
        let shard = self.find(&asked.shard)?;
        let start = self.records.partition_point(|record| record.sequence <= asked.after);
        let end = (start + limit).min(self.records.len());
        let next = &self.records[start..end];
        let mine: Vec<&Record> = next.iter().filter(|record| shard.holds(record)).collect();
        if mine.iter().any(|record| record.sequence <= shard.horizon) {
            return Err(Refused::Trimmed);
        }
        let read_through = next.last().map_or(asked.after, |record| record.sequence);
        // All that it holds is known only when the engine was read beyond its end.
        let all = end == self.records.len();
        let is_over = shard.through.is_some_and(|through| read_through >= through || (all && self.last() >= through));
        let dealings = Dealings {
            records: mine.into_iter().map(|record| record.text.clone()).collect(),
            next_shard_iterator: (!is_over).then(|| self.token(&asked.shard, read_through)),
        };
        self.pages.push(Page { shard: asked.shard.clone(), records: dealings.records.len(), last: is_over });
        Ok(dealings)
    }

    /// The last known record of each shard.
    pub fn tails(&self) -> BTreeMap<String, Option<Sequence>> {
        let last =
            |shard: &Dealt| self.records.iter().rfind(|record| shard.holds(record)).map(|record| record.sequence);
        self.shards.iter().map(|shard| (shard.id.clone(), last(shard))).collect()
    }

    fn find(&self, id: &str) -> Result<&Dealt, Refused> {
        self.shards.iter().find(|shard| shard.id == id && !shard.is_gone()).ok_or(Refused::Gone)
    }

    fn token(&self, shard: &str, after: Sequence) -> String {
        format!("{shard}|{after}|{}", self.reads)
    }
}

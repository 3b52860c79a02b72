//! The stored form of the consumer's progress.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::time::Timestamp;
use crate::store::{
    StoreError,
    stream::{ListedShard, SequenceNumber, ShardId},
};

use super::{Board, Candidate, FactSpan, Reached, ShardProgress, WorkerId};

type Item = HashMap<String, AttributeValue>;

pub(super) fn shard_key(shard: &ShardId) -> String {
    format!("SHARD#{shard}")
}

pub(super) fn worker_key(worker: &WorkerId) -> String {
    format!("WORKER#{worker}")
}

pub(super) fn key(partition: &str, sort: String) -> Item {
    HashMap::from([("PK".to_owned(), text(partition)), ("SK".to_owned(), AttributeValue::S(sort))])
}

pub(super) fn new_shard(partition: &str, shard: &ListedShard, now: Timestamp) -> Item {
    let mut item = key(partition, shard_key(&shard.id));
    item.extend([
        ("entityType".to_owned(), text("SHARD_PROGRESS")),
        ("shardId".to_owned(), text(shard.id.as_str())),
        ("fence".to_owned(), AttributeValue::N("0".to_owned())),
        ("beat".to_owned(), AttributeValue::N("0".to_owned())),
        ("finished".to_owned(), AttributeValue::Bool(false)),
        ("updatedAt".to_owned(), text(now.to_string())),
    ]);
    item.extend(shard.parent.as_ref().map(|parent| ("parent".to_owned(), text(parent.as_str()))));
    item
}

/// What an Update sets (as it follows `SET …`), removes, and with which values.
pub(super) fn progress(reached: &Reached) -> (String, Vec<&'static str>, Item) {
    let mut set = ", finished = :finished".to_owned();
    let mut removed = Vec::new();
    let mut values = Item::from([(":finished".to_owned(), AttributeValue::Bool(reached.finished))]);
    let mut attribute = |name: &'static str, value: Option<AttributeValue>| match value {
        Some(value) => {
            set.extend([", ", name, " = :", name]);
            values.insert(format!(":{name}"), value);
        }
        None => removed.push(name),
    };
    attribute("checkpoint", reached.checkpoint.as_ref().map(|sequence| text(sequence.as_str())));
    attribute("uncoveredFrom", reached.handed_out.map(|span| text(span.from.to_string())));
    attribute("handedOutThrough", reached.handed_out.map(|span| text(span.through.to_string())));
    let spans = reached.doubtful.iter().map(|span| text(format!("{}/{}", span.from, span.through)));
    let doubtful: Vec<AttributeValue> = spans.collect();
    attribute("doubtful", (!doubtful.is_empty()).then_some(AttributeValue::L(doubtful)));
    (set, removed, values)
}

pub(super) fn read_into(board: &mut Board, item: &Item) -> Result<(), StoreError> {
    if let Some(worker) = string(item, "SK")?.strip_prefix("WORKER#") {
        board.candidates.push(Candidate { worker: WorkerId::from(worker.to_owned()), beat: count(item, "beat")? });
    } else if string(item, "SK")?.starts_with("SHARD#") {
        board.shards.push(shard(item)?);
    }
    // Anything else is of a newer version, which knows what to do with it.
    Ok(())
}

pub(super) fn shard(item: &Item) -> Result<ShardProgress, StoreError> {
    let checkpoint = optional(item, "checkpoint")?.map(str::parse::<SequenceNumber>);
    Ok(ShardProgress {
        shard: ShardId::from(string(item, "shardId")?.to_owned()),
        parent: optional(item, "parent")?.map(str::to_owned).map(ShardId::from),
        owner: optional(item, "owner")?.map(str::to_owned).map(WorkerId::from),
        fence: count(item, "fence")?,
        beat: count(item, "beat")?,
        reached: Reached {
            checkpoint: checkpoint.transpose().map_err(|_| unreadable("checkpoint"))?,
            finished: item.get("finished").and_then(|value| value.as_bool().ok()).copied().unwrap_or_default(),
            handed_out: handed_out(item)?,
            doubtful: doubtful(item)?,
        },
        updated_at: time("updatedAt", string(item, "updatedAt")?)?,
    })
}

fn handed_out(item: &Item) -> Result<Option<FactSpan>, StoreError> {
    match (optional(item, "uncoveredFrom")?, optional(item, "handedOutThrough")?) {
        (Some(from), Some(through)) => {
            Ok(Some(FactSpan { from: time("uncoveredFrom", from)?, through: time("handedOutThrough", through)? }))
        }
        _ => Ok(None),
    }
}

fn doubtful(item: &Item) -> Result<Vec<FactSpan>, StoreError> {
    let spans = item.get("doubtful").and_then(|value| value.as_l().ok()).map_or(&[][..], Vec::as_slice);
    let span = |value: &AttributeValue| {
        let (from, through) =
            value.as_s().ok().and_then(|text| text.split_once('/')).ok_or_else(|| unreadable("doubtful"))?;
        Ok(FactSpan { from: time("doubtful", from)?, through: time("doubtful", through)? })
    };
    spans.iter().map(span).collect()
}

fn text(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

fn string<'a>(item: &'a Item, name: &'static str) -> Result<&'a str, StoreError> {
    optional(item, name)?.ok_or_else(|| unreadable(name))
}

fn optional<'a>(item: &'a Item, name: &'static str) -> Result<Option<&'a str>, StoreError> {
    item.get(name).map(|value| value.as_s().map(String::as_str).map_err(|_| unreadable(name))).transpose()
}

fn count(item: &Item, name: &'static str) -> Result<u64, StoreError> {
    let number = item.get(name).and_then(|value| value.as_n().ok()).and_then(|digits| digits.parse().ok());
    number.ok_or_else(|| unreadable(name))
}

fn time(name: &'static str, text: &str) -> Result<Timestamp, StoreError> {
    text.parse().map_err(|_| unreadable(name))
}

fn unreadable(name: &'static str) -> StoreError {
    StoreError::broken(format!("the consumer's progress: `{name}` is missing or can't be read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn apply(mut item: Item, reached: &Reached) -> Item {
        let (set, removed, values) = progress(reached);
        for name in set.split(", ").filter(|part| !part.is_empty()).map(|part| part.split_once(" = :").unwrap().0) {
            item.insert(name.to_owned(), values[&format!(":{name}")].clone());
        }
        for name in removed {
            item.remove(name);
        }
        item
    }

    #[test]
    fn the_stored_form_is_pinned() {
        let shard = ListedShard { id: ShardId::from("s-2".to_owned()), parent: Some(ShardId::from("s-1".to_owned())) };
        let item = new_shard("CONSUMER#delivery#STREAM#arn:x", &shard, at("2026-05-23T10:00:00.000Z"));
        let expected: Item = HashMap::from([
            ("PK".to_owned(), text("CONSUMER#delivery#STREAM#arn:x")),
            ("SK".to_owned(), text("SHARD#s-2")),
            ("entityType".to_owned(), text("SHARD_PROGRESS")),
            ("shardId".to_owned(), text("s-2")),
            ("parent".to_owned(), text("s-1")),
            ("fence".to_owned(), AttributeValue::N("0".to_owned())),
            ("beat".to_owned(), AttributeValue::N("0".to_owned())),
            ("finished".to_owned(), AttributeValue::Bool(false)),
            ("updatedAt".to_owned(), text("2026-05-23T10:00:00.000Z")),
        ]);
        assert_eq!(item, expected);
    }

    #[test]
    fn progress_is_read_as_it_is_written_and_what_is_gone_is_removed() {
        let shard_item = new_shard(
            "P",
            &ListedShard { id: ShardId::from("s".to_owned()), parent: None },
            at("2026-05-23T10:00:00.000Z"),
        );
        let span = FactSpan { from: at("2026-05-23T10:00:00.000Z"), through: at("2026-05-23T10:00:02.000Z") };
        let reached = Reached {
            checkpoint: Some("100000000000000000001".parse().unwrap()),
            finished: true,
            handed_out: Some(span),
            doubtful: vec![span, span],
        };
        let written = apply(shard_item, &reached);
        assert_eq!(shard(&written).unwrap().reached, reached);
        assert_eq!(shard(&apply(written, &Reached::default())).unwrap().reached, Reached::default());
    }
}

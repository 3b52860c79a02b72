//! The stored form of the consumer's progress.

pub(super) mod function;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::time::Timestamp;
use crate::store::{
    StoreError,
    items::Unreadable,
    stream::{ListedShard, SequenceNumber, ShardId},
};

use super::{Board, By, Candidate, Errand, FactSpan, HandedOut, Reached, Run, ShardProgress, WorkerId};

type Item = HashMap<String, AttributeValue>;

pub(super) fn shard_key(shard: &ShardId) -> String {
    format!("SHARD#{shard}")
}

pub(super) fn worker_key(worker: &WorkerId) -> String {
    format!("WORKER#{worker}")
}

pub(super) fn followed_key(consumer: &str) -> Item {
    key(&format!("CONSUMER#{consumer}"), "STREAM".to_owned())
}

/// The item of the stream that a consumer follows.
pub(super) fn followed(consumer: &str, arn: &str, now: Timestamp) -> Item {
    let mut item = followed_key(consumer);
    item.extend([
        ("entityType".to_owned(), text("CONSUMER_STREAM")),
        ("streamArn".to_owned(), text(arn)),
        ("updatedAt".to_owned(), text(now.to_string())),
    ]);
    item
}

pub(super) fn followed_arn(item: &Item) -> Result<&str, Unreadable> {
    let arn = item.get("streamArn").and_then(|value| value.as_s().ok());
    arn.map(String::as_str).ok_or_else(|| Unreadable {
        pk: string(item, "PK").unwrap_or_default().to_owned(),
        sk: string(item, "SK").unwrap_or_default().to_owned(),
        attribute: "streamArn".to_owned(),
        problem: "is missing or no string".to_owned(),
    })
}

pub(super) fn key(partition: &str, sort: String) -> Item {
    HashMap::from([("PK".to_owned(), text(partition)), ("SK".to_owned(), AttributeValue::S(sort))])
}

/// The key of an item that was read.
pub(super) fn key_of(item: &Item) -> Item {
    ["PK", "SK"].into_iter().filter_map(|name| Some((name.to_owned(), item.get(name)?.clone()))).collect()
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
    if let Some(span) = reached.handed_out {
        // Without the one before it, it still tells people how far anything was ever handed out.
        attribute("handedOutThrough", Some(text(span.through.to_string())));
    }
    let spans = reached.doubtful.iter().map(|span| text(format!("{}/{}", span.from, span.through)));
    let doubtful: Vec<AttributeValue> = spans.collect();
    attribute("doubtful", (!doubtful.is_empty()).then_some(AttributeValue::L(doubtful)));
    (set, removed, values)
}

pub(super) fn read_into(board: &mut Board, item: &Item) -> Result<(), StoreError> {
    if let Some(worker) = string(item, "SK")?.strip_prefix("WORKER#") {
        let errand = if optional(item, "errand")? == Some("push") { Errand::Push } else { Errand::Wait };
        let worker = WorkerId::from(worker.to_owned());
        board.candidates.push(Candidate { worker, errand, beat: count(item, "beat")? });
    } else if string(item, "SK")?.starts_with("SHARD#") {
        board.shards.push(shard(item)?);
    } else if function::is_sign(string(item, "SK")?) {
        let noted_at = string(item, "updatedAt").and_then(|at| time("updatedAt", at));
        board.function = board.function.max(noted_at.ok());
    }
    // Anything else is of a newer version, which knows what to do with it.
    Ok(())
}

/// A run of `reconcile`, and what it is about to hand out.
pub(super) fn run(mut key: Item, run: &Run, span: FactSpan) -> Item {
    key.extend([
        ("entityType".to_owned(), text("RECONCILE_RUN")),
        ("runId".to_owned(), text(run.id.as_str())),
        ("eventId".to_owned(), text(run.event_id.as_str())),
        ("uncoveredFrom".to_owned(), text(span.from.to_string())),
        ("handedOutThrough".to_owned(), text(span.through.to_string())),
        ("since".to_owned(), text(run.since.to_string())),
    ]);
    key
}

/// What an item of any kind says was handed out.
pub(super) fn all_handed_out(item: &Item) -> Result<Vec<HandedOut>, StoreError> {
    if let Some(facts) = function::batch_facts(item) {
        return Ok(facts.into_iter().map(HandedOut::by_function).collect());
    }
    let by = match optional(item, "runId")? {
        Some(id) => By::Run(Run {
            id: WorkerId::from(id.to_owned()),
            event_id: string(item, "eventId")?.parse().map_err(|_| unreadable("eventId"))?,
            since: time("since", string(item, "since")?)?,
        }),
        None => By::Stream,
    };
    let spans = handed_out(item)?.into_iter().chain(doubtful(item)?);
    Ok(spans.map(|span| HandedOut { span, by: by.clone() }).collect())
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
    spans.iter().map(|span| from_through("doubtful", span)).collect()
}

fn from_through(name: &'static str, value: &AttributeValue) -> Result<FactSpan, StoreError> {
    let text = value.as_s().ok().and_then(|text| text.split_once('/'));
    let (from, through) = text.ok_or_else(|| unreadable(name))?;
    Ok(FactSpan { from: time(name, from)?, through: time(name, through)? })
}

pub(super) fn text(text: impl Into<String>) -> AttributeValue {
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

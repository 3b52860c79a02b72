//! The stored form of the consumer's progress.

pub(super) mod function;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::time::Timestamp;
use crate::store::{
    fields::Fields,
    items::{Item, Unreadable},
    stream::{ListedShard, SequenceNumber, ShardId},
};

use function::BATCH;

use super::{By, Candidate, Errand, FactSpan, HandedOut, Reached, Run, ShardProgress, WorkerId, damaged};

/// The `entityType` of a shard's progress.
pub(super) const SHARD_TYPE: &str = "SHARD_PROGRESS";

/// The sort key of the item of the stream that a consumer follows.
const FOLLOWED: &str = "STREAM";

/// 2^53, the highest whole number that every reader of JSON keeps.
const HIGHEST_FENCE: u64 = 1 << 53;

// How sort keys begin.
pub(super) const RUN: &str = "RUN#";
pub(super) const SHARD: &str = "SHARD#";
pub(super) const WORKER: &str = "WORKER#";

pub(super) fn shard_key(shard: &ShardId) -> String {
    format!("{SHARD}{shard}")
}

pub(super) fn worker_key(worker: &WorkerId) -> String {
    format!("{WORKER}{worker}")
}

pub(super) fn followed_key(consumer: &str) -> Item {
    key(&format!("CONSUMER#{consumer}"), FOLLOWED.to_owned())
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
    Fields::of(item).text("streamArn")
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
        ("entityType".to_owned(), text(SHARD_TYPE)),
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

/// What an item of a stream's partition holds.
pub(super) enum OnBoard {
    Candidate(Candidate),
    /// A function that is handed the records noted this then.
    Function(Timestamp),
    /// Of a newer version, which knows what to do with it.
    Other,
    Shard(ShardProgress),
}

pub(super) fn on_board(item: &Item) -> Result<OnBoard, Unreadable> {
    let fields = Fields::of(item);
    if let Some(worker) = fields.sk().strip_prefix(WORKER) {
        return candidate(item, worker).map(OnBoard::Candidate);
    }
    if function::is_sign(fields.sk()) {
        return fields.time("updatedAt").map(OnBoard::Function);
    }
    if shard_id(item).is_some() { shard(item).map(OnBoard::Shard) } else { Ok(OnBoard::Other) }
}

fn candidate(item: &Item, worker: &str) -> Result<Candidate, Unreadable> {
    let fields = Fields::of(item);
    let errand = if fields.some_text("errand")? == Some("push") { Errand::Push } else { Errand::Wait };
    Ok(Candidate { worker: WorkerId::from(worker.to_owned()), errand, beat: fields.number("beat")? })
}

/// The shard whose progress an item holds, out of its key.
pub(super) fn shard_id(item: &Item) -> Option<ShardId> {
    Fields::of(item).sk().strip_prefix(SHARD).map(str::to_owned).map(ShardId::from)
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

/// What an item of any kind says was handed out. One that can't be read says what may have been, and what is wrong.
pub(super) fn all_handed_out(item: &Item) -> (Vec<HandedOut>, Option<Unreadable>) {
    if let Some(facts) = function::batch_facts(item) {
        return (facts.into_iter().map(HandedOut::by_function).collect(), None);
    }
    let (by, reached, unreadable) = match kind_and_spans(item) {
        Ok((by, reached)) => (by, reached, None),
        Err(unreadable) => (damaged::by(item), damaged::salvaged(item, damaged::latest(item)), Some(unreadable)),
    };
    let spans = reached.handed_out.into_iter().chain(reached.doubtful);
    (spans.map(|span| HandedOut { span, by: by.clone() }).collect(), unreadable)
}

/// Who handed out, and what.
fn kind_and_spans(item: &Item) -> Result<(By, Reached), Unreadable> {
    let fields = Fields::of(item);
    let spans = || Ok(Reached { handed_out: handed_out(fields)?, doubtful: doubtful(fields)?, ..Reached::default() });
    let must = |reached: Reached| match reached.handed_out {
        None => Err(fields.unreadable("handedOutThrough", "is missing, or `uncoveredFrom` is")),
        Some(_) => Ok(reached),
    };
    match (fields.sk(), run_id(fields)) {
        (sk, _) if sk.starts_with(SHARD) => Ok((By::Stream, shard(item)?.reached)),
        (sk, _) if sk.starts_with(BATCH) => {
            function::events_are_readable(item)?;
            Ok((By::Stream, must(spans()?)?))
        }
        (_, Some(id)) => Ok((By::Run(run_of(id, fields)?), must(spans()?)?)),
        _ => Ok((By::Stream, spans()?)),
    }
}

/// Whether an item of the consumers' progress can be read, of whatever kind.
pub(in super::super) fn check(item: &Item) -> Result<(), Unreadable> {
    on_board(item)?;
    match Fields::of(item).sk() {
        FOLLOWED => followed_arn(item).map(drop),
        sk if sk.starts_with(BATCH) && function::batch_facts(item).is_some() => Ok(()),
        sk if sk.starts_with(BATCH) || sk.starts_with(RUN) => kind_and_spans(item).map(drop),
        _ => Ok(()),
    }
}

fn run_of(id: WorkerId, fields: Fields<'_>) -> Result<Run, Unreadable> {
    Ok(Run { id, event_id: fields.parsed("eventId")?, since: fields.time("since")? })
}

/// The run whose item it is, if it is one's.
pub(super) fn run_id(fields: Fields<'_>) -> Option<WorkerId> {
    let named = fields.sk().strip_prefix(RUN).or_else(|| fields.some_text("runId").ok().flatten());
    named.map(str::to_owned).map(WorkerId::from)
}

/// The fence grows by one with each take-over: none of ours ever gets near the bound.
pub(super) fn fence(fields: Fields<'_>) -> Result<u64, Unreadable> {
    let fence = Some(fields.number::<u64>("fence")?).filter(|fence| *fence <= HIGHEST_FENCE);
    fence.ok_or_else(|| fields.unreadable("fence", "is larger than any that was ever counted"))
}

pub(super) fn shard(item: &Item) -> Result<ShardProgress, Unreadable> {
    let fields = Fields::of(item);
    Ok(ShardProgress {
        shard: shard_id(item).ok_or_else(|| fields.unreadable("SK", "names no shard"))?,
        parent: fields.some_text("parent")?.map(str::to_owned).map(ShardId::from),
        owner: fields.some_text("owner")?.map(str::to_owned).map(WorkerId::from),
        fence: fence(fields)?,
        beat: fields.number("beat")?,
        reached: Reached {
            checkpoint: fields.some_parsed::<SequenceNumber>("checkpoint")?,
            finished: fields.flag("finished")?.unwrap_or_default(),
            handed_out: handed_out(fields)?,
            doubtful: doubtful(fields)?,
        },
        updated_at: fields.time("updatedAt")?,
    })
}

fn handed_out(fields: Fields<'_>) -> Result<Option<FactSpan>, Unreadable> {
    let (from, through) = (fields.some_parsed("uncoveredFrom")?, fields.some_parsed("handedOutThrough")?);
    Ok(from.zip(through).map(|(from, through)| FactSpan { from, through }))
}

pub(super) fn doubtful(fields: Fields<'_>) -> Result<Vec<FactSpan>, Unreadable> {
    let spans: Option<Vec<FactSpan>> = fields.list("doubtful")?.iter().map(from_through).collect();
    spans.ok_or_else(|| fields.unreadable("doubtful", "is not a list of texts `{time}/{time}`"))
}

fn from_through(value: &AttributeValue) -> Option<FactSpan> {
    let (from, through) = value.as_s().ok()?.split_once('/')?;
    Some(FactSpan { from: from.parse().ok()?, through: through.parse().ok()? })
}

pub(super) fn text(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

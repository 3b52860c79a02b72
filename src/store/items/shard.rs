//! The lease and the checkpoint of a shard, and what can be salvaged where they can't be read.

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::time::Timestamp;

use super::{
    super::{
        ids::{ListedShard, SequenceNumber, ShardId, WorkerId},
        keys::{self, Progress, ProgressKey},
        state::{FactSpan, ShardProgress, ShardState},
        unreadable::Unreadable,
    },
    Fields, Item,
    attributes::Writer,
    number, text,
};

/// 2^53, the highest whole number that every reader of JSON keeps.
const HIGHEST_FENCE: u64 = 1 << 53;

/// Clocks differ by less, and nothing is handed out so long after it was written down.
pub(super) const CLOCKS_DIFFER_MS: i64 = 10 * 60_000;

/// Returns the item of a shard that no worker has read yet.
pub(in super::super) fn new_shard(partition: &str, shard: &ListedShard, now: Timestamp) -> Item {
    Writer::progress(Progress::Shard, ProgressKey::Shard { partition, shard: &shard.id })
        .text("shardId", &shard.id)
        .number("fence", 0_u64)
        .number("beat", 0_u64)
        .flag("finished", false)
        .text("updatedAt", now)
        .some("parent", shard.parent.as_ref(), Writer::text)
        .done()
}

/// Returns what an Update sets (as it follows `SET …`), removes, and with which values.
pub(in super::super) fn checkpoint(reached: &ShardState) -> (String, Vec<&'static str>, Item) {
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
        // Without the one before it, it still shows an operator how far anything was ever handed out.
        attribute("handedOutThrough", Some(text(span.through.to_string())));
    }
    let spans = reached.maybe_sent.iter().map(|span| text(span_text(*span)));
    let maybe_sent: Vec<AttributeValue> = spans.collect();
    // The stored name of `maybe_sent`.
    attribute("doubtful", (!maybe_sent.is_empty()).then_some(AttributeValue::L(maybe_sent)));
    (set, removed, values)
}

pub(in super::super) fn shard(item: &Item) -> Result<ShardProgress, Unreadable> {
    let fields = Fields::of(item);
    Ok(ShardProgress {
        shard: keys::shard_of(fields.sk()).ok_or_else(|| fields.unreadable("SK", "names no shard"))?,
        parent: fields.some_text("parent")?.map(str::to_owned).map(ShardId::from),
        owner: fields.some_text("owner")?.map(str::to_owned).map(WorkerId::from),
        fencing_token: fencing_token(fields)?,
        heartbeat: fields.number("beat")?,
        reached: ShardState {
            checkpoint: fields.some_parsed::<SequenceNumber>("checkpoint")?,
            finished: fields.flag("finished")?.unwrap_or_default(),
            handed_out: handed_out(fields)?,
            maybe_sent: maybe_sent(fields)?,
        },
        updated_at: fields.parsed("updatedAt")?,
    })
}

/// Reads what may have been handed to LINE since the last checkpoint.
pub(super) fn handed_out(fields: Fields<'_>) -> Result<Option<FactSpan>, Unreadable> {
    let (from, through) = (fields.some_parsed("uncoveredFrom")?, fields.some_parsed("handedOutThrough")?);
    Ok(from.zip(through).map(|(from, through)| FactSpan { from, through }))
}

/// Reads the spans of which it is not known whether they were sent.
pub(super) fn maybe_sent(fields: Fields<'_>) -> Result<Vec<FactSpan>, Unreadable> {
    let spans: Option<Vec<FactSpan>> = fields.list("doubtful")?.iter().map(from_through).collect();
    spans.ok_or_else(|| fields.unreadable("doubtful", "is not a list of texts `{time}/{time}`"))
}

pub(super) fn from_through(value: &AttributeValue) -> Option<FactSpan> {
    let (from, through) = value.as_s().ok()?.split_once('/')?;
    Some(FactSpan { from: from.parse().ok()?, through: through.parse().ok()? })
}

pub(super) fn span_text(span: FactSpan) -> String {
    format!("{}/{}", span.from, span.through)
}

/// Reads the fencing token, which grows by one with each take-over: none of ours ever gets near the bound.
fn fencing_token(fields: Fields<'_>) -> Result<u64, Unreadable> {
    let fencing_token = Some(fields.number::<u64>("fence")?).filter(|fencing_token| *fencing_token <= HIGHEST_FENCE);
    fencing_token.ok_or_else(|| fields.unreadable("fence", "is larger than any that was ever counted"))
}

/// Returns the shard before it, if the item of a shard names one.
pub(in super::super) fn parent_of(item: &Item) -> Option<ShardId> {
    Fields::of(item).some_text("parent").ok().flatten().map(str::to_owned).map(ShardId::from)
}

/// Returns what can be believed of a progress that can't be read as a whole. A checkpoint, an end and a span are
/// written by owners alone, so what is there of them is true; and where a bound of what was handed out is not there,
/// everything on that side, up to the time `until`, may have been.
pub(super) fn salvaged(item: &Item, until: Timestamp) -> ShardState {
    let fields = Fields::of(item);
    let from = fields.parsed("uncoveredFrom").unwrap_or(Timestamp::EPOCH);
    let through = fields.parsed("handedOutThrough").unwrap_or(until);
    let all = FactSpan { from: Timestamp::EPOCH, through: until };
    ShardState {
        checkpoint: fields.some_parsed("checkpoint").ok().flatten(),
        finished: fields.flag("finished").ok().flatten().unwrap_or_default(),
        handed_out: Some(FactSpan { from, through }),
        maybe_sent: maybe_sent(fields).unwrap_or_else(|_| vec![all]),
    }
}

/// Returns the item of a shard that is begun anew, and what it says: without an owner, with what was salvaged, and a
/// fence that no owner ever had.
pub(in super::super) fn restarted(
    partition: &str,
    shard: &ListedShard,
    seen: &Item,
    now: Timestamp,
) -> (Item, ShardState) {
    let reached = salvaged(seen, now.plus_millis(CLOCKS_DIFFER_MS));
    let mut item = new_shard(partition, shard, now);
    let (_, _, values) = checkpoint(&reached);
    item.extend(values.into_iter().map(|(name, value)| (name.trim_start_matches(':').to_owned(), value)));
    item.insert("fence".to_owned(), number(new_fence(seen, now)));
    (item, reached)
}

/// Returns a fencing token that no owner ever had. One counts take-overs, and nothing was ever taken over as many times
/// as milliseconds have passed since 1970: the time is above every fence that was counted, also where the last one
/// can't be read.
pub(super) fn new_fence(seen: &Item, now: Timestamp) -> u64 {
    let last = fencing_token(Fields::of(seen)).unwrap_or_default();
    (last + 1).max(u64::try_from(now.as_millis()).unwrap_or_default())
}

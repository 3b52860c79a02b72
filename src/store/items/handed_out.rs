//! What may have been handed to LINE without being finished: batches of functions, runs of `reconcile`, and shards.

use serde_dynamo::AttributeValue;

use crate::domain::{
    ids::{EventId, LineUserId},
    time::Timestamp,
};

use super::{
    super::{
        ids::{SequenceNumber, WorkerId},
        keys::{self, Progress, ProgressKey},
        state::{BatchFacts, By, EventFacts, FactSpan, HandedOut, Run, ShardState},
        unreadable::Unreadable,
    },
    Fields, Item,
    attributes::Writer,
    shard::{CLOCKS_DIFFER_MS, from_through, handed_out, maybe_sent, salvaged, shard, span_text},
};

/// The last millisecond of the year 9999.
const LAST_MS: i64 = 253_402_300_799_999;

/// Returns the item of a batch that is about to be handed out. The span of all events is for versions that know no
/// other.
pub(in super::super) fn batch(partition: &str, first: &SequenceNumber, facts: &BatchFacts, now: Timestamp) -> Item {
    let all = facts.values().map(|facts| facts.span).reduce(FactSpan::and);
    let events = facts.iter().fold(Writer::map(), |events, (event_id, EventFacts { span, participants })| {
        let participants = participants.iter().map(|user| user.as_str().to_owned()).collect();
        let facts =
            Writer::map().text("span", span_text(*span)).value("participants", AttributeValue::Ss(participants));
        events.inner(event_id.as_str(), facts)
    });
    Writer::progress(Progress::Batch, ProgressKey::Batch { partition, first })
        .text("updatedAt", now)
        .some("uncoveredFrom", all.map(|all| all.from), Writer::text)
        .some("handedOutThrough", all.map(|all| all.through), Writer::text)
        .inner("events", events)
        .done()
}

/// Reads what an item says of a batch, by event; `None` for any other item, and for a batch of a version that didn't note
/// them.
pub(in super::super) fn batch_facts(item: &Item) -> Option<BatchFacts> {
    let events = item.get("events")?.as_m().ok()?;
    let facts = |(event, facts): (&String, &aws_sdk_dynamodb::types::AttributeValue)| {
        Some((event.parse::<EventId>().ok()?, event_facts(facts.as_m().ok()?)?))
    };
    events.iter().map(facts).collect()
}

fn event_facts(facts: &Item) -> Option<EventFacts> {
    let participants = facts.get("participants")?.as_ss().ok()?;
    let participants = participants.iter().map(|user| LineUserId::stored(user).ok()).collect::<Option<_>>()?;
    Some(EventFacts { span: from_through(facts.get("span")?)?, participants })
}

/// Returns the item of a run of `reconcile`, which says what it is about to hand out.
pub(in super::super) fn run(consumer: &str, run: &Run, span: FactSpan) -> Item {
    Writer::progress(Progress::Run, ProgressKey::Run { consumer, id: &run.id })
        .text("runId", &run.id)
        .text("eventId", &run.event_id)
        .text("uncoveredFrom", span.from)
        .text("handedOutThrough", span.through)
        .text("since", run.since)
        .done()
}

/// Reads what an item of any kind says was handed out. One that can't be read says what may have been, and what is wrong.
pub(in super::super) fn all_handed_out(item: &Item) -> (Vec<HandedOut>, Option<Unreadable>) {
    if let Some(facts) = batch_facts(item) {
        return (facts.into_iter().map(HandedOut::by_function).collect(), None);
    }
    let (by, reached, unreadable) = match by_and_spans(item) {
        Ok((by, reached)) => (by, reached, None),
        Err(unreadable) => (salvaged_by(item), salvaged(item, latest(item)), Some(unreadable)),
    };
    let spans = reached.handed_out.into_iter().chain(reached.maybe_sent);
    (spans.map(|span| HandedOut { span, by: by.clone() }).collect(), unreadable)
}

/// Reads who handed out, and what.
pub(super) fn by_and_spans(item: &Item) -> Result<(By, ShardState), Unreadable> {
    let fields = Fields::of(item);
    let spans =
        || Ok(ShardState { handed_out: handed_out(fields)?, maybe_sent: maybe_sent(fields)?, ..ShardState::default() });
    let must = |reached: ShardState| match reached.handed_out {
        None => Err(fields.unreadable("handedOutThrough", "is missing, or `uncoveredFrom` is")),
        Some(_) => Ok(reached),
    };
    if keys::shard_of(fields.sk()).is_some() {
        return Ok((By::Stream, shard(item)?.reached));
    }
    if keys::is_batch(fields.sk()) {
        events_are_readable(item)?;
        return Ok((By::Stream, must(spans()?)?));
    }
    match run_id(fields) {
        Some(id) => {
            let run = Run { id, event_id: fields.parsed("eventId")?, since: fields.parsed("since")? };
            Ok((By::Run(run), must(spans()?)?))
        }
        None => Ok((By::Stream, spans()?)),
    }
}

/// Checks that a batch names its events in a way that can be read, or not at all, as those of older versions.
fn events_are_readable(item: &Item) -> Result<(), Unreadable> {
    match (item.contains_key("events"), batch_facts(item)) {
        (true, None) => Err(Fields::of(item).unreadable("events", "can't be read as spans and participants by event")),
        _ => Ok(()),
    }
}

/// Returns the run whose item it is, if it is one's.
fn run_id(fields: Fields<'_>) -> Option<WorkerId> {
    let named = || fields.some_text("runId").ok().flatten().map(str::to_owned).map(WorkerId::from);
    keys::run_of(fields.sk()).or_else(named)
}

/// Returns who may have handed out what an item that can't be read is about. A run may have done it from its first
/// moment if it can't be read since when it pushes, and for every event if it can't be read for which.
fn salvaged_by(item: &Item) -> By {
    let fields = Fields::of(item);
    match (run_id(fields), fields.parsed("eventId")) {
        (Some(id), Ok(event_id)) => By::Run(Run { id, event_id, since: Timestamp::EPOCH }),
        _ => By::Stream,
    }
}

/// Returns the latest time of a fact that an item that can't be read may be about.
fn latest(item: &Item) -> Timestamp {
    let fields = Fields::of(item);
    let written_at: Result<Timestamp, _> = fields.parsed("updatedAt").or_else(|_| fields.parsed("since"));
    let end = Timestamp::from_millis(LAST_MS).unwrap_or(Timestamp::EPOCH);
    written_at.map_or(end, |at| at.plus_millis(CLOCKS_DIFFER_MS))
}

//! The stored form of the consumer's progress.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::time::Timestamp;
use crate::store::{
    StoreError,
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

pub(super) fn batch_key(first: &SequenceNumber) -> String {
    format!("BATCH#{first}")
}

/// The item of a batch that is about to be handed out.
pub(super) fn batch(partition: &str, first: &SequenceNumber, span: FactSpan, now: Timestamp) -> Item {
    let mut item = key(partition, batch_key(first));
    item.extend([
        ("entityType".to_owned(), text("BATCH_PROGRESS")),
        ("uncoveredFrom".to_owned(), text(span.from.to_string())),
        ("handedOutThrough".to_owned(), text(span.through.to_string())),
        ("updatedAt".to_owned(), text(now.to_string())),
    ]);
    item
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
    let span = |value: &AttributeValue| {
        let (from, through) =
            value.as_s().ok().and_then(|text| text.split_once('/')).ok_or_else(|| unreadable("doubtful"))?;
        Ok(FactSpan { from: time("doubtful", from)?, through: time("doubtful", through)? })
    };
    spans.iter().map(span).collect()
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
    fn the_stored_form_of_a_batch_is_pinned_and_read_back() {
        let span = FactSpan { from: at("2026-05-23T10:00:00.000Z"), through: at("2026-05-23T10:00:02.000Z") };
        let first = "4421584500000000017450439091".parse().unwrap();
        let item = batch("CONSUMER#delivery#STREAM#arn:x", &first, span, at("2026-05-23T10:00:03.000Z"));
        let expected: Item = HashMap::from([
            ("PK".to_owned(), text("CONSUMER#delivery#STREAM#arn:x")),
            ("SK".to_owned(), text("BATCH#4421584500000000017450439091")),
            ("entityType".to_owned(), text("BATCH_PROGRESS")),
            ("uncoveredFrom".to_owned(), text("2026-05-23T10:00:00.000Z")),
            ("handedOutThrough".to_owned(), text("2026-05-23T10:00:02.000Z")),
            ("updatedAt".to_owned(), text("2026-05-23T10:00:03.000Z")),
        ]);
        assert_eq!(item, expected);
        assert_eq!(all_handed_out(&item).unwrap(), [HandedOut { span, by: By::Stream }]);
    }

    #[test]
    fn a_run_of_reconcile_is_pinned_and_read_as_it_is_written() {
        let span = FactSpan { from: at("2026-05-23T10:00:00.000Z"), through: at("2026-05-23T11:00:00.000Z") };
        let wanted = Run {
            id: WorkerId::from("r-1".to_owned()),
            event_id: "rally".parse().unwrap(),
            since: at("2026-05-25T09:00:00.000Z"),
        };
        let item = run(Item::new(), &wanted, span);
        let expected: Item = HashMap::from([
            ("entityType".to_owned(), text("RECONCILE_RUN")),
            ("runId".to_owned(), text("r-1")),
            ("eventId".to_owned(), text("rally")),
            ("uncoveredFrom".to_owned(), text("2026-05-23T10:00:00.000Z")),
            ("handedOutThrough".to_owned(), text("2026-05-23T11:00:00.000Z")),
            ("since".to_owned(), text("2026-05-25T09:00:00.000Z")),
        ]);
        assert_eq!(item, expected);
        assert_eq!(all_handed_out(&item).unwrap(), [HandedOut { span, by: By::Run(wanted) }]);
    }

    #[test]
    fn somebody_who_pushes_without_a_shard_is_told_from_one_who_waits_for_one() {
        let one = |attributes: &[(&str, &str)]| {
            let mut item = key("P", worker_key(&WorkerId::from("w".to_owned())));
            item.insert("beat".to_owned(), AttributeValue::N("3".to_owned()));
            item.extend(attributes.iter().map(|(name, value)| ((*name).to_owned(), text(*value))));
            let mut board = Board::default();
            read_into(&mut board, &item).unwrap();
            board.candidates.remove(0)
        };
        assert_eq!((one(&[]).errand, one(&[("errand", "push")]).errand), (Errand::Wait, Errand::Push));
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
        let told = all_handed_out(&written).unwrap();
        assert_eq!(told, [(); 3].map(|()| HandedOut { span, by: By::Stream }), "the doubtful spans too");
        assert_eq!(shard(&apply(written, &Reached::default())).unwrap().reached, Reached::default());
    }
}

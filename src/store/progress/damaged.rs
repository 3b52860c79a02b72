//! Progress that can't be read: each item harms what it is about, and nothing else.
//!
//! | item | what is done |
//! | --- | --- |
//! | `WORKER#…` | passed over: for a moment the others share the pushes without it |
//! | `BATCH#…`, `RUN#…` | what it is about may have been handed to LINE; where it can't be read how much that is, all of it |
//! | `SHARD#…` | the shard is begun anew, once its owner must have stopped |
//!
//! **Beginning a shard anew is safe.** An owner writes its item whole, so what is damaged in it is mended by its next
//! write, unless the damage is in what the write is conditional on (`owner`, `fence`); then the write is refused, and the
//! owner stops. So an item that stays as it is for as long as a lease takes to end has
//! no owner at work: the rule by which leases move. It is replaced on condition that it still is what was seen, by an
//! item without an owner and with a fence that no owner ever had; an owner that slept through all this finds neither its
//! name nor its fence there, and stops. What owners alone write (checkpoint, end, spans) is kept where it can be read.
//! Where it can't, the shard is read from the trim horizon, and everything up to now may have been handed to LINE. No
//! notice comes twice by that: it is marked on its fact, or pushed with the key that it was pushed with before, or given to
//! a person when LINE may have forgotten the key. Only the shard's counts count again what is read again;
//! `stats rebuild` corrects them.

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::time::Timestamp;
use crate::store::{
    StoreError,
    fields::Fields,
    guard::{Guarded, StillAs, guarded},
    items::Item,
    stream::{ListedShard, ShardId},
};

use super::{By, Consumers, FactSpan, Reached, Run, items};

/// Clocks differ by less, and nothing is handed out so long after it was written down.
const CLOCKS_DIFFER_MS: i64 = 10 * 60_000;

/// The last millisecond of the year 9999.
const LAST_MS: i64 = 253_402_300_799_999;

/// Every attribute that an owner writes.
const WRITTEN: [&str; 12] = [
    "beat",
    "checkpoint",
    "doubtful",
    "entityType",
    "fence",
    "finished",
    "handedOutThrough",
    "owner",
    "parent",
    "shardId",
    "uncoveredFrom",
    "updatedAt",
];

/// A shard whose item can't be read.
#[derive(Debug, Clone, PartialEq)]
pub struct DamagedShard {
    /// The shard.
    pub shard: ShardId,
    /// The item as it was read.
    pub seen: Item,
}

impl DamagedShard {
    /// The shard before it, if its item tells.
    #[must_use]
    pub fn parent(&self) -> Option<ShardId> {
        let parent = Fields::of(&self.seen).some_text("parent").ok().flatten();
        parent.map(str::to_owned).map(ShardId::from)
    }
}

impl Consumers {
    /// Begins a shard anew whose item can't be read, on condition that the item still is what was seen; what is known of
    /// it then. `None`: it has changed meanwhile.
    pub async fn replace(
        &self,
        damaged: &DamagedShard,
        parent: Option<ShardId>,
        now: Timestamp,
    ) -> Result<Option<Reached>, StoreError> {
        let shard = ListedShard { id: damaged.shard.clone(), parent };
        let (item, reached) = replaced(&self.partition, &shard, &damaged.seen, now);
        let put = self.store.client.put_item().table_name(&self.store.tables.consumers).set_item(Some(item));
        let StillAs { condition, names, values } = StillAs::seen(&damaged.seen, &WRITTEN);
        let put = put.condition_expression(condition).set_expression_attribute_names(Some(names));
        let written = guarded(put.set_expression_attribute_values(values).send().await)?;
        Ok(matches!(written, Guarded::Done).then_some(reached))
    }
}

/// What can be believed of a progress that can't be read as a whole. A checkpoint, an end and a span are written by
/// owners alone, so what is there of them is true; and where a bound of what was handed out is not there, everything on
/// that side, up to the time `until`, may have been.
pub(super) fn salvaged(item: &Item, until: Timestamp) -> Reached {
    let fields = Fields::of(item);
    let from = fields.time("uncoveredFrom").unwrap_or(Timestamp::EPOCH);
    let through = fields.time("handedOutThrough").unwrap_or(until);
    let all = FactSpan { from: Timestamp::EPOCH, through: until };
    Reached {
        checkpoint: fields.some_parsed("checkpoint").ok().flatten(),
        finished: fields.flag("finished").ok().flatten().unwrap_or_default(),
        handed_out: Some(FactSpan { from, through }),
        doubtful: items::doubtful(fields).unwrap_or_else(|_| vec![all]),
    }
}

/// Who may have handed out what an item is about. A run is in doubt from its first moment if it can't be read since when
/// it pushes, and for every event if it can't be read for which.
pub(super) fn by(item: &Item) -> By {
    let fields = Fields::of(item);
    match (items::run_id(fields), fields.parsed("eventId")) {
        (Some(id), Ok(event_id)) => By::Run(Run { id, event_id, since: Timestamp::EPOCH }),
        _ => By::Stream,
    }
}

/// No fact that an item is about happened later.
pub(super) fn latest(item: &Item) -> Timestamp {
    let fields = Fields::of(item);
    let written_at = fields.time("updatedAt").or_else(|_| fields.time("since"));
    let end = Timestamp::from_millis(LAST_MS).unwrap_or(Timestamp::EPOCH);
    written_at.map_or(end, |at| at.plus_millis(CLOCKS_DIFFER_MS))
}

/// The item of a shard that is begun anew: without an owner, with what was salvaged, and a fence that no owner ever had.
fn replaced(partition: &str, shard: &ListedShard, seen: &Item, now: Timestamp) -> (Item, Reached) {
    let reached = salvaged(seen, now.plus_millis(CLOCKS_DIFFER_MS));
    let mut item = items::new_shard(partition, shard, now);
    let (_, _, values) = items::progress(&reached);
    item.extend(values.into_iter().map(|(name, value)| (name.trim_start_matches(':').to_owned(), value)));
    item.insert("fence".to_owned(), AttributeValue::N(new_fence(seen, now).to_string()));
    (item, reached)
}

/// A fence counts take-overs, and nothing was ever taken over as many times as milliseconds have passed since 1970: the
/// time is above every fence that was counted, also where the last one can't be read.
fn new_fence(seen: &Item, now: Timestamp) -> u64 {
    let last = items::fence(Fields::of(seen)).unwrap_or_default();
    (last + 1).max(u64::try_from(now.as_millis()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::EventId;
    use crate::store::{
        items::Unreadable,
        progress::{HandedOut, WorkerId},
    };
    use items::text;

    const EARLY: &str = "2026-05-23T10:00:00.000Z";
    const LATE: &str = "2026-05-23T10:00:02.000Z";

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn span(from: &str, through: &str) -> FactSpan {
        FactSpan { from: at(from), through: at(through) }
    }

    fn number(digits: &str) -> AttributeValue {
        AttributeValue::N(digits.to_owned())
    }

    /// A shard that an owner reads.
    fn whole() -> Item {
        let shard = ListedShard { id: ShardId::from("s-2".to_owned()), parent: Some(ShardId::from("s-1".to_owned())) };
        let mut item = items::new_shard("CONSUMER#delivery#STREAM#arn:x", &shard, at(EARLY));
        item.extend(
            [
                ("owner", text("w")),
                ("fence", number("7")),
                ("beat", number("40")),
                ("checkpoint", text("100000000000000000001")),
                ("uncoveredFrom", text(EARLY)),
                ("handedOutThrough", text(LATE)),
                ("doubtful", AttributeValue::L(vec![text(format!("{EARLY}/{LATE}"))])),
            ]
            .map(|(name, value)| (name.to_owned(), value)),
        );
        item
    }

    fn with(mut item: Item, name: &str, value: Option<AttributeValue>) -> Item {
        item.remove(name);
        item.extend(value.map(|value| (name.to_owned(), value)));
        item
    }

    /// What is wrong with it, and what it becomes an hour later.
    fn anew(item: &Item) -> (Unreadable, Item, Reached) {
        let wrong = items::shard(item).unwrap_err();
        let shard = ListedShard { id: items::shard_id(item).unwrap(), parent: None };
        let (item, reached) = replaced("P", &shard, item, at("2026-05-23T11:00:00.000Z"));
        let read = items::shard(&item).unwrap();
        assert_eq!((read.owner, &read.reached), (None, &reached), "it reads as it was meant");
        assert!(read.fence >= u64::try_from(at("2026-05-23T11:00:00.000Z").as_millis()).unwrap());
        (wrong, item, reached)
    }

    #[test]
    fn what_owners_alone_write_is_kept() {
        let healthy = items::shard(&whole()).unwrap().reached;
        for (name, value) in [
            ("fence", Some(text("7"))),
            ("beat", None),
            ("owner", Some(number("1"))),
            ("updatedAt", Some(text("today"))),
            ("parent", Some(number("1"))),
        ] {
            let (wrong, _, reached) = anew(&with(whole(), name, value));
            assert_eq!((wrong.attribute.as_str(), reached), (name, healthy.clone()));
        }
    }

    #[test]
    fn without_a_checkpoint_it_is_read_from_the_trim_horizon_and_without_a_span_everything_is_in_doubt() {
        let (_, _, reached) = anew(&with(whole(), "checkpoint", Some(text("the first"))));
        assert_eq!((reached.checkpoint, reached.handed_out), (None, Some(span(EARLY, LATE))));
        let everything = FactSpan { from: Timestamp::EPOCH, through: at("2026-05-23T11:10:00.000Z") };
        let (_, _, reached) = anew(&with(whole(), "doubtful", Some(text("all"))));
        assert_eq!(reached.doubtful, [everything]);
        let (_, _, reached) = anew(&with(whole(), "uncoveredFrom", Some(text("May"))));
        assert_eq!(reached.handed_out, Some(FactSpan { from: Timestamp::EPOCH, through: at(LATE) }));
        let emptied = items::key("P", "SHARD#s-2".to_owned());
        let (_, _, reached) = anew(&emptied);
        assert_eq!(reached, Reached { handed_out: Some(everything), ..Reached::default() });
    }

    #[test]
    fn a_fence_is_above_every_one_before() {
        let (now, far) = (at(EARLY), "9000000000000000");
        assert_eq!(new_fence(&with(whole(), "fence", Some(number(far))), now), 9_000_000_000_000_001);
        assert_eq!(new_fence(&whole(), now), u64::try_from(now.as_millis()).unwrap());
    }

    #[test]
    fn a_batch_that_can_not_be_read_is_in_doubt_up_to_when_it_was_written() {
        let mut batch = items::key("P", "BATCH#4421584500000000017450439091".to_owned());
        batch.extend(
            [("uncoveredFrom", EARLY), ("handedOutThrough", LATE), ("updatedAt", LATE)]
                .map(|(name, time)| (name.to_owned(), text(time))),
        );
        let handed_out = |item: &Item| items::all_handed_out(item);
        let (out, wrong) = handed_out(&with(batch.clone(), "handedOutThrough", None));
        assert_eq!(wrong.unwrap().attribute, "handedOutThrough");
        assert_eq!(out, [HandedOut { span: span(EARLY, "2026-05-23T10:10:02.000Z"), by: By::Stream }]);
        let (out, wrong) = handed_out(&with(batch.clone(), "events", Some(number("1"))));
        assert_eq!(wrong.unwrap().attribute, "events");
        assert_eq!(out, [HandedOut { span: span(EARLY, LATE), by: By::Stream }]);
        let (out, _) = handed_out(&with(with(batch, "uncoveredFrom", Some(number("1"))), "updatedAt", None));
        assert_eq!(out[0].span, FactSpan { from: Timestamp::EPOCH, through: at(LATE) });
    }

    #[test]
    fn a_run_that_can_not_be_read_is_in_doubt_for_its_own_event_alone_where_that_is_known() {
        let event_id: EventId = "rally".parse().unwrap();
        let run = Run { id: WorkerId::from("r-1".to_owned()), event_id: event_id.clone(), since: at(LATE) };
        let item = items::run(items::key("P", "RUN#r-1".to_owned()), &run, span(EARLY, LATE));
        let (out, wrong) = items::all_handed_out(&with(item.clone(), "since", Some(text("noon"))));
        assert_eq!(wrong.unwrap().attribute, "since");
        let by = By::Run(Run { since: Timestamp::EPOCH, ..run });
        assert_eq!(out, [HandedOut { span: span(EARLY, LATE), by }]);
        let (out, _) = items::all_handed_out(&with(item, "eventId", Some(text("a#b"))));
        assert_eq!(out, [HandedOut { span: span(EARLY, LATE), by: By::Stream }]);
    }
}

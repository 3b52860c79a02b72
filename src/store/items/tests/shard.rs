//! Shards: the stored form, and what is salvaged of one that can't be read.

use aws_sdk_dynamodb::types::AttributeValue;

use super::{
    super::{
        super::{
            ids::{ListedShard, ShardId},
            keys::{self, ProgressKey},
            state::{FactSpan, ShardState},
            unreadable::Unreadable,
        },
        shard::{new_fence, restarted},
    },
    *,
};

pub(super) const EARLY: &str = "2026-05-23T10:00:00.000Z";
pub(super) const LATE: &str = "2026-05-23T10:00:02.000Z";

pub(super) fn span(from: &str, through: &str) -> FactSpan {
    FactSpan { from: at(from), through: at(through) }
}

pub(super) fn digits(digits: &str) -> AttributeValue {
    AttributeValue::N(digits.to_owned())
}

/// A shard that an owner reads.
fn whole() -> Item {
    let shard = ListedShard { id: ShardId::from("s-2".to_owned()), parent: Some(ShardId::from("s-1".to_owned())) };
    let mut item = new_shard("CONSUMER#delivery#STREAM#arn:x", &shard, at(EARLY));
    item.extend(
        [
            ("owner", text("w")),
            ("fence", digits("7")),
            ("beat", digits("40")),
            ("checkpoint", text("100000000000000000001")),
            ("uncoveredFrom", text(EARLY)),
            ("handedOutThrough", text(LATE)),
            ("doubtful", AttributeValue::L(vec![text(format!("{EARLY}/{LATE}"))])),
        ]
        .map(|(name, value)| (name.to_owned(), value)),
    );
    item
}

pub(super) fn changed(mut item: Item, name: &str, value: Option<AttributeValue>) -> Item {
    item.remove(name);
    item.extend(value.map(|value| (name.to_owned(), value)));
    item
}

/// What is wrong with it, and what it becomes an hour later.
fn anew(item: &Item) -> (Unreadable, Item, ShardState) {
    let wrong = shard(item).unwrap_err();
    let listed = ListedShard { id: keys::shard_of(Fields::of(item).sk()).unwrap(), parent: None };
    let (item, reached) = restarted("P", &listed, item, at("2026-05-23T11:00:00.000Z"));
    let read = shard(&item).unwrap();
    assert_eq!((read.owner, &read.reached), (None, &reached), "it reads as it was meant");
    assert!(read.fencing_token >= u64::try_from(at("2026-05-23T11:00:00.000Z").as_millis()).unwrap());
    (wrong, item, reached)
}

#[test]
fn what_owners_alone_write_is_kept() {
    let healthy = shard(&whole()).unwrap().reached;
    for (name, value) in [
        ("fence", Some(text("7"))),
        ("beat", None),
        ("owner", Some(digits("1"))),
        ("updatedAt", Some(text("today"))),
        ("parent", Some(digits("1"))),
    ] {
        let (wrong, _, reached) = anew(&changed(whole(), name, value));
        assert_eq!((wrong.attribute.as_str(), reached), (name, healthy.clone()));
    }
}

#[test]
fn without_a_checkpoint_it_is_read_from_the_trim_horizon_and_without_a_span_everything_is_maybe_sent() {
    let (_, _, reached) = anew(&changed(whole(), "checkpoint", Some(text("the first"))));
    assert_eq!((reached.checkpoint, reached.handed_out), (None, Some(span(EARLY, LATE))));
    let everything = FactSpan { from: Timestamp::EPOCH, through: at("2026-05-23T11:10:00.000Z") };
    let (_, _, reached) = anew(&changed(whole(), "doubtful", Some(text("all"))));
    assert_eq!(reached.maybe_sent, [everything]);
    let (_, _, reached) = anew(&changed(whole(), "uncoveredFrom", Some(text("May"))));
    assert_eq!(reached.handed_out, Some(FactSpan { from: Timestamp::EPOCH, through: at(LATE) }));
    let emptied = progress_key(ProgressKey::Shard { partition: "P", shard: &ShardId::from("s-2".to_owned()) });
    let (_, _, reached) = anew(&emptied);
    assert_eq!(reached, ShardState { handed_out: Some(everything), ..ShardState::default() });
}

#[test]
fn a_fence_is_above_every_one_before() {
    let (now, far) = (at(EARLY), "9000000000000000");
    assert_eq!(new_fence(&changed(whole(), "fence", Some(digits(far))), now), 9_000_000_000_000_001);
    assert_eq!(new_fence(&whole(), now), u64::try_from(now.as_millis()).unwrap());
}

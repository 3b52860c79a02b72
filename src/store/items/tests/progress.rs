//! What consumers store is pinned.

use aws_sdk_dynamodb::types::AttributeValue;

use super::{
    super::super::{
        ids::{ListedShard, ShardId, WorkerId},
        keys::ProgressKey,
        state::{By, CandidateRole, FactSpan, HandedOut, ShardState},
    },
    *,
};

#[test]
fn the_stored_form_of_the_stream_that_is_followed_is_pinned_and_read_back() {
    let item = followed("delivery", "arn:x", at("2026-05-23T10:00:00.000Z"));
    let expected: Item = HashMap::from([
        ("PK".to_owned(), text("CONSUMER#delivery")),
        ("SK".to_owned(), text("STREAM")),
        ("entityType".to_owned(), text("CONSUMER_STREAM")),
        ("streamArn".to_owned(), text("arn:x")),
        ("updatedAt".to_owned(), text("2026-05-23T10:00:00.000Z")),
    ]);
    assert_eq!(item, expected);
    assert_eq!(followed_arn(&item).unwrap(), "arn:x");
}

fn apply(mut item: Item, reached: &ShardState) -> Item {
    let (set, removed, values) = checkpoint(reached);
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
fn a_candidate_that_pushes_without_a_shard_is_known_from_one_that_waits_for_one() {
    let one = |attributes: &[(&str, &str)]| {
        let mut item = progress_key(ProgressKey::Worker { partition: "P", worker: &WorkerId::from("w".to_owned()) });
        item.insert("beat".to_owned(), AttributeValue::N("3".to_owned()));
        item.extend(attributes.iter().map(|(name, value)| ((*name).to_owned(), text(*value))));
        let Ok(OnBoard::Candidate(candidate)) = on_board(&item) else { panic!("a candidate") };
        candidate
    };
    assert_eq!((one(&[]).role, one(&[("errand", "push")]).role), (CandidateRole::Waiter, CandidateRole::Pusher));
}

#[test]
fn progress_is_read_as_it_is_written_and_what_is_gone_is_removed() {
    let shard_item = new_shard(
        "P",
        &ListedShard { id: ShardId::from("s".to_owned()), parent: None },
        at("2026-05-23T10:00:00.000Z"),
    );
    let span = FactSpan { from: at("2026-05-23T10:00:00.000Z"), through: at("2026-05-23T10:00:02.000Z") };
    let reached = ShardState {
        checkpoint: Some("100000000000000000001".parse().unwrap()),
        finished: true,
        handed_out: Some(span),
        maybe_sent: vec![span, span],
    };
    let written = apply(shard_item, &reached);
    assert_eq!(shard(&written).unwrap().reached, reached);
    let read = all_handed_out(&written).0;
    assert_eq!(read, [(); 3].map(|()| HandedOut { span, by: By::Stream }), "the spans of `doubtful` too");
    assert_eq!(shard(&apply(written, &ShardState::default())).unwrap().reached, ShardState::default());
}

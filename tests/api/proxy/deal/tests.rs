//! What readers of dealt shards may rely on.

use serde_json::json;

use super::{shard::digits, *};

const FIRST: Sequence = 100_000_000_000_000_000_000;

fn record(partition: &str, n: Sequence) -> Box<RawValue> {
    let keys = json!({"PK": {"S": partition}, "SK": {"S": "STAMP#001"}});
    let record = json!({"eventName": "INSERT", "dynamodb": {"Keys": keys, "SequenceNumber": digits(FIRST + n)}});
    RawValue::from_string(record.to_string()).unwrap()
}

fn sequence(record: &RawValue) -> Sequence {
    let record: Value = serde_json::from_str(record.get()).unwrap();
    record["dynamodb"]["SequenceNumber"].as_str().unwrap().parse().unwrap()
}

/// An engine with a record for each of these people, one after the other.
fn engine(people: usize) -> Vec<Box<RawValue>> {
    (0..people).map(|n| record(&format!("EVENT#e#USER#U{n:032x}"), n as Sequence)).collect()
}

/// Reads a shard from its beginning, until it ends or `engine` has nothing more.
fn read(deal: &mut Deal, shard: &str, engine: &[Box<RawValue>]) -> (Vec<Sequence>, Option<String>) {
    let begin = deal.iterator(shard, "TRIM_HORIZON", None, 0).unwrap();
    go_on(deal, &begin, engine)
}

fn go_on(deal: &mut Deal, iterator: &str, engine: &[Box<RawValue>]) -> (Vec<Sequence>, Option<String>) {
    deal.take_in(engine.to_vec());
    let (mut read, mut iterator) = (Vec::new(), iterator.to_owned());
    loop {
        let asked = deal.ask(&iterator).unwrap();
        let is_tip = asked.after >= deal.last();
        let dealings = deal.deal(&asked, 7).unwrap();
        read.extend(dealings.records.iter().map(|record| sequence(record)));
        match dealings.next_shard_iterator {
            Some(next) if !is_tip => iterator = next,
            next => return (read, next),
        }
    }
}

fn all(deal: &mut Deal) -> Vec<Value> {
    deal.list(Listing { after: None, limit: None, children_of: None }).0
}

fn children(deal: &mut Deal, parent: &str) -> Vec<String> {
    let (shards, _) = deal.list(Listing { after: None, limit: None, children_of: Some(parent) });
    shards.iter().map(|shard| shard["ShardId"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_record_lies_in_one_shard_and_each_shard_gets_some() {
    let (mut deal, engine) = (Deal::into(4), engine(200));
    let mut found = Vec::new();
    for shard in deal.ids() {
        let (records, next) = read(&mut deal, &shard, &engine);
        assert!((25..=75).contains(&records.len()), "{shard} has {} of 200", records.len());
        assert!(next.is_some(), "an open shard has no end");
        assert!(records.is_sorted());
        found.extend(records);
    }
    found.sort_unstable();
    assert_eq!(found, engine.iter().map(|record| sequence(record)).collect::<Vec<_>>());
}

#[test]
fn one_partition_stays_in_one_shard() {
    let mut deal = Deal::into(4);
    let shard = deal.shard_of("EVENT#e#USER#U1").to_owned();
    deal.take_in((0..5).map(|n| record("EVENT#e#USER#U1", n)).collect());
    let tails = deal.tails();
    assert_eq!(tails.iter().filter(|(_, last)| last.is_some()).collect::<Vec<_>>(), [(&shard, &Some(FIRST + 4))]);
}

#[test]
fn a_split_shard_ends_where_its_children_begin() {
    let (mut deal, engine) = (Deal::into(2), engine(100));
    let parent = deal.ids().remove(0);
    let begin = deal.iterator(&parent, "TRIM_HORIZON", None, 0).unwrap();
    deal.take_in(engine[..30].to_vec());
    let made = deal.close(&parent, FIRST + 49, 2);
    assert_eq!(children(&mut deal, &parent), made);

    let (of_parent, next) = go_on(&mut deal, &begin, &engine);
    assert!(of_parent.iter().all(|sequence| *sequence <= FIRST + 49) && next.is_none(), "read to its end");
    assert!(deal.pages().last().unwrap().last);
    for child in &made {
        let (records, next) = read(&mut deal, child, &engine);
        assert!(!records.is_empty() && records.iter().all(|sequence| *sequence > FIRST + 49) && next.is_some());
    }
    let everything: usize = deal.ids().iter().map(|shard| read(&mut deal, shard, &engine).0.len()).sum();
    assert_eq!(everything, 100, "nothing twice, nothing lost");
    assert_eq!(deal.close(&parent, FIRST + 99, 2), [""; 0], "it is closed already");
}

#[test]
fn what_was_read_before_the_cut_is_not_the_childrens_too() {
    let (mut deal, engine) = (Deal::into(1), engine(20));
    let parent = deal.ids().remove(0);
    let (read_of_parent, _) = read(&mut deal, &parent, &engine);
    // The engine was asked before the last ten were written.
    let child = deal.close(&parent, FIRST + 9, 1).remove(0);
    assert_eq!((read_of_parent.len(), read(&mut deal, &child, &engine).0.len()), (20, 0));
}

#[test]
fn a_closed_shard_without_records_has_an_end_too() {
    let mut deal = Deal::into(1);
    let parent = deal.ids().remove(0);
    let child = deal.close(&parent, 0, 1).remove(0);
    assert_eq!(read(&mut deal, &parent, &engine(10)), (Vec::new(), None));
    assert_eq!(read(&mut deal, &child, &engine(10)).0.len(), 10);
}

#[test]
fn the_end_is_listed_only_when_it_is_closed_and_lineage_is_told() {
    let mut deal = Deal::into(1);
    let parent = deal.ids().remove(0);
    assert!(all(&mut deal)[0]["SequenceNumberRange"].get("EndingSequenceNumber").is_none());
    deal.close(&parent, FIRST + 5, 2);
    let listed = all(&mut deal);
    assert_eq!(listed[0]["SequenceNumberRange"]["EndingSequenceNumber"], digits(FIRST + 5));
    assert_eq!(listed[1]["SequenceNumberRange"]["StartingSequenceNumber"], digits(FIRST + 6));
    assert!(listed[0].get("ParentShardId").is_none());
    assert_eq!((&listed[1]["ParentShardId"], &listed[2]["ParentShardId"]), (&json!(parent), &json!(parent)));
}

#[test]
fn a_list_comes_page_by_page() {
    let mut deal = Deal::into(205);
    let (mut after, mut pages, mut ids) = (None, Vec::new(), Vec::new());
    loop {
        let (shards, next) = deal.list(Listing { after: after.as_deref(), limit: None, children_of: None });
        pages.push(shards.len());
        ids.extend(shards.iter().map(|shard| shard["ShardId"].as_str().unwrap().to_owned()));
        after = next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((pages, ids), (vec![100, 100, 5], deal.ids()));
    let (shards, next) = deal.list(Listing { after: None, limit: Some(3), children_of: None });
    assert_eq!((shards.len(), next), (3, deal.ids().get(2).cloned()));
}

#[test]
fn a_listing_may_lag_behind_a_split() {
    let mut deal = Deal::into(1);
    let parent = deal.ids().remove(0);
    deal.list_late(2);
    deal.close(&parent, FIRST, 2);
    for _ in 0..2 {
        let listed = all(&mut deal);
        assert_eq!(listed.len(), 1);
        assert!(listed[0]["SequenceNumberRange"].get("EndingSequenceNumber").is_none(), "it still looks open");
    }
    assert_eq!(children(&mut deal, &parent).len(), 2);
}

#[test]
fn iterators_expire_on_command_and_with_age() {
    let (mut deal, engine) = (Deal::into(1), engine(3));
    let shard = deal.ids().remove(0);
    let old = deal.iterator(&shard, "TRIM_HORIZON", None, 0).unwrap();
    deal.expire();
    assert_eq!(deal.ask(&old), Err(Refused::Expired));
    let (records, next) = read(&mut deal, &shard, &engine);
    assert_eq!(records.len(), 3, "a new one is good");

    deal.iterators_live(1);
    let kept = next.unwrap();
    assert!(deal.ask(&kept).is_ok());
    assert_eq!(deal.ask(&kept), Err(Refused::Expired), "a read later it is too old");
}

#[test]
fn reading_goes_on_after_a_record() {
    let (mut deal, engine) = (Deal::into(1), engine(10));
    let shard = deal.ids().remove(0);
    for (kind, sequence, expected) in [
        ("AFTER_SEQUENCE_NUMBER", Some(FIRST + 3), 6),
        ("AT_SEQUENCE_NUMBER", Some(FIRST + 3), 7),
        ("LATEST", None, 0),
        ("TRIM_HORIZON", None, 10),
    ] {
        let iterator = deal.iterator(&shard, kind, sequence, FIRST + 9).unwrap();
        assert_eq!(go_on(&mut deal, &iterator, &engine).0.len(), expected, "{kind}");
    }
    assert_eq!(deal.iterator(&shard, "AFTER_SEQUENCE_NUMBER", None, 0), Err(Refused::Invalid));
    assert_eq!(deal.iterator("nowhere", "LATEST", None, 0), Err(Refused::Gone));
    assert_eq!(deal.ask("nonsense"), Err(Refused::Invalid));
}

#[test]
fn trimmed_records_are_missed_only_by_who_has_not_read_them() {
    let (mut deal, engine) = (Deal::into(1), engine(10));
    let shard = deal.ids().remove(0);
    let early = deal.iterator(&shard, "TRIM_HORIZON", None, 0).unwrap();
    let late = deal.iterator(&shard, "AFTER_SEQUENCE_NUMBER", Some(FIRST + 7), 0).unwrap();
    deal.trim(&shard, FIRST + 7);

    let asked = deal.ask(&early).unwrap();
    deal.take_in(engine.clone());
    assert_eq!(deal.deal(&asked, 1000).unwrap_err(), Refused::Trimmed);
    assert_eq!(go_on(&mut deal, &late, &engine).0.len(), 2);
    assert_eq!(read(&mut deal, &shard, &engine).0.len(), 2, "the horizon is behind what is gone");
}

#[test]
fn a_closed_shard_whose_records_are_all_trimmed_is_gone() {
    let mut deal = Deal::into(1);
    let shard = deal.ids().remove(0);
    let iterator = deal.iterator(&shard, "TRIM_HORIZON", None, 0).unwrap();
    let made = deal.close(&shard, FIRST + 5, 2);
    deal.trim(&shard, FIRST + 5);
    assert_eq!(deal.ask(&iterator), Err(Refused::Gone));
    let listed: Vec<_> = all(&mut deal).iter().map(|shard| shard["ShardId"].clone()).collect();
    assert_eq!(listed, made);
}

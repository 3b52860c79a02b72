//! What the embedded engine never does: empty pages with more behind them, a failure between two pages.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    super::super::client::{Clients, Timeouts},
    *,
};
use crate::stub::Stub;

fn read(stub: &Stub, partitions: &[&str], direction: Direction) -> Merge {
    let timeouts = Timeouts { first_backoff: Duration::from_millis(1), attempts: 1, ..Timeouts::request() };
    let client = Clients::at(stub.url(), &timeouts).table;
    let range = SortKeys { low: "0".to_owned(), high: "~".to_owned() };
    let source = Source { client, table: "line-event".to_owned(), index: Index::Gsi1, range, direction };
    Merge::new(source, partitions.iter().map(|&pk| pk.to_owned()))
}

fn answer(sort_keys: &[&str], more: bool) -> String {
    let items: Vec<Value> = sort_keys.iter().map(|key| json!({"GSI1SK": {"S": key}})).collect();
    let mut page = json!({"Items": items, "Count": items.len(), "ScannedCount": items.len()});
    if more {
        page["LastEvaluatedKey"] = json!({"PK": {"S": "p"}, "SK": {"S": "s"}});
    }
    page.to_string()
}

async fn all(merge: &mut Merge) -> Vec<String> {
    let mut seen = Vec::new();
    while let Some(row) = merge.next(10).await.unwrap() {
        seen.push(row.sort_key);
    }
    seen
}

#[tokio::test]
async fn an_empty_page_with_more_behind_it_is_not_the_end() {
    let pages = [answer(&[], true), answer(&["a"], true), answer(&[], true), answer(&["b"], false)];
    let stub = Stub::in_order(&pages.each_ref().map(|page| (200, page.as_str())));
    assert_eq!(all(&mut read(&stub, &["p"], Direction::Asc)).await, ["a", "b"]);
    assert_eq!(stub.requests().len(), 4);
}

#[tokio::test]
async fn a_failure_between_two_pages_is_told_and_the_list_goes_on_after_it() {
    let throttled = r#"{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"slow down"}"#;
    let stub = Stub::in_order(&[(200, &answer(&["a"], true)), (400, throttled), (200, &answer(&["b"], false))]);
    let mut merge = read(&stub, &["p"], Direction::Asc);
    assert_eq!(merge.next(10).await.unwrap().unwrap().sort_key, "a");
    assert!(matches!(merge.next(10).await, Err(StoreError::Unavailable(_))));
    assert_eq!(all(&mut merge).await, ["b"]);
}

#[test]
fn one_partition_is_asked_for_the_page_and_one_row_more_and_many_for_their_share() {
    assert_eq!(chunk(1001, 1), 1001);
    assert_eq!(chunk(1001, 32), 32 + 4 * 6 + 2);
    assert_eq!(chunk(101, 32), 4 + 4 * 3 + 2);
    assert_eq!(chunk(2, 32), 2, "never more than what is wanted");
    assert_eq!(chunk(1, 1), 1);
}

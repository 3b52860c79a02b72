//! Claims that come at once, on two servers.

use std::future::Future;

use futures_util::{StreamExt as _, stream};
use reqwest::{Client, Method};
use serde_json::{Value, json};

use super::taking;
use crate::house::{Answer, House, Person, RALLY, flex};

/// A claim at the house's server, or at another one. Of claims that come at once fifty are on their way at a time.
async fn claim((hanako, client): (&Person<'_>, &Client), url: &str, stamp: &str, proof: Value) -> Answer {
    let path = format!("{url}/api/events/{RALLY}/me/stamps/{stamp}");
    Answer::to(client.request(Method::POST, path).bearer_auth(&hanako.token).json(&json!({"proof": proof}))).await
}

async fn at_once(claims: impl Iterator<Item = impl Future<Output = Answer>>) -> Vec<Answer> {
    stream::iter(claims).buffer_unordered(50).collect().await
}

#[tokio::test]
async fn of_a_hundred_guesses_of_a_passcode_at_once_at_most_five_are_judged() {
    let house = House::open("a hundred guesses").await;
    house.change_stamp("001", &taking(&json!([["passcode"]]))).await;
    let (server, other) = house.another_server();
    let (hanako, client) = (house.hanako(), Client::builder().no_proxy().build().unwrap());
    let guesses = (0..100).map(|n| {
        let url = if n % 2 == 0 { house.url.as_str() } else { other.as_str() };
        claim((&hanako, &client), url, "001", json!({"passcode": format!("guess {n}")}))
    });
    let answers = at_once(guesses).await;
    let judged: Vec<_> = answers.iter().filter(|answer| answer.body["reason"] == "passcode_wrong").collect();
    let mut left: Vec<_> = judged.iter().map(|answer| answer.body["triesLeft"].as_u64().unwrap()).collect();
    left.sort_unstable();
    assert_eq!(left, [0, 1, 2, 3, 4], "five tries, each counted once");
    let limited = answers.iter().filter(|answer| answer.status == 429);
    assert_eq!(limited.count(), 95);
    let right = hanako.prove("001", json!({"passcode": "himitsu"})).await.refuses(429, "rate_limited");
    assert_eq!(right.header("retry-after"), right.body["retryAfterSeconds"].to_string());
    house.pass(std::time::Duration::from_mins(10)).await;
    hanako.prove("001", json!({"passcode": " ＨＩＭＩＴＳＵ "})).await.is(201);
    tokio::task::spawn_blocking(|| drop(server)).await.unwrap();
    house.close().await;
}

#[tokio::test]
async fn of_twenty_claims_at_once_under_an_interval_exactly_one_is_a_stamp() {
    let house = House::open("twenty at once").await;
    house.change_the_rally(&json!({"minIntervalSeconds": 60})).await;
    let ids: Vec<String> = (101..121).map(|n| n.to_string()).collect();
    for (order, id) in ids.iter().enumerate() {
        let stamp = json!({"name": id, "order": order + 10, "flexMessageContent": flex("{{stamp.name}}")});
        house.organiser().put_stamp(RALLY, id, &stamp).await.is(201);
    }
    let (server, other) = house.another_server();
    let (hanako, client) = (house.hanako(), Client::builder().no_proxy().build().unwrap());
    let claims = ids.iter().enumerate().map(|(n, id)| {
        let url = if n % 2 == 0 { house.url.as_str() } else { other.as_str() };
        claim((&hanako, &client), url, id, json!({}))
    });
    let answers = at_once(claims).await;
    let statuses = |wanted: u16| answers.iter().filter(|answer| answer.status == wanted).count();
    assert_eq!((statuses(201), statuses(409)), (1, 19), "{:?}", answers.iter().map(|a| a.status).collect::<Vec<_>>());
    let card = hanako.card().await.is(200).body;
    assert_eq!(card["acquiredCount"], 1);
    tokio::task::spawn_blocking(|| drop(server)).await.unwrap();
    house.close().await;
}

//! From the request for a stamp to the push at LINE, at a steady rate.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, SystemTime},
};

use anyhow::{Context, ensure};
use reqwest::Method;
use tokio::{task::JoinSet, time::MissedTickBehavior};

use super::{
    scene::Scene,
    table::{Row, median, percentile},
};

/// Acquisitions a second.
const RATE: u32 = 50;
const ROUNDS: usize = 3;
/// Acquisitions of one round: 20 s.
const REQUESTS: usize = 1_000;

pub async fn measure() -> anyhow::Result<Vec<Row>> {
    let scene = Scene::set(2)?;
    let server = scene.start(&["serve", "--with-consumer"], &[]).await?;
    let mut rounds = Vec::new();
    for n in 0..ROUNDS {
        let people = scene.people(REQUESTS).await?;
        let tokens = scene.tokens(&people).await?;
        let asked = ask(&scene, &server, &tokens).await?;
        scene.until_accepted((n + 1) * REQUESTS, Duration::from_secs(30)).await?;
        let took = took(&scene, &people, &asked).await?;
        let (half, most) = (percentile(took.iter().copied(), 0.5), percentile(took.iter().copied(), 0.99));
        eprintln!("house: latency {n}: p50 {half:.0} ms, p99 {most:.0} ms");
        rounds.push((half, most));
    }
    let half = median(rounds.iter().map(|round| round.0));
    let most = median(rounds.iter().map(|round| round.1));
    Ok(vec![Row {
        what: format!("request for a stamp → push received, {RATE} a second, polled every 250 ms"),
        house: format!("p50 {half:.0} ms, p99 {most:.0} ms"),
        bare: String::new(),
        compared: String::new(),
        limit: "p50 ≤ 180 ms, p99 ≤ 400 ms".to_owned(),
        holds: Some(half <= 180.0 && most <= 400.0),
    }])
}

/// Each participant acquires one stamp, one after the other at the rate, however long the answers take. When each request
/// was begun, in ms since 1970.
async fn ask(scene: &Scene, server: &super::scene::Server, tokens: &Arc<Vec<String>>) -> anyhow::Result<Vec<i64>> {
    let mut clock = tokio::time::interval(Duration::from_secs(1) / RATE);
    clock.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let (mut asked, mut answers) = (Vec::new(), JoinSet::new());
    for token in tokens.iter() {
        clock.tick().await;
        let request = server.request(&scene.http, Method::POST, "/me/stamps/001").bearer_auth(token);
        asked.push(millis_since_1970()?);
        answers.spawn(async move { anyhow::Ok(request.send().await?.status()) });
    }
    while let Some(status) = answers.join_next().await {
        let status = status??;
        ensure!(status == 201, "a stamp was not acquired: {status}");
    }
    Ok(asked)
}

/// How long each of them waited for the push, in ms.
async fn took(scene: &Scene, people: &[String], asked: &[i64]) -> anyhow::Result<Vec<f64>> {
    let pushed: HashMap<String, i64> = scene.pushes().await?.into_iter().collect();
    let took = people.iter().zip(asked).map(|(person, asked)| {
        let at = pushed.get(person).context("a participant got no push")?;
        Ok(f64::from(i32::try_from(at - asked)?))
    });
    took.collect()
}

fn millis_since_1970() -> anyhow::Result<i64> {
    Ok(i64::try_from(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_millis())?)
}

//! Many notices that wait, and a LINE that takes its time: the consumer beside the bare three requests.

use std::{fs, sync::Arc, time::Duration};

use anyhow::ensure;
use aws_sdk_dynamodb::types::{AttributeValue, Select};
use reqwest::Method;
use serde_json::json;

use super::{
    items,
    process::Process,
    roles::Role,
    scene::{Scene, TABLE},
    table::{Row, median, us_each},
};

/// `delivery.concurrency` as it is by default.
const AT_ONCE: usize = 64;
const ROUNDS: usize = 3;
const NOTICES: usize = 10_000;
/// For the memory that waiting notices take.
const MANY: usize = 20_000;
/// LINE answers after so long.
const LINE_TAKES_MS: u64 = 50;
const TIMEOUT: Duration = Duration::from_mins(5);

/// What one of the two took for all notices.
#[derive(Clone, Copy)]
struct Took {
    /// Processor time of each, its share of the start included, in µs.
    cpu: f64,
    /// Pushes a second, from the first to the last.
    rate: f64,
    /// The most memory, in kB.
    memory: f64,
}

/// The house and the bare requests.
struct Round {
    house: Took,
    bare: Took,
}

impl Round {
    async fn of(notices: usize) -> anyhow::Result<Self> {
        let round = Self { house: house(notices).await?, bare: bare(notices).await? };
        let Self { house, bare } = &round;
        eprintln!(
            "house: {notices} notices: {:.0} µs, {:.0}/s, {:.0} kB; bare {:.0} µs, {:.0}/s, {:.0} kB",
            house.cpu, house.rate, house.memory, bare.cpu, bare.rate, bare.memory
        );
        Ok(round)
    }

    fn cpu(&self) -> f64 {
        self.house.cpu / self.bare.cpu
    }

    fn rate(&self) -> f64 {
        self.house.rate / self.bare.rate
    }

    fn memory_mb(&self) -> f64 {
        (self.house.memory - self.bare.memory) / 1024.0
    }
}

pub async fn measure() -> anyhow::Result<Vec<Row>> {
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(Round::of(NOTICES).await?);
    }
    let many = Round::of(MANY).await?;
    Ok(rows(NOTICES, &rounds).into_iter().chain(rows(MANY, &[many])).collect())
}

async fn house(notices: usize) -> anyhow::Result<Took> {
    let (scene, _) = waiting(notices).await?;
    let concurrency = AT_ONCE.to_string();
    let pace = [
        ("STAMP_RALLY__DELIVERY__PUSHES_PER_SECOND", "1000000"),
        ("STAMP_RALLY__DELIVERY__CONCURRENCY", concurrency.as_str()),
    ];
    let consumer = scene.start(&["consume"], &pace).await?;
    scene.until_accepted(notices, TIMEOUT).await?;
    until_marked(&scene, notices).await?;
    took(&scene, &consumer.process, notices).await
}

async fn bare(notices: usize) -> anyhow::Result<Took> {
    let (scene, people) = waiting(notices).await?;
    let file = scene.folder().join("people");
    fs::write(&file, people.join("\n"))?;
    let mut bare = Role::start("bare-notices", &[&scene.engine.ready, &scene.line.ready, &file.display().to_string()])?;
    bare.carry_out(&AT_ONCE.to_string())?;
    until_marked(&scene, notices).await?;
    took(&scene, &bare.process, notices).await
}

/// Participants with a stamp whose notice waits.
async fn waiting(notices: usize) -> anyhow::Result<(Scene, Arc<Vec<String>>)> {
    let scene = Scene::set(2)?;
    let pace = json!({"latencyMs": {"push": LINE_TAKES_MS}, "ratePerSecond": null});
    scene.control(Method::PATCH, "/settings", &pace).await?;
    let people = scene.people(notices).await?;
    let (at, waiting) = (items::now(), people.clone());
    items::fill(&scene.clients.table, 2 * notices, move |n| match (&waiting[n / 2], n % 2) {
        (person, 0) => items::user(person, &at),
        (person, _) => items::user_stamp(person, "001", &at),
    })
    .await?;
    Ok((scene, people))
}

/// All notices are marked, or the figures mean nothing.
async fn until_marked(scene: &Scene, notices: usize) -> anyhow::Result<()> {
    let mut marked = 0;
    for _ in 0..10 {
        marked = count_marked(scene).await?;
        if marked == notices {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    anyhow::bail!("only {marked} of {notices} notices are marked")
}

async fn count_marked(scene: &Scene) -> anyhow::Result<usize> {
    let scan =
        scene.clients.table.scan().table_name(TABLE).select(Select::Count).filter_expression("flexMessageSent = :sent");
    let mut pages = scan.expression_attribute_values(":sent", AttributeValue::Bool(true)).into_paginator().send();
    let mut marked = 0;
    while let Some(page) = pages.next().await {
        marked += usize::try_from(page?.count())?;
    }
    Ok(marked)
}

async fn took(scene: &Scene, process: &Process, notices: usize) -> anyhow::Result<Took> {
    let (cpu, memory) = (process.cpu()?, process.memory()?);
    let pushes = scene.pushes().await?;
    ensure!(pushes.len() == notices, "{} pushes for {notices} notices", pushes.len());
    let (first, last) = (pushes.iter().map(|push| push.1).min(), pushes.iter().map(|push| push.1).max());
    let span_ms = last.unwrap_or_default() - first.unwrap_or_default();
    let rate = f64::from(i32::try_from(notices)?) * 1000.0 / f64::from(i32::try_from(span_ms)?);
    Ok(Took { cpu: us_each(cpu, notices), rate, memory: f64::from(u32::try_from(memory.peak)?) })
}

fn rows(notices: usize, rounds: &[Round]) -> Vec<Row> {
    let of = |figure: fn(&Round) -> f64| median(rounds.iter().map(figure));
    let (cpu, rate, memory) = (of(Round::cpu), of(Round::rate), of(Round::memory_mb));
    let row = |what: String, house: String, bare: String, compared: String, limit: &str, holds: bool| Row {
        what,
        house,
        bare,
        compared,
        limit: limit.to_owned(),
        holds: Some(holds),
    };
    vec![
        row(
            format!(
                "{notices} waiting notices, LINE answers after {LINE_TAKES_MS} ms, {AT_ONCE} at once: processor time of the consumer each"
            ),
            format!("{:.0} µs", of(|round| round.house.cpu)),
            format!("{:.0} µs (Query, push, UpdateItem)", of(|round| round.bare.cpu)),
            format!("× {cpu:.2}"),
            "≤ × 1.5",
            cpu <= 1.5,
        ),
        row(
            "… pushes a second".to_owned(),
            format!("{:.0}", of(|round| round.house.rate)),
            format!("{:.0}", of(|round| round.bare.rate)),
            format!("× {rate:.2}"),
            "≥ × 0.8",
            rate >= 0.8,
        ),
        row(
            "… most memory".to_owned(),
            format!("{:.1} MB", of(|round| round.house.memory / 1024.0)),
            format!("{:.1} MB", of(|round| round.bare.memory / 1024.0)),
            format!("{memory:+.1} MB"),
            "≤ + 64 MB",
            memory <= 64.0,
        ),
    ]
}

//! Acquiring a stamp, beside the bare conditional Put: processor time of the server, and of the bare client.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, ensure};
use reqwest::Method;

use super::{
    items,
    roles::Role,
    scene::{Scene, Server, all},
    table::{Row, median, us_each},
};

const AT_ONCE: usize = 32;
const PEOPLE: usize = 2_500;
/// The first warms connections and caches, and doesn't count.
const ROUNDS: usize = 6;
/// Stamps that everybody acquires in one turn.
const STAMPS: usize = 2;
/// Requests of one turn.
const REQUESTS: usize = PEOPLE * STAMPS;

/// How often a request is repeated when the store can't answer.
const TRIES: usize = 10;

/// Processor time of a request in one round, in µs.
struct Round {
    bare: f64,
    seen: f64,
    first_seen: f64,
}

pub async fn measure() -> anyhow::Result<Vec<Row>> {
    let scene = Scene::set(2 * STAMPS * ROUNDS)?;
    let server = scene.start(&["serve"], &[]).await?;
    let mut bare = Role::start("bare-put", &[&scene.engine.ready])?;
    let people = scene.people(PEOPLE).await?;
    let known = scene.tokens(&people).await?;
    register(&scene, &server, &known).await?;
    let mut rounds = Vec::new();
    for n in 0..ROUNDS {
        let round = round(&scene, &server, &mut bare, &people, &known, n).await?;
        let Round { bare, seen, first_seen } = round;
        eprintln!("house: acquire {n}: seen {seen:.0} µs, bare {bare:.0} µs, first seen {first_seen:.0} µs");
        rounds.extend((n > 0).then_some(round));
    }
    Ok(rows(&rounds))
}

async fn round(
    scene: &Scene,
    server: &Server,
    bare: &mut Role,
    people: &Arc<Vec<String>>,
    known: &Arc<Vec<String>>,
    n: usize,
) -> anyhow::Result<Round> {
    // A token is seen for the first time only once.
    let mut fresh = Vec::new();
    for _ in 0..STAMPS {
        fresh.extend(scene.tokens(people).await?.iter().cloned());
    }
    // Who is registered is known for a minute, and whose token it is until 10,000 others came.
    look_at_cards(scene, server, known).await?;
    let first_stamp = 1 + 2 * STAMPS * n;
    let seen = acquire(scene, server, known, first_stamp).await?;
    let bare = put(bare, n)?;
    let first_seen = acquire(scene, server, &Arc::new(fresh), first_stamp + STAMPS).await?;
    Ok(Round {
        bare: us_each(bare, REQUESTS),
        seen: us_each(seen, REQUESTS),
        first_seen: us_each(first_seen, REQUESTS),
    })
}

async fn register(scene: &Scene, server: &Server, tokens: &Arc<Vec<String>>) -> anyhow::Result<()> {
    ask(scene, server, tokens, PEOPLE, 201, |_| (Method::PUT, "/me".to_owned())).await
}

async fn look_at_cards(scene: &Scene, server: &Server, tokens: &Arc<Vec<String>>) -> anyhow::Result<()> {
    ask(scene, server, tokens, PEOPLE, 200, |_| (Method::GET, "/me".to_owned())).await
}

/// Everybody acquires stamps from a number on; the server's processor time for it.
async fn acquire(scene: &Scene, server: &Server, tokens: &Arc<Vec<String>>, first: usize) -> anyhow::Result<Duration> {
    let before = server.process.cpu()?;
    let stamp = move |n| (Method::POST, format!("/me/stamps/{}", items::stamp_id(first + n / PEOPLE)));
    ask(scene, server, tokens, REQUESTS, 201, stamp).await?;
    Ok(server.process.cpu()?.saturating_sub(before))
}

/// As many bare Puts; the client's processor time for it.
fn put(bare: &mut Role, round: usize) -> anyhow::Result<Duration> {
    let before = bare.process.cpu()?;
    bare.carry_out(&format!("{} {REQUESTS} {AT_ONCE}", round * REQUESTS))?;
    Ok(bare.process.cpu()?.saturating_sub(before))
}

/// So many requests, each with the next token; all of them must be answered with this status.
async fn ask(
    scene: &Scene,
    server: &Server,
    tokens: &Arc<Vec<String>>,
    count: usize,
    status: u16,
    what: impl Fn(usize) -> (Method, String),
) -> anyhow::Result<()> {
    let request = |n: usize| {
        let (method, path) = what(n);
        server.request(&scene.http, method, &path).bearer_auth(&tokens[n % tokens.len()]).build()
    };
    let requests = Arc::new((0..count).map(request).collect::<Result<Vec<_>, _>>()?);
    let http = scene.http.clone();
    all(count, AT_ONCE, move |n| {
        let (http, requests) = (http.clone(), requests.clone());
        async move {
            for _ in 0..TRIES {
                let request = requests[n].try_clone().context("a body can't be sent twice")?;
                let answer = http.execute(request).await?;
                match answer.status().as_u16() {
                    // A machine that has too much else to do: repeating is safe, and a stamp may be held already.
                    503 => continue,
                    found => ensure!(found == status || found == 200, "{found}: {}", answer.text().await?),
                }
                return Ok(());
            }
            anyhow::bail!("the store can't answer")
        }
    })
    .await
}

fn rows(rounds: &[Round]) -> Vec<Row> {
    let seen = median(rounds.iter().map(|round| round.seen));
    let bare = median(rounds.iter().map(|round| round.bare));
    let ratio = median(rounds.iter().map(|round| round.seen / round.bare));
    let added = median(rounds.iter().map(|round| round.first_seen - round.seen));
    vec![
        Row {
            what: format!("`POST …/me/stamps/{{id}}`, {AT_ONCE} at once: processor time of the server each"),
            house: format!("{seen:.0} µs"),
            bare: format!("{bare:.0} µs (the SDK's conditional Put)"),
            compared: format!("× {ratio:.2}"),
            limit: "≤ × 1.5".to_owned(),
            holds: ratio <= 1.5,
        },
        Row {
            what: "the same with an ID token that was never seen before".to_owned(),
            house: format!("{:.0} µs", seen + added),
            bare: String::new(),
            compared: format!("+ {added:.0} µs"),
            limit: "≤ + 100 µs".to_owned(),
            holds: added <= 100.0,
        },
    ]
}

//! Acquiring a stamp, beside the bare conditional Put: processor time of the server, and of the bare client.

use std::{fs, sync::Arc, time::Duration};

use anyhow::{Context, ensure};
use reqwest::Method;

use super::{
    items,
    roles::Role,
    scene::{Scene, Server, all},
    table::{Row, median, us_each},
};

const AT_ONCE: usize = 32;
/// Everybody acquires one stamp in each turn. Turns are short, so that whatever else the machine does meets all three
/// kinds of them alike.
const PEOPLE: usize = 1_500;
/// The first warms connections and caches, and doesn't count.
const ROUNDS: usize = 16;

/// How often a request is repeated when the store can't answer.
const TRIES: usize = 10;

/// Processor time of each in one round, in µs.
struct Round {
    /// A conditional Put by the SDK alone.
    put: f64,
    /// A request with a token that was seen before.
    seen: f64,
    /// The signature of a token by the library alone.
    signature: f64,
    /// A request with a new token.
    first_seen: f64,
}

pub async fn measure() -> anyhow::Result<Vec<Row>> {
    let scene = Scene::set(2 * ROUNDS)?;
    let server = scene.start(&["serve"], &[]).await?;
    let mut bare = Bare {
        put: Role::start("bare-put", &[&scene.engine.ready])?,
        signature: Role::start("bare-signature", &[&scene.line.ready])?,
    };
    let people = scene.people(PEOPLE).await?;
    let known = scene.tokens(&people).await?;
    register(&scene, &server, &known).await?;
    let mut rounds = Vec::new();
    for n in 0..ROUNDS {
        let round = round(&scene, &server, &mut bare, &people, &known, n).await?;
        let Round { put, seen, signature, first_seen } = round;
        eprintln!(
            "house: acquire {n}: seen {seen:.0} µs, bare {put:.0} µs; first seen {first_seen:.0} µs, signature {signature:.0} µs"
        );
        rounds.extend((n > 0).then_some(round));
    }
    Ok(rows(&rounds))
}

/// The processes that do a part of it alone.
struct Bare {
    put: Role,
    signature: Role,
}

async fn round(
    scene: &Scene,
    server: &Server,
    bare: &mut Bare,
    people: &Arc<Vec<String>>,
    known: &Arc<Vec<String>>,
    n: usize,
) -> anyhow::Result<Round> {
    // A token is seen for the first time only once.
    let fresh = scene.tokens(people).await?;
    // Who is registered is known for a minute, and whose token it is until 10,000 others came.
    look_at_cards(scene, server, known).await?;
    // Each of the two goes first every other time: the machine's caches prefer one that comes later.
    let (first, second) = if n.is_multiple_of(2) { (known, &fresh) } else { (&fresh, known) };
    let first = acquire(scene, server, first, 2 * n + 1).await?;
    let put = carry_out(&mut bare.put, &format!("{} {PEOPLE} {AT_ONCE}", n * PEOPLE))?;
    let second = acquire(scene, server, second, 2 * n + 2).await?;
    let (seen, first_seen) = if n.is_multiple_of(2) { (first, second) } else { (second, first) };
    let file = scene.folder().join("tokens");
    fs::write(&file, fresh.join("\n"))?;
    let signature = carry_out(&mut bare.signature, &file.display().to_string())?;
    let each = |cpu| us_each(cpu, PEOPLE);
    Ok(Round { put: each(put), seen: each(seen), signature: each(signature), first_seen: each(first_seen) })
}

/// The processor time that a process takes for an order.
fn carry_out(bare: &mut Role, order: &str) -> anyhow::Result<Duration> {
    let before = bare.process.cpu()?;
    bare.carry_out(order)?;
    Ok(bare.process.cpu()?.saturating_sub(before))
}

async fn register(scene: &Scene, server: &Server, tokens: &Arc<Vec<String>>) -> anyhow::Result<()> {
    ask(scene, server, tokens, 201, Method::PUT, "/me").await
}

async fn look_at_cards(scene: &Scene, server: &Server, tokens: &Arc<Vec<String>>) -> anyhow::Result<()> {
    ask(scene, server, tokens, 200, Method::GET, "/me").await
}

/// Everybody acquires one stamp; the server's processor time for it.
async fn acquire(scene: &Scene, server: &Server, tokens: &Arc<Vec<String>>, stamp: usize) -> anyhow::Result<Duration> {
    let path = format!("/me/stamps/{}", items::stamp_id(stamp));
    let before = server.process.cpu()?;
    ask(scene, server, tokens, 201, Method::POST, &path).await?;
    Ok(server.process.cpu()?.saturating_sub(before))
}

/// The same request of everybody; all of them must be answered with this status.
async fn ask(
    scene: &Scene,
    server: &Server,
    tokens: &Arc<Vec<String>>,
    status: u16,
    method: Method,
    path: &str,
) -> anyhow::Result<()> {
    let request = |token| server.request(&scene.http, method.clone(), path).bearer_auth(token).build();
    let requests = Arc::new(tokens.iter().map(request).collect::<Result<Vec<_>, _>>()?);
    let http = scene.http.clone();
    all(requests.len(), AT_ONCE, move |n| {
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
    let put = median(rounds.iter().map(|round| round.put));
    let signature = median(rounds.iter().map(|round| round.signature));
    let ratio = median(rounds.iter().map(|round| round.seen / round.put));
    let added = median(rounds.iter().map(|round| round.first_seen - round.seen));
    vec![
        Row {
            what: format!("`POST …/me/stamps/{{id}}`, {AT_ONCE} at once: processor time of the server each"),
            house: format!("{seen:.0} µs"),
            bare: format!("{put:.0} µs (the SDK's conditional Put)"),
            compared: format!("× {ratio:.2}"),
            limit: "≤ × 1.5".to_owned(),
            holds: ratio <= 1.5,
        },
        Row {
            what: "the same with an ID token that was never seen before".to_owned(),
            house: format!("{:.0} µs", seen + added),
            bare: format!("{signature:.0} µs (an ES256 signature)"),
            compared: format!("+ {added:.0} µs"),
            limit: "≤ + 100 µs".to_owned(),
            holds: added <= 100.0,
        },
    ]
}

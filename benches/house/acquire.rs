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

/// So many take turns at a time: few, so that whatever else the machine does meets all kinds of turns alike.
const GROUP: usize = 500;
const GROUPS: usize = 3;

/// In each round each participant acquires [`STAMPS`] stamps. The first round warms connections and caches, and doesn't count.
const ROUNDS: usize = 9;

/// Known token, new token, new token, known token: what grows from turn to turn, as a card does, is the same for both.
const STAMPS: usize = 4;

/// How often a request is repeated when the store can't answer.
const TRIES: usize = 10;

/// Processor time of each, in µs, by one group in one round.
struct Turns {
    /// A conditional Put by the SDK alone.
    put: f64,
    /// A request with a token that was seen before.
    seen: f64,
    /// The signature of a token by the library alone.
    signature: f64,
    /// A token by the house's verifier alone.
    verification: f64,
    /// A request with a new token.
    first_seen: f64,
}

pub async fn measure() -> anyhow::Result<Vec<Row>> {
    let scene = Scene::set(STAMPS * ROUNDS)?;
    let server = scene.start(&["serve"], &[]).await?;
    let mut bare = Bare {
        put: Role::start("bare-put", &[&scene.engine.ready])?,
        signature: Role::start("bare-signature", &[&scene.line.ready])?,
        verification: Role::start("bare-verification", &[&scene.line.ready])?,
    };
    let mut groups = Vec::new();
    for _ in 0..GROUPS {
        let people = scene.people(GROUP).await?;
        let known = scene.tokens(&people).await?;
        register(&scene, &server, &known).await?;
        groups.push((people, known));
    }
    let mut turns = Vec::new();
    for round in 0..ROUNDS {
        for (people, known) in &groups {
            let taken = take_turns(&scene, &server, &mut bare, people, known, round).await?;
            turns.extend((round > 0).then_some(taken));
        }
    }
    Ok(rows(&turns))
}

/// The processes that do a part of it alone.
struct Bare {
    put: Role,
    signature: Role,
    verification: Role,
}

async fn take_turns(
    scene: &Scene,
    server: &Server,
    bare: &mut Bare,
    people: &Arc<Vec<String>>,
    known: &Arc<Vec<String>>,
    round: usize,
) -> anyhow::Result<Turns> {
    // A token is seen for the first time only once.
    let (new, newer) = (scene.tokens(people).await?, scene.tokens(people).await?);
    let (puts, file, next) =
        (format!("{GROUP} {AT_ONCE}"), written(scene, "new", &new)?, written(scene, "newer", &newer)?);
    // Who is registered is known for a minute, and whose token it is until 10,000 others came.
    look_at_cards(scene, server, known).await?;
    let stamp = STAMPS * round + 1;
    let mut seen = acquire(scene, server, known, stamp).await?;
    let mut put = carry_out(&mut bare.put, &puts)?;
    let mut first_seen = acquire(scene, server, &new, stamp + 1).await?;
    let mut signature = carry_out(&mut bare.signature, &file)?;
    let mut verification = carry_out(&mut bare.verification, &file)?;
    first_seen += acquire(scene, server, &newer, stamp + 2).await?;
    verification += carry_out(&mut bare.verification, &next)?;
    signature += carry_out(&mut bare.signature, &next)?;
    put += carry_out(&mut bare.put, &puts)?;
    seen += acquire(scene, server, known, stamp + 3).await?;
    let each = |cpu| us_each(cpu, 2 * GROUP);
    let turns = Turns {
        put: each(put),
        seen: each(seen),
        signature: each(signature),
        verification: each(verification),
        first_seen: each(first_seen),
    };
    let Turns { put, seen, signature, verification, first_seen } = &turns;
    eprintln!(
        "house: acquire {round}: seen {seen:.0} µs, bare {put:.0} µs; first seen {first_seen:.0} µs, verified {verification:.0} µs, signature {signature:.0} µs"
    );
    Ok(turns)
}

/// A file of tokens, one a line.
fn written(scene: &Scene, name: &str, tokens: &[String]) -> anyhow::Result<String> {
    let file = scene.folder().join(name);
    fs::write(&file, tokens.join("\n"))?;
    Ok(file.display().to_string())
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

/// Each participant acquires one stamp; the server's processor time for it.
async fn acquire(scene: &Scene, server: &Server, tokens: &Arc<Vec<String>>, stamp: usize) -> anyhow::Result<Duration> {
    let path = format!("/me/stamps/{}", items::stamp_id(stamp));
    let before = server.process.cpu()?;
    ask(scene, server, tokens, 201, Method::POST, &path).await?;
    Ok(server.process.cpu()?.saturating_sub(before))
}

/// The same request of each participant; all of them must be answered with this status.
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

fn rows(turns: &[Turns]) -> Vec<Row> {
    let seen = median(turns.iter().map(|turn| turn.seen));
    let put = median(turns.iter().map(|turn| turn.put));
    let signature = median(turns.iter().map(|turn| turn.signature));
    let ratio = median(turns.iter().map(|turn| turn.seen / turn.put));
    let verification = median(turns.iter().map(|turn| turn.verification));
    let own = median(turns.iter().map(|turn| turn.verification / turn.signature));
    let added = median(turns.iter().map(|turn| turn.first_seen - turn.seen));
    vec![
        Row {
            what: format!("`POST …/me/stamps/{{id}}`, {AT_ONCE} at once: processor time of the server each"),
            house: format!("{seen:.0} µs"),
            bare: format!("{put:.0} µs (the SDK's conditional Put)"),
            compared: format!("× {ratio:.2}"),
            limit: "≤ × 1.5".to_owned(),
            holds: Some(ratio <= 1.5),
        },
        Row {
            what: "the same with an ID token that was never seen before".to_owned(),
            house: format!("{:.0} µs", seen + added),
            bare: format!("{signature:.0} µs (an ES256 signature)"),
            compared: format!("+ {added:.0} µs"),
            limit: "≤ + 100 µs".to_owned(),
            holds: Some(added <= 100.0),
        },
        Row {
            what: "… of this, the token checked by the house's verifier in a loop of its own".to_owned(),
            house: format!("{verification:.0} µs"),
            bare: format!("{signature:.0} µs (an ES256 signature)"),
            compared: format!("× {own:.2}"),
            limit: String::new(),
            holds: None,
        },
    ]
}

//! Judging proofs: a screen's code beside one HMAC-SHA256 of the same length, and a claim with a code beside one for a stamp
//! that asks for none.

use std::{hint::black_box, sync::Arc, time::Instant};

use anyhow::Context;
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;
use stamp_rally::domain::{
    claim::{BroughtCode, Case, Claim, Decision, Evidence, Known},
    event::{Event, EventChange},
    proof::{CodeSource, Generation, ProofKeys, ProofKind, Proofs, Step},
    setting::Name,
    stamp::{ClaimRulesChange, StampMaster, StampMasterChange, StampMasters, StampOrder},
    time::Timestamp,
};

use super::{
    items,
    scene::{EVENT, PROOF_KEY, Scene, Server, all},
    table::{Row, median, us_each},
};

const AT_ONCE: usize = 32;
const GROUP: usize = 500;

/// In each round each participant acquires four stamps: open, by code, by code, open. The first round doesn't count.
const ROUNDS: usize = 7;
const STAMPS: usize = 4;

/// How often a code is judged in one turn, and how many turns there are.
const LOOPS: u32 = 20_000;
const TURNS: usize = 9;

pub async fn measure() -> anyhow::Result<Vec<Row>> {
    Ok(vec![judging()?, claims().await?])
}

/// A code of a screen, judged in a loop, and an HMAC of a context of the same length, in turns.
fn judging() -> anyhow::Result<Row> {
    let keys = ProofKeys::read([PROOF_KEY]).map_err(|(_, fault)| fault)?;
    let (event, master) = rally()?;
    let now = event.window.starts_at();
    let source = CodeSource { keys: &keys, event_id: &event.event_id, stamp_id: &master.stamp_id };
    let code = source.shown(Generation::FIRST, Step::of(now, 30)).context("there is a key")?;
    let masters: StampMasters = vec![master.clone()].into();
    let claim = Claim {
        line_user_id: items::user_id(1).parse()?,
        request_id: "bench".parse()?,
        evidence: Evidence { code: Some(BroughtCode::read(&code)), ..Evidence::default() },
    };
    let case = Case { event: &event, masters: &masters, master: &master, keys: &keys, now };
    let context = format!("stamp-rally/1#qr_rotating#{EVENT}#{}#1#59317860", master.stamp_id);
    let hmac = Hmac::<Sha256>::new_from_slice(&BASE64_URL_SAFE_NO_PAD.decode(PROOF_KEY)?)?;
    let mut turns = Vec::new();
    for _ in 0..TURNS {
        let judged = each(|| {
            assert!(matches!(claim.decide(black_box(&case), &Known::default()), Decision::Acquire(_)), "it is good");
        });
        let signed = each(|| {
            black_box(hmac.clone().chain_update(black_box(context.as_bytes())).finalize());
        });
        turns.push((judged, signed));
    }
    let ratio = median(turns.iter().map(|(judged, signed)| judged / signed));
    Ok(Row {
        what: "a screen's code, one key: the whole decision".to_owned(),
        house: format!("{:.0} ns", median(turns.iter().map(|turn| turn.0))),
        bare: format!("{:.0} ns (one HMAC-SHA256 of the same length)", median(turns.iter().map(|turn| turn.1))),
        compared: format!("× {ratio:.2}"),
        limit: "≤ × 3".to_owned(),
        holds: Some(ratio <= 3.0),
    })
}

/// The time of each of many, in nanoseconds.
#[expect(clippy::cast_precision_loss, reason = "a second has few nanoseconds")]
fn each(work: impl Fn()) -> f64 {
    let began = Instant::now();
    (0..LOOPS).for_each(|_| work());
    began.elapsed().as_nanos() as f64 / f64::from(LOOPS)
}

fn rally() -> anyhow::Result<(Event, StampMaster)> {
    let at = |text: &str| text.parse::<Timestamp>().map(Some);
    let event = EventChange {
        name: Some(Name::try_from("速さ".to_owned())?),
        starts_at: at("2026-05-23T10:00:00.000Z")?,
        ends_at: at("2026-05-24T10:00:00.000Z")?,
        channel: Some("main".parse()?),
        ..EventChange::default()
    };
    let event = event.create(EVENT.parse()?, Timestamp::EPOCH)?;
    let proofs = Proofs::try_from(vec![vec![ProofKind::QrRotating]])?;
    let master = StampMasterChange {
        name: Some(Name::try_from("第1スタンプ".to_owned())?),
        order: Some(StampOrder::try_from(1)?),
        flex_message_content: Some(Value::Null),
        rules: ClaimRulesChange { proofs: Some(proofs), ..ClaimRulesChange::default() },
        ..StampMasterChange::default()
    };
    Ok((event.clone(), master.create(event.event_id, "001".parse()?, Timestamp::EPOCH)?))
}

/// Claims of known participants at stamps that ask for nothing, and at stamps that ask for a printed code.
async fn claims() -> anyhow::Result<Row> {
    let scene = Scene::set(STAMPS * ROUNDS)?;
    let server = scene.start(&["serve"], &[]).await?;
    let people = scene.people(GROUP).await?;
    let tokens = scene.tokens(&people).await?;
    ask(&scene, &server, &tokens, &Request { method: Method::PUT, path: "/me".to_owned(), body: json!({}) }).await?;
    let mut turns = Vec::new();
    for round in 0..ROUNDS {
        let first = STAMPS * round + 1;
        for stamp in [first + 1, first + 2] {
            take_proofs(&scene, &server, stamp).await?;
        }
        let mut open = acquire(&scene, &server, &tokens, (first, None)).await?;
        let mut coded = acquire(&scene, &server, &tokens, (first + 1, Some(printed(first + 1)?))).await?;
        coded += acquire(&scene, &server, &tokens, (first + 2, Some(printed(first + 2)?))).await?;
        open += acquire(&scene, &server, &tokens, (first + 3, None)).await?;
        eprintln!("house: proofs {round}: open {open:.0} µs, by code {coded:.0} µs");
        turns.extend((round > 0).then_some((open / 2.0, coded / 2.0)));
    }
    let ratio = median(turns.iter().map(|(open, coded)| coded / open));
    Ok(Row {
        what: "`POST …/me/stamps/{id}` with a printed code: processor time of the server each".to_owned(),
        house: format!("{:.0} µs", median(turns.iter().map(|turn| turn.1))),
        bare: format!("{:.0} µs (the same on an open stamp)", median(turns.iter().map(|turn| turn.0))),
        compared: format!("× {ratio:.2}"),
        limit: "≤ × 1.1".to_owned(),
        holds: Some(ratio <= 1.1),
    })
}

fn printed(stamp: usize) -> anyhow::Result<String> {
    let keys = ProofKeys::read([PROOF_KEY]).map_err(|(_, fault)| fault)?;
    let (event_id, stamp_id) = (EVENT.parse()?, items::stamp_id(stamp).parse()?);
    let source = CodeSource { keys: &keys, event_id: &event_id, stamp_id: &stamp_id };
    source.printed(Generation::FIRST).context("there is a key")
}

async fn take_proofs(scene: &Scene, server: &Server, stamp: usize) -> anyhow::Result<()> {
    let path = format!("{}/admin/api/events/{EVENT}/stamps/{}", server.url, items::stamp_id(stamp));
    let put = scene.http.put(path).bearer_auth("organiser").json(&json!({"proofs": [["qr_static"]]}));
    put.send().await?.error_for_status()?;
    Ok(())
}

/// The server's processor time for each claim, in µs.
async fn acquire(
    scene: &Scene,
    server: &Server,
    tokens: &Arc<Vec<String>>,
    (stamp, code): (usize, Option<String>),
) -> anyhow::Result<f64> {
    let proof = code.map_or_else(|| json!({}), |code| json!({ "code": code }));
    let path = format!("/me/stamps/{}", items::stamp_id(stamp));
    let request = Request { method: Method::POST, path, body: json!({ "proof": proof }) };
    let before = server.process.cpu()?;
    ask(scene, server, tokens, &request).await?;
    Ok(us_each(server.process.cpu()?.saturating_sub(before), GROUP))
}

struct Request {
    method: Method,
    path: String,
    body: Value,
}

/// The same request of each participant; all must be answered with 201.
async fn ask(scene: &Scene, server: &Server, tokens: &Arc<Vec<String>>, wanted: &Request) -> anyhow::Result<()> {
    let Request { method, path, body } = wanted;
    let request = |token| server.request(&scene.http, method.clone(), path).bearer_auth(token).json(body).build();
    let requests = Arc::new(tokens.iter().map(request).collect::<Result<Vec<_>, _>>()?);
    let http = scene.http.clone();
    all(requests.len(), AT_ONCE, move |n| {
        let (http, requests) = (http.clone(), requests.clone());
        async move {
            let request = requests[n].try_clone().context("a body can't be sent twice")?;
            let answer = http.execute(request).await?;
            anyhow::ensure!(answer.status() == 201, "{}", answer.text().await?);
            Ok(())
        }
    })
    .await
}

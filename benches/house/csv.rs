//! The server's memory: idle, and while it streams a long list of participants.

use std::time::Duration;

use anyhow::ensure;

use super::{items, scene::Scene, table::Row};

const PARTICIPANTS: usize = 200_000;

/// Nothing happens for so long before a server counts as idle.
const QUIET: Duration = Duration::from_secs(5);

pub async fn measure() -> anyhow::Result<Vec<Row>> {
    let scene = Scene::set(2)?;
    let at = items::now();
    items::fill(&scene.clients.table, PARTICIPANTS, move |n| items::user(&items::user_id(n), &at)).await?;
    let server = scene.start(&["serve"], &[]).await?;
    tokio::time::sleep(QUIET).await;
    let idle = server.process.memory()?.resident;

    server.process.forget_peak()?;
    let before = server.process.memory()?.resident;
    let lines = lines(server.organiser(&scene.http, "/users.csv")).await?;
    ensure!(lines == PARTICIPANTS + 1, "{lines} lines for {PARTICIPANTS} participants");
    let grown = server.process.memory()?.peak.saturating_sub(before);
    Ok(vec![
        row(format!("CSV of {PARTICIPANTS} participants: growth of the server's memory"), grown, 32),
        row("`serve`, idle: resident memory".to_owned(), idle, 40),
    ])
}

/// How many lines an answer has.
async fn lines(request: reqwest::RequestBuilder) -> anyhow::Result<usize> {
    let mut answer = request.send().await?.error_for_status()?;
    let mut lines = 0;
    while let Some(part) = answer.chunk().await? {
        lines += part.iter().map(|byte| usize::from(*byte == b'\n')).sum::<usize>();
    }
    Ok(lines)
}

fn row(what: String, kb: u64, limit_mb: u64) -> Row {
    let (whole, tenths) = (kb / 1024, kb % 1024 * 10 / 1024);
    Row {
        what,
        house: format!("{whole}.{tenths} MB"),
        bare: String::new(),
        compared: String::new(),
        limit: format!("≤ {limit_mb} MB"),
        holds: Some(kb <= limit_mb * 1024),
    }
}

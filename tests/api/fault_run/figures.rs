//! What a run came to, as a table.

use std::{collections::BTreeMap, fmt, time::Duration};

use serde_json::{Value, json};

use super::{crew::Crew, stage::Stage};
use crate::proxy::Calls;

pub struct Figures {
    rows: Vec<(String, String)>,
    kills: u64,
    busy_kills: u64,
}

impl Figures {
    /// Consumers that were killed.
    pub fn kills(&self) -> u64 {
        self.kills
    }

    /// Those of them that held a busy shard.
    pub fn busy_kills(&self) -> u64 {
        self.busy_kills
    }

    /// How long the strikes lasted and how many messages were accepted by then; how long everything took.
    pub fn took(&mut self, strikes: Duration, accepted: usize, all: Duration) {
        self.row("strikes", format!("for {:.1} s, {accepted} messages accepted by then", strikes.as_secs_f64()));
        self.row("time in all", format!("{:.1} s", all.as_secs_f64()));
    }

    fn row(&mut self, what: impl Into<String>, figure: impl fmt::Display) {
        self.rows.push((what.into(), figure.to_string()));
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out)?;
        self.rows.iter().try_for_each(|(what, figure)| writeln!(out, "{what:<44} {figure}"))
    }
}

impl Stage {
    /// Everything is looked up already: these are its numbers.
    pub async fn figures(&self, crew: &Crew<'_>, seed: u64) -> Figures {
        let done = |what: &str| crew.done.get(what).copied().unwrap_or_default();
        let busy_kills = done("consumers killed that held a busy shard");
        let kills = busy_kills + done("consumers killed, any");
        let mut figures = Figures { rows: Vec::new(), kills, busy_kills };
        figures.row("seed", seed);
        figures.row("participants × stamps", format!("{} × {}", self.people.len(), self.stamps));
        figures.row("acquisitions acknowledged, all stored", self.acquired.lock().unwrap().len());
        figures.row("  requests for them", counted(&self.requests.lock().unwrap()));
        figures.row("messages, each once on its phone", self.expected());
        crew.done.iter().for_each(|(what, times)| figures.row(*what, times));
        let board = self.board().await;
        figures.row("shards in the end", board.shards.len());
        figures.row("leases taken", board.shards.iter().map(|item| item.fencing_token).sum::<u64>());
        figures.row("items planted that can't be read", self.planted.lock().unwrap().len());
        let requests = self.control("GET", "/requests", &json!({})).await;
        figures.row("pushes asked for", outcomes(&requests["endpoints"]["push"]));
        let faults = self.control("GET", "/faults", &json!({})).await;
        for rule in faults["rules"].as_array().unwrap() {
            figures.row(format!("  faults: {}", rule["kind"].as_str().unwrap()), &rule["hits"]);
        }
        let calls = self.wire.count(Calls::All);
        figures.row("requests to the store", format!("{calls}, {} throttled", self.wire.faults()));
        for (text, times) in crew.complaints() {
            figures.row(format!("logged {times} ×"), text);
        }
        figures
    }
}

fn counted(counts: &BTreeMap<String, u64>) -> String {
    counts.iter().map(|(what, times)| format!("{what} × {times}")).collect::<Vec<_>>().join(", ")
}

fn outcomes(counts: &Value) -> String {
    let counts = counts.as_object().unwrap().iter().map(|(what, times)| (what.clone(), times.as_u64().unwrap()));
    counted(&counts.collect())
}

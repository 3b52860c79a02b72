//! Which requests came in, refused and dropped ones too.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;

use super::endpoint::Endpoint;

/// The log keeps this many requests; the counts keep all.
const KEPT: usize = 100_000;

/// Counts by endpoint and outcome, and the latest requests one by one.
#[derive(Default)]
pub(super) struct Journal {
    counts: BTreeMap<&'static str, BTreeMap<String, u64>>,
    log: VecDeque<Entry>,
    next: u64,
}

/// One request as it came in.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    ordinal: u64,
    pub(super) endpoint: &'static str,
    pub(super) at: i64,
    pub(super) request_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) channel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) retry_key: Option<String>,
    /// `200`, `dropped`, `timed_out`.
    pub(super) outcome: String,
    /// The kind of the fault that was injected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fault: Option<&'static str>,
}

impl Entry {
    pub(super) fn new(endpoint: Endpoint, at: i64, request_id: &str, outcome: String) -> Self {
        Self {
            ordinal: 0,
            endpoint: endpoint.name(),
            at,
            request_id: request_id.to_owned(),
            channel: None,
            retry_key: None,
            outcome,
            fault: None,
        }
    }
}

impl Journal {
    pub(super) fn note(&mut self, mut entry: Entry) {
        let outcomes = self.counts.entry(entry.endpoint).or_default();
        match outcomes.get_mut(&entry.outcome) {
            Some(count) => *count += 1,
            None => drop(outcomes.insert(entry.outcome.clone(), 1)),
        }
        self.next += 1;
        entry.ordinal = self.next;
        if self.log.len() == KEPT {
            self.log.pop_front();
        }
        self.log.push_back(entry);
    }

    /// Endpoint → outcome → count.
    pub(super) fn counts(&self) -> &BTreeMap<&'static str, BTreeMap<String, u64>> {
        &self.counts
    }

    pub(super) fn log(&self, endpoint: Option<&str>, after: u64) -> Vec<Entry> {
        let wanted = |entry: &&Entry| entry.ordinal > after && endpoint.is_none_or(|name| name == entry.endpoint);
        self.log.iter().filter(wanted).cloned().collect()
    }
}

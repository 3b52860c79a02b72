//! Which requests came in, refused and dropped ones too.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;

use super::faults::Kind;

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
    /// Its place among all, from 1; given when it is noted.
    pub(super) ordinal: u64,
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
    pub(super) fault: Option<Kind>,
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

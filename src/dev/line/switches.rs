//! What the control API can turn: latency, rate, wording, the key set's availability, faults.
//! None of it outlives the process.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::{endpoint::Endpoint, faults::Faults, ledger::Rate};

/// The switches, and the rate buckets that they set.
#[derive(Default)]
pub(super) struct Switches {
    pub(super) faults: Faults,
    pub(super) settings: Settings,
    buckets: HashMap<(usize, Endpoint), Bucket>,
}

/// Settings of the platform as a whole.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Settings {
    /// Milliseconds between carrying a request out and answering it, by endpoint name.
    pub(super) latency_ms: BTreeMap<String, u64>,
    /// Requests a second, channel and endpoint; none is unlimited. LINE: 2,000.
    pub(super) rate_per_second: Option<f64>,
    /// Size of the token bucket (LINE's own isn't known).
    pub(super) rate_burst: f64,
    pub(super) wording: Wording,
    /// Whether the JWK set can be read.
    pub(super) jwks_up: bool,
}

/// Which of LINE's observed texts to answer with; nothing should depend on them.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Wording {
    /// As the live service answered in 2026.
    Current,
    /// As the reference and older captures have it.
    Documented,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            latency_ms: BTreeMap::new(),
            rate_per_second: Some(2000.0),
            rate_burst: 2000.0,
            wording: Wording::Current,
            jwks_up: true,
        }
    }
}

/// A token bucket, refilled gradually.
struct Bucket {
    tokens: f64,
    at_ms: i64,
}

impl Switches {
    /// Takes one token of the channel's bucket for this endpoint.
    pub(super) fn take(&mut self, channel: usize, endpoint: Endpoint, now_ms: i64) -> Rate {
        let Some(per_second) = self.settings.rate_per_second else { return Rate::Within };
        let burst = self.settings.rate_burst;
        let bucket = self.buckets.entry((channel, endpoint)).or_insert(Bucket { tokens: burst, at_ms: now_ms });
        #[allow(clippy::cast_precision_loss, reason = "milliseconds between two requests")]
        let passed_ms = (now_ms - bucket.at_ms).max(0) as f64;
        bucket.tokens = (bucket.tokens + passed_ms / 1000.0 * per_second).min(burst);
        bucket.at_ms = now_ms;
        if bucket.tokens < 1.0 {
            return Rate::Exceeded;
        }
        bucket.tokens -= 1.0;
        Rate::Within
    }

    /// Buckets begin full again, for changed settings.
    pub(super) fn refill(&mut self) {
        self.buckets.clear();
    }

    pub(super) fn latency_ms(&self, endpoint: Endpoint) -> u64 {
        self.settings.latency_ms.get(endpoint.name()).copied().unwrap_or(0)
    }
}

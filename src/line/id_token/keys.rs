//! LINE's published keys: one copy for all, fetched by one caller at a time.

use std::{collections::HashMap, sync::Arc, time::Duration};

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ParsedPublicKey};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use parking_lot::Mutex;
use serde_json::{Map, Value};

use super::super::{
    answer::{Answer, CallError},
    platform::Platform,
};
use crate::domain::{causes::Causes, time::Clock};

const CERTS: &str = "/oauth2/v2.1/certs";

/// How long a copy is used before it is fetched again, so that a withdrawn key goes.
pub(super) const FRESH: Duration = Duration::from_hours(1);

/// Between two attempts while there is no copy at all: every caller waits for it then.
const WITHOUT_COPY: Duration = Duration::from_secs(1);

/// LINE's keys (LINE Login: "Verify ID token"), by `kid`.
pub(super) struct KeyRing {
    platform: Platform,
    refetch: Duration,
    clock: Clock,
    /// Locked by the caller that fetches.
    fetching: tokio::sync::Mutex<()>,
    copy: Mutex<LocalCopy>,
}

/// What we have. All times are uptimes.
#[derive(Default)]
struct LocalCopy {
    keys: HashMap<String, Arc<ParsedPublicKey>>,
    fetched_at: Option<Duration>,
    attempted_at: Option<Duration>,
    /// Why the last fetch brought nothing, if it didn't.
    failure: Option<Arc<CallError>>,
}

/// What the copy says about a `kid`.
enum Found {
    Fresh(Arc<ParsedPublicKey>),
    Nothing,
    /// Known, but the copy should be fetched again.
    Old(Arc<ParsedPublicKey>),
}

impl KeyRing {
    pub(super) fn new(platform: Platform, refetch: Duration, clock: Clock) -> Self {
        Self { platform, refetch, clock, fetching: tokio::sync::Mutex::default(), copy: Mutex::default() }
    }

    /// Returns the key that a token names. `None`: LINE has no such key, by a set that was fetched within `jwks_refetch`.
    ///
    /// An unknown `kid` waits for a fetch, unless there was one within `jwks_refetch`, well or not. An old copy
    /// is fetched again by one caller, while the others use it as it is. A copy is kept until
    /// another takes its place, however often that fails.
    ///
    /// # Errors
    ///
    /// For a `kid` that isn't in the copy, or without any copy: why the last fetch failed. The key may be a new one of
    /// LINE's.
    pub(super) async fn find(&self, kid: &str) -> Result<Option<Arc<ParsedPublicKey>>, Arc<CallError>> {
        let found = self.copy.lock().find(kid, self.clock.uptime());
        let _turn = match found {
            Found::Fresh(key) => return Ok(Some(key)),
            Found::Old(key) => match self.fetching.try_lock() {
                Ok(turn) => turn,
                Err(_) => return Ok(Some(key)),
            },
            Found::Nothing => self.fetching.lock().await,
        };
        // The caller before may have fetched it, or have failed just now.
        if self.copy.lock().is_worth_a_fetch(kid, self.refetch, self.clock.uptime()) {
            self.fetch().await;
        }
        self.copy.lock().answer(kid)
    }

    /// Returns when the copy came, as uptime; `None` without one.
    pub(super) fn fetched_at(&self) -> Option<Duration> {
        self.copy.lock().fetched_at
    }

    async fn fetch(&self) {
        self.copy.lock().begin(self.clock.uptime());
        let request = self.platform.get(CERTS).timeout(self.platform.short_timeout());
        // A key set is used without LINE's request id: the table in `crate::line` says why.
        let outcome = match Answer::of_any_sender(request).await {
            Ok(answer) => answer.success().await.and_then(|set| usable_keys(&set)),
            Err(error) => Err(error),
        };
        match &outcome {
            Ok(keys) => tracing::info!(line.keys.count = keys.len(), "fetched LINE's keys"),
            Err(error) => tracing::warn!(error = %Causes(error), "can't fetch LINE's keys"),
        }
        self.copy.lock().end(outcome, self.clock.uptime());
    }
}

impl LocalCopy {
    fn is_old(&self, now: Duration) -> bool {
        self.fetched_at.is_none_or(|at| now >= at + FRESH)
    }

    fn find(&self, kid: &str, now: Duration) -> Found {
        match self.keys.get(kid).map(Arc::clone) {
            Some(key) if self.is_old(now) => Found::Old(key),
            Some(key) => Found::Fresh(key),
            None => Found::Nothing,
        }
    }

    fn is_worth_a_fetch(&self, kid: &str, refetch: Duration, now: Duration) -> bool {
        let pause = if self.fetched_at.is_some() { refetch } else { refetch.min(WITHOUT_COPY) };
        let rested = self.attempted_at.is_none_or(|at| now >= at + pause);
        rested && (self.is_old(now) || !self.keys.contains_key(kid))
    }

    /// Counts an attempt when it begins, so that callers that give up in the middle of one can't ask
    /// for another each time. Until its end is known it counts as failed. Without a copy that must not be: the next
    /// waiting caller makes another.
    fn begin(&mut self, now: Duration) {
        if self.fetched_at.is_some() {
            (self.attempted_at, self.failure) = (Some(now), Some(Arc::new(CallError::GivenUp)));
        }
    }

    fn end(&mut self, outcome: Result<HashMap<String, Arc<ParsedPublicKey>>, CallError>, now: Duration) {
        self.attempted_at = Some(now);
        match outcome {
            Ok(keys) => *self = Self { keys, fetched_at: Some(now), attempted_at: Some(now), failure: None },
            Err(error) => self.failure = Some(Arc::new(error)),
        }
    }

    /// Answers after a fetch that was worth it, or so soon after one that none is: the outcome of the last fetch is at most
    /// `jwks_refetch` old.
    fn answer(&self, kid: &str) -> Result<Option<Arc<ParsedPublicKey>>, Arc<CallError>> {
        match (self.keys.get(kid), &self.failure) {
            (Some(key), _) => Ok(Some(Arc::clone(key))),
            (None, Some(failure)) => Err(Arc::clone(failure)),
            (None, None) => Ok(None),
        }
    }
}

/// Returns the ES256 keys of a set. Others, and entries that can't be read, are passed over; a set without
/// a single one can't be meant.
fn usable_keys(set: &Map<String, Value>) -> Result<HashMap<String, Arc<ParsedPublicKey>>, CallError> {
    let entries = set.get("keys").and_then(Value::as_array).into_iter().flatten();
    let keys: HashMap<_, _> = entries.filter_map(usable_key).collect();
    if keys.is_empty() { Err(CallError::Form("no usable key")) } else { Ok(keys) }
}

/// Returns an EC key on P-256 for signatures (RFC 7517, RFC 7518 section 6.2), with its `kid`.
fn usable_key(entry: &Value) -> Option<(String, Arc<ParsedPublicKey>)> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str);
    let is = |name: &str, value: &str| text(name) == Some(value);
    let is_or_absent = |name: &str, value: &str| entry.get(name).is_none() || is(name, value);
    let fits = is("kty", "EC") && is("crv", "P-256") && is_or_absent("alg", "ES256") && is_or_absent("use", "sig");
    if !fits {
        return None;
    }
    let coordinate = |name: &str| URL_SAFE_NO_PAD.decode(text(name)?).ok().filter(|bytes| bytes.len() == 32);
    // An uncompressed point (SEC 1, section 2.3.3); one that isn't on the curve is no key.
    let point = [[4].as_slice(), coordinate("x")?.as_slice(), coordinate("y")?.as_slice()].concat();
    let key = ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).ok()?;
    Some((text("kid")?.to_owned(), Arc::new(key)))
}

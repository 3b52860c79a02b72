//! Settings of the platform as a whole.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::input::Change;
use crate::dev::line::{
    answer::{Answer, Outcome},
    endpoint::Endpoint,
    platform::Platform,
    switches::Wording,
};

/// Changes; what is left out stays.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct SettingsChange {
    latency_ms: Option<BTreeMap<String, u64>>,
    rate_per_second: Change<f64>,
    rate_burst: Option<f64>,
    wording: Option<Wording>,
    jwks_up: Option<bool>,
    clock_offset_ms: Option<i64>,
    /// Added to the offset.
    advance_ms: Option<i64>,
}

pub(super) fn show(platform: &Platform) -> Answer {
    let mut shown = json!(platform.switches().settings);
    if let Value::Object(shown) = &mut shown {
        shown.insert("clockOffsetMs".to_owned(), json!(platform.clock.offset_ms()));
        shown.insert("nowMs".to_owned(), json!(platform.clock.now_ms()));
        shown.insert("kid".to_owned(), json!(platform.keyring().current().kid));
    }
    Answer::json(200, &shown)
}

pub(super) fn change(platform: &Platform, change: SettingsChange) -> Outcome {
    check(&change)?;
    if let Some(offset) = change.clock_offset_ms {
        platform.clock.set_offset_ms(offset);
    }
    if let Some(more) = change.advance_ms {
        platform.clock.set_offset_ms(platform.clock.offset_ms().saturating_add(more));
    }
    let mut switches = platform.switches();
    let settings = &mut switches.settings;
    replace(&mut settings.latency_ms, change.latency_ms);
    replace(&mut settings.rate_burst, change.rate_burst);
    replace(&mut settings.wording, change.wording);
    replace(&mut settings.jwks_up, change.jwks_up);
    change.rate_per_second.apply(&mut settings.rate_per_second);
    switches.refill();
    drop(switches);
    Ok(show(platform))
}

fn replace<T>(old: &mut T, new: Option<T>) {
    if let Some(new) = new {
        *old = new;
    }
}

fn check(change: &SettingsChange) -> Result<(), Answer> {
    let refuse = |text: String| Err(Answer::message(400, &text));
    if let Some(name) = change.latency_ms.iter().flat_map(BTreeMap::keys).find(|name| Endpoint::named(name).is_none()) {
        return refuse(format!("latencyMs: no endpoint `{name}`; there are: {}", Endpoint::names()));
    }
    if matches!(change.rate_per_second, Change::Set(rate) if rate <= 0.0) {
        return refuse("ratePerSecond is above 0, or null for unlimited".to_owned());
    }
    if change.rate_burst.is_some_and(|burst| burst < 1.0) {
        return refuse("rateBurst is at least 1".to_owned());
    }
    Ok(())
}

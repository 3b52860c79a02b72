//! Injected faults: rules that are asked for every request, decided by chance that repeats.

use std::collections::BTreeMap;

use actix_web::http::header::{HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{answer::Answer, endpoint::Endpoint};

/// The longest that a request is left without an answer.
const LONGEST_SILENCE_MS: u64 = 120_000;

/// One rule. The first one that hits decides, except that `delay` rules add up and let the next
/// rules have their turn.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Rule {
    /// An endpoint's name, or `*`.
    #[serde(default = "every")]
    pub(super) endpoint: String,
    pub(super) kind: Kind,
    /// Only requests with this channel's token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) channel: Option<String>,
    /// Only requests that name this user, in body or path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) user: Option<String>,
    /// Lets so many matching requests by first.
    #[serde(default)]
    pub(super) skip: u64,
    /// Hits at most so often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) times: Option<u64>,
    /// Hits so many of a hundred, by hash of (seed, rule, ordinal among the requests it was asked for).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) percent: Option<f64>,
    #[serde(default)]
    pub(super) seed: u64,
    /// Status of `status` and `proxy`, and of the same `_after_accept`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<u16>,
    /// Body of the same: JSON, or a string that is sent as plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<Value>,
    /// Headers of the same, besides those that an answer has anyway.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) headers: BTreeMap<String, String>,
    /// `delay`: how long; `timeout_after_accept`: how long at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ms: Option<u64>,
    /// Requests it was asked for, and hit. Counted here, ignored in orders.
    #[serde(default)]
    pub(super) asked: u64,
    #[serde(default)]
    pub(super) hits: u64,
}

/// What a rule does.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// The answer comes later; what was asked is done at once.
    Delay,
    /// Done, then the connection is closed without an answer.
    DropAfterAccept,
    /// The connection is closed, nothing is done.
    DropBefore,
    /// 401, as though the channel token had expired.
    ExpiredToken,
    /// 429 with the monthly limit's text (the quota endpoints don't join in: set a quota for that).
    MonthlyLimit,
    /// A proxy answers, with a status and without LINE's request id; the request doesn't reach LINE.
    Proxy,
    /// Done, but the answer that arrives is a proxy's.
    ProxyAfterAccept,
    /// 429 with the rate limit's text.
    RateLimited,
    /// A status instead of doing anything.
    Status,
    /// Done, then answered with a status all the same.
    StatusAfterAccept,
    /// Done, then silence until the client gives up.
    TimeoutAfterAccept,
}

impl Kind {
    /// Returns whether the answer is a proxy's, not LINE's.
    pub(super) fn is_of_a_proxy(self) -> bool {
        matches!(self, Self::Proxy | Self::ProxyAfterAccept)
    }

    /// Returns whether what was asked is done all the same.
    pub(super) fn accepts(self) -> bool {
        use Kind::{Delay, DropAfterAccept, ProxyAfterAccept, StatusAfterAccept, TimeoutAfterAccept};
        matches!(self, Delay | DropAfterAccept | ProxyAfterAccept | StatusAfterAccept | TimeoutAfterAccept)
    }

    fn needs_code(self) -> bool {
        self.is_of_a_proxy() || matches!(self, Self::Status | Self::StatusAfterAccept)
    }
}

/// A request as far as a rule can distinguish it from others.
pub(super) struct Asked<'a> {
    pub(super) endpoint: Endpoint,
    pub(super) channel: Option<&'a str>,
    pub(super) path: &'a str,
    pub(super) body: &'a [u8],
}

/// What the rules decided for one request.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub(super) delay_ms: u64,
    pub(super) rule: Option<Rule>,
}

/// The rules in their order.
#[derive(Default)]
pub(super) struct Faults {
    rules: Vec<Rule>,
}

impl Faults {
    /// Replaces all rules; every count begins anew. The error says which rule can't be.
    pub(super) fn replace(&mut self, mut rules: Vec<Rule>) -> Result<(), String> {
        for (number, rule) in rules.iter_mut().enumerate() {
            check(rule).map_err(|why| format!("rules[{number}]: {why}"))?;
            (rule.asked, rule.hits) = (0, 0);
        }
        self.rules = rules;
        Ok(())
    }

    pub(super) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    pub(super) fn decide(&mut self, asked: &Asked<'_>) -> Verdict {
        let mut verdict = Verdict::default();
        for (number, rule) in self.rules.iter_mut().enumerate() {
            if !matches(rule, asked) || !hits(rule, number as u64) {
                continue;
            }
            if rule.kind == Kind::Delay {
                verdict.delay_ms += rule.ms.unwrap_or(0);
            } else {
                verdict.rule = Some(rule.clone());
                break;
            }
        }
        verdict
    }
}

impl Rule {
    /// Returns the answer that a rule gives in place of the real one.
    pub(super) fn answer(&self) -> Answer {
        let code = self.code.unwrap_or(500);
        let answer = match &self.body {
            Some(Value::String(text)) => Answer::text(code, text),
            Some(json) => Answer::json(code, json),
            None => Answer::message(code, default_message(code)),
        };
        self.headers.iter().fold(answer, |answer, (name, value)| answer.with(name, value))
    }

    pub(super) fn silence_ms(&self) -> u64 {
        self.ms.unwrap_or(LONGEST_SILENCE_MS).min(LONGEST_SILENCE_MS)
    }
}

/// The text of the rate limit (facts sheet, 2.6).
pub(super) const RATE_LIMITED: &str = "The API rate limit has been exceeded. Try again later.";
/// The text of the monthly limit.
pub(super) const MONTHLY_LIMIT: &str = "You have reached your monthly limit.";

fn default_message(code: u16) -> &'static str {
    match code {
        403 => "Access to this API is not available for your account",
        404 => "Not found",
        429 => RATE_LIMITED,
        _ => "An injected fault",
    }
}

fn every() -> String {
    "*".to_owned()
}

fn check(rule: &Rule) -> Result<(), String> {
    if rule.endpoint != "*" && Endpoint::named(&rule.endpoint).is_none() {
        return Err(format!("no endpoint `{}`; there are: *, {}", rule.endpoint, Endpoint::names()));
    }
    if rule.percent.is_some_and(|percent| !(0.0..=100.0).contains(&percent)) {
        return Err("percent is from 0 to 100".to_owned());
    }
    if rule.user.as_deref() == Some("") {
        return Err("`user` is empty".to_owned());
    }
    match (rule.kind, rule.code, rule.ms) {
        (kind, None, _) if kind.needs_code() => Err("this kind needs `code`".to_owned()),
        (_, Some(code), _) if !(200..600).contains(&code) => Err("`code` is from 200 to 599".to_owned()),
        (Kind::Delay, _, None) => Err("this kind needs `ms`".to_owned()),
        _ => check_headers(rule),
    }
}

fn check_headers(rule: &Rule) -> Result<(), String> {
    let can_be_sent = |(name, value): (&String, &String)| {
        HeaderName::try_from(name.as_str()).is_ok() && HeaderValue::try_from(value.as_str()).is_ok()
    };
    match rule.headers.iter().find(|header| !can_be_sent(*header)) {
        Some((name, _)) => Err(format!("`headers`: `{name}` and its value can't be sent as a header")),
        None => Ok(()),
    }
}

fn matches(rule: &Rule, asked: &Asked<'_>) -> bool {
    (rule.endpoint == "*" || rule.endpoint == asked.endpoint.name())
        && rule.channel.as_deref().is_none_or(|channel| asked.channel == Some(channel))
        && rule.user.as_deref().is_none_or(|user| names(asked, user))
}

fn names(asked: &Asked<'_>, user: &str) -> bool {
    asked.path.contains(user) || asked.body.windows(user.len()).any(|window| window == user.as_bytes())
}

/// Counts the request and says whether it is hit.
fn hits(rule: &mut Rule, number: u64) -> bool {
    rule.asked += 1;
    let hit = rule.asked > rule.skip
        && rule.times.is_none_or(|times| rule.hits < times)
        && rule.percent.is_none_or(|percent| drawn(rule.seed, number, rule.asked) < percent);
    rule.hits += u64::from(hit);
    hit
}

/// A number from 0 (included) to 100 (excluded): the same for the same seed, rule and ordinal.
fn drawn(seed: u64, number: u64, ordinal: u64) -> f64 {
    let mixed = mix(mix(mix(seed) ^ number) ^ ordinal);
    #[allow(clippy::cast_precision_loss, reason = "below a million")]
    let in_millionths = (mixed % 1_000_000) as f64;
    in_millionths / 10_000.0
}

/// The finalizer of `SplitMix64`.
fn mix(n: u64) -> u64 {
    let mut z = n.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

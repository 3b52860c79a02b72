//! Thousands of tokens, good and bad in every way we know, judged by the verifier and by the crate `jsonwebtoken`. Where
//! one accepts what the other refuses, there must be a rule that says why.

mod forge;

use std::{collections::BTreeMap, time::SystemTime};

use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header, jwk::JwkSet};

use super::*;
use forge::{Forge, Token};

/// How many tokens are judged, and what the first of them is made from.
const TOKENS: u64 = 6_000;
const SEED: u64 = 20_260_523;

/// Another judge, with the same keys, audiences and leeway.
struct Library {
    keys: JwkSet,
    es256: Validation,
    hs256: Validation,
}

impl Library {
    fn new(keys: &[Value]) -> Self {
        let rules = |algorithm| {
            let mut rules = Validation::new(algorithm);
            rules.set_audience(&ours().ids);
            rules.set_issuer(&["https://access.line.me"]);
            rules.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
            rules.leeway = 30;
            rules
        };
        let keys = serde_json::from_value(json!({ "keys": keys })).unwrap();
        Self { keys, es256: rules(Algorithm::ES256), hs256: rules(Algorithm::HS256) }
    }

    /// The claims of a token that it accepts.
    fn claims(&self, token: &str) -> Option<Value> {
        let header = decode_header(token).ok()?;
        let (key, rules) = match header.alg {
            Algorithm::ES256 => (DecodingKey::from_jwk(self.keys.find(&header.kid?)?).unwrap(), &self.es256),
            Algorithm::HS256 => (DecodingKey::from_secret(LOGIN_SECRET.as_bytes()).unwrap(), &self.hs256),
            _ => return None,
        };
        decode(token, &key, rules).ok().map(|data| data.claims)
    }
}

/// The rules of ours, or of theirs, by which the two differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    /// A header member `crit` or `b64` is an extension, whatever its value; the library takes `b64` where it is `true`,
    /// and `crit` where it is `null`.
    Extension,
    /// LINE signs web login's tokens without a `kid`: an HS256 token with one isn't LINE's.
    Hs256HasNoKeyId,
    /// `iat` is a whole number that isn't in the future; the library doesn't look at it.
    IssuedAt,
    /// LINE's `iss` and `aud` are strings; RFC 7519 also allows arrays, and the library takes them.
    OneIssuerAndAudience,
    /// `sub` is a LINE user id; the library takes any string.
    UserId,
    /// LINE's `exp` is a whole number; the library rounds fractions.
    WholeSeconds,
    /// The library reads header members that choose nothing here (`typ`, `jku`, `x5c`, …), and refuses one of another
    /// type.
    UnreadHeaderMembers,
}

/// Why the house may refuse what the library accepts.
fn house_is_stricter(flaw: Flaw, header: &Value, claims: &Value, now: i64) -> Option<Rule> {
    let whole = |claim: &str| claims[claim].as_i64();
    match flaw {
        Flaw::Algorithm => (header["alg"] == "HS256" && !header["kid"].is_null()).then_some(Rule::Hs256HasNoKeyId),
        Flaw::Audience => claims["aud"].is_array().then_some(Rule::OneIssuerAndAudience),
        Flaw::ExpiresAt => whole("exp").is_none().then_some(Rule::WholeSeconds),
        Flaw::Form => (header.get("crit").is_some() || header.get("b64").is_some()).then_some(Rule::Extension),
        Flaw::IssuedAt => whole("iat").is_none_or(|iat| iat > now + 30).then_some(Rule::IssuedAt),
        Flaw::Issuer => claims["iss"].is_array().then_some(Rule::OneIssuerAndAudience),
        Flaw::Subject => {
            claims["sub"].as_str().is_none_or(|sub| sub.parse::<LineUserId>().is_err()).then_some(Rule::UserId)
        }
        _ => None,
    }
}

/// Why the library may refuse what the house accepts.
fn library_is_stricter(header: &Value) -> Option<Rule> {
    let texts = ["typ", "cty", "jku", "x5u", "x5t", "x5t#S256", "enc", "zip", "url", "nonce"];
    let odd = texts.iter().any(|name| header.get(name).is_some_and(|value| !value.is_string() && !value.is_null()));
    let of_texts = |value: &Value| value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
    let odd_list = header.get("x5c").is_some_and(|value| !value.is_null() && !of_texts(value));
    let odd_key = header.get("jwk").is_some_and(|value| !value.is_null());
    (odd || odd_list || odd_key).then_some(Rule::UnreadHeaderMembers)
}

/// A part of a token, if it can be read.
fn part(token: &str, index: usize) -> Value {
    let bytes = token.split('.').nth(index).and_then(|part| URL_SAFE_NO_PAD.decode(part).ok());
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

#[derive(Default)]
struct Tally {
    accepted: usize,
    refused: usize,
    rules: BTreeMap<Rule, usize>,
    /// How often each change of a good token was made, and how often both accepted what it made.
    changes: BTreeMap<&'static str, (usize, usize)>,
}

impl Tally {
    fn judge(&mut self, Token { text, changes }: &Token, library: Option<&Value>, house: &Outcome, now: i64) {
        let (header, claims) = (part(text, 0), part(text, 1));
        let both = match (library, house) {
            (Some(theirs), Ok(user)) => {
                assert_eq!(theirs["sub"], json!(user.as_str()), "{text}");
                self.accepted += 1;
                true
            }
            (None, Err(_)) => {
                self.refused += 1;
                false
            }
            (Some(_), Err(TokenError::Invalid(flaw))) => {
                self.differ(house_is_stricter(*flaw, &header, &claims, now), house, text)
            }
            (None, Ok(_)) => self.differ(library_is_stricter(&header), house, text),
            (Some(_), Err(error)) => panic!("{error} for {text}: {header} {claims}"),
        };
        for change in changes {
            let count = self.changes.entry(change).or_default();
            *count = (count.0 + 1, count.1 + usize::from(both));
        }
    }

    fn differ(&mut self, rule: Option<Rule>, house: &Outcome, token: &str) -> bool {
        let rule = rule.unwrap_or_else(|| panic!("{house:?} for {}.{}: {token}", part(token, 0), part(token, 1)));
        *self.rules.entry(rule).or_default() += 1;
        false
    }
}

#[tokio::test]
async fn verifier_and_jsonwebtoken_accept_the_same_tokens_but_for_the_rules_that_are_named() {
    let story = Story::begins();
    let second = Signer::new("key-2");
    story.line_publishes(&[story.signer.jwk(), second.jwk()]);
    let library = Library::new(&[story.signer.jwk(), second.jwk()]);
    // The library has the machine's clock and no other. No token is within minutes of an edge.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    story.clock.advance(now.checked_sub(Duration::from_secs(START.unsigned_abs())).unwrap());
    let now = i64::try_from(now.as_secs()).unwrap();

    let mut forge = Forge::new(SEED, story.signer.clone(), second, now);
    let mut tally = Tally::default();
    for _ in 0..TOKENS {
        let token = forge.token();
        let house = story.verifier.verify(&token.text, &ours_with_web_login()).await;
        tally.judge(&token, library.claims(&token.text).as_ref(), &house, now);
    }

    assert!(tally.accepted > 500 && tally.refused > 2_000, "{} accepted, {} refused", tally.accepted, tally.refused);
    assert_eq!(tally.rules.len(), 7, "each rule was needed: {:?}", tally.rules);
    assert_eq!(tally.changes.len(), forge::CHANGES.len(), "each change was made: {:?}", tally.changes);
    assert!(story.fetches() <= 2, "{}", story.fetches());
}

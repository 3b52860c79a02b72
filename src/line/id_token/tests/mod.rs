//! Hanako opens the page and brings her token; others bring what they should not.

mod by_endpoint;
mod by_keys;
mod differential;
mod key_ring;
mod memory;
mod what_it_says;

use std::{
    error::Error,
    sync::{Arc, Mutex},
    time::Duration,
};

use aws_lc_rs::{
    hmac,
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::{
    super::stub::{LineStub, Reply, Request, by_proxy, clock, shown},
    verifier::LONGEST,
    *,
};
use crate::domain::{ids::LineUserId, manual_clock::ManualClock};

const CERTS: &str = "/oauth2/v2.1/certs";
const VERIFY: &str = "/oauth2/v2.1/verify";
const HANAKO: &str = "U0123456789abcdef0123456789abcdef";
const OURS: &str = "1234567890";
const OTHER_CHANNEL: &str = "1234567891";
const LOGIN_SECRET: &str = "the-login-channel-secret";
/// What the clock shows first, in a token's seconds.
const START: i64 = 1_779_535_800;

/// A key of LINE's, as the test's own hands hold it.
#[derive(Clone)]
struct Signer {
    kid: String,
    pkcs8: Vec<u8>,
    point: Vec<u8>,
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Signer {
    fn new(kid: &str) -> Self {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        let pkcs8 = pair.to_pkcs8v1().unwrap().as_ref().to_vec();
        Self { kid: kid.to_owned(), pkcs8, point: pair.public_key().as_ref().to_vec() }
    }

    fn jwk(&self) -> Value {
        json!({"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": self.kid,
            "x": encoded(&self.point[1..33]), "y": encoded(&self.point[33..])})
    }

    fn header(&self) -> Value {
        json!({"alg": "ES256", "typ": "JWT", "kid": self.kid})
    }

    fn token(&self, claims: &Value) -> String {
        self.token_with(&self.header(), claims)
    }

    fn token_with(&self, header: &Value, claims: &Value) -> String {
        self.signs(&unsigned(header, claims), &ECDSA_P256_SHA256_FIXED_SIGNING)
    }

    fn token_with_der(&self, claims: &Value) -> String {
        self.signs(&unsigned(&self.header(), claims), &ECDSA_P256_SHA256_ASN1_SIGNING)
    }

    fn signs(&self, message: &str, form: &'static aws_lc_rs::signature::EcdsaSigningAlgorithm) -> String {
        let pair = EcdsaKeyPair::from_pkcs8(form, &self.pkcs8).unwrap();
        let signature = pair.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
        format!("{message}.{}", encoded(signature))
    }
}

fn unsigned(header: &Value, claims: &Value) -> String {
    format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()))
}

/// A token of web login.
fn hs256(header: &Value, claims: &Value, key: &[u8]) -> String {
    signed_with(&unsigned(header, claims), key)
}

fn signed_with(message: &str, secret: &[u8]) -> String {
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message.as_bytes());
    format!("{message}.{}", encoded(signature))
}

/// What LINE says about Hanako, for an hour from the clock's start.
fn hanako() -> Value {
    json!({"iss": "https://access.line.me", "sub": HANAKO, "aud": OURS, "exp": START + 3_600, "iat": START,
        "name": "花子"})
}

fn hanako_with(claim: &str, value: Value) -> Value {
    let mut claims = hanako();
    claims[claim] = value;
    claims
}

fn hanako_without(claim: &str) -> Value {
    let mut claims = hanako();
    claims.as_object_mut().unwrap().remove(claim);
    claims
}

fn ours() -> LoginChannels {
    LoginChannels { ids: vec!["1234567899".to_owned(), OURS.to_owned()], hs256_secret: None }
}

fn ours_with_web_login() -> LoginChannels {
    LoginChannels { hs256_secret: Some(LOGIN_SECRET.into()), ..ours() }
}

fn settings(verification: Verification) -> VerifierSettings {
    VerifierSettings { verification, jwks_refetch: Duration::from_secs(30), leeway: Duration::from_secs(30) }
}

type Outcome = Result<LineUserId, TokenError>;

fn is_hanako(outcome: &Outcome) -> bool {
    outcome.as_ref().is_ok_and(|user| user.as_str() == HANAKO)
}

fn invalid(outcome: &Outcome) -> &'static str {
    match outcome {
        Err(TokenError::Invalid(flaw)) => flaw.as_str(),
        other => panic!("not invalid: {other:?}"),
    }
}

/// LINE with one key, a verifier that knows it by its JWKS, and their clock.
struct Story {
    line: LineStub,
    keys: Arc<Mutex<Keys>>,
    signer: Signer,
    clock: Arc<ManualClock>,
    verifier: TokenVerifier,
}

/// What the JWKS endpoint says.
#[derive(Clone)]
enum Keys {
    Down,
    Proxy(u16, String),
    Set(Value),
    Text(u16, String),
    Unheard,
}

impl Story {
    fn begins() -> Self {
        Self::begins_within(Duration::from_secs(20))
    }

    fn begins_within(timeout: Duration) -> Self {
        let signer = Signer::new("key-1");
        let keys = Arc::new(Mutex::new(Keys::Set(json!({"keys": [signer.jwk()]}))));
        let said = Arc::clone(&keys);
        let line = LineStub::start(move |_: &Request| match said.lock().unwrap().clone() {
            Keys::Down => Reply::Close,
            Keys::Proxy(status, text) => by_proxy(status, &text),
            Keys::Set(set) => Reply::json(200, &set),
            Keys::Text(status, text) => Reply::text(status, &text),
            Keys::Unheard => Reply::Hang,
        });
        let clock = clock();
        let platform = line.platform_within(timeout);
        let verifier = TokenVerifier::new(platform, settings(Verification::Jwks), clock.clone());
        Self { line, keys, signer, clock, verifier }
    }

    fn line_publishes(&self, keys: &[Value]) {
        *self.keys.lock().unwrap() = Keys::Set(json!({"keys": keys}));
    }

    fn line_is(&self, said: Keys) {
        *self.keys.lock().unwrap() = said;
    }

    fn fetches(&self) -> usize {
        self.line.count(CERTS)
    }

    async fn verify(&self, token: &str) -> Outcome {
        self.verifier.verify(token, &ours()).await
    }

    /// Verifies Hanako's claims, changed as the test says, with a right signature.
    async fn verify_claims(&self, claims: &Value) -> Outcome {
        self.verify(&self.signer.token(claims)).await
    }
}

//! Any text is refused as an ID token, however it begins; signed header and claims are accepted only if they say so.
#![no_main]

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use sha2::Sha256;
use stamp_rally::{
    domain::time::{Clock, TimeSource, Timestamp},
    line::{
        Platform,
        id_token::{LoginChannels, TokenVerifier, Verification, VerifierSettings},
    },
};
use tokio::runtime::{Builder, Runtime};

const SECRET: &str = "a-login-channel-secret";
const AUDIENCE: &str = "1234567890";

/// 2026-05-23T10:00:00Z, for ever.
struct Noon;

impl TimeSource for Noon {
    fn now(&self) -> Timestamp {
        "2026-05-23T10:00:00.000Z".parse().unwrap()
    }

    fn uptime(&self) -> Duration {
        Duration::ZERO
    }
}

struct House {
    runtime: Runtime,
    verifier: TokenVerifier,
    channels: LoginChannels,
}

/// Its LINE is a port where nothing listens: no key is ever found.
static HOUSE: LazyLock<House> = LazyLock::new(|| {
    let platform = Platform::new(&"http://127.0.0.1:9".parse().unwrap(), Duration::from_millis(200)).unwrap();
    let settings = VerifierSettings {
        verification: Verification::Jwks,
        jwks_refetch: Duration::from_secs(30),
        leeway: Duration::from_secs(30),
    };
    House {
        runtime: Builder::new_current_thread().enable_all().build().unwrap(),
        verifier: TokenVerifier::new(platform, settings, Arc::new(Noon) as Clock),
        channels: LoginChannels { ids: vec![AUDIENCE.to_owned()], hs256_secret: Some(SECRET.into()) },
    }
});

fn accepted(token: &str) -> Option<String> {
    let House { runtime, verifier, channels } = &*HOUSE;
    runtime.block_on(verifier.verify(token, channels)).ok().map(|user| user.as_str().to_owned())
}

fuzz_target!(|data: &[u8]| {
    if let Ok(token) = std::str::from_utf8(data) {
        assert_eq!(accepted(token), None, "nobody signed it");
    }
    let Some(at) = data.iter().position(|byte| *byte == b'\n') else { return };
    let [header, claims] = [&data[..at], &data[at + 1..]].map(|part| URL_SAFE_NO_PAD.encode(part));
    let message = format!("{header}.{claims}");
    let mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap().chain_update(&message).finalize();
    let token = format!("{message}.{}", URL_SAFE_NO_PAD.encode(mac.into_bytes()));
    if let Some(user) = accepted(&token) {
        let claims: Value = serde_json::from_slice(&data[at + 1..]).unwrap();
        assert_eq!((claims["sub"].as_str(), claims["aud"].as_str()), (Some(user.as_str()), Some(AUDIENCE)));
        assert!(claims["exp"].as_i64().unwrap() >= 1_779_530_400 - 30 && claims["iat"].is_i64(), "{claims}");
    }
});

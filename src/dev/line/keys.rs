//! The signing keys of ID tokens: P-256, published as a JWK set.

use aws_lc_rs::{
    error::Unspecified,
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::chance::hex_sha256;

/// One key pair. `kid` is the SHA-256 of its public point, 64 lower-case hex digits as in LINE's set.
pub(super) struct SigningKey {
    pub(super) kid: String,
    pub(super) pkcs8: Vec<u8>,
    pair: EcdsaKeyPair,
}

impl SigningKey {
    pub(super) fn generate() -> Result<Self, Unspecified> {
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())?;
        Self::from_pkcs8(document.as_ref()).map_err(|_| Unspecified)
    }

    pub(super) fn from_pkcs8(pkcs8: &[u8]) -> Result<Self, aws_lc_rs::error::KeyRejected> {
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8)?;
        let kid = hex_sha256(pair.public_key().as_ref());
        Ok(Self { kid, pkcs8: pkcs8.to_vec(), pair })
    }

    /// The uncompressed point: 0x04, x, y.
    pub(super) fn point(&self) -> &[u8] {
        self.pair.public_key().as_ref()
    }

    /// The raw 64 bytes `r||s` that RFC 7518 asks for, not DER.
    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.pair.sign(&SystemRandom::new(), message).map(|signature| signature.as_ref().to_vec()).unwrap_or_default()
    }

    fn jwk(&self) -> Value {
        let point = self.point();
        json!({
            "kty": "EC", "alg": "ES256", "use": "sig", "kid": self.kid, "crv": "P-256",
            "x": URL_SAFE_NO_PAD.encode(&point[1..33]),
            "y": URL_SAFE_NO_PAD.encode(&point[33..65]),
        })
    }
}

/// All published keys, oldest first; the last one signs.
pub(super) struct Keyring {
    keys: Vec<SigningKey>,
    newest: SigningKey,
}

impl Keyring {
    pub(super) fn new(newest: SigningKey, older: Vec<SigningKey>) -> Self {
        Self { keys: older, newest }
    }

    pub(super) fn current(&self) -> &SigningKey {
        &self.newest
    }

    pub(super) fn find(&self, kid: &str) -> Option<&SigningKey> {
        self.keys.iter().chain([&self.newest]).find(|key| key.kid == kid)
    }

    /// `newest` signs from now on; the keys before it stay published or go.
    pub(super) fn rotate(&mut self, newest: SigningKey, old: OldKeys) {
        let before = std::mem::replace(&mut self.newest, newest);
        match old {
            OldKeys::Keep => self.keys.push(before),
            OldKeys::Withdraw => self.keys.clear(),
        }
    }

    /// The published set. It begins with an RSA entry that signs nothing: LINE's set had such ones
    /// too, so a reader has to choose by `kid` and demand EC.
    pub(super) fn jwks(&self) -> Value {
        let keys: Vec<_> = [decoy()].into_iter().chain(self.keys.iter().map(SigningKey::jwk)).collect();
        json!({ "keys": keys.into_iter().chain([self.newest.jwk()]).collect::<Vec<_>>() })
    }
}

/// What becomes of the published keys when a new one comes.
#[derive(Clone, Copy, Debug)]
pub(super) enum OldKeys {
    Keep,
    Withdraw,
}

fn decoy() -> Value {
    let modulus: Vec<u8> = (0_u8..8).flat_map(|n| Sha256::digest([n]).to_vec()).collect();
    json!({
        "kty": "RSA", "alg": "RS256", "use": "sig", "kid": hex_sha256(b"decoy"),
        "n": URL_SAFE_NO_PAD.encode(modulus), "e": "AQAB",
    })
}

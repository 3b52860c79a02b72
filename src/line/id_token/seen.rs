//! Tokens that were verified before: a page sends the same one with every request of an hour.

use std::{num::NonZeroUsize, time::Duration};

use lru::LruCache;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use super::{claims::Claims, keys};

/// How many tokens are remembered: about 2 MB.
const MOST: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();

/// SHA-256 of a token (or of a secret): what is kept gives away no session.
pub(super) type TokenDigest = [u8; 32];

/// Returns the digest of a token or secret.
pub(super) fn digest(token: &str) -> TokenDigest {
    Sha256::digest(token.as_bytes()).into()
}

/// What is remembered of a verified token. Which channel asks and what time it is are checked anew each time.
#[derive(Debug, Clone)]
pub(super) struct Verified {
    pub(super) claims: Claims,
    pub(super) signing: Signing,
    /// When the keys came that it was verified with, or LINE was asked; as uptime.
    pub(super) at: Duration,
}

/// What the token was signed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signing {
    /// One of LINE's published keys (ES256).
    LineKey,
    /// The secret of the Login channel (HS256), known by its digest: good only where the same one is configured.
    LoginSecret(TokenDigest),
}

/// The tokens that are remembered.
pub(super) struct Seen(Mutex<LruCache<TokenDigest, Verified>>);

impl Default for Seen {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MOST)))
    }
}

impl Seen {
    /// Returns what is known of a token. Nothing is known for longer than a copy of LINE's keys is used, so
    /// that a withdrawn key takes its tokens along.
    pub(super) fn find(&self, digest: &TokenDigest, uptime: Duration) -> Option<Verified> {
        self.0.lock().get(digest).filter(|verified| uptime < verified.at + keys::FRESH).cloned()
    }

    /// Remembers a verified token.
    pub(super) fn keep(&self, digest: TokenDigest, verified: Verified) {
        self.0.lock().put(digest, verified);
    }
}

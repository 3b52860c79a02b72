//! Whose ID tokens are accepted.

use secrecy::{ExposeSecret, SecretString};

/// The Login channels of one channel of ours: whose tokens are accepted for its events.
#[derive(Debug, Clone)]
pub struct LoginChannels {
    /// The accepted `aud` values: Login channel ids. A LINE MINI App has one for each of its stages.
    pub ids: Vec<String>,
    /// The Login channel secret, only where web login (HS256) is wanted.
    pub hs256_secret: Option<SecretString>,
}

impl LoginChannels {
    /// Returns what web login's tokens may be signed with; an empty secret, with which anyone can sign, doesn't count.
    pub(super) fn secret(&self) -> Option<&str> {
        self.hs256_secret.as_ref().map(ExposeSecret::expose_secret).filter(|secret| !secret.is_empty())
    }
}

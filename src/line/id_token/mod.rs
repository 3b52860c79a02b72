//! LINE's ID tokens, which name a participant, verified here with LINE's published keys, or by LINE.
//!
//! The `sub` of a verified token is the only identity there is. Nothing of a token is ever logged,
//! nor part of an error.

mod claims;
mod endpoint;
mod error;
mod jws;
mod keys;
mod seen;
mod verifier;

#[cfg(test)]
mod tests;

pub use claims::LoginChannels;
pub use error::{Flaw, TokenError};
pub use verifier::{TokenVerifier, Verification, VerifierSettings};

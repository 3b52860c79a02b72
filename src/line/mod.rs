//! The LINE platform: ID tokens, messages, webhooks, Flex Messages; knows the domain alone.
//!
//! Everything that LINE says is read tolerantly (it may add members, headers and types without
//! notice, as its development guidelines say), in bounded memory and within a timeout.
//!
//! Only an answer with the header `x-line-request-id` is LINE's. Anything else (a proxy, a gateway, the login page of a
//! network) has answered in its place, and what it says decides nothing:
//!
//! | call | an answer without the header |
//! | --- | --- |
//! | push | an attempt without a clear answer, whatever its status: repeated with the same retry key |
//! | channel token | no token now: the push that needs it has not left, and is repeated; the channel is not paused |
//! | quota, consumption | the quota is not known now |
//! | verify | not known now whether the ID token is good: 503, not 401 |
//! | signing keys (certs) | used, if it is a key set: no reference of LINE's describes this address, so nothing promises the header there, and to insist on it could lock every participant out. A page of another sender is no key set, and TLS keeps forged ones out |

mod answer;
mod channel_token;
mod error;
pub mod flex;
pub mod id_token;
pub mod messaging;
mod platform;
mod retry_after;
mod settings;
pub mod trace;
pub mod webhook;

#[cfg(test)]
mod stub;

pub use channel_token::Access;
pub use error::{Cause, LineError};
pub use platform::Platform;
pub use retry_after::RetryAfter;
pub use settings::{ChannelSettings, LineSettings};

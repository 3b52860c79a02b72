//! The LINE platform: who somebody is, messages, webhooks; knows the domain alone.
//!
//! Everything that LINE says is read tolerantly (it may add members, headers and types without
//! notice, as its development guidelines say), in bounded memory and within a time-out.
//!
//! Only an answer with the header `x-line-request-id` is LINE's. Anything else (a proxy, a gateway, the login page of a
//! network) has answered in its place, and what it says decides nothing:
//!
//! | call | an answer without the header |
//! | --- | --- |
//! | push | an attempt without a clear answer, whatever its status: repeated with the same retry key |
//! | channel token | no token now: the push that needs it has not left, and is tried again; the channel is not paused |
//! | quota, consumption | the quota is not known now |
//! | verify | not known now whether the ID token is good: 503, not 401 |
//! | signing keys (certs) | used, if it is a key set: no reference of LINE's describes this address, so nothing promises the header there, and to insist on it could lock everybody out. A page of another sender is no key set, and TLS keeps forged ones out |

mod answer;
mod channel_token;
pub mod flex;
pub mod id_token;
pub mod messaging;
mod retry_after;
pub mod webhook;

#[cfg(test)]
mod double;

use std::{error::Error, fmt, net::IpAddr, sync::Arc, time::Duration};

pub use channel_token::Access;
use reqwest::{Client, ClientBuilder, RequestBuilder, Url, redirect};
pub use retry_after::RetryAfter;

use answer::CallError;

/// Why something failed, kept for the log. Never holds a token, a secret or a message.
pub type Cause = Box<dyn Error + Send + Sync>;

/// What a caller can do about a call to LINE that did not do as asked.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// Call a person: an address that can't be used, an answer that isn't what LINE documents.
    #[error("LINE can't be used: {what}")]
    Broken {
        /// What was wanted of it.
        what: &'static str,
        /// Why it failed.
        #[source]
        source: Cause,
    },
    /// Call a person: LINE says no, to our credentials (401, 403) or to what we ask.
    #[error("LINE refused: {status} {message}")]
    Refused {
        /// The HTTP status; 0 where the request could not even be made.
        status: u16,
        /// LINE's own words, at most 500 characters.
        message: String,
    },
    /// Wait and ask again: unreachable, timed out, failing, throttled.
    #[error("LINE can't answer now: {what}")]
    Unavailable {
        /// What was asked of it.
        what: &'static str,
        /// Why it failed.
        #[source]
        source: Cause,
    },
}

/// Where LINE is, and how long to wait for it. Clones share one pool of connections.
#[derive(Clone)]
pub struct Platform {
    client: Client,
    base_url: Arc<str>,
    timeout: Duration,
}

/// How long a connection may take at most; part of the whole time-out.
const CONNECT: Duration = Duration::from_secs(5);

/// How long an unused connection is kept. Short, so that we seldom write into one that LINE is just closing.
const IDLE: Duration = Duration::from_secs(30);

impl Platform {
    /// The platform below `base_url`, each call taking at most `timeout` from first to last byte.
    ///
    /// Tokens and messages go there, so it must be https; plain http is for this machine alone.
    ///
    /// # Errors
    ///
    /// `Broken` for another address, and where https is wanted and the machine has no CA files.
    pub fn new(base_url: &Url, timeout: Duration) -> Result<Self, LineError> {
        let broken = |source| LineError::Broken { what: "the address of the platform", source };
        let plain = is_plain(base_url).map_err(|error| broken(error.into()))?;
        let client = client(timeout, plain).map_err(|error| broken(error.into()))?;
        Ok(Self { client, base_url: base_url.as_str().trim_end_matches('/').into(), timeout })
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.base_url))
    }

    fn post(&self, path: &str) -> RequestBuilder {
        self.client.post(format!("{}{path}", self.base_url))
    }

    /// The time-out for a call that a person waits for: three seconds at most.
    fn patience(&self) -> Duration {
        self.timeout.min(Duration::from_secs(3))
    }
}

impl fmt::Debug for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Platform")
            .field("base_url", &self.base_url)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// An address that we would not send a token to.
#[derive(Debug, thiserror::Error)]
#[error("must be https, or http on this machine (localhost, 127.0.0.1, [::1]), without user, query or fragment")]
struct NotUsable;

/// Whether it is plain http on this machine (else it is https).
fn is_plain(url: &Url) -> Result<bool, NotUsable> {
    let extra = !url.username().is_empty() || url.password().is_some();
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let loopback = host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    match url.scheme() {
        _ if extra || url.query().is_some() || url.fragment().is_some() => Err(NotUsable),
        "https" => Ok(false),
        "http" if loopback => Ok(true),
        _ => Err(NotUsable),
    }
}

/// One client for all calls: no proxy from the environment, no redirects (a token must not follow one).
fn client(timeout: Duration, plain: bool) -> reqwest::Result<Client> {
    let builder = ClientBuilder::new()
        .user_agent(concat!("stamp-rally/", env!("CARGO_PKG_VERSION")))
        .no_proxy()
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT.min(timeout / 2))
        .timeout(timeout)
        .pool_idle_timeout(IDLE)
        .tcp_nodelay(true);
    // The default reads the machine's CA files when the client is made, and fails where there are
    // none; plain http needs none of them.
    let builder = if plain { builder.tls_certs_only([]).https_only(false) } else { builder.https_only(true) };
    builder.build()
}

impl LineError {
    fn from_call(what: &'static str, error: CallError) -> Self {
        match error {
            CallError::Status { status, said, .. }
                if (400..500).contains(&status) && status != 408 && status != 429 =>
            {
                Self::Refused { status, message: said }
            }
            error @ (CallError::Form(_) | CallError::TooLong) => Self::Broken { what, source: error.into() },
            error @ (CallError::GivenUp
            | CallError::NotLine { .. }
            | CallError::Status { .. }
            | CallError::Transport(_)) => Self::Unavailable { what, source: error.into() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn platform(url: &str) -> Result<Platform, LineError> {
        Platform::new(&url.parse().unwrap(), Duration::from_secs(1))
    }

    #[test]
    fn tokens_leave_this_machine_encrypted_or_not_at_all() {
        for good in ["http://127.0.0.1:4000", "http://localhost:4000/", "http://[::1]:4000/line"] {
            assert!(platform(good).is_ok(), "{good}");
        }
        for bad in [
            "http://api.line.me",
            "http://10.0.0.1",
            "ftp://localhost",
            "http://a:b@localhost",
            "http://localhost/?a=b",
        ] {
            assert!(matches!(platform(bad), Err(LineError::Broken { .. })), "{bad}");
        }
    }

    #[test]
    fn everything_lives_below_the_base_url() {
        for base in ["http://localhost:4000/line", "http://localhost:4000/line/"] {
            let request = platform(base).unwrap().get("/oauth2/v2.1/certs").build().unwrap();
            assert_eq!(request.url().as_str(), "http://localhost:4000/line/oauth2/v2.1/certs");
        }
    }
}

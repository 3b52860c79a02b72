//! Where LINE is, and how it is called.

use std::{fmt, net::IpAddr, sync::Arc, time::Duration};

use reqwest::{Client, ClientBuilder, RequestBuilder, Url, redirect};

use super::error::LineError;

/// Where LINE is, and how long to wait for it. Clones share one pool of connections.
#[derive(Clone)]
pub struct Platform {
    client: Client,
    base_url: Arc<str>,
    timeout: Duration,
}

/// How long a connection may take at most; part of the whole timeout.
const CONNECT: Duration = Duration::from_secs(5);

/// How long an unused connection is kept. Short, so that we seldom write into one that LINE is just closing.
const IDLE: Duration = Duration::from_secs(30);

impl Platform {
    /// Returns the platform below `base_url`, each call taking at most `timeout` from first to last byte.
    ///
    /// Tokens and messages go there, so it must be https; plain http is for this machine alone.
    ///
    /// # Errors
    ///
    /// `Broken` for another address, and where https is wanted and the machine has no CA files.
    pub fn new(base_url: &Url, timeout: Duration) -> Result<Self, LineError> {
        let broken = |source| LineError::Broken { what: "the address of the platform", source };
        let transport = transport(base_url).map_err(|error| broken(error.into()))?;
        let client = client(timeout, transport).map_err(|error| broken(error.into()))?;
        Ok(Self { client, base_url: base_url.as_str().trim_end_matches('/').into(), timeout })
    }

    pub(super) fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.base_url))
    }

    pub(super) fn post(&self, path: &str) -> RequestBuilder {
        self.client.post(format!("{}{path}", self.base_url))
    }

    /// Returns the timeout of a call that a participant waits for: three seconds at most.
    pub(super) fn short_timeout(&self) -> Duration {
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
pub(super) struct NotUsable;

/// How the bytes travel.
#[derive(Clone, Copy)]
pub(super) enum Transport {
    Plain,
    Tls,
}

/// Returns the transport of an address that tokens may be sent to.
pub(super) fn transport(url: &Url) -> Result<Transport, NotUsable> {
    let extra = !url.username().is_empty() || url.password().is_some();
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let loopback = host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    match url.scheme() {
        _ if extra || url.query().is_some() || url.fragment().is_some() => Err(NotUsable),
        "https" => Ok(Transport::Tls),
        "http" if loopback => Ok(Transport::Plain),
        _ => Err(NotUsable),
    }
}

/// Returns the client for all calls: no proxy from the environment, no redirects (a token must not follow one).
fn client(timeout: Duration, transport: Transport) -> reqwest::Result<Client> {
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
    match transport {
        Transport::Plain => builder.tls_certs_only([]).https_only(false),
        Transport::Tls => builder.https_only(true),
    }
    .build()
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

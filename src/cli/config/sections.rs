//! The sections that only the command line needs: `http`, `proofs`, `ops`, `admin` and `log`.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
use serde::{Deserialize, Deserializer, de::Error};
use url::Url;

use crate::domain::{
    config_value::{parsed, text, texts, web_url},
    proof::ProofKeys,
};
use crate::http::{Origin, auth::AdminToken};

/// `http`: the server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpSettings {
    /// Where the server listens.
    #[serde(deserialize_with = "address")]
    pub bind: SocketAddr,
    /// As it was given; ask [`HttpSettings::public_url`].
    #[serde(default, deserialize_with = "public_url")]
    public_url: Option<Url>,
    /// Pages that may call the participant's API. Empty: none but those of this server.
    #[serde(deserialize_with = "parsed")]
    pub allowed_origins: Vec<Origin>,
    /// Load balancers whose `X-Forwarded-For` is believed.
    #[serde(deserialize_with = "proxies")]
    pub trusted_proxies: Vec<IpNet>,
}

impl HttpSettings {
    /// Returns where participants and LINE reach this server, without a slash at the end; without the key
    /// `http://{bind}`.
    #[must_use]
    pub fn public_url(&self) -> String {
        match &self.public_url {
            Some(url) => url.as_str().trim_end_matches('/').to_owned(),
            None => format!("http://{}", self.bind),
        }
    }
}

/// `ops`: what operators and their machines ask of a process without a server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpsSettings {
    /// Where `consume` answers them, if anywhere.
    #[serde(default, deserialize_with = "some_address")]
    pub bind: Option<SocketAddr>,
}

/// `proofs`: the keys of codes and passcodes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProofsSettings {
    /// Newest first; without one no stamp can be proved by a code or a passcode.
    #[serde(deserialize_with = "proof_keys")]
    pub keys: ProofKeys,
}

/// `admin`: who may use the organisers' API. Only hashes are configured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdminSettings {
    /// Each with a name and a hash of its own.
    pub tokens: Vec<AdminToken>,
}

/// `log`: how the log is written. What is logged is chosen by `RUST_LOG`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogSettings {
    /// One line to read, or one JSON object, an entry.
    pub format: LogFormat,
}

/// `log.format`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One JSON object a line, for machines.
    Json,
    /// One line of text, to read.
    Text,
}

fn some_address<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SocketAddr>, D::Error> {
    address(from).map(Some)
}

fn address<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    let text = text(from)?;
    text.parse().map_err(|_| {
        D::Error::custom(format!("`{text}` is no address: write address:port, for example 127.0.0.1:8080"))
    })
}

/// A text that is no key isn't shown: it may be one that was cut off.
fn proof_keys<'de, D: Deserializer<'de>>(from: D) -> Result<ProofKeys, D::Error> {
    let texts = texts(from)?;
    ProofKeys::read(texts.iter().map(String::as_str))
        .map_err(|(place, fault)| D::Error::custom(format!("key {} of the list {fault}", place + 1)))
}

fn public_url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Url>, D::Error> {
    web_url(&text(from)?).map(Some).map_err(D::Error::custom)
}

fn proxies<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<IpNet>, D::Error> {
    let network = |text: String| {
        text.parse()
            .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
            .map_err(|_| D::Error::custom(format!("`{text}` is neither an address nor a network like 10.0.0.0/8")))
    };
    texts(from)?.into_iter().map(network).collect()
}

//! The sections `http`, `store`, `line`, `delivery`, `ops` and `log`.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use ipnet::IpNet;
use serde::{Deserialize, Deserializer, de::Error};
use url::Url;

use super::{
    ChannelSettings, Origin, SettingsError, channel,
    layers::Layers,
    values::{self, is_loopback, web_url},
};

/// LINE's own address, the default of `line.api_base_url`.
const LINE_API: &str = "https://api.line.me/";

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
    #[serde(deserialize_with = "values::parsed")]
    pub allowed_origins: Vec<Origin>,
    /// Load balancers whose `X-Forwarded-For` is believed.
    #[serde(deserialize_with = "proxies")]
    pub trusted_proxies: Vec<IpNet>,
}

impl HttpSettings {
    /// Where participants and LINE reach this server, without a slash at the end; without the key `http://{bind}`.
    #[must_use]
    pub fn public_url(&self) -> String {
        match &self.public_url {
            Some(url) => url.as_str().trim_end_matches('/').to_owned(),
            None => format!("http://{}", self.bind),
        }
    }
}

/// `store`: names of the two tables.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreSettings {
    /// The table of facts and settings.
    #[serde(deserialize_with = "table_name")]
    pub table: String,
    /// The table of the consumers' leases and checkpoints.
    #[serde(deserialize_with = "table_name")]
    pub consumer_table: String,
}

impl StoreSettings {
    /// One table can't be both: progress written into the main table would feed the stream that it follows.
    pub(super) fn check(&self, layers: &Layers) -> Result<(), SettingsError> {
        if self.table == self.consumer_table {
            return Err(layers.error("store.consumer_table", "must be another table than `store.table`"));
        }
        Ok(())
    }
}

/// `line.verification`: how ID tokens are checked.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Verification {
    /// LINE's verify endpoint is asked.
    Endpoint,
    /// With LINE's published keys (JWKS), in this process.
    #[serde(alias = "jwks")]
    Local,
}

/// `line`: the platform and its channels.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineSettings {
    /// JWKS, verify, token and messaging all live below it. https, or loopback.
    #[serde(deserialize_with = "api_base_url")]
    pub api_base_url: Url,
    /// How ID tokens are checked.
    pub verification: Verification,
    /// An unknown key id fetches the keys at most once in this time.
    #[serde(rename = "jwks_refetch_s", deserialize_with = "values::seconds::<1, 3600, _>")]
    pub jwks_refetch: Duration,
    /// How far clocks may differ; at most five minutes, else expiry would mean nothing.
    #[serde(rename = "clock_leeway_s", deserialize_with = "values::seconds::<0, 300, _>")]
    pub clock_leeway: Duration,
    /// How long one request to LINE may take.
    #[serde(rename = "timeout_ms", deserialize_with = "values::millis::<100, 60_000, _>")]
    pub timeout: Duration,
    /// By the name events use.
    #[serde(default, deserialize_with = "channel::by_name")]
    pub channels: BTreeMap<String, ChannelSettings>,
}

impl LineSettings {
    pub(super) fn warnings(&self) -> Vec<String> {
        if self.api_base_url.as_str() == LINE_API {
            return Vec::new();
        }
        vec![format!(
            "`line.api_base_url` is {}, not LINE: tokens and messages go there, and whoever runs it can say who anybody is",
            self.api_base_url
        )]
    }
}

/// `delivery`: the pace.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeliverySettings {
    /// For each channel, shared among live workers; LINE itself allows 2,000 requests a second.
    #[serde(deserialize_with = "values::count::<1, 1_000_000, _>")]
    pub pushes_per_second: u32,
    /// How often an idle stream is read.
    #[serde(rename = "poll_interval_ms", deserialize_with = "values::millis::<1, 60_000, _>")]
    pub poll_interval: Duration,
    /// Notices on their way at the same time.
    #[serde(deserialize_with = "values::count::<1, 1024, _>")]
    pub concurrency: u32,
    /// After this time without a sign of life a worker's shards go to another.
    #[serde(rename = "lease_ms", deserialize_with = "values::millis::<100, 300_000, _>")]
    pub lease: Duration,
    /// How often a held channel is tried again.
    #[serde(rename = "hold_probe_ms", deserialize_with = "values::millis::<100, 3_600_000, _>")]
    pub hold_probe: Duration,
}

/// `ops`: what operators and their machines ask of a process without a server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpsSettings {
    /// Where `consume` answers them, if anywhere.
    #[serde(default, deserialize_with = "some_address")]
    pub bind: Option<SocketAddr>,
}

/// `log`: how the log is written. What is logged is chosen by `RUST_LOG`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogSettings {
    /// One line for a person, or one JSON object, an entry.
    pub format: LogFormat,
}

/// `log.format`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One JSON object a line, for machines.
    Json,
    /// For people.
    #[default]
    Text,
}

fn string<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    values::text(toml::Value::deserialize(from)?).map_err(D::Error::custom)
}

fn some_address<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SocketAddr>, D::Error> {
    address(from).map(Some)
}

fn address<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    let text = string(from)?;
    text.parse().map_err(|_| {
        D::Error::custom(format!("`{text}` is no address: write address:port, for example 127.0.0.1:8080"))
    })
}

fn public_url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Url>, D::Error> {
    web_url(&string(from)?).map(Some).map_err(D::Error::custom)
}

fn api_base_url<'de, D: Deserializer<'de>>(from: D) -> Result<Url, D::Error> {
    let url = web_url(&string(from)?).map_err(D::Error::custom)?;
    if url.scheme() == "https" || is_loopback(&url) {
        return Ok(url);
    }
    Err(D::Error::custom(format!("{url} would send tokens in the clear: use https (http only on this machine)")))
}

fn proxies<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<IpNet>, D::Error> {
    let network = |text: String| {
        text.parse()
            .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
            .map_err(|_| D::Error::custom(format!("`{text}` is neither an address nor a network like 10.0.0.0/8")))
    };
    values::texts(from)?.into_iter().map(network).collect()
}

/// Amazon DynamoDB's naming rules: 3 to 255 of letters, digits, `_`, `-` and `.`.
fn table_name<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let name = string(from)?;
    let usable = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    if usable && (3..=255).contains(&name.len()) {
        return Ok(name);
    }
    Err(D::Error::custom(format!(
        "`{name}` is no table name: use 3 to 255 letters, digits, underscores, hyphens and dots"
    )))
}

//! The log: on stderr, chosen by `RUST_LOG`, to be read or for machines; and with the feature `otel` the export of spans.

use std::io::{self, IsTerminal};

use tracing_subscriber::{EnvFilter, Layer, layer::SubscriberExt, util::SubscriberInitExt};

use super::config::LogFormat;
#[cfg(feature = "otel")]
use super::otel;

/// What is logged unless `RUST_LOG` says otherwise. Libraries repeat what we say better: actix a broken CSV, the engine every
/// refusal that the SDK hands to us anyway, the SDK each place where it looked for a region in vain.
const USUAL: &str = "info,actix_server=warn,actix_http::h1=off,aws_config::imds=error,dynoxide=error";

/// Starts the log of this process; a second call changes nothing.
///
/// # Errors
///
/// Variables for the export of spans that can't be used.
#[cfg_attr(not(feature = "otel"), expect(clippy::unnecessary_wraps, reason = "the export of spans alone can fail"))]
pub fn start(format: LogFormat) -> anyhow::Result<()> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(USUAL));
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    let lines = match format {
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).boxed(),
    };
    let log = tracing_subscriber::registry().with(filter).with(lines);
    #[cfg(feature = "otel")]
    let log = log.with(otel::layer()?);
    // An error says that a log was started already: then that one stays.
    let _ = log.try_init();
    Ok(())
}

//! The log: on stderr, chosen by `RUST_LOG`, for people or for machines.

use std::io::{self, IsTerminal};

use tracing_subscriber::{EnvFilter, Layer, layer::SubscriberExt, util::SubscriberInitExt};

use super::config::LogFormat;

/// What is logged unless `RUST_LOG` says otherwise. Libraries repeat what we say better: actix a broken CSV, the engine every
/// refusal that the SDK hands to us anyway, the SDK each place where it looked for a region in vain.
const USUAL: &str = "info,actix_server=warn,actix_http::h1=off,aws_config::imds=error,dynoxide=error";

/// Starts the log of this process; a second call changes nothing.
pub fn start(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(USUAL));
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    let lines = match format {
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).boxed(),
    };
    // An error says that a log was started already: then that one stays.
    let _ = tracing_subscriber::registry().with(filter).with(lines).try_init();
}

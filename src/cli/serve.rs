//! `serve` and `consume`: the service against real DynamoDB and LINE.

use std::{io, net::TcpListener};

use tokio_util::sync::CancellationToken;

use crate::http;
use crate::store::client::{Clients, Timeouts};

use super::{
    options::SettingsArgs,
    service::{self, Builder, Tables},
};

/// What chooses the address of a consumer's answers to operators.
const OPS_BIND: &str = "`ops.bind`, say STAMP_RALLY__OPS__BIND=127.0.0.1:9090";

/// `serve`.
#[derive(Clone, Debug, clap::Args)]
pub struct ServeArgs {
    #[command(flatten)]
    settings: SettingsArgs,
    /// Also consume the table's stream in this process
    #[arg(long)]
    with_consumer: bool,
}

/// `consume`.
#[derive(Clone, Debug, clap::Args)]
pub struct ConsumeArgs {
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Serves until the process is asked to stop. A request that comes before the store can be reached is answered so.
pub async fn serve(args: ServeArgs) -> anyhow::Result<()> {
    let settings = args.settings.start_with_line()?;
    let parts = Builder::of_this_process(&settings)?;
    let listener = service::listen(settings.http.bind, service::HTTP_BIND)?;
    let shutdown = service::shutdown_signal()?;
    let clients = Clients::from_environment(&Timeouts::request()).await?;
    let tables = Tables::seen_at(&clients, &settings.store).await?;
    let worker = if args.with_consumer {
        Some(parts.worker(&Clients::from_environment(&Timeouts::worker()).await?)?)
    } else {
        None
    };
    tracing::info!(
        http.bind = %listener.local_addr()?,
        http.public_url = settings.http.public_url(),
        http.with_consumer = args.with_consumer,
        "serving"
    );
    let server = http::serve(listener, parts.app(&clients), shutdown.clone());
    service::run(server, worker, tables, shutdown).await
}

/// Consumes until the process is asked to stop.
pub async fn consume(args: ConsumeArgs) -> anyhow::Result<()> {
    let settings = args.settings.start_with_line()?;
    let parts = Builder::of_this_process(&settings)?;
    let listener = settings.ops.bind.map(|bind| service::listen(bind, OPS_BIND)).transpose()?;
    let shutdown = service::shutdown_signal()?;
    let clients = Clients::from_environment(&Timeouts::worker()).await?;
    let tables = Tables::seen_at(&clients, &settings.store).await?;
    let worker = parts.worker(&clients)?;
    let server = serve_ops(listener, parts.ops(&clients, &worker), shutdown.clone());
    service::run(server, Some(worker), tables, shutdown).await
}

/// What operators ask, if it is asked anywhere.
async fn serve_ops(listener: Option<TcpListener>, ops: http::Ops, shutdown: CancellationToken) -> io::Result<()> {
    let Some(listener) = listener else {
        shutdown.cancelled().await;
        return Ok(());
    };
    tracing::info!(ops.bind = %listener.local_addr()?, "answering operators");
    http::serve_ops(listener, ops, shutdown).await
}

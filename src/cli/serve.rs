//! `serve` and `consume`: the service against real DynamoDB and LINE.

use crate::store::client::{Clients, Pace};

use super::{args::SettingsArgs, service, store};

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

/// Serves until the process is asked to stop.
pub async fn serve(args: ServeArgs) -> anyhow::Result<()> {
    let settings = args.settings.start()?;
    let parts = service::Service::of(&settings)?;
    let listener = service::listen(settings.http.bind, service::HTTP_BIND)?;
    let shutdown = service::shutdown_signal()?;
    let clients = Clients::of_this_machine(&Pace::request()).await?;
    service::wait_for_tables(&clients, &store::table_names(&settings), &shutdown).await?;
    let worker =
        if args.with_consumer { Some(parts.worker(&Clients::of_this_machine(&Pace::worker()).await?)?) } else { None };
    tracing::info!(http.bind = %listener.local_addr()?, consumer = args.with_consumer, "serving");
    service::run(Some((listener, parts.app(&clients)?)), worker, shutdown).await
}

/// Consumes until the process is asked to stop.
pub async fn consume(args: ConsumeArgs) -> anyhow::Result<()> {
    let settings = args.settings.start()?;
    let parts = service::Service::of(&settings)?;
    let shutdown = service::shutdown_signal()?;
    let clients = Clients::of_this_machine(&Pace::worker()).await?;
    service::wait_for_tables(&clients, &store::table_names(&settings), &shutdown).await?;
    let worker = parts.worker(&clients)?;
    service::run(None, Some(worker), shutdown).await
}

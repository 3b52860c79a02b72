//! The service out of its parts: what `serve`, `consume`, `dev` and every test have in common.

use std::{collections::HashMap, io, net::TcpListener, sync::Arc, time::Duration};

use anyhow::{Context, bail};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio_util::sync::CancellationToken;

use crate::consumer::{
    Worker, WorkerParts,
    effect::Effect,
    stream_state::{StreamState, StreamWatch},
};
use crate::counts::Counting;
use crate::delivery::{Delivery, DeliveryParts, NoticeEffect, RetrySettings};
use crate::domain::{
    causes::Causes,
    ids::ChannelName,
    time::{Clock, MachineClock},
};
use crate::http::{self, NotConsuming, auth::AdminTokens};
use crate::line::{ChannelSettings, Platform, id_token::TokenVerifier, messaging::Messenger};
use crate::store::{
    Store, StoreError,
    client::Clients,
    progress::WorkerId,
    rallies::Rallies,
    table::{self, Difference, TableNames, TableReport},
    unreadable::Reported,
};

use super::{config::Settings, metrics};

/// How often an unreachable store is asked again at the start.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);

/// Builds server and consumer out of settings, clock, metrics and clients: those of production and of every test.
pub struct Builder<'a> {
    settings: &'a Settings,
    platform: Platform,
    clock: Clock,
    metrics: PrometheusHandle,
    retry: RetrySettings,
    reported: Reported,
}

impl<'a> Builder<'a> {
    /// Looks through the settings; starts nothing yet.
    pub fn new(settings: &'a Settings, clock: Clock, metrics: PrometheusHandle) -> anyhow::Result<Self> {
        if settings.line.channels.is_empty() {
            bail!("`line.channels` is empty: configure at least one channel, for example [line.channels.main]");
        }
        let platform =
            Platform::new(&settings.line.api_base_url, settings.line.timeout).context("line.api_base_url")?;
        Ok(Self { settings, platform, clock, metrics, retry: RetrySettings::default(), reported: Reported::default() })
    }

    /// Builds with the machine's clock and the process's metrics, which it installs: once a process.
    pub fn of_this_process(settings: &'a Settings) -> anyhow::Result<Self> {
        Self::new(settings, MachineClock::start(), metrics::recorder().context("metrics")?)
    }

    /// Lets notices be tried again at another pace than the usual one.
    #[must_use]
    pub fn with_retry(self, retry: RetrySettings) -> Self {
        Self { retry, ..self }
    }

    /// Lets what another builder's stores have logged not be logged again.
    #[must_use]
    pub fn reporting_with(self, reported: Reported) -> Self {
        Self { reported, ..self }
    }

    /// The HTTP server's parts.
    #[must_use]
    pub fn app(&self, clients: &Clients) -> http::App {
        let store = self.store(clients);
        http::App::new(http::Parts {
            rallies: Rallies::new(store.clone(), self.clock.clone()),
            store,
            verifier: TokenVerifier::new(self.platform.clone(), self.settings.line.verifier(), self.clock.clone()),
            channels: self.settings.line.channels.clone(),
            proof_keys: self.settings.proofs.keys.clone(),
            admin_tokens: AdminTokens::new(self.settings.admin.tokens.clone()),
            allowed_origins: self.settings.http.allowed_origins.clone(),
            clock: self.clock.clone(),
            metrics: self.metrics.clone(),
        })
    }

    /// The one table. What one of this process's stores has logged, the others don't log again.
    #[must_use]
    pub fn store(&self, clients: &Clients) -> Store {
        Store::new(clients.table.clone(), self.settings.store.clone()).reporting_with(self.reported.clone())
    }

    /// What operators are answered from by a process that only consumes.
    #[must_use]
    pub fn ops(&self, clients: &Clients, worker: &Worker) -> http::Ops {
        let (liveness, watch, clock) = (worker.liveness(), worker.watch(), self.clock.clone());
        http::Ops {
            store: self.store(clients),
            metrics: self.metrics.clone(),
            clock: self.clock.clone(),
            consumes: Some(Arc::new(move || consumes(&watch, liveness.is_alive(clock.uptime())))),
        }
    }

    /// The consumer of the table's stream.
    pub fn worker(&self, clients: &Clients) -> anyhow::Result<Worker> {
        let notices = self.notices(&self.store(clients))?;
        Ok(Worker::new(self.worker_parts(clients, &notices)))
    }

    /// What that consumer is made of, with the one list of effects that workers and functions have.
    #[must_use]
    pub fn worker_parts(&self, clients: &Clients, notices: &NoticeEffect) -> WorkerParts {
        let store = self.store(clients);
        let counting = Counting::new(store.clone(), notices.delivery().rallies().clone());
        WorkerParts {
            settings: notices.delivery().settings().of_consumer(),
            effects: [Arc::new(notices.clone()) as Arc<dyn Effect>, Arc::new(counting)].into(),
            store,
            streams: clients.streams.clone(),
            clock: self.clock.clone(),
            me: WorkerId::generate(),
        }
    }

    /// The effect that brings notices to LINE.
    pub fn notices(&self, store: &Store) -> anyhow::Result<NoticeEffect> {
        Ok(NoticeEffect::new(Delivery::new(DeliveryParts {
            rallies: Rallies::new(store.clone(), self.clock.clone()),
            messengers: self.messengers()?,
            store: store.clone(),
            clock: self.clock.clone(),
            settings: self.settings.delivery.clone(),
            retry: self.retry.clone(),
        })))
    }

    fn messengers(&self) -> anyhow::Result<HashMap<ChannelName, Messenger>> {
        let messenger = |(name, channel): (&ChannelName, &ChannelSettings)| {
            let access =
                channel.access.clone().with_context(|| format!("`line.channels.{name}` has no access token"))?;
            Ok((name.clone(), Messenger::new(self.platform.clone(), access, self.clock.clone())))
        };
        self.settings.line.channels.iter().map(messenger).collect()
    }
}

/// Whether a worker consumes the table's stream; `has_looked`: at the workers' progress, within its lease.
fn consumes(watch: &StreamWatch, has_looked: bool) -> Result<(), NotConsuming> {
    match watch.state() {
        StreamState::Missing => Err(NotConsuming::NoStream),
        StreamState::Replaced => Err(NotConsuming::AnotherStream),
        StreamState::Present if has_looked => Ok(()),
        StreamState::Present => Err(NotConsuming::NoRound),
    }
}

/// What chooses the server's address.
pub const HTTP_BIND: &str = "`http.bind`, say STAMP_RALLY__HTTP__BIND=127.0.0.1:8090";

/// A socket for the server; a port in use says so at once, and what chooses another one.
pub fn listen(address: std::net::SocketAddr, chosen_by: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address)
        .with_context(|| format!("can't listen on {address}: choose another address by {chosen_by}"))
}

/// What the first look at the tables came to.
pub enum Tables<'a> {
    /// They are waited for.
    AwaitedAt(&'a Clients, &'a TableNames),
    /// They can be used.
    There,
}

impl<'a> Tables<'a> {
    /// Looks at them, so that a start that can't succeed ends before anything is served.
    pub async fn seen_at(clients: &'a Clients, names: &'a TableNames) -> anyhow::Result<Self> {
        let are_there = tables_are_there(clients, names).await?;
        Ok(if are_there { Self::There } else { Self::AwaitedAt(clients, names) })
    }
}

/// Whether the tables can be used now. A store that can't be reached and tables that are being made are worth waiting for;
/// tables that are missing or another program's are not.
async fn tables_are_there(clients: &Clients, names: &TableNames) -> anyhow::Result<bool> {
    match table::status(&clients.table, names).await {
        Ok(reports) => {
            refuse_unusable(&reports)?;
            if reports.iter().any(is_being_made) {
                tracing::warn!("the tables are being made; waiting for them");
                return Ok(false);
            }
            warn_of(&reports);
            Ok(true)
        }
        Err(error @ StoreError::Unavailable(_)) => {
            tracing::warn!(error = %Causes(&error), "the store can't be reached; waiting for it");
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

/// Waits until the tables can be used, unless the process is asked to stop.
async fn wait_for_tables(clients: &Clients, names: &TableNames, shutdown: &CancellationToken) -> anyhow::Result<()> {
    loop {
        tokio::select! {
            () = tokio::time::sleep(RETRY_INTERVAL) => {}
            () = shutdown.cancelled() => return Ok(()),
        }
        if tables_are_there(clients, names).await? {
            return Ok(());
        }
    }
}

fn refuse_unusable(reports: &[TableReport]) -> anyhow::Result<()> {
    let missing: Vec<_> =
        reports.iter().filter(|report| !report.exists()).map(|report| report.table.as_str()).collect();
    if !missing.is_empty() {
        bail!("no table {}: run `stamp-rally table create`", missing.join(", "));
    }
    let is_foreign = |difference: &&Difference| matches!(difference, Difference::Keys(_));
    for report in reports {
        if let Some(foreign) = report.differences.iter().find(is_foreign) {
            bail!("table {}: {foreign} Choose another name by `store.table` and `store.consumer_table`", report.table);
        }
    }
    Ok(())
}

/// A table whose indexes change (UPDATING) can be used meanwhile.
fn is_being_made(report: &TableReport) -> bool {
    report.differences.iter().any(|difference| matches!(difference, Difference::NotReady(state) if state == "CREATING"))
}

/// What differs and can be lived with, one line each.
fn warn_of(reports: &[TableReport]) {
    for report in reports {
        for difference in &report.differences {
            tracing::warn!(
                store.table = %report.table,
                table.difference = %difference,
                table.remedy = %difference.remedy(),
                "the table differs from its definition"
            );
        }
    }
}

/// Runs a server, and a consumer once the tables are there, until the process is asked to stop, then lets both finish.
/// When one of them ends by itself, the other is stopped too.
pub async fn run(
    server: impl Future<Output = io::Result<()>>,
    worker: Option<Worker>,
    tables: Tables<'_>,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let serve = async {
        let _end = shutdown.clone().drop_guard();
        server.await.context("the HTTP server")
    };
    let consume = async {
        let end = shutdown.clone().drop_guard();
        if let Tables::AwaitedAt(clients, names) = tables {
            Box::pin(wait_for_tables(clients, names, &shutdown)).await?;
        }
        match worker {
            Some(mut worker) => worker.run(shutdown.clone()).await,
            None => drop(end.disarm()),
        }
        Ok(())
    };
    let (http_end, stream_end) = tokio::join!(serve, consume);
    stream_end.and(http_end)
}

/// Cancelled by SIGTERM or Ctrl-C.
pub fn shutdown_signal() -> anyhow::Result<CancellationToken> {
    let shutdown = CancellationToken::new();
    let (asked, mut term) =
        (shutdown.clone(), tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?);
    #[expect(clippy::disallowed_methods, reason = "the command line owns it; it ends with the process")]
    tokio::spawn(async move {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = term.recv() => {}
        }
        tracing::info!("asked to stop: finishing what runs");
        asked.cancel();
    });
    Ok(shutdown)
}

//! The servers: futures that their callers own.

use std::{io, net::TcpListener, sync::Arc, time::Duration};

use actix_web::{
    Error, HttpServer,
    body::MessageBody,
    dev::{ServiceFactory, ServiceRequest, ServiceResponse},
    middleware::from_fn,
    web::Data,
};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio_util::sync::CancellationToken;

use super::{app::App, auth, cross_origin::cors, observe::observe, ops::Ops, refusals, routes};

/// An idle connection is kept so long: longer than load balancers do (60 s), so that they close first.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// A request's head has to arrive within this.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// A client that was asked to close its connection has this long.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);
/// Running requests may finish within this after a stop, in seconds.
const DRAIN_TIMEOUT_S: u64 = 20;
/// How often histograms are folded, so that unread metrics don't pile up.
const METRICS_UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// Serves the whole API until `shutdown`, then stops accepting and finishes what runs.
pub async fn serve(listener: TcpListener, app: App, shutdown: CancellationToken) -> io::Result<()> {
    let metrics = app.ops.metrics.clone();
    auth::count_from_nothing();
    refusals::count_from_nothing();
    let (refusals, store, clock) = (Arc::clone(&app.refusals), app.store.clone(), app.clock.clone());
    let server = HttpServer::new(move || service(app.on_this_thread()))
        .keep_alive(KEEP_ALIVE)
        .client_request_timeout(HEAD_TIMEOUT)
        .client_disconnect_timeout(CLOSE_TIMEOUT)
        .shutdown_signal(shutdown.cancelled_owned())
        .shutdown_timeout(DRAIN_TIMEOUT_S)
        .listen(listener)?
        .run();
    let ended = tokio::select! {
        ended = with_upkeep(metrics, server) => ended,
        () = Box::pin(refusals.keep(&store, &clock)) => Ok(()),
    };
    Box::pin(refusals.write(&store, &clock)).await;
    ended
}

/// Serves what operators ask alone, for a process without the API, until `shutdown`.
pub async fn serve_ops(listener: TcpListener, ops: Ops, shutdown: CancellationToken) -> io::Result<()> {
    let metrics = ops.metrics.clone();
    let server = HttpServer::new(move || {
        let app = actix_web::App::new().configure(routes::configure_ops);
        app.app_data(Data::new(ops.clone())).wrap(from_fn(observe))
    })
    .workers(1)
    .client_request_timeout(HEAD_TIMEOUT)
    .shutdown_signal(shutdown.cancelled_owned())
    .shutdown_timeout(0)
    .listen(listener)?
    .run();
    with_upkeep(metrics, server).await
}

async fn with_upkeep(metrics: PrometheusHandle, server: impl Future<Output = io::Result<()>>) -> io::Result<()> {
    tokio::pin!(server);
    let mut upkeep = tokio::time::interval(METRICS_UPKEEP_INTERVAL);
    loop {
        tokio::select! {
            ended = &mut server => return ended,
            _ = upkeep.tick() => metrics.run_upkeep(),
        }
    }
}

/// The whole application, as each of the server's threads runs it.
pub(super) fn service(
    app: App,
) -> actix_web::App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<impl MessageBody>,
        Error = Error,
        InitError = (),
    >,
> {
    actix_web::App::new()
        .configure(routes::configure)
        .wrap(cors(&app.allowed_origins))
        .app_data(Data::from(Arc::clone(&app.admin_tokens)))
        .app_data(Data::new(app.ops.clone()))
        .app_data(Data::new(app))
        .wrap(from_fn(observe))
}

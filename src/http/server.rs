//! The server: a future that whoever starts it owns.

use std::{io, net::TcpListener, time::Duration};

use actix_web::{
    Error, HttpServer,
    body::MessageBody,
    dev::{ServiceFactory, ServiceRequest, ServiceResponse},
    middleware::from_fn,
    web::Data,
};
use tokio_util::sync::CancellationToken;

use super::{app::App, cross_origin::cors, observe::observe, routes};

/// An idle connection is kept so long: longer than load balancers do (60 s), so that they close first.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// A request's head has to arrive within this.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// Who closes a connection is waited for so long.
const CLOSE_PATIENCE: Duration = Duration::from_secs(3);
/// Running requests may finish within this after a stop, in seconds.
const DRAIN_S: u64 = 20;
/// How often histograms are folded, so that unread metrics don't pile up.
const METRICS_UPKEEP: Duration = Duration::from_secs(5);

/// Serves until `shutdown`, then stops accepting and finishes what runs.
pub async fn serve(listener: TcpListener, app: App, shutdown: CancellationToken) -> io::Result<()> {
    let metrics = app.metrics.clone();
    let server = HttpServer::new(move || service(app.clone()))
        .keep_alive(KEEP_ALIVE)
        .client_request_timeout(HEAD_PATIENCE)
        .client_disconnect_timeout(CLOSE_PATIENCE)
        .shutdown_signal(shutdown.cancelled_owned())
        .shutdown_timeout(DRAIN_S)
        .listen(listener)?
        .run();
    tokio::pin!(server);
    let mut upkeep = tokio::time::interval(METRICS_UPKEEP);
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
        .app_data(Data::new(app))
        .wrap(from_fn(observe))
}

//! The house's server.

use std::{
    io,
    net::TcpListener,
    thread::{self, JoinHandle},
};

use reqwest::RequestBuilder;
use stamp_rally::http::{self, App};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Answer, free_port};

/// Another server of the house's rally, at an address of its own.
pub struct Neighbour {
    _server: Server,
    url: String,
}

impl Neighbour {
    pub(super) fn start(app: App) -> Self {
        let listener = free_port();
        let url = format!("http://{}", listener.local_addr().unwrap());
        Self { _server: Server::start(listener, app), url }
    }

    /// A request, sent to this server instead.
    pub async fn answers(&self, request: RequestBuilder) -> Answer {
        let (client, request) = request.build_split();
        let mut request = request.unwrap();
        let port = reqwest::Url::parse(&self.url).unwrap().port();
        request.url_mut().set_port(port).unwrap();
        Answer::to(RequestBuilder::from_parts(client, request)).await
    }
}

/// A server on a thread of its own. When it is dropped it finishes what runs, and ends.
pub struct Server {
    stop: Option<DropGuard>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Server {
    pub fn start(listener: TcpListener, app: App) -> Self {
        let stop = CancellationToken::new();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let served = http::serve(listener, app, stop.clone());
        Self { stop: Some(stop.drop_guard()), thread: Some(thread::spawn(move || runtime.block_on(served))) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        let ended = self.thread.take().map(JoinHandle::join);
        if !thread::panicking() {
            ended.unwrap().unwrap().unwrap();
        }
    }
}

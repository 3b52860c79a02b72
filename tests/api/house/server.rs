//! The house's server.

use std::{
    io,
    net::TcpListener,
    thread::{self, JoinHandle},
};

use stamp_rally::http::{self, App};
use tokio_util::sync::{CancellationToken, DropGuard};

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

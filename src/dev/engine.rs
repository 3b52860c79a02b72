//! The embedded DynamoDB engine: the crate `dynoxide-rs` behind HTTP, on a thread of its own.
//!
//! The SDK talks to it as it talks to AWS, through a socket. A request runs synchronously on the thread that got it
//! (`SQLite` behind one lock), so the engine has its own runtime: in one of the server's it would hold up every request.
//!
//! It differs from AWS where a stream reader could get used to it: one shard that never closes, positions that never
//! expire, records of writes that change nothing, no throttling. Code is written for AWS; tests of those things need
//! other means.

mod data;
mod error;

#[cfg(test)]
mod tests;

use std::{
    net::{SocketAddr, TcpListener},
    sync::mpsc::{self, RecvTimeoutError},
    thread::{self, JoinHandle},
    time::{Duration, SystemTime},
};

use dynoxide::{Database, server};
use tokio::{
    runtime::Runtime,
    sync::{mpsc::UnboundedReceiver, mpsc::UnboundedSender, oneshot},
};

use data::Data;
pub use data::{Storage, Swept};
pub use error::EngineError;
use error::{STOP_TIMEOUT, no};

/// Between two sweeps for expired items and old records.
const SWEEP_EVERY: Duration = Duration::from_mins(1);

/// How long a stop waits for requests that run. A client that sent half a request would hold it for ever; after this
/// its connection is dropped. Requests take milliseconds.
const GRACE: Duration = Duration::from_secs(1);

/// A running engine. It stops when it is dropped, but only [`Engine::stop`] returns how that went.
#[derive(Debug)]
pub struct Engine {
    address: SocketAddr,
    sweeps: UnboundedSender<Sweep>,
    stop: Option<oneshot::Sender<()>>,
    ended: mpsc::Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

/// A sweep that is wanted now.
struct Sweep {
    now: SystemTime,
    done: mpsc::SyncSender<Result<Swept, EngineError>>,
}

impl Engine {
    /// Starts the engine on a socket that listens already; it answers when this returns. Any credentials are good.
    pub fn start(listener: TcpListener, storage: Storage) -> Result<Self, EngineError> {
        let address = listener.local_addr().map_err(|source| no("address", source))?;
        let (sweeps, wanted) = tokio::sync::mpsc::unbounded_channel();
        let (stop, stopped) = oneshot::channel();
        let (ready, is_ready) = mpsc::sync_channel(1);
        let (end, ended) = mpsc::sync_channel(1);
        let thread = thread::Builder::new()
            .name("dynamodb-engine".to_owned())
            .spawn(move || {
                live(listener, &storage, &ready, stopped, wanted);
                // The engine may have been given up.
                let _ = end.send(());
            })
            .map_err(|source| no("thread", source))?;
        is_ready.recv().map_err(|_| EngineError::Stopped)??;
        Ok(Self { address, sweeps, stop: Some(stop), ended, thread: Some(thread) })
    }

    /// Returns where the SDK finds it: `http://127.0.0.1:41234`, say.
    #[must_use]
    pub fn endpoint_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns whether its thread still runs: it answers, if not at once.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Deletes expired items and the stream's records older than 24 hours, as AWS does in the background. The engine
    /// does this by itself every minute.
    ///
    /// `now` decides about records; items expire by the engine's own clock.
    pub fn sweep(&self, now: SystemTime) -> Result<Swept, EngineError> {
        let (done, swept) = mpsc::sync_channel(1);
        self.sweeps.send(Sweep { now, done }).map_err(|_| EngineError::Stopped)?;
        swept.recv().map_err(|_| EngineError::Stopped)?
    }

    /// Stops it: no new connections, what runs may finish (1 s), the file is complete and free for others.
    ///
    /// Blocks for some milliseconds, at most 5 s. Answers that are on their way to the calling thread's own runtime
    /// aren't read meanwhile.
    pub fn stop(mut self) -> Result<(), EngineError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), EngineError> {
        let (Some(stop), Some(thread)) = (self.stop.take(), self.thread.take()) else { return Ok(()) };
        // An error here means that it has ended already; the join shows how.
        let _ = stop.send(());
        match self.ended.recv_timeout(STOP_TIMEOUT) {
            Err(RecvTimeoutError::Timeout) => Err(EngineError::StillRunning),
            // Disconnected: it panicked, which the join shows.
            Ok(()) | Err(RecvTimeoutError::Disconnected) => thread.join().map_err(|_| EngineError::Stopped),
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            tracing::warn!(error = %error, "the embedded engine did not end well");
        }
    }
}

/// The whole life of the engine's thread. Whatever opened the data drops it at the end: connections (with the
/// runtime), database, lock.
fn live(
    listener: TcpListener,
    storage: &Storage,
    ready: &mpsc::SyncSender<Result<(), EngineError>>,
    stop: oneshot::Receiver<()>,
    sweeps: UnboundedReceiver<Sweep>,
) {
    let opened = Data::open(storage).and_then(|data| Ok((data, runtime()?)));
    let (data, runtime) = match opened {
        Ok(opened) => opened,
        Err(error) => return drop(ready.send(Err(error))),
    };
    runtime.block_on(async {
        let listener = listener.set_nonblocking(true).and_then(|()| tokio::net::TcpListener::from_std(listener));
        match listener.map_err(|source| no("socket", source)) {
            Ok(listener) => {
                let _ = ready.send(Ok(()));
                tokio::select! {
                    () = serve(listener, data.database(), stop) => {}
                    () = keep_tidy(&data, sweeps) => {}
                }
            }
            Err(error) => drop(ready.send(Err(error))),
        }
    });
    // Connections that still wait for the rest of a request end here, and drop the database.
    drop(runtime);
}

fn runtime() -> Result<Runtime, EngineError> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|source| no("runtime", source))
}

async fn serve(listener: tokio::net::TcpListener, database: Database, stop: oneshot::Receiver<()>) {
    let (stopping, stopped) = oneshot::channel();
    let serving = server::serve_with_shutdown(listener, database, async move {
        // A handle that was dropped means the same.
        let _ = stop.await;
        let _ = stopping.send(());
    });
    let too_long = async {
        let _ = stopped.await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        result = serving => if let Err(error) = result {
            tracing::error!(error, "the embedded engine can't serve any more");
        },
        () = too_long => tracing::debug!("the embedded engine drops connections that don't end"),
    }
}

/// Sweeps every minute, and when asked to. Never returns.
async fn keep_tidy(data: &Data, mut sweeps: UnboundedReceiver<Sweep>) {
    let mut clock = tokio::time::interval(SWEEP_EVERY);
    loop {
        tokio::select! {
            _ = clock.tick() => {
                if let Err(error) = data.sweep(SystemTime::now()) {
                    tracing::warn!(error = &error as &dyn std::error::Error, "the embedded engine could not sweep");
                }
            }
            Some(sweep) = sweeps.recv() => {
                let _ = sweep.done.send(data.sweep(sweep.now));
            }
        }
    }
}

//! The embedded DynamoDB engine: the crate `dynoxide-rs` behind HTTP, on a thread of its own.
//!
//! The SDK talks to it as it talks to AWS, through a socket. A request runs synchronously on the thread that got it
//! (`SQLite` behind one lock), so the engine has its own runtime: in one of the server's it would hold up everybody.
//!
//! It differs from AWS where a stream reader could get used to it: one shard that never closes, positions that never
//! expire, records of writes that change nothing, no throttling. Code is written for AWS; tests of those things need
//! other means.

mod data;

#[cfg(test)]
mod tests;

use std::{
    io,
    net::{SocketAddr, TcpListener},
    path::PathBuf,
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
pub use data::Swept;

/// Between two sweeps for expired items and old records.
const SWEEP_EVERY: Duration = Duration::from_mins(1);

/// How long a stop waits for requests that run. A client that sent half a request would hold it for ever; after this
/// its connection is dropped. Requests take milliseconds.
const GRACE: Duration = Duration::from_secs(1);

/// How long [`Engine::stop`] waits for the thread in all.
const STOP_LIMIT: Duration = Duration::from_secs(5);

/// Where the engine keeps its tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// In this file, made if it is not there (its folder too). Tables, items, streams and positions in them survive a
    /// restart. One engine at a time.
    File(PathBuf),
    /// In memory, until the engine stops.
    Memory,
}

/// Why the engine does not run.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The file can't be used as a database: damaged, from a newer version, or our index on it was refused.
    #[error("{path} can't be opened as the data of the embedded DynamoDB engine")]
    Data {
        /// The file, or where the memory is.
        path: String,
        /// What the engine or `SQLite` says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Another process (or another engine of this one) has the file open.
    #[error("{} is in use by another stamp-rally: stop it, or choose another folder by `stamp-rally dev --data DIR`", .0.display())]
    InUse(PathBuf),
    /// The machine refused a file, a socket or a thread.
    #[error("the embedded DynamoDB engine got no {what}")]
    Machine {
        /// What was asked for.
        what: String,
        /// What the machine says.
        source: io::Error,
    },
    /// The thread has ended by itself.
    #[error("the embedded DynamoDB engine has ended")]
    Stopped,
    /// The engine did not stop in time and is left behind; its file stays locked until the process ends.
    #[error("the embedded DynamoDB engine did not stop within {} s", STOP_LIMIT.as_secs())]
    StillRunning,
}

/// A running engine. It stops when it is dropped, but only [`Engine::stop`] tells how that went.
#[derive(Debug)]
pub struct Engine {
    address: SocketAddr,
    sweeps: UnboundedSender<Sweep>,
    stop: Option<oneshot::Sender<()>>,
    ended: mpsc::Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

/// Somebody wants a sweep now.
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
                // Nobody may be waiting any more.
                let _ = end.send(());
            })
            .map_err(|source| no("thread", source))?;
        is_ready.recv().map_err(|_| EngineError::Stopped)??;
        Ok(Self { address, sweeps, stop: Some(stop), ended, thread: Some(thread) })
    }

    /// Where the SDK finds it: `http://127.0.0.1:41234`, say.
    #[must_use]
    pub fn endpoint_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Whether its thread still runs: it answers, if not at once.
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
    /// Blocks for some milliseconds, at most 5 s. Answers that are under way to somebody on the calling thread's own
    /// runtime don't get read meanwhile.
    pub fn stop(mut self) -> Result<(), EngineError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), EngineError> {
        let (Some(stop), Some(thread)) = (self.stop.take(), self.thread.take()) else { return Ok(()) };
        // An error here means that it has ended already; the join tells.
        let _ = stop.send(());
        match self.ended.recv_timeout(STOP_LIMIT) {
            Err(RecvTimeoutError::Timeout) => Err(EngineError::StillRunning),
            // Disconnected: it panicked, and the join tells that.
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

fn no(what: &str, source: io::Error) -> EngineError {
    EngineError::Machine { what: what.to_owned(), source }
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
        Err(error) => {
            let _ = ready.send(Err(error));
            return;
        }
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
            Err(error) => {
                let _ = ready.send(Err(error));
            }
        }
    });
    // Connections that still wait for the rest of a request end here, and let go of the database.
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

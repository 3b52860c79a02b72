//! A worker that can be stopped as a process can.

use std::sync::mpsc;

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::consumers::Worker;

/// A worker on a thread of its own, which can be stopped as a process can.
pub struct Elsewhere {
    runtime: tokio::runtime::Handle,
    stop: CancellationToken,
    thread: std::thread::JoinHandle<()>,
}

impl Elsewhere {
    pub fn runs(mut worker: Worker) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (handle, stop) = (runtime.handle().clone(), CancellationToken::new());
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || runtime.block_on(worker.run(stopped)));
        Self { runtime: handle, stop, thread }
    }

    /// Nothing happens on its thread any more, until the sender is dropped.
    pub async fn pause(&self) -> mpsc::Sender<()> {
        let ((resume, resumed), (pauses, is_paused)) = (mpsc::channel(), oneshot::channel());
        self.runtime.spawn(async move {
            pauses.send(()).unwrap();
            // Disconnected: that is the signal.
            let _: Result<(), _> = resumed.recv();
        });
        is_paused.await.unwrap();
        resume
    }

    pub fn stop(self) {
        self.stop.cancel();
        self.thread.join().unwrap();
    }
}

//! Workers and functions as production builds them. A worker works while its story waits for it, and sleeps in between.

use std::{convert::Infallible, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use stamp_rally::{
    cli::service::Builder,
    consumer::{
        self, WorkerParts, batch::BatchConsumer, catch_up::CatchUp, effect::Effect, limits::Limits,
        stream_state::StreamWatch,
    },
    delivery::{NoticeEffect, Tally, in_time::Drained},
    store::{
        client::Clients,
        progress::WorkerId,
        stream::{Record, SequenceNumber},
    },
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A worker of a story.
pub struct Worker {
    parts: WorkerParts,
    notices: NoticeEffect,
    catch_up: CatchUp,
    watch: StreamWatch,
    stop: CancellationToken,
    /// It works while this is polled.
    life: BoxFuture<'static, ()>,
}

impl Worker {
    /// The one that a process makes, under a name of the story's and with more effects than production has.
    pub fn of(process: &Builder<'_>, clients: &Clients, me: WorkerId, more: Vec<Arc<dyn Effect>>) -> Self {
        let notices = process.notices(&process.store(clients)).unwrap();
        let parts = process.worker_parts(clients, &notices);
        let effects = parts.effects.iter().cloned().chain(more).collect();
        Self::live(WorkerParts { effects, me, ..parts }, notices)
    }

    fn live(parts: WorkerParts, notices: NoticeEffect) -> Self {
        let (mut worker, stop) = (consumer::Worker::new(parts.clone()), CancellationToken::new());
        let (catch_up, watch, stopped) = (worker.catch_up(), worker.watch(), stop.clone());
        let life = Box::pin(async move { worker.run(stopped).await });
        Self { parts, notices, catch_up, watch, stop, life }
    }

    pub fn watch(&self) -> StreamWatch {
        self.watch.clone()
    }

    /// Works as a process does, until it is asked to stop.
    pub async fn run(&mut self, shutdown: CancellationToken) {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => self.stop().await,
            () = &mut self.life => unreachable!("it was not asked to stop"),
        }
    }

    /// Works until nothing is left to do, at full pace; what became of its notices since the last time.
    pub async fn run_until_idle(&mut self) -> Result<Tally, Infallible> {
        let mut tally = Tally::default();
        loop {
            // Its share of the pushes, once it knows the others, is what production gives it, but at once.
            let delivery = self.notices.delivery();
            delivery.set_share(delivery.settings().pushes_per_second, Duration::ZERO);
            let catch_up = self.catch_up.clone();
            tokio::select! {
                biased;
                () = &mut self.life => unreachable!("it was not asked to stop"),
                () = catch_up.now() => {}
            }
            let more = self.notices.take_tally();
            if more.total() == 0 {
                return Ok(tally);
            }
            tally.add(&more);
        }
    }

    /// Hands its shards over. Afterwards it begins anew.
    pub async fn stop(&mut self) {
        self.stop.cancel();
        (&mut self.life).await;
        *self = Self::live(self.parts.clone(), self.notices.clone());
    }
}

/// A function of AWS Lambda.
pub struct Function {
    batches: BatchConsumer,
    notices: NoticeEffect,
}

/// What became of a batch.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Handled {
    pub unfinished: Option<SequenceNumber>,
    pub tally: Tally,
}

impl Function {
    /// The one that a process makes, at full pace.
    pub fn of(process: &Builder<'_>, clients: &Clients) -> Self {
        let notices = process.notices(&process.store(clients)).unwrap();
        notices.delivery().set_share(notices.delivery().settings().pushes_per_second, Duration::ZERO);
        let WorkerParts { effects, store, clock, .. } = process.worker_parts(clients, &notices);
        Self { batches: BatchConsumer::new(effects, store, clock), notices }
    }

    pub async fn deliver_batch(&self, records: Vec<Record>, stream: &str, limits: Limits) -> Handled {
        let unfinished = self.batches.handle(records, stream, limits).await;
        Handled { unfinished, tally: self.notices.take_tally() }
    }

    pub async fn drain_within(&self, limits: Limits) -> Drained {
        let began = Instant::now();
        self.batches.forget_notes(began + limits.hurry).await;
        self.notices.delivery().drain_within(began, limits).await
    }
}

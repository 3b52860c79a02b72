//! The shards that a running worker reads, all at once, ended by the worker that began them.

use std::{
    collections::{BTreeSet, HashMap},
    convert::Infallible,
    panic::AssertUnwindSafe,
};

use futures_util::{FutureExt as _, StreamExt as _, stream::FuturesUnordered};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::consumer::{
    catch_up::Part,
    shard::{Context, End, Shard, report_over},
};
use crate::store::stream::ShardId;

pub(super) struct Ended {
    pub shard: ShardId,
    pub end: End,
    /// Its part in catching up, which is over when this is dropped. None: it broke off.
    pub _part: Option<Part>,
}

/// What begins and ends the reading of shards.
pub(super) struct Readers {
    /// How to stop each of them.
    stops: HashMap<ShardId, CancellationToken>,
    starts: mpsc::UnboundedSender<(Shard, CancellationToken)>,
    ends: mpsc::UnboundedReceiver<Ended>,
}

/// What reads them.
pub(super) struct Reading {
    started: mpsc::UnboundedReceiver<(Shard, CancellationToken)>,
    ended: mpsc::UnboundedSender<Ended>,
}

pub(super) fn readers() -> (Readers, Reading) {
    let ((starts, started), (ended, ends)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
    (Readers { stops: HashMap::new(), starts, ends }, Reading { started, ended })
}

impl Readers {
    /// Returns the shards that are read.
    pub fn owned(&self) -> BTreeSet<ShardId> {
        self.stops.keys().cloned().collect()
    }

    /// Begins to read a shard.
    pub fn start(&mut self, shard: Shard, shutdown: &CancellationToken) {
        let (id, stop) = (shard.id().clone(), shutdown.child_token());
        tracing::info!(shard.id = %id, "reading a shard");
        // The receiver lives as long as the worker.
        let _sent = self.starts.send((shard, stop.clone()));
        self.stops.insert(id, stop);
    }

    /// Lets a shard finish what runs, write its progress and hand itself over; false if it does so already, or is none
    /// of ours.
    pub fn stop(&self, shard: &ShardId) -> bool {
        self.stops.get(shard).filter(|stop| !stop.is_cancelled()).map(CancellationToken::cancel).is_some()
    }

    /// Waits for the next end of a shard.
    pub async fn ended(&mut self) -> Option<Ended> {
        let ended = self.ends.recv().await?;
        self.stops.remove(&ended.shard);
        tracing::info!(shard.id = %ended.shard, shard.end = ?ended.end, "stopped reading a shard");
        report_over(&ended.shard);
        Some(ended)
    }

    /// Stops all shards, and waits for their ends.
    pub async fn end(&mut self) {
        self.stops.values().for_each(CancellationToken::cancel);
        while !self.stops.is_empty() && self.ended().await.is_some() {}
    }
}

impl Reading {
    /// Reads all shards that are started.
    pub async fn run(mut self, context: &Context) -> Infallible {
        let mut reading = FuturesUnordered::new();
        loop {
            tokio::select! {
                Some((shard, stop)) = self.started.recv() => reading.push(read(shard, context, stop)),
                Some(ended) = reading.next() => drop(self.ended.send(ended)),
                else => std::future::pending().await,
            }
        }
    }
}

/// Reads one shard. One that breaks off spoils nothing for the others.
async fn read(shard: Shard, context: &Context, stop: CancellationToken) -> Ended {
    let id = shard.id().clone();
    if let Ok((end, part)) = AssertUnwindSafe(shard.run(context, &stop)).catch_unwind().await {
        return Ended { shard: id, end, _part: Some(part) };
    }
    tracing::error!(shard.id = %id, "reading a shard broke off: it is begun anew");
    Ended { shard: id, end: End::Lost, _part: None }
}

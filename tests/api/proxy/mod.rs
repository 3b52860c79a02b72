//! A proxy in front of DynamoDB (the embedded engine, or any other): counts what goes over the wire and lets things go
//! wrong that no emulator lets go wrong.
//!
//! It holds no assertions, so a bench can use it too (`#[path = "../tests/api/proxy/mod.rs"] mod proxy;`).

mod call;
mod deal;
mod fault;
mod streams;
mod wire;

use std::{
    collections::BTreeMap,
    convert::Infallible,
    io,
    net::SocketAddr,
    sync::{Arc, atomic::Ordering},
    thread::{self, JoinHandle},
};

use tokio::{runtime::Handle, sync::oneshot};

pub use call::{Call, Calls};
use deal::Deal;
pub use deal::{Page, Sequence};
use fault::Rule;
pub use fault::{Fault, Gate, Often};
use wire::{Wire, own, run};

/// A running proxy, on a thread of its own. It ends when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    wire: Arc<Wire>,
    runtime: Handle,
    stop: Option<oneshot::Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Starts a proxy before the DynamoDB at `upstream` (`http://127.0.0.1:8000`), on a free port.
    pub fn start(upstream: &str) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let wire = Arc::new(Wire::to(upstream));
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let thread = thread::Builder::new().name("dynamodb-proxy".to_owned()).spawn({
            let wire = Arc::clone(&wire);
            move || runtime.block_on(run(listener, wire, stopped))
        })?;
        Ok(Self { address, wire, runtime: handle, stop: Some(stop), thread: Some(thread) })
    }

    /// Where the SDK finds it.
    pub fn endpoint_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on, this goes wrong with these calls. Several rules may stand; the first one that applies decides.
    pub fn inject(&self, calls: impl Into<Calls>, fault: Fault, often: Often) {
        own(&self.wire.rules).push(Rule::new(calls.into(), fault, often));
    }

    /// From now on, nothing goes wrong (what is held stays held).
    pub fn heal(&self) {
        own(&self.wire.rules).clear();
    }

    /// Holds these calls before they are carried out.
    pub fn hold(&self, calls: impl Into<Calls>) -> Gate {
        let gate = Gate::closed();
        let mut gates = own(&self.wire.gates);
        gates.retain(|(_, gate)| !gate.is_open());
        gates.push((calls.into(), gate.state()));
        gate
    }

    /// Out of reach: every connection breaks, calls under way lose their answers.
    pub fn down(&self) {
        self.wire.down.store(true, Ordering::SeqCst);
    }

    /// Back again.
    pub fn up(&self) {
        self.wire.down.store(false, Ordering::SeqCst);
    }

    /// From now on the stream's one shard is dealt into so many, by hash of the partition key. (There must be a stream,
    /// and only one.)
    pub fn deal(&self, shards: usize) {
        *own(&self.wire.deal) = Some(Deal::into(shards));
    }

    /// Names of all dealt shards, as they would be listed in the end.
    pub fn shards(&self) -> Vec<String> {
        self.wire.dealt(|deal| deal.ids())
    }

    /// The shard that gets what happens next to items with this partition key.
    pub fn shard_of(&self, partition: &str) -> String {
        self.wire.dealt(|deal| deal.shard_of(partition).to_owned())
    }

    /// Closes a shard after what has happened so far; two children take over, whose names are given back. Nothing happens
    /// to one that is closed already.
    pub async fn split(&self, shard: &str) -> Vec<String> {
        self.close(shard, 2).await
    }

    /// The same with one child, as it happens every few hours.
    pub async fn roll_over(&self, shard: &str) -> Vec<String> {
        self.close(shard, 1).await
    }

    async fn close(&self, shard: &str, children: usize) -> Vec<String> {
        let (wire, shard) = (Arc::clone(&self.wire), shard.to_owned());
        self.there(async move { wire.close(&shard, children).await }).await.unwrap_or_default()
    }

    /// What has happened so far on a shard is gone: unread records are lost.
    pub async fn trim(&self, shard: &str) {
        let (wire, shard) = (Arc::clone(&self.wire), shard.to_owned());
        // Without a stream there is nothing to trim.
        let _ = self.there(async move { wire.trim(&shard).await }).await;
    }

    /// The last record of each dealt shard, read or not.
    pub async fn tails(&self) -> BTreeMap<String, Option<Sequence>> {
        let wire = Arc::clone(&self.wire);
        self.there(async move { wire.tails().await }).await.unwrap_or_default()
    }

    /// Every iterator that was given out so far has expired.
    pub fn expire_iterators(&self) {
        self.wire.dealt(Deal::expire);
    }

    /// Iterators expire after so many reads of the stream.
    pub fn iterators_live(&self, reads: u64) {
        self.wire.dealt(|deal| deal.iterators_live(reads));
    }

    /// So many listings of shards don't know of a split yet: they are eventually consistent.
    pub fn list_late(&self, listings: u64) {
        self.wire.dealt(|deal| deal.list_late(listings));
    }

    /// What was read of dealt shards, in order.
    pub fn pages(&self) -> Vec<Page> {
        self.wire.dealt(|deal| deal.pages().to_vec())
    }

    /// Asks the engine over the proxy's own connections, which live on its thread.
    async fn there<T: Send + 'static>(
        &self,
        ask: impl Future<Output = Result<T, wire::Broken>> + Send + 'static,
    ) -> Option<T> {
        self.runtime.spawn(ask).await.ok()?.ok()
    }

    /// How many of these calls came over the wire, repetitions and failed ones included.
    pub fn count(&self, calls: impl Into<Calls>) -> u64 {
        let calls = calls.into();
        own(&self.wire.counts).iter().filter(|(call, _)| calls.include(call)).map(|(_, count)| count).sum()
    }

    /// All calls that came over the wire, with their number.
    pub fn counts(&self) -> BTreeMap<Call, u64> {
        own(&self.wire.counts).clone()
    }

    /// Counts from nothing again; tells what was counted so far.
    pub fn forget_counts(&self) -> BTreeMap<Call, u64> {
        std::mem::take(&mut own(&self.wire.counts))
    }

    /// How many faults were injected so far.
    pub fn faults(&self) -> u64 {
        self.wire.faults.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic in there has been printed.
            let _ = thread.join();
        }
    }
}

//! A proxy in front of DynamoDB (the embedded engine, or any other): counts what goes over the wire and lets things go
//! wrong that no emulator lets go wrong.
//!
//! It holds no assertions, so a bench can use it too (`#[path = "../tests/api/proxy/mod.rs"] mod proxy;`).

mod call;
mod fault;
mod wire;

use std::{
    collections::BTreeMap,
    convert::Infallible,
    io,
    net::SocketAddr,
    sync::{Arc, atomic::Ordering},
    thread::{self, JoinHandle},
};

use tokio::sync::oneshot;

pub use call::{Call, Calls};
use fault::Rule;
pub use fault::{Fault, Gate, Often};
use wire::{Wire, own, run};

/// A running proxy, on a thread of its own. It ends when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    wire: Arc<Wire>,
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
        let thread = thread::Builder::new().name("dynamodb-proxy".to_owned()).spawn({
            let wire = Arc::clone(&wire);
            move || runtime.block_on(run(listener, wire, stopped))
        })?;
        Ok(Self { address, wire, stop: Some(stop), thread: Some(thread) })
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

//! What can go wrong, how often, and what has to wait.

use std::sync::Arc;

use tokio::sync::watch;

use super::call::{Call, Calls};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// 400 `LimitExceededException`, as the streams throttle; the call never arrives.
    LimitExceeded,
    /// The call is carried out, and the connection breaks before the answer.
    LostAnswer,
    /// The connection breaks; the call never arrives.
    LostRequest,
    /// 500 `InternalServerError`; the call never arrives.
    ServerError,
    /// 400 `ProvisionedThroughputExceededException`; the call never arrives.
    ThroughputExceeded,
    /// 400 `ThrottlingException`; the call never arrives.
    Throttled,
}

/// How often.
#[derive(Clone, Debug)]
pub enum Often {
    /// Each time, once so many have passed.
    After(u32),
    /// Each time.
    Always,
    /// This many times, then never again.
    Next(u32),
    /// By chance; the same seed gives the same run.
    Percent {
        /// 0 to 100.
        percent: u8,
        /// Any number.
        seed: u64,
    },
}

/// What goes wrong with which calls.
#[derive(Debug)]
pub(super) struct Rule {
    calls: Calls,
    fault: Fault,
    often: Often,
    chance: fastrand::Rng,
}

impl Rule {
    pub fn new(calls: Calls, fault: Fault, often: Often) -> Self {
        let seed = if let Often::Percent { seed, .. } = often { seed } else { 0 };
        Self { calls, fault, often, chance: fastrand::Rng::with_seed(seed) }
    }

    /// What goes wrong with this call, if anything.
    pub fn fault_for(&mut self, call: &Call) -> Option<Fault> {
        (self.calls.include(call) && self.applies()).then_some(self.fault)
    }

    fn applies(&mut self) -> bool {
        match &mut self.often {
            Often::Always | Often::After(0) => true,
            Often::Next(0) => false,
            Often::After(left) => {
                *left -= 1;
                false
            }
            Often::Next(left) => {
                *left -= 1;
                true
            }
            Often::Percent { percent, .. } => self.chance.u8(0..100) < *percent,
        }
    }
}

/// Calls are held until this is released (or dropped).
#[derive(Debug)]
pub struct Gate(Arc<GateState>);

#[derive(Debug)]
pub(super) struct GateState {
    open: watch::Sender<bool>,
    waiting: watch::Sender<usize>,
}

impl Gate {
    pub(super) fn closed() -> Self {
        Self(Arc::new(GateState { open: watch::Sender::new(false), waiting: watch::Sender::new(0) }))
    }

    pub(super) fn state(&self) -> Arc<GateState> {
        Arc::clone(&self.0)
    }

    /// Returns as soon as at least this many calls wait.
    pub async fn has_waiting(&self, calls: usize) {
        // The sender lives in this gate.
        let _ = self.0.waiting.subscribe().wait_for(|waiting| *waiting >= calls).await;
    }

    /// Lets them go, and all that come later.
    pub fn release(&self) {
        self.0.open.send_replace(true);
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.release();
    }
}

impl GateState {
    pub fn is_open(&self) -> bool {
        *self.open.borrow()
    }

    pub async fn pass(&self) {
        if self.is_open() {
            return;
        }
        self.waiting.send_modify(|waiting| *waiting += 1);
        // The sender lives in this state.
        let _ = self.open.subscribe().wait_for(|open| *open).await;
        self.waiting.send_modify(|waiting| *waiting -= 1);
    }
}

//! The loop around work that one worker does for all.

use std::{sync::Arc, time::Duration};

use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::consumer::{catch_up::Part, effect::LeaderWork, lease::Lead};

/// What one worker does for all, and when.
pub(super) struct Leading {
    pub work: Arc<dyn LeaderWork>,
    pub lead: watch::Receiver<Lead>,
    /// Its part in catching up; `None` if it only looks.
    pub part: Option<Part>,
    /// How often workers look at each other.
    pub round: Duration,
}

impl Leading {
    /// Does the work in intervals, and as soon as there is a reason for it, while this worker leads.
    pub async fn run(self, shutdown: CancellationToken) {
        let Self { work, lead: mut leading, mut part, round } = self;
        let mut last = None;
        loop {
            let lead = *leading.borrow_and_update();
            if !lead.leads() {
                work.resign();
                reached(part.as_ref(), Instant::now());
                last = None;
            }
            let due = last.map_or_else(|| Instant::now() + work.delay(lead, round), |at: Instant| at + work.interval());
            tokio::select! {
                () = shutdown.cancelled() => return,
                changed = leading.changed() => if changed.is_err() { return } else { continue },
                () = asked(&mut part) => {}
                () = work.wake() => {}
                () = tokio::time::sleep_until(due), if lead.leads() => {}
            }
            if leading.borrow().leads() {
                let began = Instant::now();
                work.run(&shutdown).await;
                last = Some(Instant::now());
                reached(part.as_ref(), began);
            }
        }
    }
}

/// Notes that what was left to do at this moment is done.
fn reached(part: Option<&Part>, as_of: Instant) {
    if let Some(part) = part {
        part.reached(Some(as_of));
    }
}

/// Waits until the work is asked for; for ever, if it only looks.
async fn asked(part: &mut Option<Part>) {
    match part {
        Some(part) => part.asked().await,
        None => std::future::pending().await,
    }
}

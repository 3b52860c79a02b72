//! One notice until nothing more is to be done for it now.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    Delivery, Outcome,
    handler::{Call, Pass, Path, Tries},
};

impl Delivery {
    /// Works on a notice until it is finished, parked, or we stop. What has begun with LINE is brought to its end;
    /// pauses are cut short.
    pub async fn deliver(&self, call: &Call, stop: &CancellationToken) -> Outcome {
        let (mut tries, began) = (Tries::default(), Instant::now());
        let outcome = self.try_on(call, &mut tries, began, stop).await;
        if outcome.is_final() {
            outcome.tell();
            tracing::debug!(
                event.id = %call.notice.event_id, user.id = %call.notice.line_user_id, notice = ?call.notice.key,
                outcome = outcome.as_str(), "a notice is finished"
            );
        }
        outcome
    }

    async fn try_on(&self, call: &Call, tries: &mut Tries, began: Instant, stop: &CancellationToken) -> Outcome {
        let patience = &self.parts.patience;
        let limit = match call.path {
            Path::Held => patience.held,
            Path::AheadOfStream | Path::Ordinary | Path::Unreadable => patience.ordinary,
        };
        for n in 1.. {
            if stop.is_cancelled() || !call.standing.is_good(self.clock().uptime()) {
                return Outcome::Wait;
            }
            let limit = if call.standing.is_crowded() { limit / 10 } else { limit };
            tries.out_of_patience |= began.elapsed() >= limit;
            let asked = match self.pass(call, tries).await {
                Pass::Done(outcome) => return outcome,
                Pass::After(wait) => wait,
                Pass::Again => Duration::ZERO,
            };
            // Waiting longer than it may helps nobody: the next pass parks it.
            tries.out_of_patience = asked > limit.saturating_sub(began.elapsed());
            let pause = if tries.out_of_patience { Duration::ZERO } else { patience.pause(n).max(asked) };
            if stopped_during(pause, stop).await {
                return Outcome::Wait;
            }
        }
        Outcome::Wait
    }
}

/// Pauses; true if it was cut short because we stop.
pub(super) async fn stopped_during(pause: Duration, stop: &CancellationToken) -> bool {
    tokio::select! {
        () = stop.cancelled() => true,
        () = tokio::time::sleep(pause) => false,
    }
}

//! What follows from a push or a store that failed.

use std::time::Duration;

use crate::domain::time::Timestamp;
use crate::line::messaging::PushError;
use crate::store::{StoreError, unreadable::hashed};

use super::{Call, Parts, Pass, Path, RETRY_LIMIT, Tries, pass::Verdict};
use crate::delivery::channel::{Channel, HoldReason, retries};

impl Parts {
    /// Sorts a failed push: whose trouble is it, and may the message have been accepted?
    pub(super) async fn push_failed(
        &self,
        channel: &Channel,
        call: &Call,
        tries: &mut Tries,
        began: Timestamp,
        tried_at: Option<Timestamp>,
        error: PushError,
    ) -> Result<Pass, StoreError> {
        tracing::debug!(channel = %channel.name, error = &error as &dyn std::error::Error, "a push failed");
        match error {
            PushError::Ambiguous { .. } => {
                tries.noted |= tried_at.is_some();
                let tried_at = *tries.ambiguous.get_or_insert(tried_at.unwrap_or(began));
                self.note_attempt(call, tries).await?;
                self.again(channel, call, tries, Some(tried_at), &error).await
            }
            PushError::MonthlyLimit if self.is_used_up(channel).await => {
                channel.hold(HoldReason::MonthlyLimit, self.clock.uptime());
                self.hold_if_needed(call, tries, tried_at, HoldReason::MonthlyLimit).await
            }
            PushError::MonthlyLimit | PushError::RateLimited { .. } | PushError::Unreachable { .. } => {
                self.again(channel, call, tries, tried_at, &error).await
            }
            PushError::Refused { status, message } => {
                if channel.answered() {
                    self.goes_on.notify_one();
                }
                self.park(call, tried_at, Verdict::failed(status, message, self.clock.now())).await
            }
            PushError::Unauthorized { status, message } => {
                tracing::warn!(
                    channel = %channel.name,
                    status,
                    said = message,
                    "LINE refuses us: look at access_token, or messaging_channel_id and channel_secrets, of this channel"
                );
                channel.hold(HoldReason::NotAuthorized, self.clock.uptime());
                self.hold_if_needed(call, tries, tried_at, HoldReason::NotAuthorized).await
            }
        }
    }

    /// Once more with the same key, unless it has waited too long or must not be repeated.
    async fn again(
        &self,
        channel: &Channel,
        call: &Call,
        tries: &mut Tries,
        tried_at: Option<Timestamp>,
        error: &PushError,
    ) -> Result<Pass, StoreError> {
        let uptime = self.clock.uptime();
        channel.failed(uptime, error);
        // The notice itself waits in any case; the others of its channel only until one of them goes through.
        let wait = self.patience.bounded_wait(error.retry_after(), self.clock.now());
        channel.wait(uptime, wait);
        tries.wait_until = uptime + wait;
        retries(&channel.name).increment(1);
        let too_old = self.clock.now().since(call.since) > RETRY_LIMIT;
        if tried_at.is_some() && too_old {
            return self.park(call, tried_at, self.unknown(tried_at)).await;
        }
        if too_old || tries.out_of_patience || channel.held().is_some() {
            if channel.held().is_none() && call.path != Path::Held {
                tracing::warn!(channel = %channel.name, "LINE has not taken a notice for long: the notice is held");
            }
            return self.hold_if_needed(call, tries, tried_at, HoldReason::LineUnavailable).await;
        }
        Ok(if wait.is_zero() { Pass::Again } else { Pass::After(wait) })
    }

    /// We are asked to make no push for this long. What can't wait so long on its path is parked.
    pub(super) async fn later(
        &self,
        call: &Call,
        tries: &Tries,
        tried_at: Option<Timestamp>,
        wait: Duration,
    ) -> Result<Pass, StoreError> {
        if tries.out_of_patience {
            return self.hold_if_needed(call, tries, tried_at, HoldReason::LineUnavailable).await;
        }
        Ok(Pass::After(wait))
    }

    /// LINE's two 429s differ in their text alone, and a large delivery elsewhere can reserve what is left for a while:
    /// the quota endpoints decide. If they can't be asked, the text counts.
    async fn is_used_up(&self, channel: &Channel) -> bool {
        match channel.messenger.quota().await {
            Ok(quota) => quota.is_used_up(),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(channel = %channel.name, error, "the month's quota could not be read");
                true
            }
        }
    }

    /// The store did not do as asked. While it can't answer, nothing can be done but wait. What can't be read must not
    /// stop the shard: the notice is held at once, and tried again with the others that are. What else the store will
    /// never do may be mended soon, so it has the time that any notice has.
    pub(super) async fn store_failed(&self, call: &Call, tries: &mut Tries, error: &StoreError) -> Pass {
        tell(call, error);
        let is_lasting = match error {
            StoreError::Broken(_) => tries.out_of_patience,
            StoreError::Conflict(_) | StoreError::Unavailable(_) => false,
            StoreError::Unreadable(_) => true,
        };
        if tries.accepted.is_some() || !is_lasting {
            return Pass::Again;
        }
        self.hold(call, tries, HoldReason::Unreadable).await.unwrap_or(Pass::Again)
    }
}

fn tell(call: &Call, error: &StoreError) {
    let cause = error as &dyn std::error::Error;
    let (event, notice) = (&call.notice.event_id, &call.notice.key);
    if matches!(error, StoreError::Broken(_)) {
        tracing::error!(event.id = %event, ?notice, error = cause, "a notice can't be worked on");
    } else if let StoreError::Unreadable(unreadable) = error {
        let [pk, sk] = [&unreadable.pk, &unreadable.sk].map(|key| hashed(key));
        tracing::warn!(
            event.id = %event, ?notice, item.pk = pk, item.sk = sk,
            "an item that the notice needs can't be read: the notice is held"
        );
    } else {
        tracing::warn!(event.id = %event, ?notice, error = cause, "the store can't answer: the notice waits");
    }
}

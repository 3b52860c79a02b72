//! A run takes a share of `delivery.pushes_per_second` as one more worker: it shows the workers that it is there, and sees
//! which others are.

use std::{collections::BTreeSet, convert::Infallible, time::Duration};

use crate::consumer::{
    CONSUMER, LeaseStatus,
    lease::{Leases, Plan, Times},
    place::Place,
};
use crate::delivery::Delivery;
use crate::domain::causes::Causes;
use crate::store::{
    StoreError,
    progress::{CandidateRole, Consumers, WorkerId},
};

use super::run::ReconcileError;

/// The second that the limit of pushes speaks of: others may have used it up.
const SECOND: Duration = Duration::from_secs(1);

/// That this process pushes without a shard.
pub(super) struct Presence {
    delivery: Delivery,
    me: WorkerId,
    times: Times,
    leases: Leases,
    /// None: the table has no stream and never had one that was read, so no other worker pushes.
    consumers: Option<Consumers>,
    lease: LeaseStatus,
}

impl Presence {
    /// Shows that it is there, and takes its share: at once if it is alone, else when all others have seen it and given
    /// theirs up.
    pub async fn enter(delivery: &Delivery, me: &WorkerId) -> Result<Self, ReconcileError> {
        let (rate, times) = (delivery.settings().pushes_per_second, Times::of(delivery.settings().lease));
        let arn = match delivery.parts.store.stream_arn().await? {
            Some(arn) => Some(arn),
            // Of a stream that was turned off there may be workers that read it to its end.
            None => delivery.parts.store.followed(CONSUMER).await?,
        };
        let mut presence = Self {
            delivery: delivery.clone(),
            me: me.clone(),
            times,
            leases: Leases::new(me.clone(), times),
            consumers: arn.map(|arn| delivery.parts.store.consumers(CONSUMER, &arn)),
            lease: LeaseStatus::unlimited(),
        };
        if presence.consumers.is_none() {
            delivery.set_share(rate, Duration::ZERO);
            return Ok(presence);
        }
        presence.lease = LeaseStatus::until(Duration::ZERO);
        let place = presence.show().await?;
        let (share, others) = (place.share_of(rate), place.workers.saturating_sub(1));
        if share == 0 {
            presence.leave().await;
            return Err(ReconcileError::NothingLeft { rate, others });
        }
        let after = if others == 0 { Duration::ZERO } else { times.round + SECOND };
        delivery.set_share(share, after);
        Ok(presence)
    }

    /// Returns the lease of its pushes; good as long as it shows that it is there.
    pub fn lease(&self) -> LeaseStatus {
        self.lease.clone()
    }

    /// Does the work, and shows that it is there for as long as that takes.
    pub async fn beside<T>(&mut self, work: impl Future<Output = T>) -> T {
        let done = tokio::select! {
            done = work => done,
            never = self.stay() => match never {},
        };
        self.leave().await;
        done
    }

    async fn stay(&mut self) -> Infallible {
        loop {
            tokio::time::sleep(self.times.round).await;
            match self.show().await {
                Ok(place) => {
                    self.delivery.set_share(place.share_of(self.delivery.settings().pushes_per_second), SECOND);
                }
                Err(error) => {
                    // The others forget this worker after some time; its lease ends before that.
                    tracing::warn!(error = %Causes(&error), "the workers' progress can't be read or written now");
                }
            }
        }
    }

    async fn show(&mut self) -> Result<Place, StoreError> {
        let Some(consumers) = &self.consumers else { return Ok(Plan::default().place(0, 0, self.times)) };
        let asked = self.delivery.clock().uptime();
        consumers.announce(&self.me, CandidateRole::Pusher).await?;
        let board = consumers.board().await?;
        self.lease.extend(asked + self.times.silence);
        let (now, most) = (self.delivery.clock().uptime(), self.delivery.settings().pushes_per_second as usize);
        self.leases.observe(&board, now);
        Ok(self.leases.plan(&board, &BTreeSet::new(), most, now).place(0, 0, self.times))
    }

    async fn leave(&self) {
        if let Some(consumers) = &self.consumers {
            // The others find out by its silence, if this fails.
            let _gone = consumers.forget_worker(&self.me).await;
        }
    }
}

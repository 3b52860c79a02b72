//! Up to which moment a worker has caught up with all that happened, and the wish that it does so now.
//!
//! A worker looks at everything in intervals. A caller that must know that nothing is left to do asks it to look at once: each part
//! of it then waits for no interval until it has caught up with the moment of the question. Without a question, nothing
//! here costs anything.

use std::{collections::BTreeMap, sync::Arc};

use tokio::{sync::watch, time::Instant};

type AsOf = Option<Instant>;

/// The parts of a worker and the moments that they have caught up with. Clones are one.
#[derive(Debug, Clone, Default)]
pub struct CatchUp {
    pub(super) reading: Stage,
    pub(super) leading: Stage,
}

impl CatchUp {
    /// Waits until everything that happened before now was read, finished and written down, and then until what the
    /// leader does for all was done once more. What follows from that work may have happened meanwhile.
    pub async fn now(&self) {
        self.reading.ask().await;
        self.leading.ask().await;
    }
}

/// Parts that catch up at the same time.
#[derive(Debug, Clone, Default)]
pub(super) struct Stage {
    asked: Arc<watch::Sender<AsOf>>,
    parts: Arc<watch::Sender<BTreeMap<u64, AsOf>>>,
}

impl Stage {
    /// Adds a part that has caught up with nothing yet.
    pub fn part(&self) -> Part {
        let mut id = 0;
        self.parts.send_modify(|parts| {
            id = parts.last_key_value().map_or(0, |(last, _)| last + 1);
            parts.insert(id, None);
        });
        Part { id, asked: self.asked.subscribe(), parts: self.parts.clone() }
    }

    async fn ask(&self) {
        let now = Instant::now();
        self.asked.send_replace(Some(now));
        let mut parts = self.parts.subscribe();
        // It can't be closed: `self` has the sender.
        let _caught_up = parts.wait_for(|parts| parts.values().all(|as_of| *as_of >= Some(now))).await;
    }
}

/// One part of a worker; gone when it is dropped.
#[derive(Debug)]
pub(super) struct Part {
    id: u64,
    asked: watch::Receiver<AsOf>,
    parts: Arc<watch::Sender<BTreeMap<u64, AsOf>>>,
}

impl Part {
    /// Waits for the next question.
    pub async fn asked(&mut self) {
        if self.asked.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Returns whether a question is newer than this moment.
    pub fn is_asked_after(&self, as_of: AsOf) -> bool {
        *self.asked.borrow() > as_of
    }

    /// Returns whether a question is newer than what this part has caught up with.
    pub fn is_due(&self) -> bool {
        self.is_asked_after(self.parts.borrow().get(&self.id).copied().flatten())
    }

    /// Notes that this part has caught up with everything before `as_of`.
    pub fn reached(&self, as_of: AsOf) {
        if self.asked.borrow().is_some() {
            self.parts.send_if_modified(|parts| parts.insert(self.id, as_of) != Some(as_of));
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.parts.send_modify(|parts| {
            parts.remove(&self.id);
        });
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_question_is_answered_when_every_part_has_caught_up_with_its_moment() {
        let catch_up = CatchUp::default();
        let (mut shard, leader, gone) = (catch_up.reading.part(), catch_up.leading.part(), catch_up.reading.part());
        assert!(!shard.is_due(), "there is no question");
        let before = Some(Instant::now());
        let mut now = Box::pin(catch_up.now());
        assert!(now.as_mut().now_or_never().is_none() && shard.asked().now_or_never().is_some());
        shard.reached(before);
        drop(gone);
        assert!(shard.is_due() && !leader.is_due() && now.as_mut().now_or_never().is_none());
        shard.reached(Some(Instant::now()));
        assert!(!shard.is_due() && now.as_mut().now_or_never().is_none() && leader.is_due());
        leader.reached(Some(Instant::now()));
        now.await;
    }
}

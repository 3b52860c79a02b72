//! Finding the stream's shards: page by page with pauses, so that hundreds of them hammer nobody.

use std::time::Duration;

use tokio::time::Instant;

use crate::domain::time::Clock;
use crate::store::{
    StoreError,
    progress::{Board, Consumers, ShardProgress},
    stream::{ListedShard, ShardId, StreamError, StreamReader},
};

use crate::delivery::shards::{Discovery, Found};

/// Between two pages of the list. AWS allows ten such calls a second, for everybody together.
const BETWEEN_PAGES: Duration = Duration::from_millis(250);

/// Between two passes while nothing happens.
const EVERY: Duration = Duration::from_secs(30);

/// The first pass after a shard ended: its children may not be listed yet. Doubled each time, up to [`EVERY`].
const SOON: Duration = Duration::from_secs(1);

/// An item that is finished, not listed, and untouched for so long is of a shard that the stream has forgotten (it
/// keeps records for 24 hours). One that says what is doubtful is kept for `reconcile`.
const FORGOTTEN: Duration = Duration::from_hours(48);

/// Finds shards and registers them.
pub(super) struct Discoverer {
    reader: StreamReader,
    consumers: Consumers,
    clock: Clock,
    pass: Option<Discovery>,
    next_at: Instant,
    pause: Duration,
    /// After a list that failed, doubled each time up to [`EVERY`]: a stream that was turned off a day ago is gone.
    retry_after: Duration,
}

/// How the stream's list knows a shard.
pub(super) enum Listed {
    /// Its records are gone: only as the shard before another one.
    AsParentAlone,
    /// Not at all.
    Not,
    /// With the shard before it.
    WithParent(Option<ShardId>),
}

impl Discoverer {
    pub fn new(reader: StreamReader, consumers: Consumers, clock: Clock) -> Self {
        Self { reader, consumers, clock, pass: None, next_at: Instant::now(), pause: EVERY, retry_after: SOON }
    }

    /// When the next page is due.
    pub fn next_at(&self) -> Instant {
        self.next_at
    }

    /// One page; true if it brought a new shard.
    pub async fn step(&mut self, board: &Board) -> bool {
        match self.page(board).await {
            Ok(found) => {
                self.retry_after = SOON;
                self.next_at = Instant::now() + if found.whole { self.pause } else { BETWEEN_PAGES };
                if found.whole {
                    self.pause = (self.pause * 2).min(EVERY);
                }
                !found.register.is_empty()
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "the stream's shards can't be listed now");
                self.next_at = Instant::now() + self.retry_after;
                self.retry_after = (self.retry_after * 2).min(EVERY);
                false
            }
        }
    }

    /// A whole pass at once.
    pub async fn whole_pass(&mut self, board: &Board) -> Result<(), StoreError> {
        loop {
            match self.page(board).await {
                Ok(found) if found.whole => return Ok(()),
                Ok(_) => {}
                Err(StreamError::Store(error)) => return Err(error),
                Err(error) => return Err(StoreError::broken(error)),
            }
        }
    }

    /// Registers the children of a shard that was read to its end; if they can't be found that way, or yet, a pass will
    /// find them.
    pub async fn children_of(&mut self, parent: &ShardId) {
        let children = self.reader.children(parent).await.unwrap_or_default();
        if children.is_empty() || self.register(&children).await.is_err() {
            (self.pause, self.next_at) = (SOON, Instant::now() + SOON);
        }
    }

    /// What the stream's list says of a shard.
    pub async fn listed(&self, shard: &ShardId) -> Result<Listed, StreamError> {
        let (mut after, mut is_parent) = (None, false);
        loop {
            let page = self.reader.shards(after.as_ref()).await?;
            is_parent |= page.shards.iter().any(|listed| listed.parent.as_ref() == Some(shard));
            if let Some(found) = page.shards.into_iter().find(|listed| listed.id == *shard) {
                return Ok(Listed::WithParent(found.parent));
            }
            after = page.next;
            if after.is_none() {
                return Ok(if is_parent { Listed::AsParentAlone } else { Listed::Not });
            }
        }
    }

    /// A page that fails is asked for again; one whose shards can't all be registered begins the pass anew.
    async fn page(&mut self, board: &Board) -> Result<Found, StreamError> {
        let mut pass = self.pass.take().unwrap_or_else(|| Discovery::begin(board));
        let page = match self.reader.shards(pass.after()).await {
            Ok(page) => page,
            Err(error) => {
                self.pass = Some(pass);
                return Err(error);
            }
        };
        let found = pass.page(page);
        self.register(&found.register).await?;
        if found.whole {
            self.forget(board, &pass).await?;
        } else {
            self.pass = Some(pass);
        }
        Ok(found)
    }

    async fn register(&self, shards: &[ListedShard]) -> Result<(), StoreError> {
        for shard in shards {
            self.consumers.register(shard, self.clock.now()).await?;
            tracing::info!(shard = %shard.id, "found a shard");
        }
        Ok(())
    }

    async fn forget(&self, board: &Board, pass: &Discovery) -> Result<(), StoreError> {
        let now = self.clock.now();
        let is_old = |item: &&ShardProgress| !pass.lists(&item.shard) && now.since(item.updated_at) > FORGOTTEN;
        let is_done = |item: &&ShardProgress| item.reached.finished && item.reached.is_certain();
        for item in board.shards.iter().filter(is_old).filter(is_done) {
            self.consumers.forget_shard(&item.shard).await?;
        }
        Ok(())
    }
}

//! Finding the stream's shards: page by page with pauses, so that hundreds of them are no burden.

use std::time::Duration;

use tokio::time::Instant;

use crate::domain::{causes::Causes, time::Clock};
use crate::store::{
    StoreError,
    paging::Pages,
    progress::{Board, Consumers, ShardProgress},
    stream::{ListedShard, ShardId, StreamError, StreamReader},
};

use crate::consumer::shards::{Discovery, Found};

/// Between two pages of the list. AWS allows ten such calls a second, for all callers together.
const BETWEEN_PAGES: Duration = Duration::from_millis(250);

/// Between two passes while nothing happens.
const EVERY: Duration = Duration::from_secs(30);

/// The first pass after a shard ended: its children may not be listed yet. Doubled each time, up to [`EVERY`].
const SOON: Duration = Duration::from_secs(1);

/// An item that is finished, not listed, and untouched for so long is of a shard that the stream has forgotten (it
/// keeps records for 24 hours). One that says what may have been sent is kept for `reconcile`.
const FORGOTTEN: Duration = Duration::from_hours(48);

/// Finds shards and registers them.
pub(super) struct Discoverer {
    reader: StreamReader,
    consumers: Consumers,
    clock: Clock,
    /// The pass that is under way, and when it began.
    pass: Option<(Instant, Discovery)>,
    /// When the last whole pass began.
    listed: Option<Instant>,
    /// Whether the pass makes no pauses between its pages.
    hurries: bool,
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
        let next_at = Instant::now();
        Self {
            reader,
            consumers,
            clock,
            pass: None,
            listed: None,
            hurries: false,
            next_at,
            pause: EVERY,
            retry_after: SOON,
        }
    }

    /// Begins a new pass, and makes no pauses in it.
    pub fn begin_anew(&mut self) {
        (self.pass, self.hurries, self.next_at) = (None, true, Instant::now());
    }

    /// Returns when the last whole pass began.
    pub fn listed(&self) -> Option<Instant> {
        self.listed
    }

    /// Returns when the next page is due.
    pub fn next_at(&self) -> Instant {
        self.next_at
    }

    /// Reads one page; true if it brought a new shard.
    pub async fn step(&mut self, board: &Board) -> bool {
        match self.page(board).await {
            Ok(found) => {
                self.retry_after = SOON;
                let between_pages = if self.hurries { Duration::ZERO } else { BETWEEN_PAGES };
                self.next_at = Instant::now() + if found.whole { self.pause } else { between_pages };
                if found.whole {
                    self.hurries = false;
                    self.pause = (self.pause * 2).min(EVERY);
                }
                !found.register.is_empty()
            }
            Err(error) => {
                tracing::warn!(error = %Causes(&error), "the stream's shards can't be listed now");
                self.next_at = Instant::now() + self.retry_after;
                self.retry_after = (self.retry_after * 2).min(EVERY);
                false
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

    /// Returns what the stream's list says of a shard.
    pub async fn find(&self, shard: &ShardId) -> Result<Listed, StreamError> {
        let (mut pages, mut is_parent) = (Pages::default(), false);
        let page = async |after: Option<ShardId>| self.reader.shards(after.as_ref()).await;
        while let Some(page) = pages.next(page).await? {
            is_parent |= page.shards.iter().any(|listed| listed.parent.as_ref() == Some(shard));
            if let Some(found) = page.shards.into_iter().find(|listed| listed.id == *shard) {
                return Ok(Listed::WithParent(found.parent));
            }
        }
        Ok(if is_parent { Listed::AsParentAlone } else { Listed::Not })
    }

    /// A page that fails is asked for again; one whose shards can't all be registered begins the pass anew.
    async fn page(&mut self, board: &Board) -> Result<Found, StreamError> {
        let new_pass = || (Instant::now(), Discovery::begin(board));
        let (began, mut pass) = self.pass.take().unwrap_or_else(new_pass);
        let page = match self.reader.shards(pass.after()).await {
            Ok(page) => page,
            Err(error) => {
                self.pass = Some((began, pass));
                return Err(error);
            }
        };
        let found = pass.page(page);
        self.register(&found.register).await?;
        if found.whole {
            self.forget(board, &pass).await?;
            self.listed = Some(began);
        } else {
            self.pass = Some((began, pass));
        }
        Ok(found)
    }

    async fn register(&self, shards: &[ListedShard]) -> Result<(), StoreError> {
        for shard in shards {
            self.consumers.register(shard, self.clock.now()).await?;
            tracing::info!(shard.id = %shard.id, "found a shard");
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

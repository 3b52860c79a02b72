//! Which shards there are and which may be read: pure.
//!
//! Parents come before children, and a parent that is gone is done with. The list of shards comes page by page, is
//! eventually consistent and may be long, so it is taken in incrementally: what is known for certain is registered at
//! once, the rest when a whole pass has shown that its parent isn't listed.

use std::collections::{BTreeSet, HashMap};

use crate::store::{
    progress::{Board, ShardProgress},
    stream::{ListedShard, ShardId, ShardsPage},
};

/// The shards that may be read: not finished, with nothing before them that isn't.
pub fn readable(board: &Board) -> impl Iterator<Item = &ShardProgress> {
    let known = board.shards.iter().map(|item| (&item.shard, item.reached.finished));
    // Of a shard whose item can't be read it isn't known, so its children wait until it is.
    let damaged = board.damaged.iter().map(|damaged| (&damaged.shard, false));
    let finished: HashMap<&ShardId, bool> = known.chain(damaged).collect();
    board.shards.iter().filter(move |item| {
        // A parent is registered before its children. One without an item was finished, and cleared away.
        let parent_is_done = item.parent.as_ref().is_none_or(|parent| finished.get(parent).copied().unwrap_or(true));
        !item.reached.finished && parent_is_done
    })
}

/// One pass over the list of shards.
#[derive(Debug, Clone, Default)]
pub struct Discovery {
    registered: BTreeSet<ShardId>,
    listed: BTreeSet<ShardId>,
    waiting: Vec<ListedShard>,
    after: Option<ShardId>,
}

/// What a page of the list brought.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Shards to register, parents first.
    pub register: Vec<ListedShard>,
    /// Whether this was the last page.
    pub whole: bool,
}

impl Discovery {
    /// A new pass; shards on the board are registered already.
    #[must_use]
    pub fn begin(board: &Board) -> Self {
        let shards = board.shards.iter().map(|item| &item.shard);
        let damaged = board.damaged.iter().map(|damaged| &damaged.shard);
        Self { registered: shards.chain(damaged).cloned().collect(), ..Self::default() }
    }

    /// After which shard the next page begins. It stays the same when a call fails, so a pass over hundreds of shards
    /// continues where it was.
    #[must_use]
    pub fn after(&self) -> Option<&ShardId> {
        self.after.as_ref()
    }

    /// Takes in a page.
    pub fn page(&mut self, page: ShardsPage) -> Found {
        self.after = page.next;
        self.listed.extend(page.shards.iter().map(|shard| shard.id.clone()));
        self.waiting.extend(page.shards);
        let mut register = self.certain();
        let whole = self.after.is_none();
        if whole {
            for shard in &mut self.waiting {
                // Its parent is listed nowhere: trimmed. There is nothing to wait for.
                shard.parent = shard.parent.take().filter(|parent| self.listed.contains(parent));
            }
            register.extend(self.certain());
        }
        Found { register, whole }
    }

    /// Whether a pass that is over has listed a shard.
    #[must_use]
    pub fn lists(&self, shard: &ShardId) -> bool {
        self.listed.contains(shard)
    }

    /// Shards whose parent is registered, or that have none; and then their children.
    fn certain(&mut self) -> Vec<ListedShard> {
        let mut found = Vec::new();
        loop {
            let (certain, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.waiting)
                .into_iter()
                .partition(|shard| shard.parent.as_ref().is_none_or(|parent| self.registered.contains(parent)));
            self.waiting = waiting;
            if certain.is_empty() {
                return found;
            }
            for shard in certain {
                if self.registered.insert(shard.id.clone()) {
                    found.push(shard);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(n: usize) -> ShardId {
        ShardId::from(format!("shard-{n:04}"))
    }

    fn page(shards: &[ListedShard], next: Option<usize>) -> ShardsPage {
        ShardsPage { shards: shards.to_vec(), next: next.map(id) }
    }

    fn shard(n: usize, parent: Option<usize>) -> ListedShard {
        ListedShard { id: id(n), parent: parent.map(id) }
    }

    #[test]
    fn a_child_whose_parent_may_be_on_a_later_page_waits_for_it() {
        let mut pass = Discovery::default();
        assert_eq!(pass.page(page(&[shard(1, Some(2)), shard(3, None)], Some(3))).register, [shard(3, None)]);
        let found = pass.page(page(&[shard(2, None)], None));
        assert_eq!((found.register, found.whole), (vec![shard(2, None), shard(1, Some(2))], true));
    }

    #[test]
    fn a_parent_that_is_listed_nowhere_is_trimmed_and_done() {
        let mut pass = Discovery::default();
        assert_eq!(pass.page(page(&[shard(1, Some(0))], None)).register, [shard(1, None)]);
    }

    proptest! {
        /// Any forest of shards, its oldest trimmed, listed in any order on pages of any length.
        #[test]
        fn every_listed_shard_is_registered_once_and_after_its_parent(
            parents in prop::collection::vec(any::<prop::sample::Index>(), 1..300),
            trimmed in 0usize..50,
            length in 1usize..100,
            seed in any::<u64>(),
        ) {
            let mut shards: Vec<ListedShard> = parents.iter().enumerate()
                .map(|(n, parent)| shard(n, Some(parent.index(n + 1)).filter(|parent| *parent < n)))
                .skip(trimmed)
                .collect();
            let mut random = fastrand::Rng::with_seed(seed);
            random.shuffle(&mut shards);
            let mut pass = Discovery::default();
            let mut registered = BTreeSet::new();
            let pages: Vec<&[ListedShard]> = shards.chunks(length).collect();
            for (n, chunk) in pages.iter().enumerate() {
                let next = (n + 1 < pages.len()).then_some(n);
                for shard in pass.page(page(chunk, next)).register {
                    prop_assert!(shard.parent.is_none_or(|parent| registered.contains(&parent)));
                    prop_assert!(registered.insert(shard.id));
                }
            }
            prop_assert_eq!(registered.len(), shards.len());
        }
    }
}

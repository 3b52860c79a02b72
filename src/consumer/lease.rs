//! Who reads which shard: pure; the board is handed in, and so is the time.
//!
//! A lease is alive while its item changes. An observer measures on its own monotonic clock how long it has seen an item
//! unchanged, and never compares wall clocks. The holder, on its own clock, stops before any observer can have waited
//! long enough: it counts from before its write was sent, they count from after they saw it.

#[cfg(test)]
mod tests;

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use crate::store::{
    progress::{Board, CandidateRole, DamagedShard, ShardProgress, WorkerId},
    stream::ShardId,
};

use super::{
    place::{Change, Place, share},
    shards,
};

/// Never take more leases than this in one round: hundreds of shards are taken step by step.
const MOST_AT_ONCE: usize = 25;

/// How a lease's time is divided, so that a dead worker's shards move within it: the last sign of life is seen up to one
/// round late, then the silence must last, then it takes up to one round until somebody looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// How often an owner writes, and every worker looks at the board.
    pub round: Duration,
    /// An item unchanged for so long has no owner; an owner that has not written for so long stops.
    pub silence: Duration,
}

impl Times {
    /// Returns the times of a lease (`delivery.lease_ms`).
    #[must_use]
    pub fn of(lease: Duration) -> Self {
        Self { round: lease / 6, silence: lease * 3 / 5 }
    }
}

/// What one worker has seen of the board, and since when it is so.
#[derive(Debug, Clone)]
pub struct Leases {
    me: WorkerId,
    times: Times,
    shards: HashMap<ShardId, Seen>,
    candidates: HashMap<WorkerId, Seen>,
    /// Items that can't be read, and since when they are as they are.
    damaged: Vec<(DamagedShard, Duration)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    fencing_token: u64,
    heartbeat: u64,
    since: Duration,
}

/// What a worker does next about leases.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// Leases to take: free ones.
    pub take: Vec<ShardProgress>,
    /// Shards to hand over: others have too few.
    pub release: Vec<ShardId>,
    /// The rank of this worker among those that do the work: who owns shards, and then who needs none. One that does
    /// none comes after them.
    pub rank: usize,
    /// How many do the work, itself counted.
    pub workers: usize,
    /// Whether this worker does what one should do for all (listing shards, draining, counting).
    pub lead: Lead,
    /// Candidates that have shown no sign of life for long.
    pub dead: Vec<WorkerId>,
    /// Shards whose items can't be read, and whose owners must have stopped: they are to be begun anew.
    pub replace: Vec<DamagedShard>,
}

/// Who does what one worker should do for all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lead {
    /// This worker: it holds the first of all held shards.
    Mine,
    /// Another one.
    #[default]
    Others,
    /// Each worker, as long as no shard is held: those that begin together all see this at first.
    Vacant,
}

impl Lead {
    /// Whether this worker does it.
    #[must_use]
    pub fn leads(self) -> bool {
        self != Self::Others
    }
}

impl Plan {
    /// Returns the place of a worker that owned `before` shards at the last look and owns `now` ones.
    #[must_use]
    pub fn place(&self, before: usize, now: usize, times: Times) -> Place {
        let Self { rank, workers, .. } = *self;
        Place { rank, workers, change: Change::of(before, now), seen_within: times.round }
    }
}

impl Leases {
    /// Nothing seen yet.
    #[must_use]
    pub fn new(me: WorkerId, times: Times) -> Self {
        Self { me, times, shards: HashMap::new(), candidates: HashMap::new(), damaged: Vec::new() }
    }

    /// Takes in a board that was read; `now` is when its answer was there.
    pub fn observe(&mut self, board: &Board, now: Duration) {
        let shards = board.shards.iter().map(|item| (item.shard.clone(), item.fencing_token, item.heartbeat));
        self.shards = seen(&self.shards, shards, now);
        let candidates = board.candidates.iter().map(|candidate| (candidate.worker.clone(), 0, candidate.heartbeat));
        self.candidates = seen(&self.candidates, candidates, now);
        let since = |damaged: &DamagedShard| {
            self.damaged.iter().find(|(seen, _)| seen == damaged).map_or(now, |(_, since)| *since)
        };
        self.damaged = board.damaged.iter().map(|damaged| (damaged.clone(), since(damaged))).collect();
    }

    /// Decides what to do. `held` are the shards that this worker reads at the moment; at most `most` workers share the
    /// shards (with fewer pushes a second than workers, the last ones could never push).
    #[must_use]
    pub fn plan(&self, board: &Board, held: &BTreeSet<ShardId>, most: usize, now: Duration) -> Plan {
        let open: Vec<&ShardProgress> = board.shards.iter().filter(|item| !item.reached.finished).collect();
        let owners: BTreeSet<&WorkerId> = open.iter().filter_map(|item| self.holder(item, held, now)).collect();
        let mut workers = self.alive(board, CandidateRole::Waiter, now);
        workers.extend(owners.iter().copied());
        workers.insert(&self.me);
        let pushers = self.alive(board, CandidateRole::Pusher, now);
        let pushing: Vec<&WorkerId> = owners.iter().chain(pushers.difference(&owners)).copied().collect();
        let first = open.iter().find_map(|item| self.holder(item, held, now));
        let (take, release) = self.balance(board, held, &workers, most, now);
        Plan {
            take,
            release,
            rank: pushing.iter().position(|worker| **worker == self.me).unwrap_or(pushing.len()),
            workers: pushing.len(),
            lead: match first {
                None => Lead::Vacant,
                Some(owner) if *owner == self.me => Lead::Mine,
                Some(_) => Lead::Others,
            },
            dead: self.dead(board, now),
            replace: self.to_replace(held, now),
        }
    }

    /// An owner can't renew its lease on an item that doesn't change, so it has stopped when the silence is over.
    fn to_replace(&self, held: &BTreeSet<ShardId>, now: Duration) -> Vec<DamagedShard> {
        let is_silent = |since: Duration| now.saturating_sub(since) >= self.times.silence;
        let ownerless =
            self.damaged.iter().filter(|(damaged, since)| is_silent(*since) && !held.contains(&damaged.shard));
        ownerless.map(|(damaged, _)| damaged.clone()).take(MOST_AT_ONCE).collect()
    }

    fn balance(
        &self,
        board: &Board,
        held: &BTreeSet<ShardId>,
        workers: &BTreeSet<&WorkerId>,
        most: usize,
        now: Duration,
    ) -> (Vec<ShardProgress>, Vec<ShardId>) {
        let readable: Vec<&ShardProgress> = shards::readable(board).collect();
        let count = u32::try_from(readable.len()).unwrap_or(u32::MAX);
        let (place, sharing) = (self.rank(&readable, held, workers, now), workers.len().min(most.max(1)));
        let fair = if place < sharing { share(count, place, sharing) as usize } else { 0 };
        let mine: Vec<&ShardId> =
            readable.iter().map(|item| &item.shard).filter(|shard| held.contains(*shard)).collect();
        if mine.len() > fair {
            return (Vec::new(), mine[fair..].iter().map(|shard| (*shard).clone()).collect());
        }
        let free = readable.iter().filter(|item| self.holder(item, held, now).is_none());
        let mut take: Vec<ShardProgress> = free.clone().take(fair - mine.len()).map(|item| (*item).clone()).collect();
        if place < sharing {
            // A shard that those who should have it don't take is anybody's.
            let orphans = free.filter(|item| self.unchanged(item, now) >= 2 * self.times.silence);
            take.extend(orphans.map(|item| (*item).clone()));
        }
        take.sort_by(|a, b| a.shard.cmp(&b.shard));
        take.dedup_by(|a, b| a.shard == b.shard);
        take.truncate(MOST_AT_ONCE);
        (take, Vec::new())
    }

    /// The place of this worker among all. Those that hold more come first, so that what can't be dealt evenly stays
    /// where it is.
    fn rank(
        &self,
        readable: &[&ShardProgress],
        held: &BTreeSet<ShardId>,
        workers: &BTreeSet<&WorkerId>,
        now: Duration,
    ) -> usize {
        let holds =
            |worker: &WorkerId| readable.iter().filter(|item| self.holder(item, held, now) == Some(worker)).count();
        let mine = (Reverse(holds(&self.me)), &self.me);
        workers.iter().filter(|worker| (Reverse(holds(worker)), **worker) < mine).count()
    }

    /// Who holds a shard, as far as this worker can tell. Its own name on an item that it doesn't read counts for
    /// nothing: an answer got lost.
    fn holder<'a>(&'a self, item: &'a ShardProgress, held: &BTreeSet<ShardId>, now: Duration) -> Option<&'a WorkerId> {
        if held.contains(&item.shard) {
            return Some(&self.me);
        }
        let owner = item.owner.as_ref().filter(|owner| **owner != self.me)?;
        (self.unchanged(item, now) < self.times.silence).then_some(owner)
    }

    fn unchanged(&self, item: &ShardProgress, now: Duration) -> Duration {
        let seen = self
            .shards
            .get(&item.shard)
            .filter(|seen| (seen.fencing_token, seen.heartbeat) == (item.fencing_token, item.heartbeat));
        seen.map_or(Duration::ZERO, |seen| now.saturating_sub(seen.since))
    }

    /// Those without a shard that are there for this, as far as this worker can tell.
    fn alive<'a>(&self, board: &'a Board, role: CandidateRole, now: Duration) -> BTreeSet<&'a WorkerId> {
        let there = board.candidates.iter().filter(|candidate| candidate.role == role);
        there.map(|candidate| &candidate.worker).filter(|id| self.silent(id, now) < self.times.silence).collect()
    }

    fn silent(&self, worker: &WorkerId, now: Duration) -> Duration {
        self.candidates.get(worker).map_or(Duration::ZERO, |seen| now.saturating_sub(seen.since))
    }

    fn dead(&self, board: &Board, now: Duration) -> Vec<WorkerId> {
        let workers = board.candidates.iter().map(|candidate| candidate.worker.clone());
        workers.filter(|worker| self.silent(worker, now) >= 10 * self.times.silence).collect()
    }
}

fn seen<K: std::hash::Hash + Eq>(
    before: &HashMap<K, Seen>,
    items: impl Iterator<Item = (K, u64, u64)>,
    now: Duration,
) -> HashMap<K, Seen> {
    let merge = |(key, fencing_token, heartbeat): (K, u64, u64)| {
        let same =
            before.get(&key).copied().filter(|seen| (seen.fencing_token, seen.heartbeat) == (fencing_token, heartbeat));
        (key, same.unwrap_or(Seen { fencing_token, heartbeat, since: now }))
    };
    items.map(merge).collect()
}

//! Who reads which shard: pure; the board is handed in, and so is the time.
//!
//! A lease is alive while its item changes. An observer measures on its own monotonic clock how long it has seen an item
//! unchanged, and never compares wall clocks. The owner, on its own clock, stops before any observer can have waited
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
    place::{Membership, Place, share},
    shards,
};

/// Never take more leases than this in one round: hundreds of shards are taken step by step.
const MOST_AT_ONCE: usize = 25;

/// How a lease's time is divided, so that a dead worker's shards move within it: the last sign of life is seen up to one
/// round late, then the silence must last, then it takes up to one round until another worker looks.
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
    /// This worker: it owns the first of all owned shards.
    Mine,
    /// Another one.
    #[default]
    Others,
    /// Each worker, as long as no shard is owned: those that begin together all see this at first.
    Vacant,
}

impl Lead {
    /// Returns whether this worker does it.
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
        Place { rank, workers, membership: Membership::of(before, now), seen_within: times.round }
    }
}

impl Leases {
    /// Creates what has seen nothing yet.
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

    /// Decides what to do. `mine` are the shards that this worker reads at the moment; at most `most` workers share the
    /// shards (with fewer pushes a second than workers, the last ones could never push).
    #[must_use]
    pub fn plan(&self, board: &Board, mine: &BTreeSet<ShardId>, most: usize, now: Duration) -> Plan {
        View { leases: self, board, mine, now }.plan(most)
    }
}

/// A board beside what this worker has seen of it before.
struct View<'a> {
    leases: &'a Leases,
    board: &'a Board,
    /// The shards that this worker reads.
    mine: &'a BTreeSet<ShardId>,
    now: Duration,
}

impl<'a> View<'a> {
    fn plan(&self, most: usize) -> Plan {
        let me = &self.leases.me;
        let open: Vec<&ShardProgress> = self.board.shards.iter().filter(|item| !item.reached.finished).collect();
        let owners: BTreeSet<&WorkerId> = open.iter().filter_map(|item| self.owner_of(item)).collect();
        let mut workers = self.alive(CandidateRole::Waiter);
        workers.extend(owners.iter().copied().chain([me]));
        let pushers = self.alive(CandidateRole::Pusher);
        let pushing: Vec<&WorkerId> = owners.iter().chain(pushers.difference(&owners)).copied().collect();
        let first = open.iter().find_map(|item| self.owner_of(item));
        let (take, release) = self.balance(&workers, most);
        Plan {
            take,
            release,
            rank: pushing.iter().position(|worker| *worker == me).unwrap_or(pushing.len()),
            workers: pushing.len(),
            lead: match first {
                None => Lead::Vacant,
                Some(owner) if owner == me => Lead::Mine,
                Some(_) => Lead::Others,
            },
            dead: self.dead(),
            replace: self.to_replace(),
        }
    }

    /// An owner can't renew its lease on an item that doesn't change, so it has stopped when the silence is over.
    fn to_replace(&self) -> Vec<DamagedShard> {
        let is_silent = |since: Duration| self.now.saturating_sub(since) >= self.leases.times.silence;
        let damaged = self.leases.damaged.iter();
        let ownerless = damaged.filter(|(damaged, since)| is_silent(*since) && !self.mine.contains(&damaged.shard));
        ownerless.map(|(damaged, _)| damaged.clone()).take(MOST_AT_ONCE).collect()
    }

    /// Returns which shards to take and which to hand over.
    fn balance(&self, workers: &BTreeSet<&WorkerId>, most: usize) -> (Vec<ShardProgress>, Vec<ShardId>) {
        let readable: Vec<&ShardProgress> = shards::readable(self.board).collect();
        let count = u32::try_from(readable.len()).unwrap_or(u32::MAX);
        let (rank, sharing) = (self.rank(&readable, workers), workers.len().min(most.max(1)));
        let fair = if rank < sharing { share(count, rank, sharing) as usize } else { 0 };
        let mine = readable.iter().map(|item| &item.shard).filter(|shard| self.mine.contains(*shard));
        let mine: Vec<ShardId> = mine.cloned().collect();
        if mine.len() > fair {
            return (Vec::new(), mine[fair..].to_vec());
        }
        let free = readable.iter().filter(|item| self.owner_of(item).is_none());
        let mut take: Vec<ShardProgress> = free.clone().take(fair - mine.len()).map(|item| (*item).clone()).collect();
        if rank < sharing {
            // A shard that those who should have it don't take is any worker's.
            let orphans = free.filter(|item| self.unchanged(item) >= 2 * self.leases.times.silence);
            take.extend(orphans.map(|item| (*item).clone()));
        }
        take.sort_by(|a, b| a.shard.cmp(&b.shard));
        take.dedup_by(|a, b| a.shard == b.shard);
        take.truncate(MOST_AT_ONCE);
        (take, Vec::new())
    }

    /// Returns the rank of this worker among all. Those that own more come first, so that what can't be dealt evenly
    /// stays where it is.
    fn rank(&self, readable: &[&ShardProgress], workers: &BTreeSet<&WorkerId>) -> usize {
        let owns = |worker: &WorkerId| readable.iter().filter(|item| self.owner_of(item) == Some(worker)).count();
        let mine = (Reverse(owns(&self.leases.me)), &self.leases.me);
        workers.iter().filter(|worker| (Reverse(owns(worker)), **worker) < mine).count()
    }

    /// Returns who owns a shard, as far as this worker can say. Its own name on an item that it doesn't read counts for
    /// nothing: an answer got lost.
    fn owner_of(&self, item: &'a ShardProgress) -> Option<&'a WorkerId> {
        if self.mine.contains(&item.shard) {
            return Some(&self.leases.me);
        }
        let owner = item.owner.as_ref().filter(|owner| **owner != self.leases.me)?;
        (self.unchanged(item) < self.leases.times.silence).then_some(owner)
    }

    fn unchanged(&self, item: &ShardProgress) -> Duration {
        let is_the_same = |seen: &&Seen| (seen.fencing_token, seen.heartbeat) == (item.fencing_token, item.heartbeat);
        let seen = self.leases.shards.get(&item.shard).filter(is_the_same);
        seen.map_or(Duration::ZERO, |seen| self.now.saturating_sub(seen.since))
    }

    /// Returns the workers without a shard that have this role, as far as this worker can say.
    fn alive(&self, role: CandidateRole) -> BTreeSet<&'a WorkerId> {
        let there = self.board.candidates.iter().filter(|candidate| candidate.role == role);
        let silence = self.leases.times.silence;
        there.map(|candidate| &candidate.worker).filter(|worker| self.silent(worker) < silence).collect()
    }

    fn silent(&self, worker: &WorkerId) -> Duration {
        let seen = self.leases.candidates.get(worker);
        seen.map_or(Duration::ZERO, |seen| self.now.saturating_sub(seen.since))
    }

    fn dead(&self) -> Vec<WorkerId> {
        let workers = self.board.candidates.iter().map(|candidate| candidate.worker.clone());
        workers.filter(|worker| self.silent(worker) >= 10 * self.leases.times.silence).collect()
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

//! Who reads which shard: pure; the board is handed in, and so is the time.
//!
//! A lease is alive while its item changes. An observer measures on its own monotonic clock how long it has seen an item
//! unchanged, and never compares wall clocks. The holder, on its own clock, stops before any observer can have waited
//! long enough: it counts from before its write was sent, they count from after they saw it.

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use crate::store::{
    progress::{Board, ShardProgress, WorkerId},
    stream::ShardId,
};

use super::{pace, shards};

/// Never take more leases than this in one round: hundreds of shards are taken step by step.
const MOST_AT_ONCE: usize = 25;

/// How a lease's time is divided, so that a dead worker's shards move within it: the last sign of life is seen up to one
/// round late, then the silence must last, then it takes up to one round until somebody looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// So often a holder writes, and everybody looks at the board.
    pub round: Duration,
    /// An item unchanged for so long is nobody's; a holder that has not written for so long stops.
    pub silence: Duration,
}

impl Times {
    /// The times of a lease (`delivery.lease_ms`).
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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    fence: u64,
    beat: u64,
    since: Duration,
}

/// What a worker does next about leases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Leases to take: nobody's.
    pub take: Vec<ShardProgress>,
    /// Shards to hand over: others have too few.
    pub release: Vec<ShardId>,
    /// The place of this worker among those that hold shards, and how many they are, itself counted.
    pub place: (usize, usize),
    /// It holds the first of all held shards: it does what one worker should do for all (listing shards, draining).
    pub leads: bool,
    /// Candidates that have shown no sign of life for long.
    pub dead: Vec<WorkerId>,
}

impl Leases {
    /// Nothing seen yet.
    #[must_use]
    pub fn new(me: WorkerId, times: Times) -> Self {
        Self { me, times, shards: HashMap::new(), candidates: HashMap::new() }
    }

    /// Takes in a board that was read; `now` is when its answer was there.
    pub fn observe(&mut self, board: &Board, now: Duration) {
        let shards = board.shards.iter().map(|item| (item.shard.clone(), item.fence, item.beat));
        self.shards = seen(&self.shards, shards, now);
        let candidates = board.candidates.iter().map(|candidate| (candidate.worker.clone(), 0, candidate.beat));
        self.candidates = seen(&self.candidates, candidates, now);
    }

    /// Decides what to do. `held` are the shards that this worker reads at the moment; at most `most` workers share the
    /// shards (with fewer pushes a second than workers, the last ones could never push).
    #[must_use]
    pub fn plan(&self, board: &Board, held: &BTreeSet<ShardId>, most: usize, now: Duration) -> Plan {
        let open: Vec<&ShardProgress> = board.shards.iter().filter(|item| !item.reached.finished).collect();
        let owners: BTreeSet<&WorkerId> = open.iter().filter_map(|item| self.holder(item, held, now)).collect();
        let alive = board.candidates.iter().map(|candidate| &candidate.worker);
        let mut workers: BTreeSet<&WorkerId> =
            alive.filter(|worker| self.silent(worker, now) < self.times.silence).collect();
        workers.extend(owners.iter().copied());
        workers.insert(&self.me);
        let first = open.iter().find_map(|item| self.holder(item, held, now));
        let (take, release) = self.balance(board, held, &workers, most, now);
        Plan {
            take,
            release,
            place: (place_in(&owners, &self.me), owners.len()),
            leads: first.is_none_or(|owner| *owner == self.me),
            dead: self.dead(board, now),
        }
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
        let (place, sharing) = (place_in(workers, &self.me), workers.len().min(most.max(1)));
        let fair = if place < sharing { pace::share(count, place, sharing) as usize } else { 0 };
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
        let seen = self.shards.get(&item.shard).filter(|seen| (seen.fence, seen.beat) == (item.fence, item.beat));
        seen.map_or(Duration::ZERO, |seen| now.saturating_sub(seen.since))
    }

    fn silent(&self, worker: &WorkerId, now: Duration) -> Duration {
        self.candidates.get(worker).map_or(Duration::ZERO, |seen| now.saturating_sub(seen.since))
    }

    fn dead(&self, board: &Board, now: Duration) -> Vec<WorkerId> {
        let workers = board.candidates.iter().map(|candidate| candidate.worker.clone());
        workers.filter(|worker| self.silent(worker, now) >= 10 * self.times.silence).collect()
    }
}

fn place_in(workers: &BTreeSet<&WorkerId>, me: &WorkerId) -> usize {
    workers.iter().position(|worker| *worker == me).unwrap_or(workers.len())
}

fn seen<K: std::hash::Hash + Eq>(
    before: &HashMap<K, Seen>,
    items: impl Iterator<Item = (K, u64, u64)>,
    now: Duration,
) -> HashMap<K, Seen> {
    let merge = |(key, fence, beat): (K, u64, u64)| {
        let same = before.get(&key).copied().filter(|seen| (seen.fence, seen.beat) == (fence, beat));
        (key, same.unwrap_or(Seen { fence, beat, since: now }))
    };
    items.map(merge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::time::Timestamp,
        store::progress::{Candidate, Reached},
    };

    const LEASE: Duration = Duration::from_secs(10);

    fn worker(name: &str) -> WorkerId {
        WorkerId::from(name.to_owned())
    }

    fn shard(name: &str) -> ShardId {
        ShardId::from(name.to_owned())
    }

    fn item(name: &str, owner: Option<&str>, beat: u64) -> ShardProgress {
        ShardProgress {
            shard: shard(name),
            parent: None,
            owner: owner.map(worker),
            fence: 1,
            beat,
            reached: Reached::default(),
            updated_at: Timestamp::EPOCH,
        }
    }

    fn board(shards: Vec<ShardProgress>, candidates: &[&str]) -> Board {
        let candidates = candidates.iter().map(|name| Candidate { worker: worker(name), beat: 1 }).collect();
        Board { shards, candidates, batches: Vec::new() }
    }

    fn taken(plan: &Plan) -> Vec<&str> {
        plan.take.iter().map(|item| item.shard.as_str()).collect()
    }

    fn held(names: &[&str]) -> BTreeSet<ShardId> {
        names.iter().map(|name| shard(name)).collect()
    }

    fn ann() -> Leases {
        Leases::new(worker("ann"), Times::of(LEASE))
    }

    #[test]
    fn a_worker_alone_takes_everything_that_is_free() {
        let (mut leases, board) = (ann(), board(vec![item("s1", None, 0), item("s2", None, 0)], &[]));
        leases.observe(&board, Duration::ZERO);
        assert_eq!(taken(&leases.plan(&board, &held(&[]), 99, Duration::ZERO)), ["s1", "s2"]);
    }

    #[test]
    fn a_lease_that_was_not_renewed_moves_within_its_time_and_not_before_the_holder_stops() {
        let (mut leases, board) = (ann(), board(vec![item("s1", Some("bob"), 7)], &[]));
        let times = Times::of(LEASE);
        leases.observe(&board, times.round);
        leases.observe(&board, times.round + times.silence);
        let early = times.round + times.silence.checked_sub(Duration::from_millis(1)).unwrap();
        assert_eq!(taken(&leases.plan(&board, &held(&[]), 99, early)), [""; 0]);
        assert_eq!(taken(&leases.plan(&board, &held(&[]), 99, times.round + times.silence)), ["s1"]);
        assert!(times.round + times.silence + times.round < LEASE, "seen late, silent, looked at late");
    }

    #[test]
    fn a_lease_that_is_renewed_stays() {
        let mut leases = ann();
        for beat in 0..50u32 {
            let (board, now) = (board(vec![item("s1", Some("bob"), beat.into())], &[]), Times::of(LEASE).round * beat);
            leases.observe(&board, now);
            assert_eq!(taken(&leases.plan(&board, &held(&[]), 99, now)), [""; 0]);
        }
    }

    #[test]
    fn a_newcomer_gets_its_fair_share_because_the_other_hands_it_over() {
        let shards = |free: bool| {
            let owner = |name: &str, may_free: bool| if free && may_free { None } else { Some(name.to_owned()) };
            (1..=4).map(|n| item(&format!("s{n}"), owner("ann", n > 2).as_deref(), 1)).collect::<Vec<_>>()
        };
        let mut first = ann();
        let full = board(shards(false), &["bob"]);
        first.observe(&full, Duration::ZERO);
        let plan = first.plan(&full, &held(&["s1", "s2", "s3", "s4"]), 99, Duration::ZERO);
        assert_eq!(plan.release, [shard("s3"), shard("s4")]);
        let mut second = Leases::new(worker("bob"), Times::of(LEASE));
        let handed = board(shards(true), &["bob"]);
        second.observe(&handed, Duration::ZERO);
        let plan = second.plan(&handed, &held(&[]), 99, Duration::ZERO);
        assert_eq!((taken(&plan), plan.leads), (vec!["s3", "s4"], false));
    }

    #[test]
    fn a_shard_that_its_candidate_does_not_take_is_anybodys() {
        let (mut leases, now) = (ann(), Times::of(LEASE).silence * 2);
        let mut board = board(vec![item("s1", Some("ann"), 1), item("s2", None, 1)], &["bob"]);
        leases.observe(&board, Duration::ZERO);
        assert_eq!(taken(&leases.plan(&board, &held(&["s1"]), 99, Duration::ZERO)), [""; 0]);
        board.candidates[0].beat += 1;
        leases.observe(&board, now);
        assert_eq!(taken(&leases.plan(&board, &held(&["s1"]), 99, now)), ["s2"]);
    }

    #[test]
    fn more_workers_than_pushes_a_second_leave_the_last_ones_waiting() {
        let (mut leases, board) =
            (Leases::new(worker("zoe"), Times::of(LEASE)), board(vec![item("s1", None, 0)], &["ann"]));
        leases.observe(&board, Duration::ZERO);
        assert_eq!(taken(&leases.plan(&board, &held(&[]), 1, Duration::ZERO)), [""; 0]);
    }

    #[test]
    fn its_own_name_on_a_shard_it_does_not_read_is_a_lost_answer() {
        let (mut leases, board) = (ann(), board(vec![item("s1", Some("ann"), 3)], &[]));
        leases.observe(&board, Duration::ZERO);
        assert_eq!(taken(&leases.plan(&board, &held(&[]), 99, Duration::ZERO)), ["s1"]);
    }
}

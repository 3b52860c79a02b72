//! Random worlds for the state machines: shards that split and are listed late, workers that crash, sleep and wake up,
//! writes that meet. No I/O, no time but the world's own; a seed gives the same run again.
//!
//! What must hold: every record is handled, in order per participant; no checkpoint steps over an unfinished record;
//! nothing is handed out that the stored progress doesn't cover, or by a worker that lost its lease.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::Duration,
};

use fastrand::Rng;
use proptest::prelude::*;

use crate::domain::{
    notice::{NoticeId, NoticeKey},
    time::Timestamp,
};
use crate::store::{
    progress::{Board, Candidate, Reached, ShardProgress, WorkerId},
    stream::{ListedShard, SequenceNumber, ShardId, ShardsPage},
};

use super::{
    Outcome,
    coverage::Coverage,
    handler::{Call, Path, Standing},
    lanes::{Finished, Job, Lanes},
    lease::{Leases, Times},
    shards::Discovery,
    window::Window,
};

const PEOPLE: usize = 12;
const LEASE: Duration = Duration::from_secs(6);

/// A record: the how-manieth of whom.
#[derive(Clone, Debug)]
struct Written {
    sequence: SequenceNumber,
    person: usize,
    n: usize,
    at: Timestamp,
}

/// A shard of the world's stream.
#[derive(Debug)]
struct SimShard {
    listed: ListedShard,
    people: Vec<usize>,
    records: Vec<Written>,
    closed: bool,
}

struct World {
    rng: Rng,
    now: Duration,
    next_sequence: u64,
    shards: Vec<SimShard>,
    board: Board,
    written: [usize; PEOPLE],
    /// How many of each person's records were marked; marks are in order.
    marked: [usize; PEOPLE],
    /// The same for what was handed to LINE at least once.
    pushed: [usize; PEOPLE],
    workers: Vec<SimWorker>,
    made: usize,
}

struct SimWorker {
    me: WorkerId,
    /// Its monotonic clock began some time.
    offset: Duration,
    asleep_until: Duration,
    leases: Leases,
    held: BTreeMap<ShardId, Held>,
    pass: Option<Discovery>,
}

struct Held {
    fence: u64,
    standing: Standing,
    window: Window,
    coverage: Coverage,
    lanes: Lanes,
    /// Pushed and not marked yet.
    running: Vec<Job>,
    read: usize,
    ended: bool,
}

fn wall(now: Duration) -> Timestamp {
    Timestamp::from_millis(1_780_000_000_000 + i64::try_from(now.as_millis()).unwrap()).unwrap()
}

impl World {
    fn new(seed: u64) -> Self {
        let mut world = Self {
            rng: Rng::with_seed(seed),
            now: Duration::ZERO,
            next_sequence: 1,
            shards: Vec::new(),
            board: Board::default(),
            written: [0; PEOPLE],
            marked: [0; PEOPLE],
            pushed: [0; PEOPLE],
            workers: Vec::new(),
            made: 0,
        };
        for n in 0..3 {
            // The oldest shards name parents that are trimmed.
            world.shard(Some(ShardId::from(format!("trimmed-{n}"))), (0..PEOPLE).filter(|p| p % 3 == n).collect());
        }
        world
    }

    fn shard(&mut self, parent: Option<ShardId>, people: Vec<usize>) {
        let id = ShardId::from(format!("shard-{:04}-{}", self.shards.len(), self.rng.u16(..)));
        let listed = ListedShard { id, parent };
        self.shards.push(SimShard { listed, people, records: Vec::new(), closed: false });
    }

    /// Somebody acquires a stamp.
    fn write(&mut self) {
        let person = self.rng.usize(..PEOPLE);
        let shard = self.shards.iter_mut().find(|shard| !shard.closed && shard.people.contains(&person)).unwrap();
        // Servers' clocks differ a little.
        let at = wall(self.now).plus_millis(self.rng.i64(-800..800));
        let sequence = self.next_sequence.to_string().parse().unwrap();
        shard.records.push(Written { sequence, person, n: self.written[person], at });
        self.written[person] += 1;
        self.next_sequence += self.rng.u64(1..9);
    }

    /// A shard splits, or rolls over into one child.
    fn split(&mut self) {
        let open: Vec<usize> = (0..self.shards.len()).filter(|n| !self.shards[*n].closed).collect();
        let n = open[self.rng.usize(..open.len())];
        self.shards[n].closed = true;
        let (parent, people) = (self.shards[n].listed.id.clone(), self.shards[n].people.clone());
        let at = self.rng.usize(0..=people.len());
        let halves = [people[..at].to_vec(), people[at..].to_vec()];
        for half in halves.into_iter().filter(|half| !half.is_empty()) {
            self.shard(Some(parent.clone()), half);
        }
    }

    fn hire(&mut self) {
        let (me, offset) = (WorkerId::from(format!("{:02}-{}", self.rng.u8(..99), self.made)), self.rng.u64(0..1000));
        self.made += 1;
        self.workers.push(SimWorker {
            leases: Leases::new(me.clone(), Times::of(LEASE)),
            me,
            offset: Duration::from_secs(offset),
            asleep_until: Duration::ZERO,
            held: BTreeMap::new(),
            pass: None,
        });
    }

    /// One thing that a worker does.
    fn act(&mut self, n: usize) {
        let mut worker = std::mem::replace(&mut self.workers[n], SimWorker::nobody());
        if worker.asleep_until <= self.now {
            match self.rng.u8(..10) {
                0 => worker.round(self),
                1 => worker.list(self),
                2 | 3 => worker.read(self),
                4..=6 => worker.push(self),
                7 | 8 => worker.mark(self),
                _ => worker.save(self),
            }
        }
        self.workers[n] = worker;
    }

    fn is_done(&self) -> bool {
        self.marked == self.written
    }
}

impl SimWorker {
    fn nobody() -> Self {
        let me = WorkerId::from("nobody".to_owned());
        Self {
            leases: Leases::new(me.clone(), Times::of(LEASE)),
            me,
            offset: Duration::ZERO,
            asleep_until: Duration::ZERO,
            held: BTreeMap::new(),
            pass: None,
        }
    }

    fn uptime(&self, world: &World) -> Duration {
        world.now + self.offset
    }

    fn round(&mut self, world: &mut World) {
        let uptime = self.uptime(world);
        let board = world.board.clone();
        self.leases.observe(&board, uptime);
        let held: BTreeSet<ShardId> = self.held.keys().cloned().collect();
        let plan = self.leases.plan(&board, &held, 99, uptime);
        for item in plan.take {
            let Some(stored) = world.board.shards.iter_mut().find(|stored| stored.shard == item.shard) else {
                continue;
            };
            assert_eq!((stored.fence, stored.beat), (item.fence, item.beat), "nothing came between");
            (stored.owner, stored.fence, stored.beat) = (Some(self.me.clone()), stored.fence + 1, stored.beat + 1);
            let held = Held {
                fence: stored.fence,
                standing: Standing::until(uptime + Times::of(LEASE).silence),
                window: Window::after(stored.reached.checkpoint.clone()),
                coverage: Coverage::inherit(stored.reached.handed_out),
                lanes: Lanes::default(),
                running: Vec::new(),
                read: 0,
                ended: false,
            };
            self.held.insert(item.shard, held);
        }
        for shard in plan.release {
            self.write_progress(world, &shard, true);
        }
        world.board.candidates.retain(|candidate| candidate.worker != self.me);
        if self.held.is_empty() {
            let beat = world.rng.u64(..);
            world.board.candidates.push(Candidate { worker: self.me.clone(), beat });
        }
    }

    /// A page of the list of shards, in which the newest shard may be missing.
    fn list(&mut self, world: &mut World) {
        let mut pass = self.pass.take().unwrap_or_else(|| Discovery::begin(&world.board));
        let shown = world.shards.len() - usize::from(world.rng.bool() && world.shards.len() > 3);
        let from = pass
            .after()
            .map_or(0, |after| world.shards.iter().position(|shard| shard.listed.id == *after).unwrap() + 1);
        let to = (from + world.rng.usize(1..4)).min(shown);
        let shards: Vec<ListedShard> =
            world.shards[from.min(to)..to].iter().map(|shard| shard.listed.clone()).collect();
        let next = (to < shown).then(|| world.shards[to - 1].listed.id.clone());
        let found = pass.page(ShardsPage { shards, next });
        for shard in found.register {
            if world.board.shards.iter().any(|item| item.shard == shard.id) {
                continue;
            }
            world.board.shards.push(ShardProgress {
                shard: shard.id,
                parent: shard.parent,
                owner: None,
                fence: 0,
                beat: 0,
                reached: Reached::default(),
                updated_at: wall(world.now),
            });
        }
        world.board.shards.sort_by(|a, b| a.shard.cmp(&b.shard));
        self.pass = (!found.whole).then_some(pass);
    }

    fn any_held<'a>(&'a mut self, world: &mut World) -> Option<(ShardId, &'a mut Held)> {
        let n = world.rng.usize(..self.held.len().max(1));
        self.held.iter_mut().nth(n).map(|(id, held)| (id.clone(), held))
    }

    /// A page of records; sometimes an iterator has expired and the page begins earlier.
    fn read(&mut self, world: &mut World) {
        let Some((id, held)) = self.any_held(world) else { return };
        let shard = world.shards.iter().find(|shard| shard.listed.id == id).unwrap();
        if world.rng.u8(..10) == 0 {
            held.read = held.read.saturating_sub(world.rng.usize(..5));
        }
        let to = (held.read + world.rng.usize(..6)).min(shard.records.len());
        for record in &shard.records[held.read..to] {
            let Some(ticket) = held.window.read(record.sequence.clone(), record.at, Some(record.at)) else { continue };
            let notice = NoticeId {
                event_id: "e".parse().unwrap(),
                line_user_id: format!("U{:032x}", record.person).parse().unwrap(),
                key: NoticeKey::Stamp(record.n.to_string().parse().unwrap()),
            };
            let doubtful = held.coverage.is_doubtful(record.at);
            let standing = held.standing.clone();
            let call = Call { notice, since: record.at, doubtful, path: Path::Ordinary, standing };
            held.lanes.push(Job { ticket, at: record.at, call });
        }
        held.read = to;
        if to == shard.records.len() {
            held.coverage.caught_up();
            held.ended = shard.closed;
        }
    }

    fn push(&mut self, world: &mut World) {
        let (me, uptime) = (self.me.clone(), self.uptime(world));
        let Some((id, held)) = self.any_held(world) else { return };
        if !held.standing.is_good(uptime) {
            return;
        }
        let Some(job) = held.lanes.next(|at| held.coverage.covers(at)) else { return };
        let item = world.board.shards.iter().find(|item| item.shard == id).unwrap();
        assert_eq!((item.owner.as_ref(), item.fence), (Some(&me), held.fence), "nobody else can have the lease");
        assert!(item.reached.handed_out.is_some_and(|span| span.contains(job.at)), "covered before it is handed out");
        let (person, n) = named(&job);
        assert!(n <= world.pushed[person], "in order: {n} of {person} came before {}", world.pushed[person]);
        if n < world.pushed[person] && n >= world.marked[person] {
            assert!(job.call.doubtful, "what another one has pushed without a mark is known to be doubtful");
        }
        world.pushed[person] = world.pushed[person].max(n + 1);
        held.running.push(job);
    }

    /// One of the pushed notices is marked, or its worker gives it up for now.
    fn mark(&mut self, world: &mut World) {
        let Some((_, held)) = self.any_held(world) else { return };
        if held.running.is_empty() {
            return;
        }
        let job = held.running.swap_remove(world.rng.usize(..held.running.len()));
        if world.rng.u8(..8) == 0 {
            held.lanes.finished(Finished { job, outcome: Outcome::Wait });
            return;
        }
        let (person, n) = named(&job);
        assert!(n <= world.marked[person], "marks are in order");
        world.marked[person] = world.marked[person].max(n + 1);
        held.window.finish(job.ticket);
        held.lanes.finished(Finished { job, outcome: Outcome::Sent });
    }

    fn save(&mut self, world: &mut World) {
        let shards: Vec<ShardId> = self.held.keys().cloned().collect();
        if let Some(shard) = world.rng.choice(shards.iter()).cloned() {
            self.write_progress(world, &shard, false);
        }
    }

    /// The conditional write; whoever lost the lease drops the shard. Sometimes the answer gets lost.
    fn write_progress(&mut self, world: &mut World, shard: &ShardId, release: bool) {
        let (me, uptime) = (self.me.clone(), self.uptime(world));
        let Some(held) = self.held.get_mut(shard) else { return };
        let item = world.board.shards.iter_mut().find(|item| item.shard == *shard).unwrap();
        if item.owner.as_ref() != Some(&me) || item.fence != held.fence {
            self.held.remove(shard);
            return;
        }
        let span = held.coverage.next(held.window.unfinished(), wall(world.now));
        let finished = held.ended && held.window.is_empty();
        let sim = world.shards.iter().find(|sim| sim.listed.id == *shard).unwrap();
        for record in &sim.records {
            if held.window.checkpoint().is_some_and(|checkpoint| record.sequence <= *checkpoint) || finished {
                assert!(record.n < world.marked[record.person], "no checkpoint beyond an unfinished record");
            }
        }
        let checkpoint = held.window.checkpoint().cloned();
        assert!(checkpoint >= item.reached.checkpoint, "a checkpoint never goes back");
        item.reached = Reached { checkpoint, finished, handed_out: Some(span), doubtful: Vec::new() };
        item.beat += 1;
        let gone = finished || release;
        if gone {
            item.owner = None;
            self.held.remove(shard);
        } else if world.rng.u8(..10) > 0 {
            held.coverage.stored(span);
            held.lanes.covered();
            held.standing.extend(uptime + Times::of(LEASE).silence);
        }
    }
}

fn named(job: &Job) -> (usize, usize) {
    let person = usize::from_str_radix(&job.call.notice.line_user_id.as_str()[1..], 16).unwrap();
    let NoticeKey::Stamp(n) = &job.call.notice.key else { unreachable!() };
    (person, n.as_str().parse().unwrap())
}

/// A world with trouble, and then one without: everything must be handled in the end.
fn live(seed: u64, steps: usize) {
    let mut world = World::new(seed);
    world.hire();
    for _ in 0..steps {
        world.now += Duration::from_millis(world.rng.u64(0..120));
        match world.rng.u16(..400) {
            0..=39 => world.write(),
            40 | 41 if world.shards.len() < 14 => world.split(),
            42 if world.workers.len() < 4 => world.hire(),
            // A crash: everything it knew is gone.
            43 | 44 if !world.workers.is_empty() => {
                let n = world.rng.usize(..world.workers.len());
                world.workers.swap_remove(n);
            }
            // Stopped for a while, perhaps longer than its lease.
            45 | 46 if !world.workers.is_empty() => {
                let n = world.rng.usize(..world.workers.len());
                world.workers[n].asleep_until = world.now + LEASE.mul_f64(world.rng.f64() * 3.0);
            }
            _ if !world.workers.is_empty() => {
                let n = world.rng.usize(..world.workers.len());
                world.act(n);
            }
            _ => world.hire(),
        }
    }
    if world.workers.is_empty() {
        world.hire();
    }
    for _ in 0..60_000 {
        if world.is_done() {
            return;
        }
        world.now += Duration::from_millis(world.rng.u64(0..40));
        let n = world.rng.usize(..world.workers.len());
        world.act(n);
    }
    panic!("seed {seed}: written {:?}, marked {:?}, {:#?}", world.written, world.marked, world.board);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_record_is_handled_in_order_whatever_happens_to_the_workers(seed: u64, steps in 0usize..4000) {
        live(seed, steps);
    }
}

/// Seeds that once told something.
#[test]
fn worlds_that_went_wrong_before() {
    let known: HashMap<u64, usize> = HashMap::from([(7, 3000), (42, 4000)]);
    known.into_iter().for_each(|(seed, steps)| live(seed, steps));
}

//! What a worker of the world does, with the real state machines.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use crate::domain::notice::{NoticeId, NoticeKey};
use crate::store::{
    progress::{Candidate, Errand, Reached, ShardProgress, WorkerId},
    stream::{ListedShard, ShardId, ShardsPage},
};

use super::{Held, LEASE, SimWorker, World, wall};
use crate::delivery::{
    Outcome,
    coverage::Coverage,
    handler::Standing,
    lanes::{Finished, Job, Lanes},
    lease::{Leases, Times},
    pending::{Path, PendingNotice},
    shards::Discovery,
    window::Window,
};

impl SimWorker {
    pub fn nobody() -> Self {
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

    pub fn uptime(&self, world: &World) -> Duration {
        world.now + self.offset
    }

    pub fn round(&mut self, world: &mut World) {
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
            world.board.candidates.push(Candidate { worker: self.me.clone(), errand: Errand::Wait, beat });
        }
    }

    /// A page of the list of shards, in which the newest shard may be missing.
    pub fn list(&mut self, world: &mut World) {
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

    pub fn any_held<'a>(&'a mut self, world: &mut World) -> Option<(ShardId, &'a mut Held)> {
        let n = world.rng.usize(..self.held.len().max(1));
        self.held.iter_mut().nth(n).map(|(id, held)| (id.clone(), held))
    }

    /// A page of records; sometimes an iterator has expired and the page begins earlier.
    pub fn read(&mut self, world: &mut World) {
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
            let maybe_sent = held.coverage.is_doubtful(record.at);
            let lease = held.standing.clone();
            let pending = PendingNotice { notice, since: record.at, maybe_sent, path: Path::Ordinary, lease };
            held.lanes.push(Job { ticket, at: record.at, pending });
        }
        held.read = to;
        if to == shard.records.len() {
            assert_eq!(held.coverage.caught_up(wall(world.now)), None, "nothing here is a day old");
            held.ended = shard.closed;
        }
    }

    pub fn push(&mut self, world: &mut World) {
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
            assert!(job.pending.maybe_sent, "what another one has pushed without a mark is known to be doubtful");
        }
        world.pushed[person] = world.pushed[person].max(n + 1);
        held.running.push(job);
    }

    /// One of the pushed notices is marked, or its worker gives it up for now.
    pub fn mark(&mut self, world: &mut World) {
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

    pub fn save(&mut self, world: &mut World) {
        let shards: Vec<ShardId> = self.held.keys().cloned().collect();
        if let Some(shard) = world.rng.choice(shards.iter()).cloned() {
            self.write_progress(world, &shard, false);
        }
    }

    /// The conditional write; whoever lost the lease drops the shard. Sometimes the answer gets lost.
    pub fn write_progress(&mut self, world: &mut World, shard: &ShardId, release: bool) {
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
    let person = usize::from_str_radix(&job.pending.notice.line_user_id.as_str()[1..], 16).unwrap();
    let NoticeKey::Stamp(n) = &job.pending.notice.key else { unreachable!() };
    (person, n.as_str().parse().unwrap())
}

//! What a worker of the world does, with the real state machines.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use crate::store::{
    progress::{Candidate, CandidateRole, ShardProgress, ShardState, WorkerId},
    stream::{ListedShard, ShardId, ShardsPage},
};

use super::{Held, LEASE, SimWorker, World, wall};
use crate::consumer::{
    coverage::Coverage,
    lanes::{Lane, Lanes, Waiting},
    lease::{Leases, Times},
    lease_status::LeaseStatus,
    shards::Discovery,
    window::Window,
};

impl SimWorker {
    pub fn unnamed() -> Self {
        let me = WorkerId::from("unnamed".to_owned());
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
            assert_eq!(
                (stored.fencing_token, stored.heartbeat),
                (item.fencing_token, item.heartbeat),
                "nothing came between"
            );
            (stored.owner, stored.fencing_token, stored.heartbeat) =
                (Some(self.me.clone()), stored.fencing_token + 1, stored.heartbeat + 1);
            let held = Held {
                fencing_token: stored.fencing_token,
                status: LeaseStatus::until(uptime + Times::of(LEASE).silence),
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
            let heartbeat = world.rng.u64(..);
            world.board.candidates.push(Candidate { worker: self.me.clone(), role: CandidateRole::Waiter, heartbeat });
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
                fencing_token: 0,
                heartbeat: 0,
                reached: ShardState::default(),
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
            let read = held.window.read(record.sequence.clone(), record.at, vec![record.at]);
            let Some(ticket) = read.map(|tickets| tickets[0]) else { continue };
            let maybe_handed_out = held.coverage.is_maybe_handed_out(record.at);
            let lane = Lane { effect: "simulated", order_key: record.participant.to_string() };
            let (sequence, work) = (record.sequence.clone(), (record.participant, record.n));
            held.lanes.push(Waiting { ticket, sequence, lane, at: record.at, maybe_handed_out, work });
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
        if !held.status.is_valid(uptime) {
            return;
        }
        let Some(job) = held.lanes.next(|at| held.coverage.covers(at)) else { return };
        let item = world.board.shards.iter().find(|item| item.shard == id).unwrap();
        assert_eq!(
            (item.owner.as_ref(), item.fencing_token),
            (Some(&me), held.fencing_token),
            "no other worker can have the lease"
        );
        assert!(item.reached.handed_out.is_some_and(|span| span.contains(job.at)), "covered before it is handed out");
        let (participant, n) = job.work;
        assert!(
            n <= world.pushed[participant],
            "in order: {n} of {participant} came before {}",
            world.pushed[participant]
        );
        if n < world.pushed[participant] && n >= world.marked[participant] {
            assert!(job.maybe_handed_out, "what another worker has pushed without a mark is known");
        }
        world.pushed[participant] = world.pushed[participant].max(n + 1);
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
            held.lanes.unfinished(job);
            return;
        }
        let (participant, n) = job.work;
        assert!(n <= world.marked[participant], "marks are in order");
        world.marked[participant] = world.marked[participant].max(n + 1);
        held.window.finish(job.ticket);
        held.lanes.finished(job.lane);
    }

    pub fn save(&mut self, world: &mut World) {
        let shards: Vec<ShardId> = self.held.keys().cloned().collect();
        if let Some(shard) = world.rng.choice(shards.iter()).cloned() {
            self.write_progress(world, &shard, false);
        }
    }

    /// The conditional write; a worker that lost the lease drops the shard. Sometimes the answer gets lost.
    pub fn write_progress(&mut self, world: &mut World, shard: &ShardId, release: bool) {
        let (me, uptime) = (self.me.clone(), self.uptime(world));
        let Some(held) = self.held.get_mut(shard) else { return };
        let item = world.board.shards.iter_mut().find(|item| item.shard == *shard).unwrap();
        if item.owner.as_ref() != Some(&me) || item.fencing_token != held.fencing_token {
            self.held.remove(shard);
            return;
        }
        let span = held.coverage.next(held.window.unfinished(), wall(world.now));
        let finished = held.ended && held.window.is_empty();
        let sim = world.shards.iter().find(|sim| sim.listed.id == *shard).unwrap();
        for record in &sim.records {
            if held.window.checkpoint().is_some_and(|checkpoint| record.sequence <= *checkpoint) || finished {
                assert!(record.n < world.marked[record.participant], "no checkpoint beyond an unfinished record");
            }
        }
        let checkpoint = held.window.checkpoint().cloned();
        assert!(checkpoint >= item.reached.checkpoint, "a checkpoint never goes back");
        item.reached = ShardState { checkpoint, finished, handed_out: Some(span), maybe_sent: Vec::new() };
        item.heartbeat += 1;
        let gone = finished || release;
        if gone {
            item.owner = None;
            self.held.remove(shard);
        } else if world.rng.u8(..10) > 0 {
            held.coverage.stored(span);
            held.lanes.covered();
            held.status.extend(uptime + Times::of(LEASE).silence);
        }
    }
}

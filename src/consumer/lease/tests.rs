use super::*;
use crate::domain::time::Timestamp;
use crate::store::progress::{Candidate, CandidateRole, DamagedShard, ShardState};

const LEASE: Duration = Duration::from_secs(10);

fn worker(name: &str) -> WorkerId {
    WorkerId::from(name.to_owned())
}

fn shard(name: &str) -> ShardId {
    ShardId::from(name.to_owned())
}

fn item(name: &str, owner: Option<&str>, heartbeat: u64) -> ShardProgress {
    ShardProgress {
        shard: shard(name),
        parent: None,
        owner: owner.map(worker),
        fencing_token: 1,
        heartbeat,
        reached: ShardState::default(),
        updated_at: Timestamp::EPOCH,
    }
}

fn board(shards: Vec<ShardProgress>, candidates: &[&str]) -> Board {
    let candidate = |name: &&str| Candidate { worker: worker(name), role: CandidateRole::Waiter, heartbeat: 1 };
    let candidates = candidates.iter().map(candidate).collect();
    Board { shards, candidates, ..Board::default() }
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
fn a_lease_that_was_not_renewed_moves_within_its_time_and_not_before_the_owner_stops() {
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
    for heartbeat in 0..50u32 {
        let (board, now) =
            (board(vec![item("s1", Some("bob"), heartbeat.into())], &[]), Times::of(LEASE).round * heartbeat);
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
    assert_eq!((taken(&plan), plan.lead), (vec!["s3", "s4"], Lead::Others));
}

#[test]
fn the_owner_of_the_first_shard_leads_and_while_none_is_owned_every_worker_does() {
    let (mut leases, free) = (ann(), board(vec![item("s1", None, 0), item("s2", None, 0)], &["bob"]));
    leases.observe(&free, Duration::ZERO);
    assert_eq!(leases.plan(&free, &held(&[]), 99, Duration::ZERO).lead, Lead::Vacant);
    assert_eq!(leases.plan(&free, &held(&["s1"]), 99, Duration::ZERO).lead, Lead::Mine);
    let taken = board(vec![item("s1", Some("bob"), 1), item("s2", Some("ann"), 1)], &[]);
    leases.observe(&taken, Duration::ZERO);
    assert_eq!(leases.plan(&taken, &held(&["s2"]), 99, Duration::ZERO).lead, Lead::Others);
    assert!(Lead::Mine.leads() && Lead::Vacant.leads() && !Lead::Others.leads());
}

#[test]
fn a_shard_that_its_candidate_does_not_take_is_any_workers() {
    let (mut leases, now) = (ann(), Times::of(LEASE).silence * 2);
    let mut board = board(vec![item("s1", Some("ann"), 1), item("s2", None, 1)], &["bob"]);
    leases.observe(&board, Duration::ZERO);
    assert_eq!(taken(&leases.plan(&board, &held(&["s1"]), 99, Duration::ZERO)), [""; 0]);
    board.candidates[0].heartbeat += 1;
    leases.observe(&board, now);
    assert_eq!(taken(&leases.plan(&board, &held(&["s1"]), 99, now)), ["s2"]);
}

#[test]
fn what_cannot_be_dealt_evenly_stays_where_it_is() {
    let (mut leases, board) =
        (Leases::new(worker("zoe"), Times::of(LEASE)), board(vec![item("s1", Some("zoe"), 1)], &["ann"]));
    leases.observe(&board, Duration::ZERO);
    assert_eq!(leases.plan(&board, &held(&["s1"]), 99, Duration::ZERO).release, []);
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

#[test]
fn who_pushes_without_a_shard_takes_a_share_of_the_pushes_and_none_of_the_shards() {
    let mut board = board(vec![item("s1", Some("ann"), 1), item("s2", Some("bob"), 1)], &[]);
    board.candidates.push(Candidate { worker: worker("aaa"), role: CandidateRole::Pusher, heartbeat: 1 });
    let plan = |me: &str, held: &[&str], now: Duration, first: &mut Option<Leases>| {
        let leases = first.get_or_insert_with(|| Leases::new(worker(me), Times::of(LEASE)));
        leases.observe(&board, now);
        leases.plan(&board, &self::held(held), 99, now)
    };
    let (mut ann, mut zoe, mut pusher) = (None, None, None);
    let share = |plan: Plan| plan.place(0, 0, Times::of(LEASE)).share_of(10);
    assert_eq!(share(plan("ann", &["s1"], Duration::ZERO, &mut ann)), 4);
    assert_eq!(share(plan("bob", &["s2"], Duration::ZERO, &mut None)), 3);
    assert_eq!(share(plan("aaa", &[], Duration::ZERO, &mut pusher)), 3, "it comes after those with a shard");
    assert_eq!(share(plan("zoe", &[], Duration::ZERO, &mut zoe)), 0, "she waits for a shard");
    assert_eq!(plan("zoe", &[], Duration::ZERO, &mut zoe).release, []);
    assert_eq!(taken(&plan("aaa", &[], Duration::ZERO, &mut pusher)), [""; 0]);
    let later = Times::of(LEASE).silence;
    assert_eq!(share(plan("ann", &["s1"], later, &mut ann)), 10, "both others are silent");
}

fn damaged(heartbeat: &str) -> DamagedShard {
    let seen = [("SK", "SHARD#s1"), ("beat", heartbeat)];
    let text = |text: &str| aws_sdk_dynamodb::types::AttributeValue::S(text.to_owned());
    DamagedShard { shard: shard("s1"), seen: seen.map(|(name, value)| (name.to_owned(), text(value))).into() }
}

#[test]
fn a_shard_whose_item_can_not_be_read_is_begun_anew_when_its_owner_must_have_stopped() {
    let silence = Times::of(LEASE).silence;
    let mut leases = ann();
    let seen = |heartbeat: &str| Board { damaged: vec![damaged(heartbeat)], ..Board::default() };
    leases.observe(&seen("a"), Duration::ZERO);
    // Its owner has written meanwhile.
    leases.observe(&seen("b"), silence / 2);
    leases.observe(&seen("b"), silence);
    let plan = |now| leases.plan(&seen("b"), &held(&[]), 99, now);
    assert_eq!((plan(silence).replace, plan(silence).take.len()), (vec![], 0));
    assert_eq!(plan(silence * 3 / 2).replace, [damaged("b")]);
    let mine = leases.plan(&seen("b"), &held(&["s1"]), 99, silence * 3 / 2);
    assert_eq!(mine.replace, [], "its own lease has to end first");
}

#[test]
fn the_children_of_a_shard_whose_item_can_not_be_read_wait() {
    let child = ShardProgress { parent: Some(shard("s1")), ..item("s2", None, 0) };
    let board = Board { damaged: vec![damaged("a")], ..board(vec![child], &[]) };
    let mut leases = ann();
    leases.observe(&board, Duration::ZERO);
    assert_eq!(taken(&leases.plan(&board, &held(&[]), 99, Duration::ZERO)), [""; 0]);
}

//! A random broken item in a running house with three rallies: it harms itself alone.
//!
//! Items come from consoles, scripts, and older and newer versions. Whatever is wrong with one (attributes that are
//! missing, mistyped, malformed, foreign or newer; index keys), whichever entity it is: the other rallies, participants
//! and stamps are answered and get their notices as if it weren't there, no shard stands still, and once it is mended or
//! removed, what it concerned goes on by itself, and nothing is doubled. What is refused or passed over is reported.
//!
//! `cargo test` plays some cases, always the same. So many of each entity and kind of damage, from another seed:
//!
//! ```sh
//! STAMP_RALLY_BAD_ITEMS_CASES=20 STAMP_RALLY_BAD_ITEMS_SEED=1 cargo test --test api bad_items
//! ```

pub mod attributes;
mod damage;
mod ears;
pub mod items;
pub mod plan;
mod progress;
mod rallies;
pub mod story;

use std::fmt::Debug;

use proptest::{
    strategy::Strategy,
    test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner},
};

use attributes::Entity;
use plan::{Damage, Kind, Mend, Moment, Place, Plan, Target, Type, plans};

/// What every `cargo test` begins with.
const SEED: u32 = 7;

/// Plays random cases of an entity of the main table, some of each kind of damage.
fn play(entity: Entity) {
    let cases = setting("STAMP_RALLY_BAD_ITEMS_CASES");
    for kind in Kind::ALL {
        let Some(plans) = plans(entity, kind) else { continue };
        let Some(cases) = cases.or_else(|| is_usual(entity, kind).then_some(1)) else { continue };
        run(&plans, cases, [entity as u8, kind as u8], async |plan| story::play(&plan).await);
    }
}

/// Plays random cases of an entity of the consumers' table.
fn play_progress(entity: progress::Entity) {
    let cases = setting("STAMP_RALLY_BAD_ITEMS_CASES").unwrap_or(1);
    run(&progress::plans(entity), cases, [entity as u8, u8::MAX], async |plan| progress::play(&plan).await);
}

/// Plays so many cases, each in a house of its own; always the same for the same seed and name.
fn run<P: Debug>(plans: &impl Strategy<Value = P>, cases: u32, name: [u8; 2], play: impl AsyncFn(P)) {
    let seed = setting("STAMP_RALLY_BAD_ITEMS_SEED").unwrap_or(SEED);
    let mut bytes = [0; 32];
    bytes[..4].copy_from_slice(&seed.to_be_bytes());
    bytes[4..6].copy_from_slice(&name);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 8, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let played = runner.run(plans, |plan| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| TestCaseError::fail(error.to_string()))?.block_on(play(plan));
        Ok(())
    });
    played.unwrap_or_else(|error| panic!("STAMP_RALLY_BAD_ITEMS_SEED={seed}: {error}"));
}

/// Whether every `cargo test` plays it: one kind of damage after the other with every second entity, to save time.
fn is_usual(entity: Entity, kind: Kind) -> bool {
    (entity as usize + kind as usize).is_multiple_of(2)
}

fn setting(name: &str) -> Option<u32> {
    std::env::var(name).ok().map(|number| number.parse().expect("a whole number"))
}

/// What once went wrong: a user id of a wrong key was logged, the holders of the stamp were 500, a message that was no map
/// made its notices fail, damaged facts were counted again when they were mended, and no progress could be written for
/// facts of an event that couldn't be read.
#[test]
fn cases_that_went_wrong_before() {
    let attribute = |entity: Entity, name: &str| {
        let found = entity.attributes().iter().find(|attribute| attribute.name == name);
        *found.expect("the entity has the attribute")
    };
    let message = attribute(Entity::Master, "flexMessageContent");
    let cases = [
        (Entity::User, Damage::Elsewhere(attribute(Entity::User, "lineUserId"))),
        (Entity::Master, Damage::Missing(attribute(Entity::Master, "isActive"))),
        (Entity::Master, Damage::Mistyped(message, Type::String)),
        (Entity::UserStamp, Damage::Missing(attribute(Entity::UserStamp, "acquiredAt"))),
        (Entity::Event, Damage::Malformed(attribute(Entity::Event, "startsAt"), 0)),
    ];
    for (entity, damage) in cases {
        let target = Target { entity, rally: 0, person: 1, stamp: 0, place: Place::Instead };
        let plan = Plan { target, damage, moment: Moment::OnTheWay, mend: Mend::Attributes, restart: false };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(story::play(&plan));
    }
}

#[test]
fn a_broken_completed_card_harms_its_participant_alone() {
    play(Entity::Completed);
}

#[test]
fn a_broken_event_harms_its_rally_alone() {
    play(Entity::Event);
}

#[test]
fn a_foreign_item_harms_nothing() {
    play(Entity::Foreign);
}

#[test]
fn a_broken_friendship_harms_nothing() {
    play(Entity::Friendship);
}

#[test]
fn a_broken_stamp_master_harms_its_stamp_alone() {
    play(Entity::Master);
}

#[test]
fn a_broken_resend_harms_its_participant_alone() {
    play(Entity::Resend);
}

#[test]
fn a_broken_registration_harms_its_participant_alone() {
    play(Entity::User);
}

#[test]
fn a_broken_stamp_harms_its_participant_alone() {
    play(Entity::UserStamp);
}

#[test]
fn broken_progress_of_a_batch_harms_nothing() {
    play_progress(progress::Entity::Batch);
}

#[test]
fn broken_counts_harm_nothing_else() {
    play_progress(progress::Entity::Counts);
}

#[test]
fn a_broken_pending_completion_harms_nothing() {
    play_progress(progress::Entity::PendingCompletion);
}

#[test]
fn a_broken_run_of_reconcile_harms_nothing() {
    play_progress(progress::Entity::Run);
}

#[test]
fn broken_progress_of_a_shard_is_begun_anew() {
    play_progress(progress::Entity::Shard);
}

#[test]
fn a_broken_worker_harms_nothing() {
    play_progress(progress::Entity::Worker);
}

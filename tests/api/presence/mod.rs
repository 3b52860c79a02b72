//! Proof of presence: what a claim brings, how it is judged, and what a visitor reads when it is refused.

mod beacons;
mod costs;
mod races;
mod refusals;
mod rules;
mod settings;

use serde_json::{Value, json};
use stamp_rally::domain::{
    proof::{CodeSource, Generation, ProofKeys, Step},
    time::Timestamp,
};

use super::house::{House, PROOF_KEY, RALLY};

/// The printed code of a stamp.
pub fn printed(stamp: &str) -> String {
    made(stamp, |source| source.printed(Generation::FIRST).unwrap())
}

/// What the screen of a stamp shows at an instant.
fn shown(stamp: &str, at: Timestamp) -> String {
    made(stamp, |source| source.shown(Generation::FIRST, Step::of(at, 30)).unwrap())
}

fn made(stamp: &str, make: impl FnOnce(&CodeSource<'_>) -> String) -> String {
    let (keys, event_id) = (ProofKeys::read([PROOF_KEY]).unwrap(), RALLY.parse().unwrap());
    make(&CodeSource { keys: &keys, event_id: &event_id, stamp_id: &stamp.parse().unwrap() })
}

/// The rules of a stamp that takes any of these alternatives.
fn taking(proofs: &Value) -> Value {
    json!({
        "proofs": proofs,
        "passcode": "himitsu",
        "proofSettings": {"location": {"latitude": 35.0, "longitude": 139.0}, "beacon": {"hwids": ["0123456789"]}},
    })
}

/// A phone so many metres north of such a stamp.
fn north(meters: f64) -> Value {
    json!({"latitude": 35.0 + meters / 111_194.93, "longitude": 139.0, "accuracy": 10})
}

/// The proof that the fact of a stamp keeps, as the organiser sees it.
async fn kept(house: &House, who: &str, stamp: &str) -> Value {
    let seen = house.organiser().get(&format!("/{RALLY}/users/{who}")).await.is(200).body;
    let facts = seen["facts"].as_array().unwrap().iter();
    let mut stamps = facts.filter(|fact| fact["entityType"] == "USER_STAMP" && fact["stampId"] == stamp);
    stamps.next().unwrap()["proof"].clone()
}

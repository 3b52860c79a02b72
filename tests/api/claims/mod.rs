//! Claims for stamps, and registrations: who gets what, when, and what it costs.

mod at_once;
mod costs;
mod held;
mod order;
mod out_of_order;
mod repeated;
mod window;

use serde_json::{Value, json};

use super::house::{House, Person, RALLY};

/// Milliseconds.
const SECOND: i64 = 1000;
const HOUR: i64 = 3600 * SECOND;

/// What the organiser sees of a participant: the kinds of their facts, in the table's order.
async fn facts(house: &House, who: &Person<'_>) -> Vec<String> {
    let seen = house.organiser().get(&format!("/{RALLY}/users/{}", who.id)).await;
    if seen.status == 404 {
        return Vec::new();
    }
    let facts = seen.is(200).body["facts"].as_array().unwrap().clone();
    facts.iter().map(|fact| fact["entityType"].as_str().unwrap().to_owned()).collect()
}

/// The rally's window, from now, in milliseconds.
async fn open_from_to(house: &House, from: i64, to: i64) {
    use stamp_rally::domain::time::TimeSource as _;
    let now = house.clock.now();
    house.change_the_rally(&json!({"startsAt": now.plus_millis(from), "endsAt": now.plus_millis(to)})).await;
}

/// The stamps of a card that are held: `["001"]`.
fn held_on(card: &Value) -> Vec<&str> {
    let stamps = card["stamps"].as_array().unwrap().iter().filter(|stamp| stamp["acquired"] == true);
    stamps.map(|stamp| stamp["stampId"].as_str().unwrap()).collect()
}

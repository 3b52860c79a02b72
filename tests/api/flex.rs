//! The rules for Flex Messages and the stand-in's own checker, written apart from each other, have the same verdicts.

mod slips;

use std::net::TcpListener;

use serde_json::{Value, json};
use stamp_rally::{
    dev::line::{ChannelSettings, Memory, StandIn},
    line::flex,
};

use slips::{address, rich, values};

/// How many messages are compared.
const MESSAGES: usize = 2_000;

/// Every place in a value, by pointer.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(number, value)| places(value, &format!("{at}/{number}"), found));
        }
        Value::Object(object) => object.iter().for_each(|(name, value)| places(value, &format!("{at}/{name}"), found)),
        _ => {}
    }
}

/// One thing in the message becomes another, goes, or comes.
fn slip(message: &mut Value, chance: &mut fastrand::Rng, values: &[Value]) {
    let mut all = Vec::new();
    places(message, "", &mut all);
    let place = &all[chance.usize(1..all.len())];
    let (parent, name) = place.rsplit_once('/').unwrap();
    let value = values[chance.usize(..values.len())].clone();
    match (chance.u8(..8), message.pointer_mut(parent).unwrap()) {
        (0, Value::Object(object)) => drop(object.remove(name)),
        (1, Value::Object(object)) => drop(object.insert(format!("{name}s"), value)),
        (2, Value::Array(list)) => list.push(value),
        (_, parent) => *parent.pointer_mut(&format!("/{name}")).unwrap() = value,
    }
}

/// The rules and the stand-in, which are asked about the same messages.
struct Judges {
    line: StandIn,
    client: reqwest::Client,
    taken: usize,
    refused: usize,
}

impl Judges {
    fn new() -> Self {
        let mut main = ChannelSettings::new("main", "1", "2", "secret");
        main.access_token = Some("token".to_owned());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let line = StandIn::start(listener, &Memory::InMemory, vec![main]).unwrap();
        Self { line, client: reqwest::Client::builder().no_proxy().build().unwrap(), taken: 0, refused: 0 }
    }

    /// Asks both: they have to agree.
    async fn judge(&mut self, message: &Value) {
        let ours = flex::check_finished(message);
        let validate = format!("{}/v2/bot/message/validate/push", self.line.base_url());
        let request = self.client.post(validate).bearer_auth("token").json(&json!({ "messages": [message] }));
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let theirs = answer.text().await.unwrap();
        let expected = if ours.is_empty() { 200 } else { 400 };
        assert_eq!(expected, status, "{ours:?} but {theirs}: {message}");
        if status == 200 { self.taken += 1 } else { self.refused += 1 }
    }
}

#[tokio::test]
async fn the_rules_and_the_stand_in_take_and_refuse_the_same_messages() {
    let (mut judges, mut chance, values) = (Judges::new(), fastrand::Rng::with_seed(2026), values());
    for number in 0..MESSAGES {
        let mut message = rich();
        for _ in 0..number.min(1) + usize::from(number % 5 == 0) {
            slip(&mut message, &mut chance, &values);
        }
        judges.judge(&message).await;
    }
    let Judges { taken, refused, .. } = judges;
    assert!(taken > MESSAGES / 10 && refused > MESSAGES / 2, "{taken} taken, {refused} refused");
}

#[tokio::test]
async fn the_rules_and_the_stand_in_take_and_refuse_the_same_addresses() {
    let (mut judges, mut chance) = (Judges::new(), fastrand::Rng::with_seed(3986));
    for _ in 0..MESSAGES {
        let text = json!({"type": "text", "text": "a", "action": {"type": "uri", "uri": address(&mut chance)}});
        let body = json!({"type": "box", "layout": "vertical", "contents": [text]});
        judges.judge(&json!({"type": "flex", "altText": "a", "contents": {"type": "bubble", "body": body}})).await;
    }
    let Judges { taken, refused, .. } = judges;
    assert!(taken > MESSAGES / 10 && refused > MESSAGES / 2, "{taken} taken, {refused} refused");
}

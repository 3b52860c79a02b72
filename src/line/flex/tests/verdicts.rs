//! The table of messages that LINE takes and refuses, each row with its source: `verdicts.json`.
//!
//! The rules of this folder, the commands and the HTTP API (`tests/api/organiser/messages.rs`) are held against it.

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A message with LINE's verdict on it.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// The message, whole.
    message: Value,
    /// LINE's rule, in words.
    pub(crate) rule: String,
    /// Where the rule is documented or was seen.
    pub(crate) source: String,
    /// Whether it has placeholders: only what is filled goes to LINE.
    pub(crate) has_placeholders: bool,
    /// Where and why it is refused; taken otherwise.
    pub(crate) refused: Option<Refused>,
}

impl Verdict {
    /// Returns the message that the verdict is about.
    pub(crate) fn message(&self) -> &Value {
        &self.message
    }
}

/// Where and why a message is refused.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refused {
    /// The pointer to the place in the message.
    pub(crate) at: String,
    /// The limit and the remedy.
    pub(crate) limit: String,
}

/// A row of the table: one message, or as many as `each` has values.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    rule: String,
    source: String,
    #[serde(default, rename = "template")]
    has_placeholders: bool,
    component: Option<Value>,
    contents: Option<Value>,
    beside: Option<Map<String, Value>>,
    whole: Option<Value>,
    each: Option<Each>,
    repeat: Option<Repeat>,
    refused: Option<Refused>,
}

/// The values that a member has, one after the other.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Each {
    at: String,
    values: Vec<Value>,
}

/// A text or list that is repeated, possibly after a beginning that isn't.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Repeat {
    at: String,
    times: usize,
    #[serde(default)]
    after: String,
}

impl Row {
    fn verdicts(self) -> Vec<Verdict> {
        let message = self.message();
        let messages = match &self.each {
            None => vec![message],
            Some(each) => each.values.iter().map(|value| with(&message, &each.at, value.clone())).collect(),
        };
        let verdict = |message| Verdict {
            message,
            rule: self.rule.clone(),
            source: self.source.clone(),
            has_placeholders: self.has_placeholders,
            refused: self.refused.clone(),
        };
        messages.into_iter().map(verdict).collect()
    }

    /// Returns a plain message around the component or contents, or with the members beside them.
    fn message(&self) -> Value {
        let text = json!({ "type": "text", "text": "a" });
        let component = self.component.as_ref().unwrap_or(&text);
        let body = json!({ "type": "box", "layout": "vertical", "contents": [component] });
        let bubble = json!({ "type": "bubble", "body": body });
        let contents = self.contents.as_ref().unwrap_or(&bubble);
        let mut message = json!({ "type": "flex", "altText": "a", "contents": contents });
        for (name, value) in self.beside.iter().flatten() {
            message[name] = value.clone();
        }
        let message = self.whole.clone().unwrap_or(message);
        self.repeat.as_ref().map_or(message.clone(), |repeat| repeat.applied(&message))
    }
}

impl Repeat {
    fn applied(&self, message: &Value) -> Value {
        let repeated = match message.pointer(&self.at).unwrap() {
            Value::String(text) => format!("{}{}", self.after, text.repeat(self.times)).into(),
            Value::Array(list) => Value::Array(list.iter().cycle().take(list.len() * self.times).cloned().collect()),
            other => panic!("{other} can't be repeated"),
        };
        with(message, &self.at, repeated)
    }
}

fn with(message: &Value, at: &str, value: Value) -> Value {
    let mut message = message.clone();
    *message.pointer_mut(at).unwrap() = value;
    message
}

/// Returns all messages of the table with their verdicts.
pub(crate) fn all() -> Vec<Verdict> {
    let rows: Vec<Row> = serde_json::from_str(include_str!("verdicts.json")).unwrap();
    rows.into_iter().flat_map(Row::verdicts).collect()
}

//! The table of messages that LINE takes and refuses, each row with its source: `verdicts.json`.
//!
//! The rules here, the stand-in's own checker (`dev`), the commands and the HTTP API are all held against it.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::check;

/// A row of the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Verdict {
    /// LINE's rule, in words.
    pub(crate) rule: String,
    /// Where the rule is documented or was seen.
    pub(crate) source: String,
    /// Whether it has placeholders: only what is filled goes to LINE.
    #[serde(default, rename = "template")]
    _has_placeholders: bool,
    component: Option<Value>,
    contents: Option<Value>,
    beside: Option<Map<String, Value>>,
    whole: Option<Value>,
    /// Where and why it is refused; taken otherwise.
    pub(crate) refused: Option<Refused>,
}

/// Where and why a message is refused.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refused {
    /// The pointer to the place in the message.
    pub(crate) at: String,
    /// The limit and the remedy.
    pub(crate) limit: String,
}

impl Verdict {
    /// The whole message: a plain one around the component or contents, or with the members beside them.
    pub(crate) fn message(&self) -> Value {
        let text = json!({ "type": "text", "text": "a" });
        let component = self.component.as_ref().unwrap_or(&text);
        let body = json!({ "type": "box", "layout": "vertical", "contents": [component] });
        let bubble = json!({ "type": "bubble", "body": body });
        let contents = self.contents.as_ref().unwrap_or(&bubble);
        let mut message = json!({ "type": "flex", "altText": "a", "contents": contents });
        for (name, value) in self.beside.iter().flatten() {
            message[name] = value.clone();
        }
        self.whole.clone().unwrap_or(message)
    }
}

/// All rows.
pub(crate) fn all() -> Vec<Verdict> {
    serde_json::from_str(include_str!("verdicts.json")).unwrap()
}

#[test]
fn every_row_of_the_table_has_its_verdict_with_place_and_reason() {
    for row in all() {
        let Verdict { rule, source, .. } = &row;
        let found: Vec<_> = check(&row.message()).into_iter().map(|fault| (fault.path, fault.limit)).collect();
        let expected: Vec<_> = row.refused.iter().map(|refused| (refused.at.clone(), refused.limit.clone())).collect();
        assert_eq!(found, expected, "{rule} ({source}): {}", row.message());
    }
}

//! What LINE refuses, one rule a test; what a template becomes, whatever the names are.

#![allow(clippy::needless_pass_by_value, reason = "`json!` at the call reads better without `&`")]

mod action;
mod address;
mod component;
mod message;
mod template;
pub(crate) mod verdicts;

use serde_json::{Value, json};
use verdicts::Verdict;

use super::*;

#[test]
fn every_row_of_the_table_has_its_verdict_with_place_and_reason() {
    for row in verdicts::all() {
        let Verdict { rule, source, .. } = &row;
        let fault = |fault: Fault| (fault.path, fault.limit);
        let found: Vec<_> = check(row.message()).into_iter().map(fault).collect();
        let expected: Vec<_> = row.refused.iter().map(|refused| (refused.at.clone(), refused.limit.clone())).collect();
        assert_eq!(found, expected, "{rule} ({source}): {}", row.message());
    }
}

/// What is sent is checked once more, as it is: its placeholders are filled.
#[test]
fn every_finished_message_of_the_table_is_taken_or_refused() {
    for row in verdicts::all().iter().filter(|row| !row.has_placeholders) {
        let found = check_finished(row.message());
        assert_eq!(found.is_empty(), row.refused.is_none(), "{}: {found:?}: {}", row.rule, row.message());
    }
}

/// A message with `body` as the contents of its bubble's body.
fn with_body(contents: Value) -> Value {
    message(json!({ "type": "bubble", "body": vertical(contents) }))
}

fn message(contents: Value) -> Value {
    json!({ "type": "flex", "altText": "スタンプを獲得しました", "contents": contents })
}

fn vertical(contents: Value) -> Value {
    json!({ "type": "box", "layout": "vertical", "contents": contents })
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn uri(label: &str) -> Value {
    json!({ "type": "uri", "label": label, "uri": "https://example.jp/" })
}

fn shown(message: &Value) -> Vec<String> {
    check(message).iter().map(ToString::to_string).collect()
}

/// `component` in a body has just this fault, at this path below it.
#[track_caller]
fn refuses(component: Value, path: &str, limit: &str) {
    let message = with_body(json!([component]));
    assert_eq!(shown(&message), [format!("/contents/body/contents/0{path}: {limit}")]);
}

#[track_caller]
fn accepts(component: Value) {
    assert_eq!(shown(&with_body(json!([component]))), Vec::<String>::new());
}

/// `component` with one more member.
fn and(mut component: Value, name: &str, value: impl Into<Value>) -> Value {
    component[name] = value.into();
    component
}

fn text_a() -> Value {
    text("a")
}

/// An action on a text, where a label isn't needed.
fn tapped(action: Value) -> Value {
    and(text_a(), "action", action)
}

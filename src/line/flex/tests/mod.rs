//! What LINE refuses, one rule a test; what a template becomes, whatever the names are.

#![allow(clippy::needless_pass_by_value, reason = "`json!` at the call reads better without `&`")]

mod action;
mod component;
mod message;
mod template;

use serde_json::{Value, json};

use super::*;

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

fn told(message: &Value) -> Vec<String> {
    check(message).iter().map(ToString::to_string).collect()
}

/// `component` in a body has just this fault, told at this path below it.
#[track_caller]
fn refuses(component: Value, path: &str, limit: &str) {
    let message = with_body(json!([component]));
    assert_eq!(told(&message), [format!("/contents/body/contents/0{path}: {limit}")]);
}

#[track_caller]
fn accepts(component: Value) {
    assert_eq!(told(&with_body(json!([component]))), Vec::<String>::new());
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

//! Goes through a message, knows where it is, collects faults. The members of an object: `rule.rs`.

use derive_more::Display;
use serde::Serialize;
use serde_json::{Map, Value};

use super::length::Length;

/// As many as a reader looks at; a hostile body must not make a bigger answer than itself.
const MOST_FAULTS: usize = 50;

/// One thing in a message that LINE would refuse.
#[derive(Clone, Debug, Display, Eq, PartialEq, Serialize)]
#[display("{}: {limit}", if path.is_empty() { "/" } else { path })]
pub struct Fault {
    /// Where: a JSON pointer (RFC 6901) into the message, for example `/contents/body/contents/0/text`.
    pub path: String,
    /// Which limit is broken, and what to do.
    pub limit: String,
    /// The length that a text could be cut to.
    #[serde(skip)]
    pub(super) cut: Option<Length>,
}

impl Fault {
    /// Returns the same fault for a message that is a part of something else, at the pointer `place`.
    #[must_use]
    pub fn below(self, place: &str) -> Self {
        Self { path: format!("{place}{}", self.path), ..self }
    }
}

/// The place in the message and what was found so far.
#[derive(Default)]
pub(super) struct Walk {
    path: String,
    faults: Vec<Fault>,
}

impl Walk {
    /// Returns what was found, in the order of the message.
    pub(super) fn faults(self) -> Vec<Fault> {
        self.faults
    }

    /// Adds a fault of what is here.
    pub(super) fn fault(&mut self, limit: impl Into<String>) {
        self.push(limit.into(), None);
    }

    /// Adds the fault of a text that is too long and could be cut.
    pub(super) fn too_long(&mut self, limit: String, cut: Length) {
        self.push(limit, Some(cut));
    }

    fn push(&mut self, limit: String, cut: Option<Length>) {
        if self.faults.len() < MOST_FAULTS {
            self.faults.push(Fault { path: self.path.clone(), limit, cut });
        }
    }

    /// Adds a fault of the member or element `step`.
    pub(super) fn fault_at(&mut self, step: &str, limit: impl Into<String>) {
        self.at(step, |walk| walk.fault(limit));
    }

    /// Steps into the member or element `step`, and back.
    pub(super) fn at(&mut self, step: &str, inside: impl FnOnce(&mut Self)) {
        let here = self.path.len();
        self.path.push('/');
        // RFC 6901: ~ and / are written ~0 and ~1.
        self.path.push_str(&step.replace('~', "~0").replace('/', "~1"));
        inside(self);
        self.path.truncate(here);
    }

    /// Steps into each element of a list.
    pub(super) fn each(&mut self, list: &[Value], mut inside: impl FnMut(&mut Self, &Value)) {
        for (number, value) in list.iter().enumerate() {
            self.at(&number.to_string(), |walk| inside(walk, value));
        }
    }

    /// Returns the object that must be here.
    pub(super) fn object<'v>(&mut self, value: &'v Value, what: &str) -> Option<&'v Map<String, Value>> {
        let object = value.as_object();
        if object.is_none() {
            self.fault(format!("must be {what}, an object"));
        }
        object
    }
}

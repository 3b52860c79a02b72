//! Goes through a message, knows where it is, collects faults.

use serde_json::{Map, Value};

use super::{
    Fault,
    rule::{Length, Rule},
};

/// As many as somebody reads; a hostile body shall not make a bigger answer than itself.
const MOST_FAULTS: usize = 50;

/// One member an object may have.
pub(super) struct Member {
    name: &'static str,
    required: Option<&'static str>,
    rule: Rule,
}

/// A member that may be left out.
pub(super) const fn may(name: &'static str, rule: Rule) -> Member {
    Member { name, required: None, rule }
}

/// A member that must be there, and what to say if it isn't.
pub(super) const fn must(name: &'static str, rule: Rule, missing: &'static str) -> Member {
    Member { name, required: Some(missing), rule }
}

/// The place in the message and what was found so far.
#[derive(Default)]
pub(super) struct Walk {
    path: String,
    faults: Vec<Fault>,
}

impl Walk {
    pub(super) fn faults(self) -> Vec<Fault> {
        self.faults
    }

    /// Something is wrong here.
    pub(super) fn fault(&mut self, limit: impl Into<String>) {
        self.push(limit.into(), None);
    }

    /// A text here is too long and could be cut.
    pub(super) fn too_long(&mut self, limit: String, cut: Length) {
        self.push(limit, Some(cut));
    }

    fn push(&mut self, limit: String, cut: Option<Length>) {
        if self.faults.len() < MOST_FAULTS {
            self.faults.push(Fault { path: self.path.clone(), limit, cut });
        }
    }

    /// Something is wrong with the member or element `step`.
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

    /// The object that must be here.
    pub(super) fn object<'v>(&mut self, value: &'v Value, what: &str) -> Option<&'v Map<String, Value>> {
        let object = value.as_object();
        if object.is_none() {
            self.fault(format!("must be {what}, an object"));
        }
        object
    }

    /// Checks an object's members: those required are there, those there are known and keep their rule.
    pub(super) fn members(&mut self, object: &Map<String, Value>, known: &[&[Member]]) {
        let all = || known.iter().copied().flatten();
        for member in all() {
            if let (Some(missing), false) = (member.required, object.contains_key(member.name)) {
                self.fault_at(member.name, format!("is required here: {missing}"));
            }
        }
        for (name, value) in object {
            self.at(name, |walk| match all().find(|member| member.name == name) {
                None => walk.fault("is no member that LINE knows here: remove it"),
                Some(_) if value.is_null() => walk.fault("is null: leave the member out instead"),
                Some(member) => member.rule.check(walk, value),
            });
        }
    }
}

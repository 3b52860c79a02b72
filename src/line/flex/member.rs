//! The members that an object may and must have.

use serde_json::{Map, Value};

use super::{rule::Rule, walk::Walk};

/// One member an object may have.
pub(super) struct Member {
    name: &'static str,
    required: Option<&'static str>,
    rule: Rule,
}

/// Returns a member that may be left out.
pub(super) const fn may(name: &'static str, rule: Rule) -> Member {
    Member { name, required: None, rule }
}

/// Returns a member that must be there, and what to say if it isn't.
pub(super) const fn must(name: &'static str, rule: Rule, missing: &'static str) -> Member {
    Member { name, required: Some(missing), rule }
}

impl Walk {
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

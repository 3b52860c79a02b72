//! Settings as operators read them: attributes by their own names, and how two versions differ.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::domain::{bounded::Whole, event::Event, stamp::StampMaster, time::Timestamp};

/// How many changed places of a message are listed; a new design changes them all.
const MOST_PLACES: usize = 20;

/// The attributes of a setting, in the order of the contract.
pub(super) struct Attributes<'a>(Vec<(&'static str, Shown<'a>)>);

/// The value of an attribute.
enum Shown<'a> {
    /// It is there and not shown; what it is compared by.
    Hidden(String),
    /// A Flex message.
    Message(&'a Value),
    /// It isn't there.
    Nothing,
    Text(String),
}

impl Attributes<'_> {
    pub fn of_event(event: &Event) -> Attributes<'_> {
        let at = |at: Timestamp| Shown::Text(format!("{at} ({})", at.in_zone(event.time_zone)));
        let liff_id = event.liff_id.as_ref().map_or(Shown::Nothing, |id| Shown::Text(id.as_str().to_owned()));
        Attributes(vec![
            ("name", Shown::Text(event.name.as_str().to_owned())),
            ("startsAt", at(event.window.starts_at())),
            ("endsAt", at(event.window.ends_at())),
            ("timeZone", Shown::Text(event.time_zone.to_string())),
            ("channel", Shown::Text(event.channel.to_string())),
            ("liffId", liff_id),
            ("indexShards", Shown::Text(event.index_shards.count().to_string())),
            (
                "completionMessageContent",
                event.completion_message_content.as_ref().map_or(Shown::Nothing, Shown::Message),
            ),
            ("minIntervalSeconds", Shown::some(event.limits.min_interval_seconds.map(Whole::get))),
            ("maxSpeedKmh", Shown::some(event.limits.max_speed_kmh.map(Whole::get))),
            ("lateMinutes", Shown::some(event.limits.late_minutes.map(Whole::get))),
        ])
    }

    pub fn of_stamp(master: &StampMaster) -> Attributes<'_> {
        let rules = &master.rules;
        Attributes(vec![
            ("name", Shown::Text(master.name.as_str().to_owned())),
            ("order", Shown::Text(master.order.number().to_string())),
            ("isActive", Shown::Text(master.is_active.to_string())),
            ("flexMessageContent", Shown::Message(&master.flex_message_content)),
            ("proofs", Shown::unless_default(&rules.proofs)),
            ("proofSettings", Shown::unless_default(&rules.settings)),
            // A passcode isn't shown, and nothing that it could be found by.
            ("passcode", rules.passcode_hash.map_or(Shown::Nothing, |hash| Shown::Hidden(hash.to_string()))),
            ("availableFrom", Shown::some(rules.schedule.available.from)),
            ("availableUntil", Shown::some(rules.schedule.available.until)),
            ("hours", Shown::unless_default(&rules.schedule.hours)),
            ("after", Shown::unless_default(&rules.after)),
            ("notify", Shown::unless_default(&master.notify)),
        ])
    }

    /// Returns a line for each attribute that is there.
    pub fn all(&self) -> Vec<String> {
        let there = self.0.iter().filter(|(_, shown)| !matches!(shown, Shown::Nothing));
        there.map(|(name, shown)| format!("{name}: {}", shown.in_words())).collect()
    }

    /// Returns a line for each attribute that differs; none where they are the same.
    pub fn changed_from(&self, old: &Self) -> Vec<String> {
        let both = old.0.iter().zip(&self.0);
        both.flat_map(|((name, old), (_, new))| old.changed_to(new, name)).collect()
    }
}

impl Shown<'_> {
    fn some(value: Option<impl ToString>) -> Self {
        value.map_or(Self::Nothing, |value| Self::Text(value.to_string()))
    }

    /// Shows a value in its JSON form, unless it is what an absent attribute stands for.
    fn unless_default<T: Serialize + Default + PartialEq>(value: &T) -> Self {
        let json =
            Some(value).filter(|value| **value != T::default()).and_then(|value| serde_json::to_string(value).ok());
        Self::some(json)
    }

    fn in_words(&self) -> String {
        match self {
            Self::Hidden(_) => "set (not shown)".to_owned(),
            Self::Message(message) => format!("Flex message {}", message.get("altText").unwrap_or(&Value::Null)),
            Self::Nothing => "none".to_owned(),
            Self::Text(text) => text.clone(),
        }
    }

    fn changed_to(&self, new: &Self, name: &str) -> Vec<String> {
        if let (Self::Message(old), Self::Message(new)) = (self, new) {
            return places(old, new).into_iter().map(|place| format!("{name} {place}")).collect();
        }
        if let (Self::Hidden(old), Self::Hidden(new)) = (self, new) {
            return if old == new { Vec::new() } else { vec![format!("{name}: another one (not shown)")] };
        }
        let (old, new) = (self.in_words(), new.in_words());
        if old == new { Vec::new() } else { vec![format!("{name}: {old} → {new}")] }
    }
}

/// Returns where two messages differ, by JSON pointer (RFC 6901).
fn places(old: &Value, new: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(old, new, "", &mut found);
    if let Some(more) = found.len().checked_sub(MOST_PLACES).filter(|more| *more > 0) {
        found.truncate(MOST_PLACES);
        found.push(format!("and {more} more places"));
    }
    found
}

fn compare(old: &Value, new: &Value, path: &str, found: &mut Vec<String>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let names: BTreeSet<_> = old.keys().chain(new.keys()).collect();
            for name in names {
                let path = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
                either(old.get(name), new.get(name), &path, found);
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            for index in 0..old.len().max(new.len()) {
                either(old.get(index), new.get(index), &format!("{path}/{index}"), found);
            }
        }
        // The table keeps numbers without a form: 1.0 comes back as 1.
        (Value::Number(old), Value::Number(new)) if old.as_f64() == new.as_f64() => {}
        _ if old == new => {}
        _ => found.push(format!("{}: changed", if path.is_empty() { "/" } else { path })),
    }
}

fn either(old: Option<&Value>, new: Option<&Value>, path: &str, found: &mut Vec<String>) {
    match (old, new) {
        (Some(old), Some(new)) => compare(old, new, path, found),
        (None, _) => found.push(format!("{path}: added")),
        (_, None) => found.push(format!("{path}: removed")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_inside_a_message_is_shown_by_its_place() {
        let old = json!({ "altText": "a", "contents": { "body": [{ "text": "x" }, { "text": "y" }], "a/b~c": 1 } });
        let new = json!({ "altText": "b", "contents": { "body": [{ "text": "x", "flex": 1 }], "a/b~c": 2 } });
        assert_eq!(
            places(&old, &new),
            [
                "/altText: changed",
                "/contents/a~1b~0c: changed",
                "/contents/body/0/flex: added",
                "/contents/body/1: removed"
            ]
        );
    }

    #[test]
    fn numbers_that_mean_the_same_are_the_same() {
        assert_eq!(places(&json!({ "flex": 1.0 }), &json!({ "flex": 1 })), Vec::<String>::new());
        assert_eq!(places(&json!({ "flex": 1 }), &json!({ "flex": "1" })), ["/flex: changed"]);
    }

    #[test]
    fn a_new_design_does_not_fill_the_screen() {
        let page = |text| json!((0..100).map(|_| text).collect::<Vec<_>>());
        let places = places(&page("a"), &page("b"));
        assert_eq!((places.len(), places[20].as_str()), (21, "and 80 more places"));
    }
}

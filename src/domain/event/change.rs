//! How an event changes, what is mended of one that can't be read whole, and what is fixed.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{ClaimLimits, Event, IndexShards, LiffId, Window};
use crate::domain::{
    Malformed,
    bounded::Whole,
    ids::{ChannelName, EventId},
    setting::{Name, must_replace, next_version, required},
    time::{TimeZone, Timestamp},
};

/// A change that a writer asks for. What is `None` keeps its value; an inner `None` takes the attribute away.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventChange {
    /// `name`
    pub name: Option<Name>,
    /// `startsAt`
    pub starts_at: Option<Timestamp>,
    /// `endsAt`
    pub ends_at: Option<Timestamp>,
    /// `timeZone`
    pub time_zone: Option<TimeZone>,
    /// `channel`
    pub channel: Option<ChannelName>,
    /// `liffId`
    pub liff_id: Option<Option<LiffId>>,
    /// `indexShards`
    pub index_shards: Option<IndexShards>,
    /// `completionMessageContent`
    pub completion_message_content: Option<Option<Value>>,
    /// `minIntervalSeconds`
    pub min_interval_seconds: Option<Option<Whole<1, 86_400>>>,
    /// `maxSpeedKmh`
    pub max_speed_kmh: Option<Option<Whole<1, 1_000>>>,
    /// `lateMinutes`
    pub late_minutes: Option<Option<Whole<1, 1_440>>>,
}

impl EventChange {
    /// Returns whether it has a value for one of the attributes that may be absent or have a default.
    fn names(&self, attribute: &str) -> bool {
        match attribute {
            "timeZone" => self.time_zone.is_some(),
            "liffId" => self.liff_id.is_some(),
            "indexShards" => self.index_shards.is_some(),
            "completionMessageContent" => self.completion_message_content.is_some(),
            "minIntervalSeconds" => self.min_interval_seconds.is_some(),
            "maxSpeedKmh" => self.max_speed_kmh.is_some(),
            "lateMinutes" => self.late_minutes.is_some(),
            _ => false,
        }
    }

    /// Makes a new event. Refuses what lacks a required attribute.
    pub fn create(self, event_id: EventId, now: Timestamp) -> Result<Event, Malformed> {
        let starts_at = required("startsAt", self.starts_at)?;
        let ends_at = required("endsAt", self.ends_at)?;
        let limits = self.limits(ClaimLimits::default());
        Ok(Event {
            event_id,
            name: required("name", self.name)?,
            window: Window::new(starts_at, ends_at)?,
            time_zone: self.time_zone.unwrap_or(TimeZone::TOKYO),
            channel: required("channel", self.channel)?,
            liff_id: self.liff_id.flatten(),
            index_shards: self.index_shards.unwrap_or(IndexShards::ONE),
            former_index_shards: BTreeSet::new(),
            limits,
            completion_message_content: self.completion_message_content.flatten(),
            created_at: now,
            updated_at: now,
        })
    }

    fn limits(&self, old: ClaimLimits) -> ClaimLimits {
        ClaimLimits {
            min_interval_seconds: self.min_interval_seconds.unwrap_or(old.min_interval_seconds),
            max_speed_kmh: self.max_speed_kmh.unwrap_or(old.max_speed_kmh),
            late_minutes: self.late_minutes.unwrap_or(old.late_minutes),
        }
    }

    /// Returns the event after the change, one version on.
    pub fn apply(self, old: &Event, now: Timestamp) -> Result<Event, Malformed> {
        let starts_at = self.starts_at.unwrap_or(old.window.starts_at);
        let ends_at = self.ends_at.unwrap_or(old.window.ends_at);
        let index_shards = self.index_shards.unwrap_or(old.index_shards);
        let limits = self.limits(old.limits);
        Ok(Event {
            event_id: old.event_id.clone(),
            name: self.name.unwrap_or_else(|| old.name.clone()),
            window: Window::new(starts_at, ends_at)?,
            time_zone: self.time_zone.unwrap_or(old.time_zone),
            channel: self.channel.unwrap_or_else(|| old.channel.clone()),
            liff_id: self.liff_id.unwrap_or_else(|| old.liff_id.clone()),
            index_shards,
            former_index_shards: old.all_index_shards().filter(|former| *former != index_shards).collect(),
            limits,
            completion_message_content: self
                .completion_message_content
                .unwrap_or_else(|| old.completion_message_content.clone()),
            created_at: old.created_at,
            updated_at: next_version(old.updated_at, now),
        })
    }
}

/// What can be read of an event that can't be read whole: a PUT completes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventRemains {
    /// The attributes that can be read.
    pub readable: EventChange,
    /// Every number of partitions over which its participants may be spread, as far as the item says.
    pub former_index_shards: BTreeSet<IndexShards>,
    /// `createdAt`, if it can be read.
    pub created_at: Option<Timestamp>,
    /// `updatedAt`, if it can be read.
    pub updated_at: Option<Timestamp>,
    /// Attributes that may be absent, or have a default, and that are there and can't be read.
    pub unreadable: Vec<&'static str>,
}

impl EventRemains {
    /// Returns the event that these remains and a change make together. Refuses what lacks a required attribute.
    pub fn mend(self, change: EventChange, event_id: EventId, now: Timestamp) -> Result<Event, Malformed> {
        must_replace(&self.unreadable, |name| change.names(name))?;
        let Self { readable, former_index_shards, created_at, updated_at, .. } = self;
        let whole = EventChange {
            name: change.name.or(readable.name),
            starts_at: change.starts_at.or(readable.starts_at),
            ends_at: change.ends_at.or(readable.ends_at),
            time_zone: change.time_zone.or(readable.time_zone),
            channel: change.channel.or(readable.channel),
            liff_id: change.liff_id.or(readable.liff_id),
            index_shards: change.index_shards.or(readable.index_shards),
            completion_message_content: change.completion_message_content.or(readable.completion_message_content),
            min_interval_seconds: change.min_interval_seconds.or(readable.min_interval_seconds),
            max_speed_kmh: change.max_speed_kmh.or(readable.max_speed_kmh),
            late_minutes: change.late_minutes.or(readable.late_minutes),
        };
        let mut event = whole.create(event_id, updated_at.map_or(now, |old| next_version(old, now)))?;
        event.created_at = created_at.unwrap_or(now);
        let before = former_index_shards.into_iter().chain(readable.index_shards);
        event.former_index_shards = before.filter(|former| *former != event.index_shards).collect();
        Ok(event)
    }
}

/// A change of an attribute that registrations depend on, fixed once a participant is registered: LINE's user ids and
/// follows belong to the channel, and index keys are made with `indexShards`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedChange {
    /// The attribute.
    pub attribute: &'static str,
    /// Its value under which participants may be registered.
    pub from: String,
    /// Its new value.
    pub to: String,
}

impl FixedChange {
    /// Returns the first such change from these values, as far as they are known, to those of `new`.
    #[must_use]
    pub fn between(channel: Option<&ChannelName>, index_shards: Option<IndexShards>, new: &Event) -> Option<Self> {
        if let Some(old) = channel.filter(|old| **old != new.channel) {
            return Some(Self { attribute: "channel", from: old.to_string(), to: new.channel.to_string() });
        }
        let old = index_shards.filter(|old| *old != new.index_shards)?;
        let (from, to) = (old.count().to_string(), new.index_shards.count().to_string());
        Some(Self { attribute: "indexShards", from, to })
    }
}

/// What the messages of an event take from it, as far as it can be read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EventNames<'e> {
    /// `name`, if it can be read.
    pub name: Option<&'e Name>,
    /// `completionMessageContent`, if there is one that can be read.
    pub completion_message: Option<&'e Value>,
}

impl<'e> From<&'e Event> for EventNames<'e> {
    fn from(event: &'e Event) -> Self {
        Self { name: Some(&event.name), completion_message: event.completion_message_content.as_ref() }
    }
}

impl<'e> From<&'e EventRemains> for EventNames<'e> {
    fn from(EventRemains { readable, .. }: &'e EventRemains) -> Self {
        let completion_message = readable.completion_message_content.as_ref().and_then(Option::as_ref);
        Self { name: readable.name.as_ref(), completion_message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn window() -> Window {
        Window::new(at("2026-05-23T01:00:00.000Z"), at("2026-05-23T08:00:00.000Z")).unwrap()
    }

    #[test]
    fn a_change_keeps_what_it_does_not_name_and_takes_away_what_it_nulls() {
        let now = at("2026-05-01T00:00:00.000Z");
        let full = EventChange {
            name: Some(Name::try_from("初夏のラリー".to_owned()).unwrap()),
            starts_at: Some(window().starts_at()),
            ends_at: Some(window().ends_at()),
            channel: Some("main".parse().unwrap()),
            liff_id: Some(Some(LiffId::try_from("1234567890-AbcdEfgh".to_owned()).unwrap())),
            ..EventChange::default()
        };
        let event = full.create("e".parse().unwrap(), now).unwrap();
        let changed = EventChange { liff_id: Some(None), ..EventChange::default() }.apply(&event, now).unwrap();
        assert_eq!(changed, Event { liff_id: None, updated_at: now.plus_millis(1), ..event });
    }

    #[test]
    fn partitions_from_before_a_change_of_index_shards_are_still_listed() {
        let change =
            |count: i64| EventChange { index_shards: Some(count.try_into().unwrap()), ..EventChange::default() };
        let new = EventChange {
            name: Some(Name::try_from("初夏のラリー".to_owned()).unwrap()),
            starts_at: Some(window().starts_at()),
            ends_at: Some(window().ends_at()),
            channel: Some("main".parse().unwrap()),
            ..EventChange::default()
        };
        let one = new.create("e".parse().unwrap(), Timestamp::EPOCH).unwrap();
        let all = |event: &Event| event.all_index_shards().map(IndexShards::count).collect::<Vec<_>>();
        assert_eq!(all(&one), [1]);
        let four = change(4).apply(&one, Timestamp::EPOCH).unwrap();
        assert_eq!(all(&four), [1, 4]);
        let same = change(4).apply(&four, Timestamp::EPOCH).unwrap();
        assert_eq!(all(&same), [1, 4]);
        assert_eq!(all(&change(1).apply(&four, Timestamp::EPOCH).unwrap()), [4, 1]);
    }

    #[test]
    fn a_new_event_without_a_name_is_refused_by_name() {
        let error = EventChange {
            starts_at: Some(window().starts_at()),
            ends_at: Some(window().ends_at()),
            ..EventChange::default()
        };
        assert_eq!(error.create("e".parse().unwrap(), Timestamp::EPOCH).unwrap_err().to_string(), "name: is required");
    }
}

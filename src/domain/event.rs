//! The event: a rally with its window, zone and channel. A setting: it changes.

mod names;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Malformed,
    ids::{ChannelName, EventId},
    stamp::Refusal,
    time::{TimeZone, Timestamp},
};

pub use names::EventNames;

/// A rally, as its organiser set it up (entity `EVENT`).
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its id, for ever.
    pub event_id: EventId,
    /// What people call it.
    pub name: Name,
    /// When stamps can be acquired.
    pub window: Window,
    /// In which its days and hours are counted.
    pub time_zone: TimeZone,
    /// The LINE channels it lives on; fixed once somebody is registered.
    pub channel: ChannelName,
    /// Its LIFF app, `1234567890-AbcdEfgh`, where it has one.
    pub liff_id: Option<LiffId>,
    /// Over how many partitions its index keys are spread; fixed once somebody is registered.
    pub index_shards: IndexShards,
    /// What it was before: a server that had not heard of the change yet may have registered somebody under those keys.
    pub former_index_shards: BTreeSet<IndexShards>,
    /// The Flex message for a completed card, as LINE wants it, with placeholders.
    pub completion_message_content: Option<Value>,
    /// When it was first written.
    pub created_at: Timestamp,
    /// Its version: grows with every write.
    pub updated_at: Timestamp,
}

impl Event {
    /// Whether somebody may register now: before the start too, never after the end.
    pub fn admits_registration(&self, now: Timestamp) -> Result<(), Refusal> {
        if self.window.is_over(now) { Err(Refusal::EventEnded) } else { Ok(()) }
    }

    /// Every number of partitions over which its people may be spread.
    pub fn all_index_shards(&self) -> impl Iterator<Item = IndexShards> {
        self.former_index_shards.iter().copied().chain([self.index_shards])
    }
}

/// `[startsAt, endsAt)`: not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    starts_at: Timestamp,
    ends_at: Timestamp,
}

impl Window {
    /// A window that begins before it ends.
    pub fn new(starts_at: Timestamp, ends_at: Timestamp) -> Result<Self, Malformed> {
        if starts_at < ends_at {
            Ok(Self { starts_at, ends_at })
        } else {
            Err(Malformed::new("endsAt", "must be later than startsAt"))
        }
    }

    /// The first instant in it.
    #[must_use]
    pub fn starts_at(self) -> Timestamp {
        self.starts_at
    }

    /// The first instant after it.
    #[must_use]
    pub fn ends_at(self) -> Timestamp {
        self.ends_at
    }

    /// Whether `now` is after it.
    #[must_use]
    pub fn is_over(self, now: Timestamp) -> bool {
        now >= self.ends_at
    }

    /// Refuses what is too early or too late.
    pub fn admits(self, now: Timestamp) -> Result<(), Refusal> {
        if now < self.starts_at {
            Err(Refusal::EventNotStarted)
        } else if self.is_over(now) {
            Err(Refusal::EventEnded)
        } else {
            Ok(())
        }
    }
}

/// A name people read: 1 to 200 characters, none of them a control character.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

impl Name {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Name {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        let fits = !text.trim().is_empty() && text.chars().count() <= 200 && !text.chars().any(char::is_control);
        if fits {
            Ok(Self(text))
        } else {
            Err(Malformed::new("name", "must be 1 to 200 characters without control characters"))
        }
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

/// A LIFF app's id: `{Login channel id}-{8 letters or digits}` (LINE: "Registering LIFF apps").
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LiffId(String);

impl LiffId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for LiffId {
    type Error = Malformed;

    fn try_from(text: String) -> Result<Self, Malformed> {
        let parts = text.split_once('-').filter(|(channel, app)| {
            (1..=20).contains(&channel.len())
                && channel.bytes().all(|b| b.is_ascii_digit())
                && (1..=20).contains(&app.len())
                && app.bytes().all(|b| b.is_ascii_alphanumeric())
        });
        if parts.is_some() {
            Ok(Self(text))
        } else {
            Err(Malformed::new("liffId", "must look like 1234567890-AbcdEfgh"))
        }
    }
}

impl From<LiffId> for String {
    fn from(id: LiffId) -> Self {
        id.0
    }
}

/// Over how many index partitions an event is spread: 1 to 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct IndexShards(u8);

impl IndexShards {
    /// One partition: fits up to about 1,000 writes a second.
    pub const ONE: Self = Self(1);

    /// As many as there can be.
    pub const MOST: Self = Self(32);

    /// The number.
    #[must_use]
    pub fn count(self) -> u8 {
        self.0
    }
}

impl TryFrom<i64> for IndexShards {
    type Error = Malformed;

    fn try_from(count: i64) -> Result<Self, Malformed> {
        let fits = u8::try_from(count).ok().filter(|n| (1..=32).contains(n));
        fits.map(Self).ok_or_else(|| Malformed::new("indexShards", "must be a whole number from 1 to 32"))
    }
}

impl From<IndexShards> for i64 {
    fn from(shards: IndexShards) -> Self {
        i64::from(shards.0)
    }
}

/// What a writer wants changed. What is `None` keeps its value; an inner `None` takes the attribute away.
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
}

impl EventChange {
    /// Whether it has a value for one of the attributes that may be absent or have a default.
    fn names(&self, attribute: &str) -> bool {
        match attribute {
            "timeZone" => self.time_zone.is_some(),
            "liffId" => self.liff_id.is_some(),
            "indexShards" => self.index_shards.is_some(),
            "completionMessageContent" => self.completion_message_content.is_some(),
            _ => false,
        }
    }

    /// A new event. Refuses what lacks a required attribute.
    pub fn create(self, event_id: EventId, now: Timestamp) -> Result<Event, Malformed> {
        let starts_at = required("startsAt", self.starts_at)?;
        let ends_at = required("endsAt", self.ends_at)?;
        Ok(Event {
            event_id,
            name: required("name", self.name)?,
            window: Window::new(starts_at, ends_at)?,
            time_zone: self.time_zone.unwrap_or(TimeZone::TOKYO),
            channel: required("channel", self.channel)?,
            liff_id: self.liff_id.flatten(),
            index_shards: self.index_shards.unwrap_or(IndexShards::ONE),
            former_index_shards: BTreeSet::new(),
            completion_message_content: self.completion_message_content.flatten(),
            created_at: now,
            updated_at: now,
        })
    }

    /// The event after the change, one version on.
    pub fn apply(self, old: &Event, now: Timestamp) -> Result<Event, Malformed> {
        let starts_at = self.starts_at.unwrap_or(old.window.starts_at);
        let ends_at = self.ends_at.unwrap_or(old.window.ends_at);
        let index_shards = self.index_shards.unwrap_or(old.index_shards);
        Ok(Event {
            event_id: old.event_id.clone(),
            name: self.name.unwrap_or_else(|| old.name.clone()),
            window: Window::new(starts_at, ends_at)?,
            time_zone: self.time_zone.unwrap_or(old.time_zone),
            channel: self.channel.unwrap_or_else(|| old.channel.clone()),
            liff_id: self.liff_id.unwrap_or_else(|| old.liff_id.clone()),
            index_shards,
            former_index_shards: old.all_index_shards().filter(|former| *former != index_shards).collect(),
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
    /// Every number of partitions over which its people may be spread, as far as the item says.
    pub former_index_shards: BTreeSet<IndexShards>,
    /// `createdAt`, if it can be read.
    pub created_at: Option<Timestamp>,
    /// `updatedAt`, if it can be read.
    pub updated_at: Option<Timestamp>,
    /// Attributes that may be absent, or have a default, and that are there and can't be read.
    pub unreadable: Vec<&'static str>,
}

impl EventRemains {
    /// The event that these remains and a change make together. Refuses what lacks a required attribute.
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
        };
        let mut event = whole.create(event_id, updated_at.map_or(now, |old| next_version(old, now)))?;
        event.created_at = created_at.unwrap_or(now);
        let before = former_index_shards.into_iter().chain(readable.index_shards);
        event.former_index_shards = before.filter(|former| *former != event.index_shards).collect();
        Ok(event)
    }
}

/// Refuses a change that leaves out an attribute of which the stored value can't be read: its default would take the
/// place of a value that the item had.
pub(super) fn must_replace(unreadable: &[&'static str], is_named: impl Fn(&str) -> bool) -> Result<(), Malformed> {
    match unreadable.iter().find(|name| !is_named(name)) {
        Some(name) => Err(Malformed::new(name, "is required, because the stored value is missing or can't be read")),
        None => Ok(()),
    }
}

/// The version after `old`: `max(now, old + 1 ms)`, so that it grows even while the clock doesn't.
#[must_use]
pub fn next_version(old: Timestamp, now: Timestamp) -> Timestamp {
    now.max(old.plus_millis(1))
}

/// An attribute that a new setting can't do without.
pub(super) fn required<T>(what: &'static str, value: Option<T>) -> Result<T, Malformed> {
    value.ok_or_else(|| Malformed::new(what, "is required"))
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
    fn the_window_holds_its_start_and_not_its_end() {
        assert_eq!(window().admits(at("2026-05-23T00:59:59.999Z")), Err(Refusal::EventNotStarted));
        assert_eq!(window().admits(at("2026-05-23T01:00:00.000Z")), Ok(()));
        assert_eq!(window().admits(at("2026-05-23T07:59:59.999Z")), Ok(()));
        assert_eq!(window().admits(at("2026-05-23T08:00:00.000Z")), Err(Refusal::EventEnded));
    }

    #[test]
    fn a_version_grows_even_while_the_clock_stands_or_runs_back() {
        let old = at("2026-05-23T01:00:00.000Z");
        assert_eq!(next_version(old, old), at("2026-05-23T01:00:00.001Z"));
        assert_eq!(next_version(old, at("2020-01-01T00:00:00.000Z")), at("2026-05-23T01:00:00.001Z"));
        assert_eq!(next_version(old, at("2026-05-23T02:00:00.000Z")), at("2026-05-23T02:00:00.000Z"));
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
    fn whoever_was_registered_before_the_index_shards_changed_is_still_listed() {
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

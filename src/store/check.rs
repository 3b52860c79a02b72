//! Every item of both tables that can't be read, or that contradicts its key, its index keys or another item.
//!
//! Both tables are scanned page by page, the main one first. The items of one participant are judged together: they lie
//! in one partition, which a Scan reads in one piece. What an item lacks of its neighbours is asked for once more by a
//! consistent Query before it is reported, so what is written meanwhile is no finding. Nothing is changed.
//!
//! | file | judges |
//! | --- | --- |
//! | `check/item.rs` | one item of the main table: its attributes, its key, its index keys |
//! | `check/facts.rs` | the facts of one participant, beside each other and beside the event's settings |
//! | `check/consumers.rs` | one item of the consumers' table |
//! | `check/counts.rs` | the counts of an event beside its facts |

mod consumers;
mod counts;
mod facts;
mod item;

use std::collections::HashMap;

use aws_sdk_dynamodb::types::ReturnConsumedCapacity;

use crate::domain::{
    event::Event,
    ids::{EventId, StampId},
    time::Timestamp,
};

use super::{
    Store, StoreError,
    fields::Fields,
    items::{self, Item},
    keys::ItemKey,
    unreadable::hashed,
};

/// Items of a page at most; a page has at most 1 MB.
const PAGE: i32 = 500;

/// An item that can't be read or that contradicts another, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The table it lies in.
    pub table: String,
    /// Its partition key.
    pub pk: String,
    /// Its sort key.
    pub sk: String,
    /// The attribute that is wrong.
    pub attribute: String,
    /// What is wrong with it.
    pub problem: String,
    /// What to do about it.
    pub remedy: String,
}

impl Finding {
    /// Its two keys as the log shows them (`item.pk`, `item.sk`), user ids hashed.
    #[must_use]
    pub fn logged_key(&self) -> [String; 2] {
        [hashed(&self.pk), hashed(&self.sk)]
    }
}

/// What is wrong with an item.
#[derive(Debug)]
struct Fault {
    attribute: String,
    problem: String,
    remedy: String,
}

impl Fault {
    fn new(attribute: &str, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { attribute: attribute.to_owned(), problem: problem.into(), remedy: remedy.into() }
    }

    fn of(self, item: &Item, table: &str) -> Finding {
        let (fields, table) = (Fields::of(item), table.to_owned());
        let (pk, sk) = (fields.pk().to_owned(), fields.sk().to_owned());
        let Self { attribute, problem, remedy } = self;
        Finding { table, pk, sk, attribute, problem, remedy }
    }
}

/// What a check has come to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Looked {
    /// Items looked at, of both tables.
    pub items: u64,
    /// Those among them that belong to the event that is checked; all, if all events are.
    pub belonging: u64,
    /// Stamps without `GSI2` keys, as the source article's program writes them: no finding, `table backfill` gives them
    /// their keys.
    pub without_keys: u64,
    /// Read capacity units that were consumed.
    pub capacity: f64,
}

/// A pass over both tables.
pub struct Check {
    store: Store,
    /// Only this event's items.
    event_id: Option<EventId>,
    part: Part,
    after: Option<Item>,
    looked: Looked,
    /// The items of one participant, until those of another come.
    group: Vec<Item>,
    events: HashMap<EventId, Settings<Event>>,
    masters: HashMap<(EventId, StampId), bool>,
    tally: counts::Tally,
    /// When the pass began.
    now: Timestamp,
}

/// Which table is scanned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Main,
    Consumers,
    Over,
}

/// What there is of a setting.
#[derive(Debug, Clone)]
enum Settings<T> {
    Absent,
    Readable(Box<T>),
    Unreadable,
}

impl<T> Settings<T> {
    fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl Store {
    /// A pass over both tables; of the items of one event alone, if one is named.
    #[must_use]
    pub fn check(&self, event_id: Option<EventId>, now: Timestamp) -> Check {
        Check {
            store: self.clone(),
            event_id,
            part: Part::Main,
            after: None,
            looked: Looked::default(),
            group: Vec::new(),
            events: HashMap::new(),
            masters: HashMap::new(),
            tally: counts::Tally::default(),
            now,
        }
    }
}

impl Check {
    /// What it has come to so far.
    #[must_use]
    pub fn looked(&self) -> Looked {
        self.looked
    }

    /// Whether everything was looked at.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.part == Part::Over
    }

    /// Looks at the next page and returns what it found: 1 Scan, 1 `GetItem` for each event and each stamp that is met
    /// for the first time, 1 Query for each participant of whom something seems to be missing.
    pub async fn step(&mut self) -> Result<Vec<Finding>, StoreError> {
        let table = match self.part {
            Part::Main => self.store.tables.main.clone(),
            Part::Consumers => self.store.tables.consumers.clone(),
            Part::Over => return Ok(Vec::new()),
        };
        let scan = self.store.client.scan().table_name(table).limit(PAGE).set_exclusive_start_key(self.after.take());
        let page = scan.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await?;
        let items = page.items.unwrap_or_default();
        self.looked.items += items.len() as u64;
        self.looked.capacity += page.consumed_capacity.and_then(|used| used.capacity_units).unwrap_or_default();
        let mut findings = Vec::new();
        for item in items {
            if self.belongs(&item) {
                self.looked.belonging += 1;
                self.take_in(item, &mut findings).await?;
            }
        }
        self.after = page.last_evaluated_key;
        if self.after.is_none() {
            self.end_of_table(&mut findings).await?;
        }
        Ok(findings)
    }

    async fn end_of_table(&mut self, findings: &mut Vec<Finding>) -> Result<(), StoreError> {
        self.judge_group(findings).await?;
        if self.part == Part::Main {
            self.part = Part::Consumers;
            return Ok(());
        }
        let faults = std::mem::take(&mut self.tally).faults(self.now);
        findings.extend(faults.into_iter().map(|(fault, item)| fault.of(&item, &self.store.tables.consumers)));
        self.part = Part::Over;
        Ok(())
    }

    fn belongs(&self, item: &Item) -> bool {
        let Some(event_id) = &self.event_id else { return true };
        match self.part {
            Part::Main => item::is_of(event_id, item),
            Part::Consumers | Part::Over => consumers::event_of(item).as_ref() == Some(event_id),
        }
    }

    async fn take_in(&mut self, item: Item, findings: &mut Vec<Finding>) -> Result<(), StoreError> {
        let pk = Fields::of(&item).pk().to_owned();
        if self.group.first().is_some_and(|first| Fields::of(first).pk() != pk) {
            self.judge_group(findings).await?;
        }
        if self.part == Part::Main && facts::is_participants(&pk) {
            self.group.push(item);
            return Ok(());
        }
        let fault = match self.part {
            Part::Main => self.fault_of_item(&item).await?,
            Part::Consumers | Part::Over => self.fault_of_progress(&item).await?,
        };
        findings.extend(fault.map(|fault| self.finding(fault, &item)));
        Ok(())
    }

    fn finding(&mut self, fault: Fault, item: &Item) -> Finding {
        self.tally.found(item);
        let tables = &self.store.tables;
        fault.of(item, if self.part == Part::Main { &tables.main } else { &tables.consumers })
    }

    /// The event, asked for once.
    async fn event(&mut self, event_id: &EventId) -> Result<Settings<Event>, StoreError> {
        if let Some(known) = self.events.get(event_id) {
            return Ok(known.clone());
        }
        let event = match self.store.raw_item(&ItemKey::Event(event_id.clone())).await? {
            None => Settings::Absent,
            Some(item) => {
                items::decode_as(item).map_or(Settings::Unreadable, |event| Settings::Readable(Box::new(event)))
            }
        };
        self.events.insert(event_id.clone(), event.clone());
        Ok(event)
    }

    /// Whether there is a stamp, readable or not; asked for once.
    async fn has_master(&mut self, event_id: &EventId, stamp_id: &StampId) -> Result<bool, StoreError> {
        let stamp = (event_id.clone(), stamp_id.clone());
        if let Some(known) = self.masters.get(&stamp) {
            return Ok(*known);
        }
        let key = ItemKey::Master { event_id: event_id.clone(), stamp_id: stamp_id.clone() };
        let found = self.store.raw_item(&key).await?.is_some();
        self.masters.insert(stamp, found);
        Ok(found)
    }
}

//! A pass over both tables, page by page.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{ConsumedCapacity, ReturnConsumedCapacity};

use crate::domain::{
    event::Event,
    ids::{EventId, StampId},
    time::Timestamp,
};
use crate::store::{
    Store, StoreError,
    items::{self, Fields, Item},
    keys::{self, ItemKey},
    paging::{Items as _, Pages},
};

use super::{
    Finding, consumers,
    counts::Tally,
    finding::Fault,
    item::{self, Settings},
};

/// Items of a page at most; a page has at most 1 MB.
const PAGE: i32 = 500;

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
    pub(super) store: Store,
    /// Only this event's items.
    event_id: Option<EventId>,
    part: Part,
    pages: Pages<Item>,
    pub(super) looked: Looked,
    /// The items of one participant, until those of another come.
    pub(super) group: Vec<Item>,
    events: HashMap<EventId, Settings<Event>>,
    masters: HashMap<(EventId, StampId), bool>,
    pub(super) tally: Tally,
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

impl Store {
    /// Begins a pass over both tables; over the items of one event alone, if one is named.
    #[must_use]
    pub fn check(&self, event_id: Option<EventId>, now: Timestamp) -> Check {
        Check {
            store: self.clone(),
            event_id,
            part: Part::Main,
            pages: Pages::default(),
            looked: Looked::default(),
            group: Vec::new(),
            events: HashMap::new(),
            masters: HashMap::new(),
            tally: Tally::default(),
            now,
        }
    }
}

impl Check {
    /// Returns what it has come to so far.
    #[must_use]
    pub fn looked(&self) -> Looked {
        self.looked
    }

    /// Returns whether everything was looked at.
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
        let mut findings = Vec::new();
        let scan = self.store.client.scan().table_name(table).limit(PAGE);
        let scan = scan.return_consumed_capacity(ReturnConsumedCapacity::Total);
        if let Some(page) = self.pages.next(|after| scan.set_exclusive_start_key(after).send()).await? {
            let used = page.consumed_capacity().and_then(ConsumedCapacity::capacity_units);
            self.looked.capacity += used.unwrap_or_default();
            self.looked.items += page.items().len() as u64;
            for item in page.found() {
                if self.belongs(&item) {
                    self.looked.belonging += 1;
                    self.add(item, &mut findings).await?;
                }
            }
        }
        if self.pages.is_over() {
            self.end_of_table(&mut findings).await?;
        }
        Ok(findings)
    }

    async fn end_of_table(&mut self, findings: &mut Vec<Finding>) -> Result<(), StoreError> {
        self.judge_group(findings).await?;
        if self.part == Part::Main {
            (self.part, self.pages) = (Part::Consumers, Pages::default());
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

    async fn add(&mut self, item: Item, findings: &mut Vec<Finding>) -> Result<(), StoreError> {
        let pk = Fields::of(&item).pk().to_owned();
        if self.group.first().is_some_and(|first| Fields::of(first).pk() != pk) {
            self.judge_group(findings).await?;
        }
        if self.part == Part::Main && keys::is_participants(&pk) {
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

    pub(super) fn finding(&mut self, fault: Fault, item: &Item) -> Finding {
        self.tally.found(item);
        let tables = &self.store.tables;
        fault.of(item, if self.part == Part::Main { &tables.main } else { &tables.consumers })
    }

    /// Returns the event, asked for once.
    pub(super) async fn event(&mut self, event_id: &EventId) -> Result<Settings<Event>, StoreError> {
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

    /// Returns whether there is a stamp, readable or not; asked for once.
    pub(super) async fn has_master(&mut self, event_id: &EventId, stamp_id: &StampId) -> Result<bool, StoreError> {
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

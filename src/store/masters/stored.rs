//! What is stored of a setting, and what a write of its next version must find.

use crate::domain::{
    event::{Event, EventNames, EventRemains},
    time::Timestamp,
};

use super::super::{
    items::{self, Item, Setting},
    unreadable::Unreadable,
};

/// What is stored of a setting.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Stored<T, R> {
    /// Nothing.
    #[default]
    Absent,
    /// All of it.
    Readable(Found<T>),
    /// An item that can't be read whole.
    Unreadable(Remains<R>),
}

/// A setting as it was found in the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Found<T> {
    /// All of it that this version of the program knows.
    pub setting: T,
    /// Whether its index keys are those of its attributes: without them the list of its kind doesn't show it.
    pub is_listed: bool,
    /// What a newer version of the program keeps of it.
    pub(super) others: Item,
}

impl<T> From<T> for Found<T> {
    /// Makes one whose item is as this version writes it.
    fn from(setting: T) -> Self {
        Self { setting, is_listed: true, others: Item::new() }
    }
}

/// What can be read of an item that can't be read whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Remains<R> {
    /// Its readable attributes.
    pub parts: R,
    /// What is wrong with it.
    pub unreadable: Unreadable,
    pub(super) item: Item,
}

impl<T, R> Stored<T, R> {
    /// Returns the setting, if it can be read.
    #[must_use]
    pub fn readable(&self) -> Option<&T> {
        if let Self::Readable(found) = self { Some(&found.setting) } else { None }
    }

    /// Returns whether the list of its kind shows it in its place. One that can't be read promises nothing about its
    /// index keys, and is taken for listed.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        match self {
            Self::Absent => false,
            Self::Readable(found) => found.is_listed,
            Self::Unreadable(_) => true,
        }
    }

    /// Returns what a write of its next version must find in the table, and carries over.
    #[must_use]
    pub fn replaced_by(&self, version: impl FnOnce(&T) -> Timestamp) -> Expected {
        match self {
            Self::Absent => Expected::Absent,
            Self::Readable(found) => {
                Expected::Version { version: version(&found.setting), others: found.others.clone() }
            }
            Self::Unreadable(remains) => Expected::Item(remains.item.clone()),
        }
    }
}

impl Stored<Event, EventRemains> {
    /// Returns what its messages take from the event; `None` = there is no event.
    #[must_use]
    pub fn names(&self) -> Option<EventNames<'_>> {
        match self {
            Self::Absent => None,
            Self::Readable(event) => Some((&event.setting).into()),
            Self::Unreadable(remains) => Some((&remains.parts).into()),
        }
    }
}

/// What a conditional write of a setting must find in the table.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// No item.
    Absent,
    /// An item that can't be read, unchanged: compared are its strings, numbers and flags, and what this version of the
    /// program doesn't know of it. The latter is carried over.
    Item(Item),
    /// The setting in this version.
    Version {
        /// Its `updatedAt`.
        version: Timestamp,
        /// The attributes that this version of the program doesn't know: they are carried over.
        others: Item,
    },
}

impl Expected {
    pub(super) fn carried_over<T: Setting>(&self) -> Item {
        match self {
            Self::Absent => Item::new(),
            Self::Item(found) => items::unknown::<T>(found),
            Self::Version { others, .. } => others.clone(),
        }
    }
}

//! Stamp masters: the stamps of an event, as its organiser set them up. Settings: they change.

pub mod rules;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Malformed,
    ids::{EventId, StampId},
    proof::{CodeGeneration, CodeOrder, CodeRefusal, Generations},
    setting::{Name, must_replace, next_version, required},
    time::Timestamp,
    worded::worded,
};

pub use rules::{After, ClaimRules, ClaimRulesChange, check_after};

/// A stamp that can be acquired (entity `STAMP_MASTER`). A setting: it changes.
#[derive(Debug, Clone, PartialEq)]
pub struct StampMaster {
    /// The event it belongs to.
    pub event_id: EventId,
    /// Its id within the event, for ever.
    pub stamp_id: StampId,
    /// Its name, as participants read it.
    pub name: Name,
    /// Its place on the card; ties go by `stamp_id`.
    pub order: StampOrder,
    /// Whether it can be acquired and counts for a complete card.
    pub is_active: bool,
    /// The Flex message that follows from its acquisition, as LINE wants it, with placeholders.
    pub flex_message_content: Value,
    /// What a claim for it must satisfy.
    pub rules: ClaimRules,
    /// Whether its acquisition calls for a notice.
    pub notify: Notify,
    /// Its version: grows with every write. Masters of the source article have none: the epoch.
    pub updated_at: Timestamp,
}

worded! {
    /// Whether the acquisition of a stamp calls for a notice.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    Notify {
        /// It does.
        #[default]
        Always = "always",
        /// It doesn't; whether the card became complete is looked at all the same.
        Never = "never",
    }
}

/// The stamps of one event, as far as they can be read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StampMasters {
    /// Those that can be read, the inactive ones too, by order and id.
    pub readable: Vec<StampMaster>,
    /// Stamps that exist and can't be read. They are set aside: no card lists them. Nothing says that they are inactive,
    /// so a card isn't complete without them; a completed card is a fact that can't be taken back.
    pub unreadable: BTreeSet<StampId>,
    /// How many other items are listed among the stamps and are none of this event's. They are passed over.
    pub foreign: usize,
}

impl StampMasters {
    /// Returns the master of one stamp, if it is there and can be read.
    #[must_use]
    pub fn find(&self, stamp_id: &StampId) -> Option<&StampMaster> {
        self.readable.iter().find(|master| master.stamp_id == *stamp_id)
    }

    /// Returns the ids of all, also of those that can't be read.
    pub fn ids(&self) -> impl Iterator<Item = &StampId> {
        self.readable.iter().map(|master| &master.stamp_id).chain(&self.unreadable)
    }

    /// Returns the active ones among those that can be read.
    pub fn active(&self) -> impl Iterator<Item = &StampMaster> + Clone {
        self.readable.iter().filter(|master| master.is_active)
    }
}

impl From<Vec<StampMaster>> for StampMasters {
    /// Takes masters that can all be read.
    fn from(mut readable: Vec<StampMaster>) -> Self {
        readable.sort_by(|a, b| a.place().cmp(&b.place()));
        Self { readable, ..Self::default() }
    }
}

/// A place on the card, 1 to 999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct StampOrder(u16);

impl StampOrder {
    /// Returns the number.
    #[must_use]
    pub fn number(self) -> u16 {
        self.0
    }
}

impl TryFrom<i64> for StampOrder {
    type Error = Malformed;

    fn try_from(number: i64) -> Result<Self, Malformed> {
        let fits = u16::try_from(number).ok().filter(|n| (1..=999).contains(n));
        fits.map(Self).ok_or_else(|| Malformed::new("order", "must be a whole number from 1 to 999"))
    }
}

impl From<StampOrder> for i64 {
    fn from(order: StampOrder) -> Self {
        i64::from(order.0)
    }
}

impl StampMaster {
    /// Returns what masters are listed by: order, ties by id.
    #[must_use]
    pub fn place(&self) -> (StampOrder, &StampId) {
        (self.order, &self.stamp_id)
    }

    /// Returns the stamp after an order about its codes, one version on, and the generation that the order is about.
    pub fn with_codes(&self, order: &CodeOrder<'_>) -> Result<(Self, CodeGeneration), CodeRefusal> {
        let mut new = self.clone();
        let generation = order.carry_out(&mut new.rules.codes)?;
        new.updated_at = next_version(self.updated_at, order.at);
        Ok((new, generation))
    }
}

/// A change that a writer asks for; what is `None` keeps its value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StampMasterChange {
    /// `name`
    pub name: Option<Name>,
    /// `order`
    pub order: Option<StampOrder>,
    /// `isActive` (a new stamp is active unless it says otherwise)
    pub is_active: Option<bool>,
    /// `flexMessageContent`
    pub flex_message_content: Option<Value>,
    /// The claim rules.
    pub rules: ClaimRulesChange,
    /// `notify`
    pub notify: Option<Notify>,
}

/// What can be read of a stamp that can't be read whole: a PUT completes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StampMasterRemains {
    /// The attributes that can be read.
    pub readable: StampMasterChange,
    /// `codes`, if it can be read.
    pub codes: Generations,
    /// `updatedAt`, if it can be read.
    pub updated_at: Option<Timestamp>,
    /// Attributes with a default that can't be read, or are missing although every whole item has them.
    pub unreadable: Vec<&'static str>,
}

impl StampMasterRemains {
    /// Returns the stamp that these remains and a change make together. Refuses what lacks a required attribute.
    pub fn mend(
        self,
        change: StampMasterChange,
        event_id: EventId,
        stamp_id: StampId,
        now: Timestamp,
    ) -> Result<StampMaster, Malformed> {
        must_replace(&self.unreadable, |name| change.names(name))?;
        let whole = StampMasterChange {
            name: change.name.or(self.readable.name),
            order: change.order.or(self.readable.order),
            is_active: change.is_active.or(self.readable.is_active),
            flex_message_content: change.flex_message_content.or(self.readable.flex_message_content),
            rules: change.rules.or(self.readable.rules),
            notify: change.notify.or(self.readable.notify),
        };
        let version = self.updated_at.map_or(now, |old| next_version(old, now));
        let mut master = whole.create(event_id, stamp_id, version)?;
        master.rules.codes = self.codes;
        Ok(master)
    }
}

impl StampMasterChange {
    /// Returns whether it has a value for one of the attributes that may be absent or have a default.
    fn names(&self, attribute: &str) -> bool {
        match attribute {
            "isActive" => self.is_active.is_some(),
            "notify" => self.notify.is_some(),
            other => self.rules.names(other),
        }
    }

    /// Makes a new stamp. Refuses what lacks a required attribute.
    pub fn create(self, event_id: EventId, stamp_id: StampId, now: Timestamp) -> Result<StampMaster, Malformed> {
        Ok(StampMaster {
            event_id,
            stamp_id,
            name: required("name", self.name)?,
            order: required("order", self.order)?,
            is_active: self.is_active.unwrap_or(true),
            flex_message_content: required("flexMessageContent", self.flex_message_content)?,
            rules: self.rules.apply(&ClaimRules::default())?,
            notify: self.notify.unwrap_or_default(),
            updated_at: now,
        })
    }

    /// Returns the stamp after the change, one version on. Refuses rules that contradict each other.
    pub fn apply(self, old: &StampMaster, now: Timestamp) -> Result<StampMaster, Malformed> {
        Ok(StampMaster {
            event_id: old.event_id.clone(),
            stamp_id: old.stamp_id.clone(),
            name: self.name.unwrap_or_else(|| old.name.clone()),
            order: self.order.unwrap_or(old.order),
            is_active: self.is_active.unwrap_or(old.is_active),
            flex_message_content: self.flex_message_content.unwrap_or_else(|| old.flex_message_content.clone()),
            rules: self.rules.apply(&old.rules)?,
            notify: self.notify.unwrap_or(old.notify),
            updated_at: next_version(old.updated_at, now),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_on_the_card_is_1_to_999() {
        assert!(StampOrder::try_from(0).is_err() && StampOrder::try_from(1000).is_err());
        assert_eq!(StampOrder::try_from(999).unwrap().number(), 999);
    }
}

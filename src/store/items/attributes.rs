//! The attributes of one item, taken out one by one, and put together.

use std::collections::HashMap;

use serde::{Serialize, de::DeserializeOwned};
use serde_dynamo::AttributeValue;
use serde_json::Value;

use crate::domain::{Malformed, ids::LineUserId};

use super::{
    super::{
        keys::{Gsi1Key, Gsi2Key, ItemKey, Progress, ProgressKey},
        unreadable::Unreadable,
    },
    Item, json,
};

/// The attributes of one item, as any of the SDK's crates gives them.
pub(in super::super) struct Attributes(HashMap<String, AttributeValue>);

impl Attributes {
    pub(super) fn of(item: serde_dynamo::Item) -> Self {
        Self(item.into_inner())
    }

    /// Takes a text, or what is made of texts by the only door of its type.
    pub(super) fn required<T: TryFrom<String, Error: Into<Problem>>>(&mut self, name: &str) -> Result<T, Unreadable> {
        self.optional(name)?.ok_or_else(|| self.missing(name))
    }

    /// Takes the same where it may be absent.
    pub(super) fn optional<T: TryFrom<String, Error: Into<Problem>>>(
        &mut self,
        name: &str,
    ) -> Result<Option<T>, Unreadable> {
        let text = match self.0.remove(name) {
            None | Some(AttributeValue::Null(_)) => return Ok(None),
            Some(AttributeValue::S(text)) => text,
            Some(_) => return Err(self.unreadable(name, "is not a string")),
        };
        T::try_from(text).map(Some).map_err(|error| self.unreadable(name, error.into().0))
    }

    /// Takes a user id as tables hold it: the source article's are shorter than LINE's.
    pub(super) fn user(&mut self, name: &str) -> Result<LineUserId, Unreadable> {
        let text: String = self.required(name)?;
        LineUserId::stored(&text).map_err(|error| self.unreadable(name, error.rule))
    }

    pub(super) fn number<T: TryFrom<i64, Error: Into<Problem>>>(
        &mut self,
        name: &str,
    ) -> Result<Option<T>, Unreadable> {
        let digits = match self.0.remove(name) {
            None | Some(AttributeValue::Null(_)) => return Ok(None),
            Some(AttributeValue::N(digits)) => digits,
            Some(_) => return Err(self.unreadable(name, "is not a number")),
        };
        let number: i64 = digits.parse().map_err(|_| self.unreadable(name, "is not a whole number"))?;
        T::try_from(number).map(Some).map_err(|error| self.unreadable(name, error.into().0))
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<Option<bool>, Unreadable> {
        match self.0.remove(name) {
            None | Some(AttributeValue::Null(_)) => Ok(None),
            Some(AttributeValue::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(self.unreadable(name, "is not true or false")),
        }
    }

    /// Anything that JSON can say.
    pub(super) fn json(&mut self, name: &str) -> Result<Option<Value>, Unreadable> {
        let value = self.0.remove(name).map(json::read).transpose();
        value.map_err(|problem| self.unreadable(name, problem))
    }

    /// Takes a value whose stored form is the contract's JSON.
    pub(super) fn value<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, Unreadable> {
        let Some(json) = self.json(name)?.filter(|json| !json.is_null()) else { return Ok(None) };
        let read = serde_path_to_error::deserialize(json);
        read.map(Some).map_err(|error| self.unreadable(name, error.to_string()))
    }

    /// A whole message, as LINE takes it: a map. Only when it is sent does it turn out whether LINE takes what is in it.
    pub(super) fn message(&mut self, name: &str) -> Result<Option<Value>, Unreadable> {
        match self.json(name)?.filter(|message| !message.is_null()) {
            Some(message) if !message.is_object() => Err(self.unreadable(name, "is not a map")),
            message => Ok(message),
        }
    }

    /// Takes the attributes inside a map. What is wrong with them is reported with the item's key.
    pub(super) fn map(&mut self, name: &str) -> Result<Option<Self>, Unreadable> {
        let mut inner = match self.0.remove(name) {
            None | Some(AttributeValue::Null(_)) => return Ok(None),
            Some(AttributeValue::M(inner)) => inner,
            Some(_) => return Err(self.unreadable(name, "is not a map")),
        };
        for key in ["PK", "SK"] {
            inner.extend(self.0.get(key).map(|value| (key.to_owned(), value.clone())));
        }
        Ok(Some(Self(inner)))
    }

    /// Refuses an item that lies under another key than its attributes say.
    pub(super) fn must_have_key(&self, key: &ItemKey) -> Result<(), Unreadable> {
        let lies_at = |name, should: &str| {
            if self.key_part(name) == should {
                Ok(())
            } else {
                Err(self.unreadable(name, format!("should be {should}")))
            }
        };
        lies_at("PK", &key.pk())?;
        lies_at("SK", &key.sk())
    }

    /// Returns whether it lies where only an item of this program may lie.
    pub(super) fn has_key_of_ours(&self) -> bool {
        ItemKey::parse(self.key_part("PK"), self.key_part("SK")).is_some()
    }

    pub(super) fn missing(&self, attribute: &str) -> Unreadable {
        self.unreadable(attribute, "is missing")
    }

    pub(super) fn unreadable(&self, attribute: &str, problem: impl Into<String>) -> Unreadable {
        Unreadable {
            pk: self.key_part("PK").to_owned(),
            sk: self.key_part("SK").to_owned(),
            attribute: attribute.to_owned(),
            problem: problem.into(),
        }
    }

    /// An attribute that is wanted only if it can be read. One that is there and can't be is noted in `unreadable`.
    pub(super) fn salvage<T>(
        &mut self,
        name: &'static str,
        unreadable: &mut Vec<&'static str>,
        read: impl FnOnce(&mut Self, &str) -> Result<Option<T>, Unreadable>,
    ) -> Option<T> {
        read(self, name).unwrap_or_else(|_| {
            unreadable.push(name);
            None
        })
    }

    fn key_part(&self, name: &str) -> &str {
        match self.0.get(name) {
            Some(AttributeValue::S(text)) => text,
            _ => "",
        }
    }
}

/// Why a value doesn't fit its type.
pub(super) struct Problem(String);

impl From<Malformed> for Problem {
    fn from(error: Malformed) -> Self {
        Self(error.rule)
    }
}

impl From<std::convert::Infallible> for Problem {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

/// An item being put together.
pub(super) struct Writer(HashMap<String, AttributeValue>);

impl Writer {
    /// Begins with what every item has: its key and its type.
    pub(super) fn of(key: &ItemKey, entity_type: &str) -> Self {
        Self(HashMap::new()).text("PK", key.pk()).text("SK", key.sk()).text("entityType", entity_type)
    }

    /// Begins an item of the consumers' table, in the same way.
    pub(super) fn progress(kind: Progress, key: ProgressKey<'_>) -> Self {
        let writer = Self(HashMap::new()).text("PK", key.pk()).text("SK", key.sk());
        writer.some("entityType", entity_type(kind), Self::text)
    }

    pub(super) fn map() -> Self {
        Self(HashMap::new())
    }

    /// Writes an attribute of any type.
    pub(super) fn value(mut self, name: &str, value: AttributeValue) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    #[expect(clippy::needless_pass_by_value, reason = "it takes ids by reference and instants by value alike")]
    pub(super) fn text(self, name: &str, text: impl ToString) -> Self {
        self.value(name, AttributeValue::S(text.to_string()))
    }

    pub(super) fn number(self, name: &str, number: impl Into<i128>) -> Self {
        self.value(name, AttributeValue::N(number.into().to_string()))
    }

    pub(super) fn flag(self, name: &str, flag: bool) -> Self {
        self.value(name, AttributeValue::Bool(flag))
    }

    pub(super) fn json(self, name: &str, value: &Value) -> Self {
        self.value(name, json::write(value))
    }

    /// Writes a value whose stored form is the contract's JSON, unless it is the one that an absent attribute stands for.
    pub(super) fn unless_default<T: Serialize + Default + PartialEq>(self, name: &str, value: &T) -> Self {
        let json =
            Some(value).filter(|value| **value != T::default()).and_then(|value| serde_json::to_value(value).ok());
        self.some(name, json.as_ref(), Self::json)
    }

    /// Writes an attribute that is there only if it has a value.
    pub(super) fn some<T>(self, name: &str, value: Option<T>, write: impl FnOnce(Self, &str, T) -> Self) -> Self {
        match value {
            Some(value) => write(self, name, value),
            None => self,
        }
    }

    /// Writes a map among the attributes.
    pub(super) fn inner(self, name: &str, inner: Self) -> Self {
        self.value(name, AttributeValue::M(inner.0))
    }

    pub(super) fn gsi1(self, key: &Gsi1Key) -> Self {
        self.text("GSI1PK", key.pk()).text("GSI1SK", key.sk())
    }

    pub(super) fn gsi2(self, key: &Gsi2Key) -> Self {
        self.text("GSI2PK", key.pk()).text("GSI2SK", key.sk())
    }

    /// Returns the item for the table client.
    pub(super) fn done(self) -> Item {
        serde_dynamo::Item::from(self.0).into()
    }
}

/// Returns the `entityType` that a key of the consumers' table promises; a worker's sign of life has none.
pub(in super::super) fn entity_type(kind: Progress) -> Option<&'static str> {
    match kind {
        Progress::Backfill => Some("BACKFILL"),
        Progress::Batch => Some("BATCH_PROGRESS"),
        Progress::Counts => Some("COUNTS"),
        Progress::Followed => Some("CONSUMER_STREAM"),
        Progress::Function => Some("FUNCTION_PROGRESS"),
        Progress::Pending => Some("PENDING_COMPLETION"),
        Progress::Run => Some("RECONCILE_RUN"),
        Progress::Shard => Some("SHARD_PROGRESS"),
        Progress::Worker => None,
    }
}

//! Items and values as the table client takes and gives them; and the attributes of an item of the consumers' table,
//! read one by one. What is wrong with one names the item.

use std::{collections::HashMap, fmt::Display, str::FromStr};

use aws_sdk_dynamodb::types::AttributeValue;

use super::super::{
    keys::{ItemKey, ProgressKey},
    unreadable::Unreadable,
};

/// An item as the table client takes and gives it.
pub type Item = HashMap<String, AttributeValue>;

/// An item that is being read. An attribute that is `NULL` counts as absent.
#[derive(Clone, Copy)]
pub(in super::super) struct Fields<'a>(&'a Item);

impl<'a> Fields<'a> {
    pub fn of(item: &'a Item) -> Self {
        Self(item)
    }

    pub fn sk(self) -> &'a str {
        self.key("SK")
    }

    pub fn pk(self) -> &'a str {
        self.key("PK")
    }

    /// Returns a key, primary or of an index; empty if it has none.
    pub fn key(self, name: &str) -> &'a str {
        self.0.get(name).and_then(|value| value.as_s().ok()).map_or("", String::as_str)
    }

    /// Returns a text that may be absent.
    pub fn some_text(self, name: &str) -> Result<Option<&'a str>, Unreadable> {
        let text = self.some(name).map(|value| value.as_s().map_err(|_| self.unreadable(name, "is not a string")));
        Ok(text.transpose()?.map(String::as_str))
    }

    pub fn text(self, name: &str) -> Result<&'a str, Unreadable> {
        self.some_text(name)?.ok_or_else(|| self.missing(name))
    }

    /// Returns what is made of a text, which may be absent.
    pub fn some_parsed<T: FromStr<Err: Display>>(self, name: &str) -> Result<Option<T>, Unreadable> {
        let parsed = self.some_text(name)?.map(str::parse).transpose();
        parsed.map_err(|error: T::Err| self.unreadable(name, format!("can't be read ({error})")))
    }

    pub fn parsed<T: FromStr<Err: Display>>(self, name: &str) -> Result<T, Unreadable> {
        self.some_parsed(name)?.ok_or_else(|| self.missing(name))
    }

    pub fn number<T: FromStr>(self, name: &str) -> Result<T, Unreadable> {
        let value = self.some(name).ok_or_else(|| self.missing(name))?;
        whole(value).ok_or_else(|| self.unreadable(name, "is not a whole number"))
    }

    pub fn flag(self, name: &str) -> Result<Option<bool>, Unreadable> {
        let flag = self.some(name).map(|value| value.as_bool().copied());
        flag.transpose().map_err(|_| self.unreadable(name, "is not true or false"))
    }

    /// Returns the values of a list; none if it is absent.
    pub fn list(self, name: &str) -> Result<&'a [AttributeValue], Unreadable> {
        let list = self.some(name).map(|value| value.as_l().map_err(|_| self.unreadable(name, "is not a list")));
        Ok(list.transpose()?.map_or(&[][..], Vec::as_slice))
    }

    pub fn map(self, name: &str) -> Result<&'a HashMap<String, AttributeValue>, Unreadable> {
        let value = self.some(name).ok_or_else(|| self.missing(name))?;
        value.as_m().map_err(|_| self.unreadable(name, "is not a map"))
    }

    fn some(self, name: &str) -> Option<&'a AttributeValue> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    fn missing(self, name: &str) -> Unreadable {
        self.unreadable(name, "is missing")
    }

    pub fn unreadable(self, name: &str, problem: impl Into<String>) -> Unreadable {
        Unreadable {
            pk: self.pk().to_owned(),
            sk: self.sk().to_owned(),
            attribute: name.to_owned(),
            problem: problem.into(),
        }
    }
}

pub(super) fn whole<T: FromStr>(value: &AttributeValue) -> Option<T> {
    value.as_n().ok()?.parse().ok()
}

pub(in super::super) fn text(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

pub(in super::super) fn number(number: impl Into<i128>) -> AttributeValue {
    AttributeValue::N(number.into().to_string())
}

/// Returns a primary key of the main table as its attributes.
pub(in super::super) fn primary_key(key: &ItemKey) -> Item {
    keyed(key.pk(), key.sk())
}

/// Returns a key of the consumers' table as its attributes.
pub(in super::super) fn progress_key(key: ProgressKey<'_>) -> Item {
    keyed(key.pk(), key.sk())
}

/// Returns the key of an item that was read.
pub(in super::super) fn key_of(item: &Item) -> Item {
    ["PK", "SK"].into_iter().filter_map(|name| Some((name.to_owned(), item.get(name)?.clone()))).collect()
}

fn keyed(pk: String, sk: String) -> Item {
    HashMap::from([("PK".to_owned(), text(pk)), ("SK".to_owned(), text(sk))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::Timestamp;

    #[test]
    fn what_is_wrong_names_the_item_and_the_attribute() {
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let item = Item::from(
            [("PK", text("P")), ("SK", text("S")), ("beat", text("3")), ("updatedAt", text("yesterday"))]
                .map(|(name, value)| (name.to_owned(), value)),
        );
        let fields = Fields::of(&item);
        let said = [
            fields.number::<u64>("beat").unwrap_err(),
            fields.number::<u64>("fence").unwrap_err(),
            fields.parsed::<Timestamp>("updatedAt").unwrap_err(),
            fields.map("beat").unwrap_err(),
        ];
        assert_eq!(
            said.map(|unreadable| unreadable.to_string()),
            [
                "the item P S can't be read: beat is not a whole number",
                "the item P S can't be read: fence is missing",
                "the item P S can't be read: updatedAt can't be read (timestamp: must be UTC with three decimals, \
                 like 2026-05-23T10:00:00.000Z)",
                "the item P S can't be read: beat is not a map",
            ]
        );
    }

    #[test]
    fn null_is_absent() {
        let item = Item::from([("owner".to_owned(), AttributeValue::Null(true))]);
        assert_eq!(Fields::of(&item).some_text("owner"), Ok(None));
    }
}

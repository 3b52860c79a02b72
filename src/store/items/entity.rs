//! Which entity an item of the main table is.

use crate::domain::{
    event::Event,
    fact::{Completed, Fact, Friendship, Pace, Resend, ResendCompleted, User, UserStamp},
    staff::Staff,
    stamp::StampMaster,
};

use super::{
    super::{keys::ItemKey, unreadable::Unreadable},
    attributes::Attributes,
    refusals::REFUSALS,
};

/// The `entityType` of counted tries of a passcode: a number that DynamoDB adds up, read by no decoder.
const TRIES: &str = "TRIES";

/// What an item holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Stored {
    /// `EVENT`
    Event(Event),
    /// `USER`, `USER_STAMP`, `RESEND`, `COMPLETED`, `RESEND_COMPLETED`
    Fact(Fact),
    /// `FRIENDSHIP`
    Friendship(Friendship),
    /// An `entityType` of another program, or of a later version of this one: passed over.
    Other(String),
    /// `PACE`
    Pace(Pace),
    /// `STAFF`
    Staff(Staff),
    /// `STAMP_MASTER`
    StampMaster(StampMaster),
}

impl Stored {
    /// Its `entityType`.
    #[must_use]
    pub fn entity_type(&self) -> &str {
        match self {
            Self::Event(_) => Event::TYPE,
            Self::Fact(Fact::Completed(_)) => Completed::TYPE,
            Self::Fact(Fact::Resend(_)) => Resend::TYPE,
            Self::Fact(Fact::ResendCompleted(_)) => ResendCompleted::TYPE,
            Self::Fact(Fact::User(_)) => User::TYPE,
            Self::Fact(Fact::UserStamp(_)) => UserStamp::TYPE,
            Self::Friendship(_) => Friendship::TYPE,
            Self::Other(entity_type) => entity_type,
            Self::Pace(_) => Pace::TYPE,
            Self::Staff(_) => Staff::TYPE,
            Self::StampMaster(_) => StampMaster::TYPE,
        }
    }
}

/// Reads an item of the main table: from the table client, a record's image, or a Lambda event (all three
/// turn into a `serde_dynamo::Item`).
///
/// An item of a known `entityType` must be whole, and its primary key must be that of its attributes.
pub fn decode(item: impl Into<serde_dynamo::Item>) -> Result<Stored, Unreadable> {
    let mut item = Attributes::of(item.into());
    let entity_type: String = item.required("entityType")?;
    let (key, stored) = match entity_type.as_str() {
        Event::TYPE => Event::read(&mut item)?.keyed(Stored::Event),
        StampMaster::TYPE => StampMaster::read(&mut item)?.keyed(Stored::StampMaster),
        User::TYPE => User::read(&mut item)?.keyed(|user| Stored::Fact(Fact::User(user))),
        UserStamp::TYPE => UserStamp::read(&mut item)?.keyed(|stamp| Stored::Fact(Fact::UserStamp(stamp))),
        Resend::TYPE => Resend::read(&mut item)?.keyed(|resend| Stored::Fact(Fact::Resend(resend))),
        ResendCompleted::TYPE => {
            ResendCompleted::read(&mut item)?.keyed(|resend| Stored::Fact(Fact::ResendCompleted(resend)))
        }
        Completed::TYPE => Completed::read(&mut item)?.keyed(|done| Stored::Fact(Fact::Completed(done))),
        Friendship::TYPE => Friendship::read(&mut item)?.keyed(Stored::Friendship),
        Pace::TYPE => Pace::read(&mut item)?.keyed(Stored::Pace),
        Staff::TYPE => Staff::read(&mut item)?.keyed(Stored::Staff),
        REFUSALS | TRIES => return Ok(Stored::Other(entity_type)),
        _ if item.has_key_of_ours() => {
            return Err(item.unreadable("entityType", format!("is {entity_type}, which its key doesn't promise")));
        }
        _ => return Ok(Stored::Other(entity_type)),
    };
    item.must_have_key(&key)?;
    Ok(stored)
}

/// Reads an item that must be of one entity, because its key says so.
pub(in super::super) fn decode_as<T: Entity>(item: impl Into<serde_dynamo::Item>) -> Result<T, Unreadable> {
    let mut item = Attributes::of(item.into());
    let entity_type: String = item.required("entityType")?;
    if entity_type != T::TYPE {
        return Err(item.unreadable("entityType", format!("is {entity_type}, not {}", T::TYPE)));
    }
    let value = T::read(&mut item)?;
    item.must_have_key(&value.key())?;
    Ok(value)
}

/// Reads an item that an index lists among others of its kind; `belongs` says whether it is of the list that was asked
/// for.
pub(in super::super) fn listed_in<T: Entity>(
    item: impl Into<serde_dynamo::Item>,
    belongs: impl FnOnce(&T) -> bool,
) -> Result<T, Unreadable> {
    let value: T = decode_as(item)?;
    if belongs(&value) {
        return Ok(value);
    }
    let key = value.key();
    let problem = "lists it among items that it doesn't belong to".to_owned();
    Err(Unreadable { pk: key.pk(), sk: key.sk(), attribute: "GSI1PK".to_owned(), problem })
}

/// A domain value that is one item.
pub(in super::super) trait Entity: Sized {
    const TYPE: &'static str;

    fn key(&self) -> ItemKey;

    /// Takes it out of an item of its type.
    fn read(item: &mut Attributes) -> Result<Self, Unreadable>;

    /// It, its key apart.
    fn keyed(self, stored: impl FnOnce(Self) -> Stored) -> (ItemKey, Stored) {
        (self.key(), stored(self))
    }
}

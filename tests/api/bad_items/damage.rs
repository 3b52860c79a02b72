//! What is wrong with an item, done to it.

use std::collections::HashMap;

use aws_sdk_dynamodb::{primitives::Blob, types::AttributeValue};

use super::{
    attributes::{Attribute, Entity, Form},
    items::{Item, Names, text},
    plan::{Astray, Damage, Named, Type},
};

impl Damage {
    /// The item with this wrong with it.
    pub fn done_to(self, entity: Entity, item: &Item, names: &Names) -> Item {
        let mut item = item.clone();
        match self {
            Self::Elsewhere(attribute) => put(&mut item, attribute.name, elsewhere(attribute, names)),
            Self::Foreign(_) => {}
            Self::Indexed(astray) => astray.done_to(&mut item, names),
            Self::Malformed(attribute, which) => put(&mut item, attribute.name, malformed(attribute, which)),
            Self::Missing(attribute) => drop(item.remove(attribute.name)),
            Self::Mistyped(attribute, wrong) => put(&mut item, attribute.name, wrong.value()),
            Self::Newer => item.extend(newer()),
            Self::NewerState => {
                put(&mut item, "noticeState", text("snoozed"));
                put(&mut item, "noticeSince", text("2026-05-23T10:00:00.000Z"));
            }
            Self::Type(wrong) => wrong.done_to(entity, &mut item),
        }
        item
    }
}

impl Named {
    fn done_to(self, entity: Entity, item: &mut Item) {
        let another = if entity == Entity::UserStamp { "COMPLETED" } else { "USER_STAMP" };
        match self {
            Self::Another => put(item, "entityType", text(another)),
            Self::Missing => drop(item.remove("entityType")),
            Self::Mistyped => put(item, "entityType", AttributeValue::N("1".to_owned())),
            Self::Unknown => put(item, "entityType", text("TOMBOLA")),
        }
    }
}

impl Astray {
    /// Gives the item index keys that are wrong.
    pub fn done_to(self, item: &mut Item, names: &Names) {
        let (rally, at) = (&names.other_rally, "2026-05-23T10:00:00.000Z");
        let (user, stamp) = (&names.other_person, "001");
        let (index, pk, sk) = match self {
            Self::Events => ("GSI1", "EVENTS".to_owned(), format!("{at}#{rally}")),
            Self::Holders => ("GSI2", format!("EVENT#{rally}#STAMP#{stamp}"), format!("{at}#{user}")),
            Self::Masters => ("GSI1", format!("EVENT#{rally}#STAMP_MASTERS"), "002".to_owned()),
            Self::OutOfOrder => return put(item, "GSI1SK", text("~~~")),
            Self::Parked => ("GSI1", format!("EVENT#{rally}#PUSH_HELD"), format!("{at}#{user}#STAMP#{stamp}")),
            Self::Unlisted => {
                return ["GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK"].into_iter().for_each(|name| drop(item.remove(name)));
            }
            Self::Users => ("GSI1", format!("EVENT#{rally}#USERS"), format!("{at}#{user}")),
        };
        put(item, &format!("{index}PK"), text(pk));
        put(item, &format!("{index}SK"), text(sk));
    }
}

impl Type {
    /// A value of this type.
    pub fn value(self) -> AttributeValue {
        match self {
            Self::Binary => AttributeValue::B(Blob::new("x")),
            Self::Bool => AttributeValue::Bool(true),
            Self::List => AttributeValue::L(vec![text("x")]),
            Self::Map => AttributeValue::M(HashMap::from([("x".to_owned(), text("x"))])),
            Self::Null => AttributeValue::Null(true),
            Self::Number => AttributeValue::N("7".to_owned()),
            Self::Set => AttributeValue::Ss(vec!["x".to_owned()]),
            Self::String => text("x"),
        }
    }
}

fn elsewhere(attribute: Attribute, names: &Names) -> AttributeValue {
    match attribute.name {
        "channel" => text("other"),
        "eventId" => text(&names.other_rally),
        "lineUserId" => text(&names.other_person),
        "number" => AttributeValue::N("77".to_owned()),
        "occurredAt" => text("2026-05-23T10:00:00.001Z"),
        _ => text("another"),
    }
}

fn malformed(attribute: Attribute, which: usize) -> AttributeValue {
    let one_of = |values: [&str; 3]| text(values[which]);
    match (attribute.form, attribute.name) {
        (Form::Number, _) => AttributeValue::N(["0.5", "-1", "100000"][which].to_owned()),
        (Form::Numbers, _) => {
            let number = |digits: &str| AttributeValue::N(digits.to_owned());
            AttributeValue::L([vec![text("1")], vec![number("0")], vec![number("1"), number("33")]][which].clone())
        }
        (Form::Time, _) => one_of(["2026-05-01", "2026-05-23T10:00:00Z", "2026-05-23T19:00:00.000+09:00"]),
        (Form::UserId, _) => one_of(["hanako", "U12#34", ""]),
        (_, "timeZone") => one_of(["Mars/Olympus", "+09:00", ""]),
        (_, "liffId") => one_of(["an app", "1234567890", ""]),
        (_, "name") => one_of(["", "   ", "a\nb"]),
        (_, "requestId") => one_of(["", "a b", "あ"]),
        _ => one_of(["", "a#b", "あ い"]),
    }
}

/// Attributes that no version knows yet, one of each type that there is.
pub fn newer() -> Item {
    let types = [
        ("weather", Type::String),
        ("weight", Type::Number),
        ("isWet", Type::Bool),
        ("photo", Type::Binary),
        ("walks", Type::List),
        ("shop", Type::Map),
        ("labels", Type::Set),
        ("remark", Type::Null),
    ];
    types.into_iter().map(|(name, kind)| (name.to_owned(), kind.value())).collect()
}

fn put(item: &mut Item, name: &str, value: AttributeValue) {
    item.insert(name.to_owned(), value);
}

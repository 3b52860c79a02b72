//! The items that are planted: their keys, and how they are as long as nothing is wrong with them.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};

use super::{
    attributes::Entity,
    plan::{Damage, Place, Plan, Spot},
};
use crate::house::{CHANNEL, flex};

pub type Item = HashMap<String, AttributeValue>;

/// What a plan's rallies, participants and times are called.
#[derive(Clone, Debug)]
pub struct Names {
    pub rally: String,
    pub person: String,
    /// One that the participant has.
    pub stamp: &'static str,
    pub other_rally: String,
    pub other_person: String,
    /// There is no such rally, and no such participant.
    pub new_rally: String,
    pub new_person: String,
    pub now: String,
    pub later: String,
}

/// Where a new master's stamp is on the card.
pub const NEW_STAMP_ID: &str = "900";

/// A stamp that is not acquired when the item is planted.
pub const STAMP_TO_COME: &str = "003";

/// The whole item that a plan is about, if it is new; its key, if it is there.
pub fn whole(plan: &Plan, names: &Names) -> Item {
    let json = match (plan.target.entity, plan.damage) {
        (_, Damage::Foreign(spot)) => foreign(spot, names),
        (Entity::Completed, _) => completed(names),
        (Entity::Event, _) => event(plan.target.place, names),
        (Entity::Friendship | Entity::Foreign, _) => friendship(names),
        (Entity::Master, _) => master(plan.target.place, names),
        (Entity::Resend, _) => resend(names),
        (Entity::User, _) => user(plan.target.place, names),
        (Entity::UserStamp, _) => user_stamp(plan.target.place, names),
    };
    let mut item = from_json(&json);
    if let Damage::Foreign(Spot::In(list)) = plan.damage {
        list.done_to(&mut item, names);
    }
    item
}

/// The key of an item.
pub fn key_of(item: &Item) -> Item {
    ["PK", "SK"].map(|name| (name.to_owned(), item[name].clone())).into()
}

pub fn text(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

/// A string among the attributes of an item.
pub fn string<'i>(item: &'i Item, name: &str) -> &'i str {
    item[name].as_s().unwrap()
}

fn from_json(json: &Value) -> Item {
    serde_dynamo::to_item::<_, Item>(json).unwrap()
}

fn event(place: Place, names: &Names) -> Value {
    let id = if place == Place::New { &names.new_rally } else { &names.rally };
    json!({
        "PK": format!("EVENT#{id}"), "SK": "METADATA", "entityType": "EVENT",
        "GSI1PK": "EVENTS", "GSI1SK": format!("{}#{id}", names.now),
        "eventId": id, "name": "冬のラリー", "channel": CHANNEL, "timeZone": "Asia/Tokyo", "indexShards": 1,
        "startsAt": names.now, "endsAt": names.later, "createdAt": names.now, "updatedAt": names.now,
    })
}

fn master(place: Place, Names { rally, stamp, now, .. }: &Names) -> Value {
    let id = if place == Place::New { NEW_STAMP_ID } else { *stamp };
    json!({
        "PK": format!("EVENT#{rally}#STAMP#{id}"), "SK": "MASTER", "entityType": "STAMP_MASTER",
        "GSI1PK": format!("EVENT#{rally}#STAMP_MASTERS"), "GSI1SK": "009",
        "eventId": rally, "stampId": id, "name": format!("{rally}-{id}"), "order": 9, "isActive": true,
        "flexMessageContent": flex("{{stamp.name}} {{card.acquired}}/{{card.total}}"), "updatedAt": now,
    })
}

fn user(place: Place, Names { rally, person, new_person, now, .. }: &Names) -> Value {
    let id = if place == Place::New { new_person } else { person };
    json!({
        "PK": format!("EVENT#{rally}#USER#{id}"), "SK": "PROFILE", "entityType": "USER",
        "GSI1PK": format!("EVENT#{rally}#USERS"), "GSI1SK": format!("{now}#{id}"),
        "eventId": rally, "lineUserId": id, "createdAt": now, "updatedAt": now, "requestId": "a-script",
    })
}

fn user_stamp(place: Place, Names { rally, person, stamp, now, .. }: &Names) -> Value {
    let id = if place == Place::New { STAMP_TO_COME } else { *stamp };
    json!({
        "PK": format!("EVENT#{rally}#USER#{person}"), "SK": format!("STAMP#{id}"), "entityType": "USER_STAMP",
        "GSI2PK": format!("EVENT#{rally}#STAMP#{id}"), "GSI2SK": format!("{now}#{person}"),
        "eventId": rally, "lineUserId": person, "stampId": id, "acquiredAt": now, "requestId": "a-script",
        "flexMessageSent": false,
    })
}

fn resend(Names { rally, person, now, .. }: &Names) -> Value {
    json!({
        "PK": format!("EVENT#{rally}#USER#{person}"), "SK": "RESEND#001#001", "entityType": "RESEND",
        "eventId": rally, "lineUserId": person, "stampId": "001", "number": 1, "requestedBy": "a-script",
        "requestedAt": now, "flexMessageSent": false,
    })
}

fn completed(Names { rally, person, now, .. }: &Names) -> Value {
    json!({
        "PK": format!("EVENT#{rally}#USER#{person}"), "SK": "COMPLETED", "entityType": "COMPLETED",
        "eventId": rally, "lineUserId": person, "completedAt": now, "byStampId": "001", "flexMessageSent": false,
    })
}

fn friendship(Names { person, .. }: &Names) -> Value {
    let at = "2026-05-23T10:00:00.000Z";
    json!({
        "PK": format!("CHANNEL#{CHANNEL}#USER#{person}"), "SK": format!("FRIEND#{at}#01HX"), "entityType": "FRIENDSHIP",
        "channel": CHANNEL, "lineUserId": person, "following": true, "occurredAt": at, "webhookEventId": "01HX",
    })
}

fn foreign(spot: Spot, Names { rally, person, new_rally, now, .. }: &Names) -> Value {
    let (pk, sk) = match spot {
        Spot::BesideFacts => (format!("EVENT#{rally}#USER#{person}"), "NOTE#1".to_owned()),
        Spot::In(_) => (format!("TOMBOLA#{rally}"), "PRIZE#1".to_owned()),
        Spot::OfAStamp => (format!("EVENT#{rally}#USER#{person}"), format!("STAMP#{STAMP_TO_COME}")),
        Spot::OfAnEvent => (format!("EVENT#{new_rally}"), "METADATA".to_owned()),
    };
    let mut item = json!({ "PK": pk, "SK": sk, "entityType": "TOMBOLA", "drawnAt": now });
    if spot == Spot::OfAnEvent {
        item["GSI1PK"] = json!("EVENTS");
        item["GSI1SK"] = json!(format!("{now}#{new_rally}"));
    }
    item
}

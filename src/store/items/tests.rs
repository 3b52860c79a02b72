//! The stored form of every item, attribute by attribute, as DynamoDB JSON.

mod handed_out;
mod notices;
mod progress;
mod settings;
mod shard;
mod staff;

use std::collections::HashMap;

use serde_json::{Value, json};

use super::*;
use crate::domain::{
    event::IndexShards,
    fact::{Completed, Fact, Friendship, Resend, ResendCompleted, User, UserStamp},
    ids::LineUserId,
    notice::NoticeStatus,
    time::Timestamp,
};
use settings::{article_master, rally_json};

const PARTICIPANT: &str = "EVENT#stamp-rally-202606#USER#U1234567890abcdef";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn hanako() -> LineUserId {
    LineUserId::stored("U1234567890abcdef").unwrap()
}

fn shards(count: i64) -> IndexShards {
    IndexShards::try_from(count).unwrap()
}

fn waiting() -> NoticeStatus {
    NoticeStatus::Pending { maybe_sent_at: None }
}

/// An item as the table shows it to an operator.
fn shown(item: Item) -> Value {
    serde_json::to_value(serde_dynamo::Item::from(item)).unwrap()
}

fn stored(json: Value) -> serde_dynamo::Item {
    serde_json::from_value(json).unwrap()
}

/// `json` with some attributes changed or added, or taken away by a null.
fn with(mut json: Value, change: Value) -> Value {
    let Value::Object(change) = change else { panic!("an object") };
    let fields = json.as_object_mut().unwrap();
    for (name, value) in change {
        if value.is_null() {
            fields.remove(&name)
        } else {
            fields.insert(name, value)
        };
    }
    json
}

/// An item is written like this, and reads back as what it was written from.
fn is_pinned(value: Stored, item: Item, json: Value) {
    assert_eq!(shown(item), json);
    assert_eq!(decode(stored(json)), Ok(value));
}

fn registered() -> User {
    User {
        event_id: "stamp-rally-202606".parse().unwrap(),
        line_user_id: hanako(),
        created_at: at("2026-05-23T10:00:00.000Z"),
        updated_at: at("2026-05-23T10:00:00.000Z"),
        request_id: None,
    }
}

/// The source article's own `USER`.
fn article_user() -> Value {
    json!({
        "PK": {"S": PARTICIPANT}, "SK": {"S": "PROFILE"}, "entityType": {"S": "USER"},
        "eventId": {"S": "stamp-rally-202606"}, "lineUserId": {"S": "U1234567890abcdef"},
        "createdAt": {"S": "2026-05-23T10:00:00.000Z"}, "updatedAt": {"S": "2026-05-23T10:00:00.000Z"},
        "GSI1PK": {"S": "EVENT#stamp-rally-202606#USERS"},
        "GSI1SK": {"S": "2026-05-23T10:00:00.000Z#U1234567890abcdef"},
    })
}

#[test]
fn a_user_is_pinned_and_the_articles_one_reads_back() {
    let is_user = |user: &User| Stored::Fact(Fact::User(user.clone()));
    is_pinned(is_user(&registered()), user(&registered(), IndexShards::ONE), article_user());
    let ours = User { request_id: Some("r-1".parse().unwrap()), ..registered() };
    let json =
        with(article_user(), json!({"requestId": {"S": "r-1"}, "GSI1PK": {"S": "EVENT#stamp-rally-202606#USERS#12"}}));
    is_pinned(is_user(&ours), user(&ours, shards(32)), json);
}

fn acquired(notice: NoticeStatus) -> UserStamp {
    UserStamp {
        proof: None,
        event_id: "stamp-rally-202606".parse().unwrap(),
        line_user_id: hanako(),
        stamp_id: "001".parse().unwrap(),
        acquired_at: at("2026-05-23T11:30:00.000Z"),
        request_id: None,
        notice,
    }
}

/// The source article's own `USER_STAMP`.
fn article_stamp() -> Value {
    json!({
        "PK": {"S": PARTICIPANT}, "SK": {"S": "STAMP#001"}, "entityType": {"S": "USER_STAMP"},
        "eventId": {"S": "stamp-rally-202606"}, "lineUserId": {"S": "U1234567890abcdef"}, "stampId": {"S": "001"},
        "acquiredAt": {"S": "2026-05-23T11:30:00.000Z"},
        "flexMessageSent": {"BOOL": true}, "flexMessageSentAt": {"S": "2026-05-23T11:30:02.123Z"},
    })
}

/// A stamp as it is written: in `GSI2`, its notice unsent.
fn new_stamp() -> Value {
    with(
        article_stamp(),
        json!({
            "flexMessageSent": {"BOOL": false}, "flexMessageSentAt": null,
            "GSI2PK": {"S": "EVENT#stamp-rally-202606#STAMP#001"},
            "GSI2SK": {"S": "2026-05-23T11:30:00.000Z#U1234567890abcdef"},
        }),
    )
}

fn is_stamp(notice: NoticeStatus) -> Stored {
    Stored::Fact(Fact::UserStamp(acquired(notice)))
}

#[test]
fn the_articles_stamp_reads_back_sent_and_without_a_request() {
    let sent = NoticeStatus::Sent { at: Some(at("2026-05-23T11:30:02.123Z")), request_id: None, via: None };
    assert_eq!(decode(stored(article_stamp())), Ok(is_stamp(sent)));
}

#[test]
fn an_acquired_stamp_is_pinned_unsent_and_without_a_time_of_sending() {
    is_pinned(is_stamp(waiting()), user_stamp(&acquired(waiting()), IndexShards::ONE), new_stamp());
    let ours = UserStamp { request_id: Some("r-1".parse().unwrap()), ..acquired(waiting()) };
    let json =
        with(new_stamp(), json!({"requestId": {"S": "r-1"}, "GSI2PK": {"S": "EVENT#stamp-rally-202606#STAMP#001#12"}}));
    is_pinned(Stored::Fact(Fact::UserStamp(ours.clone())), user_stamp(&ours, shards(32)), json);
}

#[test]
fn a_resend_is_pinned() {
    let again = Resend {
        event_id: "stamp-rally-202606".parse().unwrap(),
        line_user_id: hanako(),
        stamp_id: "001".parse().unwrap(),
        number: 2,
        requested_by: "town-office".to_owned(),
        requested_at: at("2026-05-24T00:00:00.000Z"),
        notice: waiting(),
    };
    let json = json!({
        "PK": {"S": PARTICIPANT}, "SK": {"S": "RESEND#001#002"}, "entityType": {"S": "RESEND"},
        "eventId": {"S": "stamp-rally-202606"}, "lineUserId": {"S": "U1234567890abcdef"}, "stampId": {"S": "001"},
        "number": {"N": "2"}, "requestedBy": {"S": "town-office"},
        "requestedAt": {"S": "2026-05-24T00:00:00.000Z"}, "flexMessageSent": {"BOOL": false},
    });
    is_pinned(Stored::Fact(Fact::Resend(again.clone())), resend(&again), json);
}

#[test]
fn a_resend_of_a_completed_card_is_pinned() {
    let again = ResendCompleted {
        event_id: "stamp-rally-202606".parse().unwrap(),
        line_user_id: hanako(),
        number: 2,
        requested_by: "town-office".to_owned(),
        requested_at: at("2026-05-24T00:00:00.000Z"),
        notice: waiting(),
    };
    let json = json!({
        "PK": {"S": PARTICIPANT}, "SK": {"S": "RESEND_COMPLETED#002"}, "entityType": {"S": "RESEND_COMPLETED"},
        "eventId": {"S": "stamp-rally-202606"}, "lineUserId": {"S": "U1234567890abcdef"},
        "number": {"N": "2"}, "requestedBy": {"S": "town-office"},
        "requestedAt": {"S": "2026-05-24T00:00:00.000Z"}, "flexMessageSent": {"BOOL": false},
    });
    is_pinned(Stored::Fact(Fact::ResendCompleted(again.clone())), resend_completed(&again), json);
}

#[test]
fn a_completed_card_is_pinned_and_has_a_mark_only_where_a_message_is_due() {
    let quiet = Completed {
        event_id: "stamp-rally-202606".parse().unwrap(),
        line_user_id: hanako(),
        completed_at: at("2026-05-23T14:00:00.000Z"),
        by_stamp_id: "002".parse().unwrap(),
        notice: NoticeStatus::None,
    };
    let json = json!({
        "PK": {"S": PARTICIPANT}, "SK": {"S": "COMPLETED"}, "entityType": {"S": "COMPLETED"},
        "eventId": {"S": "stamp-rally-202606"}, "lineUserId": {"S": "U1234567890abcdef"},
        "completedAt": {"S": "2026-05-23T14:00:00.000Z"}, "byStampId": {"S": "002"},
    });
    is_pinned(Stored::Fact(Fact::Completed(quiet.clone())), completed(&quiet), json.clone());
    let loud = Completed { notice: waiting(), ..quiet };
    let json = with(json, json!({"flexMessageSent": {"BOOL": false}}));
    is_pinned(Stored::Fact(Fact::Completed(loud.clone())), completed(&loud), json);
}

#[test]
fn a_follow_is_pinned() {
    let follow = Friendship {
        channel: "main".parse().unwrap(),
        line_user_id: hanako(),
        following: true,
        occurred_at: at("2026-05-23T09:00:00.000Z"),
        webhook_event_id: "01HXYZ".parse().unwrap(),
    };
    let json = json!({
        "PK": {"S": "CHANNEL#main#USER#U1234567890abcdef"}, "SK": {"S": "FRIEND#2026-05-23T09:00:00.000Z#01HXYZ"},
        "entityType": {"S": "FRIENDSHIP"}, "channel": {"S": "main"}, "lineUserId": {"S": "U1234567890abcdef"},
        "following": {"BOOL": true}, "occurredAt": {"S": "2026-05-23T09:00:00.000Z"},
        "webhookEventId": {"S": "01HXYZ"},
    });
    is_pinned(Stored::Friendship(follow.clone()), friendship(&follow), json);
}

#[test]
fn the_streams_own_types_go_through_the_same_decoder() {
    use aws_sdk_dynamodbstreams::types::AttributeValue as Streamed;
    let image: HashMap<String, Streamed> = stored(new_stamp()).into();
    assert_eq!(decode(image), Ok(is_stamp(waiting())));
}

#[test]
fn an_entity_of_a_later_version_is_passed_over() {
    let json = json!({"PK": {"S": "EVENT#e"}, "SK": {"S": "TICKET#1"}, "entityType": {"S": "TICKET"}});
    assert_eq!(decode(stored(json)), Ok(Stored::Other("TICKET".to_owned())));
}

#[test]
fn an_attribute_of_a_later_version_is_passed_over() {
    let json = with(article_user(), json!({"nickname": {"S": "はなこ"}, "ttl": {"N": "1"}}));
    assert_eq!(decode(stored(json)), Ok(Stored::Fact(Fact::User(registered()))));
}

#[test]
fn an_item_that_cannot_be_read_names_itself_and_the_attribute() {
    let error = decode(stored(with(new_stamp(), json!({"acquiredAt": {"S": "yesterday"}})))).unwrap_err();
    assert_eq!(
        (error.pk.as_str(), error.sk.as_str(), error.attribute.as_str()),
        (PARTICIPANT, "STAMP#001", "acquiredAt")
    );
    let broken = [
        (new_stamp(), json!({"acquiredAt": null}), "acquiredAt"),
        (new_stamp(), json!({"entityType": null}), "entityType"),
        (new_stamp(), json!({"acquiredAt": {"N": "5"}}), "acquiredAt"),
        (new_stamp(), json!({"flexMessageSent": {"S": "false"}}), "flexMessageSent"),
        (new_stamp(), json!({"noticeState": {"S": "asleep"}}), "noticeState"),
        (article_stamp(), json!({"noticeVia": {"S": "pigeon"}}), "noticeVia"),
        (new_stamp(), json!({"noticeState": {"S": "held"}}), "noticeSince"),
        (new_stamp(), json!({"stampId": {"S": "002"}}), "SK"),
        (new_stamp(), json!({"eventId": {"S": "other"}}), "PK"),
        (new_stamp(), json!({"PK": null}), "PK"),
        (article_user(), json!({"lineUserId": {"S": "#"}}), "lineUserId"),
        (article_master(), json!({"order": {"N": "1.5"}}), "order"),
        (article_master(), json!({"order": {"N": "0"}}), "order"),
        (article_master(), json!({"isActive": null}), "isActive"),
        (article_master(), json!({"flexMessageContent": {"SS": ["a"]}}), "flexMessageContent"),
        (article_master(), json!({"flexMessageContent": {"S": "{}"}}), "flexMessageContent"),
        (article_master(), json!({"flexMessageContent": {"NULL": true}}), "flexMessageContent"),
        (rally_json(), json!({"completionMessageContent": {"L": []}}), "completionMessageContent"),
        (rally_json(), json!({"endsAt": {"S": "2026-05-23T00:00:00.000Z"}}), "endsAt"),
        (rally_json(), json!({"timeZone": {"S": "Asia/Edo"}}), "timeZone"),
        (rally_json(), json!({"indexShards": {"N": "33"}}), "indexShards"),
    ];
    for (item, change, attribute) in broken {
        assert_eq!(decode(stored(with(item, change.clone()))).unwrap_err().attribute, attribute, "{change}");
    }
    assert!(decode(stored(json!({}))).is_err());
}

#[test]
fn an_item_of_another_type_than_its_key_promises_is_refused() {
    let error = decode_as::<User>(stored(new_stamp())).unwrap_err();
    assert_eq!(error.pk, PARTICIPANT);
    let text = error.to_string();
    assert!(text.ends_with(" STAMP#001 can't be read: entityType is USER_STAMP, not USER"), "{text}");
    assert!(!text.contains("U1234567890abcdef"), "as text it may be logged: {text}");
}

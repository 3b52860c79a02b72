//! `stamp-rally table check`: each item of both tables that can't be read or contradicts another is
//! listed once, by key.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use stamp_rally::store::check::Finding;

use super::{
    reconcile::{TARO, acquired},
    *,
};

pub(super) const MAIN: &str = "line-event";
const CONSUMERS: &str = "line-event-consumers";
const AT: &str = "2026-05-23T10:00:00.000Z";
const LATER: &str = "2026-05-23T11:00:00.000Z";

fn attribute(value: &Value) -> AttributeValue {
    match value {
        Value::Bool(flag) => AttributeValue::Bool(*flag),
        Value::Number(number) => AttributeValue::N(number.to_string()),
        Value::String(text) => AttributeValue::S(text.clone()),
        Value::Array(values) => AttributeValue::L(values.iter().map(attribute).collect()),
        Value::Object(map) => {
            AttributeValue::M(map.iter().map(|(name, value)| (name.clone(), attribute(value))).collect())
        }
        Value::Null => AttributeValue::Null(true),
    }
}

type Item = HashMap<String, AttributeValue>;

impl Desk {
    fn client(&self) -> aws_sdk_dynamodb::Client {
        Clients::at(&self.engine_url, &Timeouts::request()).table
    }

    pub(super) async fn stored(&self, table: &str, key: [&str; 2]) -> Option<Item> {
        let [pk, sk] = key.map(|key| AttributeValue::S(key.to_owned()));
        self.client().get_item().table_name(table).key("PK", pk).key("SK", sk).send().await.unwrap().item
    }

    pub(super) async fn put(&self, table: &str, item: Item) {
        self.client().put_item().table_name(table).set_item(Some(item)).send().await.unwrap();
    }

    async fn delete(&self, table: &str, key: [&str; 2]) {
        let [pk, sk] = key.map(|key| AttributeValue::S(key.to_owned()));
        self.client().delete_item().table_name(table).key("PK", pk).key("SK", sk).send().await.unwrap();
    }

    /// Changes an item, or makes one: `null` takes an attribute away.
    pub(super) async fn patch(&self, table: &str, key: [&str; 2], patch: &Value) {
        let mut item = self.stored(table, key).await.unwrap_or_default();
        for (name, text) in ["PK", "SK"].iter().zip(key) {
            item.insert((*name).to_owned(), AttributeValue::S(text.to_owned()));
        }
        for (name, value) in patch.as_object().unwrap() {
            match value {
                Value::Null => drop(item.remove(name)),
                value => drop(item.insert(name.clone(), attribute(value))),
            }
        }
        self.put(table, item).await;
    }

    pub(super) async fn findings(&self, event_id: Option<&str>) -> Vec<Finding> {
        let mut pass = self.store().check(event_id.map(|id| id.parse().unwrap()), time("2026-06-01T00:00:00.000Z"));
        let mut findings = Vec::new();
        while !pass.is_over() {
            findings.extend(pass.step().await.unwrap());
        }
        findings
    }
}

fn participant(person: &str) -> String {
    format!("EVENT#{ID}#USER#{person}")
}

/// A rally with an item of every kind in both tables, each as it should be.
async fn sound() -> Desk {
    let desk = Desk::with_rally();
    acquired(&desk, HANAKO, None).await;
    let hanako = participant(HANAKO);
    let fact = json!({"eventId": ID, "lineUserId": HANAKO});
    let with = |more: Value| {
        let mut all = fact.as_object().unwrap().clone();
        all.extend(more.as_object().unwrap().clone());
        Value::Object(all)
    };
    let parked = with(json!({
        "entityType": "USER_STAMP", "stampId": "002", "acquiredAt": AT, "flexMessageSent": false,
        "noticeState": "failed", "noticeSince": LATER, "GSI1PK": format!("EVENT#{ID}#PUSH_FAILED"),
        "GSI1SK": format!("{LATER}#{HANAKO}#STAMP#002"),
        "GSI2PK": format!("EVENT#{ID}#STAMP#002"), "GSI2SK": format!("{AT}#{HANAKO}"),
    }));
    let resend = with(json!({
        "entityType": "RESEND", "stampId": "001", "number": 1, "requestedBy": "cli:yamada", "requestedAt": LATER,
        "flexMessageSent": true, "flexMessageSentAt": LATER,
    }));
    let completed = with(json!({
        "entityType": "COMPLETED", "completedAt": AT, "byStampId": "002", "flexMessageSent": true,
        "flexMessageSentAt": LATER,
    }));
    let friendship = json!({
        "entityType": "FRIENDSHIP", "channel": "main", "lineUserId": HANAKO, "following": true, "occurredAt": AT,
        "webhookEventId": "01HX",
    });
    let chat = json!({"entityType": "CHATROOM", "GSI1PK": "ROOMS", "GSI1SK": "1"});
    let main = [
        ([hanako.as_str(), "STAMP#002"], parked),
        ([&hanako, "RESEND#001#001"], resend),
        ([&hanako, "COMPLETED"], completed),
        (FRIENDSHIP, friendship),
        (["CHATROOM#1", "INFO"], chat),
    ];
    for (key, item) in main {
        desk.patch(MAIN, key, &item).await;
    }
    for (key, item) in [
        (
            SHARD,
            json!({
                "entityType": "SHARD_PROGRESS", "shardId": "s-1", "owner": "w", "fence": 3, "beat": 9,
                "checkpoint": "100000000000000000001", "finished": false, "uncoveredFrom": AT,
                "handedOutThrough": LATER, "doubtful": [format!("{AT}/{LATER}")], "updatedAt": LATER,
            }),
        ),
        (WORKER, json!({"beat": 3, "errand": "push"})),
        (
            BATCH,
            json!({"entityType": "BATCH_PROGRESS", "uncoveredFrom": AT, "handedOutThrough": LATER, "updatedAt": LATER}),
        ),
        (NAMED_BATCH, json!({"entityType": "BATCH_PROGRESS", "events": {}, "updatedAt": LATER})),
        (FUNCTION, json!({"entityType": "FUNCTION_PROGRESS", "updatedAt": LATER})),
        (FOLLOWED, json!({"entityType": "CONSUMER_STREAM", "streamArn": "arn:x", "updatedAt": LATER})),
        (
            RUN,
            json!({
                "entityType": "RECONCILE_RUN", "runId": "r-1", "eventId": ID, "uncoveredFrom": AT,
                "handedOutThrough": LATER, "since": LATER,
            }),
        ),
        (
            COUNTS,
            json!({
                "entityType": "COUNTS", "hour": "2026-05-23T19:00+09:00", "registrations": 1, "completions": 1,
                "stamps": {"001": 1, "002": 1},
            }),
        ),
        (PENDING, json!({"entityType": "PENDING_COMPLETION", "id": "x", "updatedAt": LATER})),
        (
            BACKFILL,
            json!({
                "entityType": "BACKFILL", "after": {"PK": "EVENT#r", "SK": "METADATA"}, "lookedAt": 1, "filled": 1,
                "overtaken": 0, "left": 0, "updatedAt": LATER,
            }),
        ),
        ([SHARD[0], "OF-A-NEWER-VERSION"], json!({})),
        ([COUNTS[0], "OF-A-NEWER-VERSION"], json!({})),
    ] {
        desk.patch(CONSUMERS, key, &item).await;
    }
    desk
}

const FRIENDSHIP: [&str; 2] =
    ["CHANNEL#main#USER#U0123456789abcdef0123456789abcdef", "FRIEND#2026-05-23T10:00:00.000Z#01HX"];
const SHARD: [&str; 2] = ["CONSUMER#delivery#STREAM#arn:x", "SHARD#s-1"];
const WORKER: [&str; 2] = [SHARD[0], "WORKER#w-2"];
const BATCH: [&str; 2] = [SHARD[0], "BATCH#4421584500000000017450439091"];
/// One that names its events, as batches do today.
const NAMED_BATCH: [&str; 2] = [SHARD[0], "BATCH#4421584500000000017450439092"];
const FUNCTION: [&str; 2] = [SHARD[0], "FUNCTION"];
const FOLLOWED: [&str; 2] = ["CONSUMER#delivery", "STREAM"];
const RUN: [&str; 2] = ["CONSUMER#delivery#RECONCILE", "RUN#r-1"];
const COUNTS: [&str; 2] = ["COUNTS#stamp-rally-202606", "HOUR#2026-05-23T19:00+09:00#arn:x#s-1"];
const PENDING: [&str; 2] = ["PENDING_COMPLETIONS", "stamp-rally-202606#U0123456789abcdef0123456789abcdef"];
const BACKFILL: [&str; 2] = ["BACKFILL#gsi2", "PROGRESS"];
const PUSHES: [&str; 2] = ["PUSHES#main", "2026-05"];

#[tokio::test]
async fn a_sound_house_has_no_findings() {
    let desk = sound().await;
    assert_eq!(desk.findings(None).await, []);
    let told = desk.run(&["table", "check"]).done();
    assert_eq!(told, "22 items looked at, 0 found\n");
    assert_eq!(desk.run(&["table", "check", "--json", "--event", ID]).done(), "");
}

/// Each item is broken alone, found alone, and put right again.
async fn each_is_found(desk: &Desk, table: &str, cases: &[([&str; 2], Value, &str)]) {
    for (key, patch, attribute) in cases {
        let before = desk.stored(table, *key).await;
        desk.patch(table, *key, patch).await;
        let found = desk.findings(None).await;
        let names: Vec<_> =
            found.iter().map(|f| (f.table.as_str(), [f.pk.as_str(), f.sk.as_str()], f.attribute.as_str())).collect();
        assert_eq!(names, [(table, *key, *attribute)], "{key:?} {patch}: {found:#?}");
        assert!(found.iter().all(|finding| !finding.problem.is_empty() && finding.remedy.len() > 10), "{found:?}");
        match before {
            Some(item) => desk.put(table, item).await,
            None => desk.delete(table, *key).await,
        }
    }
    assert_eq!(desk.findings(None).await, [], "all are put right");
}

#[tokio::test]
async fn each_setting_that_can_not_be_read_or_is_listed_wrongly_is_found_by_its_key() {
    let desk = sound().await;
    let (event, master) = (format!("EVENT#{ID}"), format!("EVENT#{ID}#STAMP#001"));
    let (event, master) = ([event.as_str(), "METADATA"], [master.as_str(), "MASTER"]);
    let lost = ["EVENT#lost#STAMP#001", "MASTER"];
    let of_lost = json!({
        "entityType": "STAMP_MASTER", "eventId": "lost", "stampId": "001", "name": "x", "order": 1, "isActive": true,
        "flexMessageContent": {}, "GSI1PK": "EVENT#lost#STAMP_MASTERS", "GSI1SK": "001",
    });
    let cases = [
        (event, json!({"startsAt": "2026-05-01"}), "startsAt"),
        (event, json!({"name": null}), "name"),
        (event, json!({"indexShards": 33}), "indexShards"),
        (event, json!({"eventId": "other"}), "PK"),
        (event, json!({"entityType": "USER"}), "lineUserId"),
        (event, json!({"entityType": "CHATROOM"}), "entityType"),
        (event, json!({"GSI1PK": null, "GSI1SK": null}), "GSI1PK"),
        (event, json!({"GSI1SK": format!("{AT}#{ID}")}), "GSI1SK"),
        (master, json!({"isActive": null}), "isActive"),
        (master, json!({"order": "1"}), "order"),
        (master, json!({"stampId": "002"}), "PK"),
        (master, json!({"GSI1SK": "009"}), "GSI1SK"),
        (master, json!({"GSI1PK": "EVENT#lost#STAMP_MASTERS"}), "GSI1PK"),
        (lost, of_lost, "eventId"),
    ];
    each_is_found(&desk, MAIN, &cases).await;
}

#[tokio::test]
async fn each_fact_that_can_not_be_read_or_contradicts_another_is_found_by_its_key() {
    let desk = sound().await;
    let (hanako, taro, lost) = (participant(HANAKO), participant(TARO), format!("EVENT#lost#USER#{TARO}"));
    let at = |sort: &'static str| [hanako.as_str(), sort];
    let (user, stamp, parked) = (at("PROFILE"), at("STAMP#001"), at("STAMP#002"));
    let (resend, completed) = (at("RESEND#001#001"), at("COMPLETED"));
    let taros = |event: &str, stamp: &str| {
        json!({
            "entityType": "USER_STAMP", "eventId": event, "lineUserId": TARO, "stampId": stamp, "acquiredAt": AT,
            "flexMessageSent": false,
        })
    };
    let of_no_stamp = json!({
        "entityType": "USER_STAMP", "eventId": ID, "lineUserId": HANAKO, "stampId": "009", "acquiredAt": AT,
        "flexMessageSent": true, "flexMessageSentAt": AT,
    });
    let cases = [
        (user, json!({"createdAt": "2026-05-23T10:00:00Z"}), "createdAt"),
        (user, json!({"GSI1SK": format!("{LATER}#{HANAKO}")}), "GSI1SK"),
        (user, json!({"GSI1PK": format!("EVENT#{ID}#USERS#07")}), "GSI1PK"),
        (user, json!({"lineUserId": TARO}), "PK"),
        (stamp, json!({"acquiredAt": null}), "acquiredAt"),
        (stamp, json!({"flexMessageSent": "no"}), "flexMessageSent"),
        (stamp, json!({"entityType": "COMPLETED", "completedAt": AT, "byStampId": "001"}), "SK"),
        (stamp, json!({"GSI2SK": null}), "GSI2SK"),
        (stamp, json!({"GSI2PK": format!("EVENT#{ID}#STAMP#002")}), "GSI2PK"),
        (stamp, json!({"flexMessageSentAt": LATER}), "flexMessageSentAt"),
        (stamp, json!({"GSI1PK": format!("EVENT#{ID}#PUSH_HELD"), "GSI1SK": "1"}), "GSI1PK"),
        (parked, json!({"noticeState": "asleep"}), "noticeState"),
        (parked, json!({"noticeSince": AT}), "GSI1SK"),
        (parked, json!({"GSI1PK": format!("EVENT#{ID}#PUSH_HELD")}), "GSI1PK"),
        (parked, json!({"flexMessageSent": true}), "noticeState"),
        (resend, json!({"number": 2}), "SK"),
        (resend, json!({"requestedBy": null}), "requestedBy"),
        (completed, json!({"byStampId": "009"}), "byStampId"),
        (completed, json!({"completedAt": 7}), "completedAt"),
        (
            at("RESEND#009#001"),
            json!({
                "entityType": "RESEND", "eventId": ID, "lineUserId": HANAKO, "stampId": "009", "number": 1,
                "requestedBy": "x", "requestedAt": AT, "flexMessageSent": true, "flexMessageSentAt": AT,
            }),
            "stampId",
        ),
        (at("STAMP#009"), of_no_stamp, "stampId"),
        (at("RESEND_COMPLETED#001"), full_again(HANAKO, 2), "SK"),
        (at("RESEND_COMPLETED#002"), with_null(full_again(HANAKO, 2), "requestedBy"), "requestedBy"),
        ([&taro, "RESEND_COMPLETED#001"], full_again(TARO, 1), "lineUserId"),
        ([&taro, "STAMP#001"], taros(ID, "001"), "lineUserId"),
        ([&lost, "STAMP#001"], taros("lost", "001"), "eventId"),
        (FRIENDSHIP, json!({"following": null}), "following"),
        (FRIENDSHIP, json!({"occurredAt": LATER}), "SK"),
        (FRIENDSHIP, json!({"GSI1PK": "EVENTS", "GSI1SK": "1"}), "GSI1PK"),
        (["CHATROOM#1", "INFO"], json!({"entityType": null}), "entityType"),
        (["CHATROOM#1", "INFO"], json!({"GSI1PK": format!("EVENT#{ID}#USERS")}), "GSI1PK"),
        (["CHATROOM#1", "INFO"], json!({"entityType": "USER"}), "eventId"),
    ];
    each_is_found(&desk, MAIN, &cases).await;
}

/// A resend of the notice of a full card.
fn full_again(person: &str, number: u16) -> Value {
    json!({
        "entityType": "RESEND_COMPLETED", "eventId": ID, "lineUserId": person, "number": number,
        "requestedBy": "cli:yamada", "requestedAt": AT, "flexMessageSent": true, "flexMessageSentAt": AT,
    })
}

fn with_null(mut item: Value, attribute: &str) -> Value {
    item[attribute] = Value::Null;
    item
}

#[tokio::test]
async fn a_resend_of_a_full_card_is_sound_beside_its_card_and_found_without() {
    let desk = sound().await;
    let hanako = participant(HANAKO);
    desk.patch(MAIN, [&hanako, "RESEND_COMPLETED#001"], &full_again(HANAKO, 1)).await;
    assert_eq!(desk.findings(None).await, []);
    desk.delete(MAIN, [&hanako, "COMPLETED"]).await;
    let found: Vec<_> = desk.findings(None).await.into_iter().map(|finding| finding.sk).collect();
    assert_eq!(found, ["RESEND_COMPLETED#001"]);
}

#[tokio::test]
async fn each_item_of_the_consumers_table_that_can_not_be_read_is_found_by_its_key() {
    let desk = sound().await;
    let cases = [
        (SHARD, json!({"fence": "3"}), "fence"),
        (SHARD, json!({"beat": null}), "beat"),
        (SHARD, json!({"owner": 1}), "owner"),
        (SHARD, json!({"checkpoint": "first"}), "checkpoint"),
        (SHARD, json!({"uncoveredFrom": "May"}), "uncoveredFrom"),
        (SHARD, json!({"doubtful": "all"}), "doubtful"),
        (SHARD, json!({"shardId": "s-2"}), "shardId"),
        (SHARD, json!({"entityType": "RECONCILE_RUN"}), "entityType"),
        (WORKER, json!({"beat": "3"}), "beat"),
        (BATCH, json!({"handedOutThrough": null}), "handedOutThrough"),
        (NAMED_BATCH, json!({"events": "all"}), "events"),
        (FUNCTION, json!({"updatedAt": "noon"}), "updatedAt"),
        (FOLLOWED, json!({"streamArn": 1}), "streamArn"),
        (RUN, json!({"since": "noon"}), "since"),
        (RUN, json!({"eventId": "a#b"}), "eventId"),
        (RUN, json!({"eventId": "lost"}), "eventId"),
        (RUN, json!({"runId": "r-2"}), "runId"),
        (COUNTS, json!({"stamps": "many"}), "stamps"),
        (COUNTS, json!({"registrations": null}), "registrations"),
        (COUNTS, json!({"hour": "2026-05-23T20:00+09:00"}), "hour"),
        (COUNTS, json!({"registrations": 2}), "hour"),
        (COUNTS, json!({"stamps": {"001": 1}}), "hour"),
        (
            ["COUNTS#lost", COUNTS[1]],
            json!({
                "hour": "2026-05-23T19:00+09:00", "registrations": 1, "completions": 0, "stamps": {},
            }),
            "eventId",
        ),
        (PENDING, json!({"id": null}), "id"),
        ([PENDING[0], "nobody"], json!({"id": "x"}), "SK"),
        ([PENDING[0], "lost#U1"], json!({"id": "x"}), "eventId"),
        (BACKFILL, json!({"after": {"PK": "x"}}), "after"),
        (PUSHES, json!({"entityType": "PUSHES", "reserved": -1, "reservation": "r-1"}), "reserved"),
        (PUSHES, json!({"entityType": "PUSHES", "reserved": 1, "reservation": 7}), "reservation"),
        (PUSHES, json!({"entityType": "COUNTS", "reserved": 1, "reservation": "r-1"}), "entityType"),
        (["JUNK", "X"], json!({}), "PK"),
        (["JUNK", "X"], json!({"entityType": "CHATROOM"}), "PK"),
        (["COUNTS", "HOUR#2026-05-23T19:00+09:00#arn:x#s-1"], json!({"entityType": "COUNTS"}), "PK"),
    ];
    each_is_found(&desk, CONSUMERS, &cases).await;
}

#[tokio::test]
async fn the_reserved_pushes_of_a_month_are_sound() {
    let desk = sound().await;
    let item = json!({"entityType": "PUSHES", "reserved": 7, "reservation": "r-1"});
    desk.patch(CONSUMERS, PUSHES, &item).await;
    desk.patch(CONSUMERS, [PUSHES[0], "OF-A-NEWER-VERSION"], &json!({})).await;
    assert_eq!(desk.findings(None).await, []);
}

#[tokio::test]
async fn what_lacks_its_neighbour_for_a_moment_only_is_no_finding() {
    let desk = sound().await;
    desk.delete(MAIN, [&participant(HANAKO), "PROFILE"]).await;
    let missing: Vec<_> = desk.findings(None).await.into_iter().map(|finding| finding.sk).collect();
    assert_eq!(missing, ["COMPLETED", "RESEND#001#001", "STAMP#001", "STAMP#002"]);

    let store = store_of(&Clients::at(&desk.proxy.endpoint_url(), &Timeouts::request()));
    let (gate, mut pass) = (desk.proxy.hold("Query"), store.check(None, time(LATER)));
    let registering = async {
        gate.has_waiting(1).await;
        desk.register(HANAKO, AT).await;
        gate.release();
    };
    let (found, ()) = tokio::join!(pass.step(), registering);
    assert_eq!(found.unwrap(), []);
}

#[tokio::test]
async fn an_event_alone_is_checked_and_its_keys_are_those_of_the_log() {
    let desk = sound().await;
    let other = [("stamp-rally-202606\"", "autumn\""), ("初夏", "秋")];
    desk.apply(&desk.rally(&other[..1])).done();
    desk.patch(MAIN, ["EVENT#autumn#STAMP#001", "MASTER"], &json!({"isActive": null})).await;
    let pk = participant(HANAKO);
    desk.patch(MAIN, [&pk, "PROFILE"], &json!({"createdAt": "yesterday"})).await;
    desk.patch(CONSUMERS, COUNTS, &json!({"stamps": null})).await;
    desk.patch(CONSUMERS, SHARD, &json!({"beat": null})).await;

    let by_event = |told: Output| {
        assert_eq!(told.code, 3, "{told:?}");
        let lines = told.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|line| (line["pk"].as_str().unwrap().to_owned(), line)).collect::<BTreeMap<_, _>>()
    };
    let autumn = by_event(desk.run(&["table", "check", "--json", "--event", "autumn"]));
    assert_eq!(autumn.keys().collect::<Vec<_>>(), ["EVENT#autumn#STAMP#001"]);
    let summer = by_event(desk.run(&["table", "check", "--json", "--event", ID]));
    assert_eq!(summer.keys().collect::<Vec<_>>(), [COUNTS[0], pk.as_str()]);
    let all = by_event(desk.run(&["table", "check", "--json"]));
    assert_eq!(all.len(), 4, "{all:#?}");

    // The log's form of the key finds the item, and the other way round.
    let logged = desk.run(&["users", "list", ID]).err;
    let (hashed, told) = (summer[&pk]["loggedPk"].as_str().unwrap(), desk.run(&["table", "check", "--event", ID]));
    assert!(!hashed.contains(HANAKO) && logged.contains(hashed), "{hashed}: {logged}");
    let block = format!("line-event  {pk}  PROFILE\n  in the log: item.pk {hashed}, item.sk PROFILE\n  createdAt ");
    assert!(told.out.contains(&block) && told.out.ends_with(" found\n"), "{told:?}");
    let line = told.err.lines().last().unwrap();
    assert_eq!(line, "stamp-rally: 2 items can't be read or contradict another: each is listed with its remedy");
    let one = desk.run(&["table", "check", "--event", "autumn"]).err;
    let line = one.lines().last().unwrap();
    assert_eq!(line, "stamp-rally: 1 item can't be read or contradicts another: it is listed with its remedy");
}

#[test]
fn an_event_of_which_there_is_nothing_is_refused() {
    let desk = Desk::with_rally();
    let refused = desk.run(&["table", "check", "--event", "lost"]).refused();
    assert_eq!(refused, "stamp-rally: event \"lost\" does not exist");
}

#[tokio::test]
async fn a_role_as_documented_is_enough_for_a_check() {
    let desk = sound().await;
    // A participant who seems not to be registered is read again, by a Query.
    desk.delete(MAIN, [&participant(HANAKO), "PROFILE"]).await;
    desk.proxy.forget_counts();
    assert_eq!(desk.run(&["table", "check"]).code, 3);
    let mut used = [MAIN, CONSUMERS].map(|_| BTreeSet::new());
    for call in desk.proxy.forget_counts().into_keys() {
        used[usize::from(call.table.as_deref() != Some(MAIN))].insert(format!("`{}`", call.operation));
    }
    let [main, consumers] = used.map(|actions| actions.into_iter().collect::<Vec<_>>().join(", "));
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/deploy.md")).unwrap();
    let row = format!("| `table check` | {main} | {consumers} | |\n");
    assert!(page.contains(&row), "{row}");
}

#[tokio::test]
async fn hours_that_are_not_over_or_not_counted_are_no_finding() {
    let desk = sound().await;
    desk.patch(CONSUMERS, COUNTS, &json!({"registrations": 2})).await;
    let found = async |now: &str| {
        let (store, mut found) = (desk.store(), Vec::new());
        let mut pass = store.check(None, time(now));
        while !pass.is_over() {
            found.extend(pass.step().await.unwrap());
        }
        found.len()
    };
    assert_eq!((found("2026-05-23T12:59:59.999Z").await, found("2026-05-23T13:00:00.000Z").await), (0, 1));
    desk.delete(CONSUMERS, COUNTS).await;
    assert_eq!(found("2026-05-23T13:00:00.000Z").await, 0, "on AWS Lambda nothing is counted");
}

//! Batches of functions and runs of `reconcile`: the stored form, and what may have been handed out by one that can't be
//! read.

use aws_sdk_dynamodb::types::AttributeValue;

use super::{
    super::super::{
        ids::WorkerId,
        keys::ProgressKey,
        state::{BatchFacts, By, EventFacts, FactSpan, HandedOut, Run},
    },
    shard::{EARLY, LATE, changed, digits, span},
    *,
};
use crate::domain::ids::EventId;

const PARTITION: &str = "CONSUMER#delivery#STREAM#arn:x";

fn function_in(item: &Item) -> Option<Timestamp> {
    match on_board(item) {
        Ok(OnBoard::Function(noted_at)) => Some(noted_at),
        _ => None,
    }
}

#[test]
fn the_stored_form_of_a_batch_is_pinned_and_read_back() {
    let span = FactSpan { from: at("2026-05-23T10:00:00.000Z"), through: at("2026-05-23T10:00:02.000Z") };
    let (first, now) = ("4421584500000000017450439091".parse().unwrap(), at("2026-05-23T10:00:03.000Z"));
    let (spring, autumn): (EventId, EventId) = ("spring".parse().unwrap(), "autumn".parse().unwrap());
    let of = |span, users: &[&str]| EventFacts {
        span,
        participants: users.iter().map(|user| LineUserId::stored(user).unwrap()).collect(),
    };
    let early = of(FactSpan { through: span.from, ..span }, &["U01"]);
    let facts = BatchFacts::from([(spring, of(span, &["U02", "U01"])), (autumn, early)]);
    let item = batch(PARTITION, &first, &facts, now);
    let of = |from: &str, through: &str, users: &[&str]| {
        AttributeValue::M(Item::from([
            ("span".to_owned(), text(format!("2026-05-23T{from}/2026-05-23T{through}"))),
            ("participants".to_owned(), AttributeValue::Ss(users.iter().map(ToString::to_string).collect())),
        ]))
    };
    let expected = Item::from([
        ("PK".to_owned(), text(PARTITION)),
        ("SK".to_owned(), text("BATCH#4421584500000000017450439091")),
        ("entityType".to_owned(), text("BATCH_PROGRESS")),
        ("uncoveredFrom".to_owned(), text("2026-05-23T10:00:00.000Z")),
        ("handedOutThrough".to_owned(), text("2026-05-23T10:00:02.000Z")),
        (
            "events".to_owned(),
            AttributeValue::M(Item::from([
                ("spring".to_owned(), of("10:00:00.000Z", "10:00:02.000Z", &["U01", "U02"])),
                ("autumn".to_owned(), of("10:00:00.000Z", "10:00:00.000Z", &["U01"])),
            ])),
        ),
        ("updatedAt".to_owned(), text("2026-05-23T10:00:03.000Z")),
    ]);
    assert_eq!(item, expected);
    assert_eq!(batch_facts(&item), Some(facts.clone()));
    let handed_out: Vec<HandedOut> = facts.into_iter().map(HandedOut::by_function).collect();
    assert_eq!(all_handed_out(&item), (handed_out, None));
    assert_eq!(function_in(&item), Some(now), "only a function has batches");
}

#[test]
fn a_batch_as_it_was_stored_without_events_is_of_any_event_and_participant() {
    let span = FactSpan { from: at("2026-05-23T10:00:00.000Z"), through: at("2026-05-23T10:00:02.000Z") };
    let item = Item::from([
        ("PK".to_owned(), text(PARTITION)),
        ("SK".to_owned(), text("BATCH#4421584500000000017450439091")),
        ("entityType".to_owned(), text("BATCH_PROGRESS")),
        ("uncoveredFrom".to_owned(), text("2026-05-23T10:00:00.000Z")),
        ("handedOutThrough".to_owned(), text("2026-05-23T10:00:02.000Z")),
        ("updatedAt".to_owned(), text("2026-05-23T10:00:03.000Z")),
    ]);
    assert_eq!(all_handed_out(&item), (vec![HandedOut { span, by: By::Stream }], None));
    assert_eq!(batch_facts(&item), None);
}

#[test]
fn a_function_is_pinned_and_read_back() {
    let now = at("2026-05-23T10:00:03.000Z");
    let item = function(PARTITION, now);
    let expected = Item::from([
        ("PK".to_owned(), text(PARTITION)),
        ("SK".to_owned(), text("FUNCTION")),
        ("entityType".to_owned(), text("FUNCTION_PROGRESS")),
        ("updatedAt".to_owned(), text("2026-05-23T10:00:03.000Z")),
    ]);
    assert_eq!(item, expected);
    assert_eq!(function_in(&item), Some(now));
}

#[test]
fn a_run_of_reconcile_is_pinned_and_read_as_it_is_written() {
    let span = FactSpan { from: at("2026-05-23T10:00:00.000Z"), through: at("2026-05-23T11:00:00.000Z") };
    let wanted = Run {
        id: WorkerId::from("r-1".to_owned()),
        event_id: "rally".parse().unwrap(),
        since: at("2026-05-25T09:00:00.000Z"),
    };
    let item = run("delivery", &wanted, span);
    let expected: Item = HashMap::from([
        ("PK".to_owned(), text("CONSUMER#delivery#RECONCILE")),
        ("SK".to_owned(), text("RUN#r-1")),
        ("entityType".to_owned(), text("RECONCILE_RUN")),
        ("runId".to_owned(), text("r-1")),
        ("eventId".to_owned(), text("rally")),
        ("uncoveredFrom".to_owned(), text("2026-05-23T10:00:00.000Z")),
        ("handedOutThrough".to_owned(), text("2026-05-23T11:00:00.000Z")),
        ("since".to_owned(), text("2026-05-25T09:00:00.000Z")),
    ]);
    assert_eq!(item, expected);
    assert_eq!(all_handed_out(&item), (vec![HandedOut { span, by: By::Run(wanted) }], None));
}

#[test]
fn a_batch_that_can_not_be_read_is_maybe_sent_up_to_when_it_was_written() {
    let mut batch =
        progress_key(ProgressKey::Batch { partition: "P", first: &"4421584500000000017450439091".parse().unwrap() });
    batch.extend(
        [("uncoveredFrom", EARLY), ("handedOutThrough", LATE), ("updatedAt", LATE)]
            .map(|(name, time)| (name.to_owned(), text(time))),
    );
    let handed_out = |item: &Item| all_handed_out(item);
    let (out, wrong) = handed_out(&changed(batch.clone(), "handedOutThrough", None));
    assert_eq!(wrong.unwrap().attribute, "handedOutThrough");
    assert_eq!(out, [HandedOut { span: span(EARLY, "2026-05-23T10:10:02.000Z"), by: By::Stream }]);
    let (out, wrong) = handed_out(&changed(batch.clone(), "events", Some(digits("1"))));
    assert_eq!(wrong.unwrap().attribute, "events");
    assert_eq!(out, [HandedOut { span: span(EARLY, LATE), by: By::Stream }]);
    let (out, _) = handed_out(&changed(changed(batch, "uncoveredFrom", Some(digits("1"))), "updatedAt", None));
    assert_eq!(out[0].span, FactSpan { from: Timestamp::EPOCH, through: at(LATE) });
}

#[test]
fn a_run_that_can_not_be_read_is_maybe_sent_for_its_own_event_alone_where_that_is_known() {
    let event_id: EventId = "rally".parse().unwrap();
    let wanted = Run { id: WorkerId::from("r-1".to_owned()), event_id: event_id.clone(), since: at(LATE) };
    let item = run("P", &wanted, span(EARLY, LATE));
    let (out, wrong) = all_handed_out(&changed(item.clone(), "since", Some(text("noon"))));
    assert_eq!(wrong.unwrap().attribute, "since");
    let by = By::Run(Run { since: Timestamp::EPOCH, ..wanted });
    assert_eq!(out, [HandedOut { span: span(EARLY, LATE), by }]);
    let (out, _) = all_handed_out(&changed(item, "eventId", Some(text("a#b"))));
    assert_eq!(out, [HandedOut { span: span(EARLY, LATE), by: By::Stream }]);
}

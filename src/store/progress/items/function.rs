//! The stored form of what a function is handed: batches, and that it runs.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::{
    ids::{EventId, LineUserId},
    time::Timestamp,
};
use crate::store::{
    fields::Fields,
    items::Unreadable,
    progress::{BatchFacts, EventFacts, FactSpan},
    stream::SequenceNumber,
};

use super::{Item, from_through, key, text};

/// The sort key of the item that says that a function is handed the records of a stream.
const FUNCTION: &str = "FUNCTION";

/// How the sort key of a batch begins.
pub(in crate::store::progress) const BATCH: &str = "BATCH#";

pub(in crate::store::progress) fn batch_key(first: &SequenceNumber) -> String {
    format!("{BATCH}{first}")
}

/// Whether an item with this sort key says that a function is handed the records of a stream.
pub(super) fn is_sign(sort: &str) -> bool {
    sort == FUNCTION || sort.starts_with(BATCH)
}

/// The item of a batch that is about to be handed out. The span of all events is for versions that know no other.
pub(in crate::store::progress) fn batch(
    partition: &str,
    first: &SequenceNumber,
    facts: &BatchFacts,
    now: Timestamp,
) -> Item {
    let mut item = key(partition, batch_key(first));
    item.extend([("entityType".to_owned(), text("BATCH_PROGRESS")), ("updatedAt".to_owned(), text(now.to_string()))]);
    if let Some(all) = facts.values().map(|facts| facts.span).reduce(FactSpan::and) {
        item.insert("uncoveredFrom".to_owned(), text(all.from.to_string()));
        item.insert("handedOutThrough".to_owned(), text(all.through.to_string()));
    }
    let events = facts.iter().map(|(event, facts)| (event.to_string(), AttributeValue::M(of_event(facts))));
    item.insert("events".to_owned(), AttributeValue::M(events.collect()));
    item
}

fn of_event(facts: &EventFacts) -> Item {
    let EventFacts { span, participants } = facts;
    let participants = participants.iter().map(|user| user.as_str().to_owned()).collect();
    HashMap::from([
        ("span".to_owned(), text(format!("{}/{}", span.from, span.through))),
        ("participants".to_owned(), AttributeValue::Ss(participants)),
    ])
}

/// What an item says of a batch, by event; `None` for any other item, and for a batch of a version that didn't note them.
pub(in crate::store::progress) fn batch_facts(item: &Item) -> Option<BatchFacts> {
    let events = item.get("events")?.as_m().ok()?;
    events
        .iter()
        .map(|(event, facts)| Some((event.parse::<EventId>().ok()?, event_facts(facts.as_m().ok()?)?)))
        .collect()
}

/// A batch names its events in a way that can be read, or not at all, as those of older versions.
pub(super) fn events_are_readable(item: &Item) -> Result<(), Unreadable> {
    match (item.contains_key("events"), batch_facts(item)) {
        (true, None) => Err(Fields::of(item).unreadable("events", "can't be read as spans and participants by event")),
        _ => Ok(()),
    }
}

fn event_facts(facts: &Item) -> Option<EventFacts> {
    let participants = facts.get("participants")?.as_ss().ok()?;
    let participants = participants.iter().map(|user| LineUserId::stored(user).ok()).collect::<Option<_>>()?;
    Some(EventFacts { span: from_through(facts.get("span")?)?, participants })
}

/// The item that says that a function is handed the records of a stream.
pub(in crate::store::progress) fn function(partition: &str, now: Timestamp) -> Item {
    let mut item = key(partition, FUNCTION.to_owned());
    item.extend([
        ("entityType".to_owned(), text("FUNCTION_PROGRESS")),
        ("updatedAt".to_owned(), text(now.to_string())),
    ]);
    item
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::progress::{
        By, HandedOut,
        items::{self, OnBoard},
    };

    const PARTITION: &str = "CONSUMER#delivery#STREAM#arn:x";

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn function_in(item: &Item) -> Option<Timestamp> {
        match items::on_board(item) {
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
        assert_eq!(items::all_handed_out(&item), (handed_out, None));
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
        assert_eq!(items::all_handed_out(&item), (vec![HandedOut { span, by: By::Stream }], None));
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
}

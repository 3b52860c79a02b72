//! What one process refused of an event's claims in one hour.

use crate::domain::{counts::Hour, ids::EventId, refusals::RefusalCounts};

use super::{
    super::{keys::ItemKey, unreadable::Unreadable},
    Fields, Item,
    attributes::Writer,
    fields::whole,
};

/// The `entityType`.
pub(super) const REFUSALS: &str = "REFUSALS";

/// Returns the item of these counts; `ttl` in Unix seconds.
pub(in super::super) fn refusals(
    key: &ItemKey,
    (event_id, hour): (&EventId, &Hour),
    counts: &RefusalCounts,
    ttl: i64,
) -> Item {
    let inner = counts.0.iter();
    let inner = inner.fold(Writer::map(), |map, (refused, count)| map.number(&refused.to_string(), *count));
    Writer::of(key, REFUSALS)
        .text("eventId", event_id)
        .text("hour", hour.as_str())
        .inner("counts", inner)
        .number("ttl", ttl)
        .done()
}

/// Reads one.
pub(in super::super) fn read_refusals(item: &Item) -> Result<(Hour, RefusalCounts), Unreadable> {
    let fields = Fields::of(item);
    let hour = Hour::stored(fields.text("hour")?);
    if hour.start().is_none() {
        return Err(fields.unreadable("hour", "is no hour"));
    }
    let counts = fields.map("counts")?.iter().map(|(refused, count)| {
        let count: u64 = whole(count)?;
        Some((refused.parse().ok()?, count))
    });
    let counts: Option<_> = counts.collect();
    let counts =
        counts.ok_or_else(|| fields.unreadable("counts", "is not a map of whole numbers by {stampId}#{reason}"))?;
    Ok((hour, RefusalCounts(counts)))
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::AttributeValue;

    use super::{super::text, *};
    use crate::store::ids::ProcessId;

    #[test]
    fn the_stored_form_is_pinned_and_read_back() {
        let (event_id, hour): (EventId, _) = ("rally".parse().unwrap(), Hour::stored("2026-05-23T19:00+09:00"));
        let process = ProcessId::from("p1".to_owned());
        let mut counts = RefusalCounts::default();
        counts.count("001#too_far".parse().unwrap());
        let key = ItemKey::Refusals { event_id: event_id.clone(), hour: hour.clone(), process };
        let item = refusals(&key, (&event_id, &hour), &counts, 1_782_000_000);
        let number = |number: &str| AttributeValue::N(number.to_owned());
        let expected = Item::from([
            ("PK".to_owned(), text("EVENT#rally#REFUSALS")),
            ("SK".to_owned(), text("2026-05-23T19:00+09:00#p1")),
            ("entityType".to_owned(), text("REFUSALS")),
            ("eventId".to_owned(), text("rally")),
            ("hour".to_owned(), text("2026-05-23T19:00+09:00")),
            ("counts".to_owned(), AttributeValue::M([("001#too_far".to_owned(), number("1"))].into())),
            ("ttl".to_owned(), number("1782000000")),
        ]);
        assert_eq!(item, expected);
        assert_eq!(read_refusals(&item).unwrap(), (hour, counts));
    }
}

//! What is counted of an event in an hour.

use std::collections::BTreeMap;

use crate::domain::{
    counts::{Counts, Hour},
    ids::StampId,
};

use super::{
    super::{
        keys::{self, Progress, ProgressKey},
        unreadable::Unreadable,
    },
    Fields, Item,
    attributes::Writer,
    fields::whole,
};

/// Returns the item that makes these the counts of an hour.
pub(in super::super) fn counts(key: ProgressKey<'_>, hour: &Hour, counts: &Counts) -> Item {
    let stamps = counts.stamps.iter();
    let stamps = stamps.fold(Writer::map(), |stamps, (stamp_id, count)| stamps.number(stamp_id.as_str(), *count));
    Writer::progress(Progress::Counts, key)
        .text("hour", hour.as_str())
        .number("registrations", counts.registrations)
        .number("completions", counts.completions)
        .inner("stamps", stamps)
        .done()
}

/// Reads the counts of an hour.
pub(in super::super) fn read_counts(item: &Item) -> Result<(Hour, Counts), Unreadable> {
    let fields = Fields::of(item);
    let hour = Hour::stored(fields.text("hour")?);
    if !keys::names_hour(fields.sk(), &hour) || hour.start().is_none() {
        return Err(fields.unreadable("hour", "is not the hour that its key names"));
    }
    let stamps = fields.map("stamps")?.iter().map(|(stamp_id, count)| Some((stamp_id.parse().ok()?, whole(count)?)));
    let stamps: Option<BTreeMap<StampId, i64>> = stamps.collect();
    let stamps = stamps.ok_or_else(|| fields.unreadable("stamps", "is not a map of whole numbers by stamp"))?;
    let (registrations, completions) = (fields.number("registrations")?, fields.number("completions")?);
    Ok((hour, Counts { completions, registrations, stamps }))
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::AttributeValue;

    use super::{super::text, *};
    use crate::domain::ids::EventId;

    fn empty(hour: &Hour) -> Item {
        let event_id: EventId = "rally".parse().unwrap();
        counts(ProgressKey::Correction { event_id: &event_id, hour }, hour, &Counts::default())
    }

    #[test]
    fn the_stored_form_is_pinned_and_read_back() {
        let (rally, hour): (EventId, _) = ("rally".parse().unwrap(), Hour::stored("2026-05-23T19:00+09:00"));
        let counts =
            Counts { registrations: 3, completions: -1, stamps: BTreeMap::from([("001".parse().unwrap(), 2)]) };
        let item = super::counts(ProgressKey::Correction { event_id: &rally, hour: &hour }, &hour, &counts);
        let number = |number: &str| AttributeValue::N(number.to_owned());
        let expected = Item::from([
            ("PK".to_owned(), text("COUNTS#rally")),
            ("SK".to_owned(), text("HOUR#2026-05-23T19:00+09:00#CORRECTION")),
            ("entityType".to_owned(), text("COUNTS")),
            ("hour".to_owned(), text("2026-05-23T19:00+09:00")),
            ("registrations".to_owned(), number("3")),
            ("completions".to_owned(), number("-1")),
            ("stamps".to_owned(), AttributeValue::M(Item::from([("001".to_owned(), number("2"))]))),
        ]);
        assert_eq!(item, expected);
        assert_eq!(read_counts(&item).unwrap(), (hour, counts));
    }

    #[test]
    fn an_item_that_lacks_something_is_named() {
        let hour = Hour::stored("2026-05-23T19:00+09:00");
        let whole = empty(&hour);
        for name in ["hour", "registrations", "completions", "stamps"] {
            let mut item = whole.clone();
            item.remove(name);
            let error = read_counts(&item).unwrap_err();
            let message = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            assert!(message.contains(name), "{message}");
            assert_eq!(error.attribute, name);
        }
    }

    #[test]
    fn an_item_whose_hour_is_not_that_of_its_key_is_not_believed() {
        let hour = Hour::stored("2026-05-23T19:00+09:00");
        let mut item = empty(&hour);
        item.insert("hour".to_owned(), text("2026-05-23T20:00+09:00"));
        assert_eq!(read_counts(&item).unwrap_err().attribute, "hour");
    }
}

//! How far `table backfill` came.

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::time::Timestamp;

use super::{
    super::{
        keys::{Progress, ProgressKey},
        unreadable::Unreadable,
    },
    Fields, Item,
    attributes::Writer,
};

/// What a backfill has come to, in items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Looked at, of any kind.
    pub looked_at: u64,
    /// Stamps that got their keys.
    pub filled: u64,
    /// Stamps that got them, or went away, between the look and the write.
    pub overtaken: u64,
    /// Stamps that are left as they are: they can't be read, or their event isn't there to say how its index is spread.
    /// The log names them.
    pub left: u64,
}

/// An earlier pass that was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted {
    /// What it had come to.
    pub counts: Counts,
    /// When that was written down.
    pub at: Timestamp,
}

/// Returns the item that says how far a pass came: after which item of the table, and to what.
pub(in super::super) fn progress(after: &Item, counts: Counts, now: Timestamp) -> Item {
    let after = serde_dynamo::Item::from(after.clone()).into_inner();
    Writer::progress(Progress::Backfill, ProgressKey::Backfill)
        .value("after", serde_dynamo::AttributeValue::M(after))
        .number("lookedAt", counts.looked_at)
        .number("filled", counts.filled)
        .number("overtaken", counts.overtaken)
        .number("left", counts.left)
        .text("updatedAt", now)
        .done()
}

/// Reads how far a pass came.
pub(in super::super) fn read_progress(item: &Item) -> Result<(Item, Interrupted), Unreadable> {
    let fields = Fields::of(item);
    let after = fields.map("after")?;
    let is_key = after.len() == 2 && ["PK", "SK"].iter().all(|name| after.get(*name).is_some_and(AttributeValue::is_s));
    if !is_key {
        return Err(fields.unreadable("after", "is not a key of the table"));
    }
    let counts = Counts {
        looked_at: fields.number("lookedAt")?,
        filled: fields.number("filled")?,
        overtaken: fields.number("overtaken")?,
        left: fields.number("left")?,
    };
    Ok((after.clone(), Interrupted { counts, at: fields.parsed("updatedAt")? }))
}

#[cfg(test)]
mod tests {
    use super::{
        super::{progress_key, text},
        *,
    };

    #[test]
    fn progress_is_read_as_it_is_written() {
        let after = Item::from([("PK".to_owned(), text("EVENT#r#USER#U1")), ("SK".to_owned(), text("STAMP#001"))]);
        let counts = Counts { looked_at: 4, filled: 3, overtaken: 2, left: 1 };
        let at: Timestamp = "2026-05-23T10:00:00.000Z".parse().unwrap();
        let item = progress(&after, counts, at);
        assert_eq!(item["PK"], text("BACKFILL#gsi2"));
        assert_eq!(read_progress(&item).unwrap(), (after, Interrupted { counts, at }));
        assert!(read_progress(&progress_key(ProgressKey::Backfill)).is_err());
    }
}

//! How many pushes of a channel's month are reserved.

use super::{super::unreadable::Unreadable, Fields, Item};

/// The attributes of a month of pushes.
pub(in super::super) const RESERVED: &str = "reserved";
/// The id of the last reservation, so that one whose answer got lost is known again.
pub(in super::super) const RESERVATION: &str = "reservation";

/// Reads how many pushes are reserved.
pub(in super::super) fn reserved(item: &Item) -> Result<u32, Unreadable> {
    let fields = Fields::of(item);
    fields.some_text(RESERVATION)?;
    fields.number(RESERVED)
}

/// Returns whether the last reservation is the one of this id.
pub(in super::super) fn is_reserved_by(item: &Item, id: &str) -> bool {
    Fields::of(item).some_text(RESERVATION).ok().flatten() == Some(id)
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::AttributeValue;

    use super::{super::text, *};

    fn stored(reserved: &str) -> Item {
        Item::from([
            ("PK".to_owned(), text("PUSHES#main")),
            ("SK".to_owned(), text("2026-05")),
            ("entityType".to_owned(), text("PUSHES")),
            ("reserved".to_owned(), AttributeValue::N(reserved.to_owned())),
            ("reservation".to_owned(), text("r-1")),
        ])
    }

    #[test]
    fn the_stored_form_is_read() {
        let item = stored("7");
        assert_eq!(reserved(&item), Ok(7));
        assert!(is_reserved_by(&item, "r-1") && !is_reserved_by(&item, "r-2"));
    }

    #[test]
    fn a_number_that_none_can_be_is_refused_by_name() {
        for bad in ["-1", "1.5", "4294967296"] {
            assert_eq!(reserved(&stored(bad)).unwrap_err().attribute, "reserved", "{bad}");
        }
        assert_eq!(reserved(&Item::new()).unwrap_err().attribute, "reserved");
    }
}

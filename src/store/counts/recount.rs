//! Counting the facts of an event anew.

use crate::domain::{
    counts::{Hour, Hours, Tick},
    event::Event,
    fact::{Completed, User, UserStamp},
    ids::EventId,
    notice::{NoticeId, NoticeKey},
    time::TimeZone,
};
use crate::store::{
    Store, StoreError,
    items::{self, Entity as _, Fields, Item, Stored},
    keys::ItemKey,
    paging::{Items as _, Pages},
};

/// What the facts of an event say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recount {
    /// By hour of the event's zone.
    pub hours: Hours,
    /// Items that may be facts of the event and can't be read; the consumer could not count them either.
    pub unreadable: usize,
}

impl Recount {
    fn count(&mut self, stored: Stored, event: &Event) {
        let Stored::Fact(fact) = stored else { return };
        if let Some(tick) = Tick::of(&fact).filter(|tick| tick.event_id == event.event_id) {
            self.hours.entry(Hour::of(tick.at, event.time_zone)).or_default().count(&tick);
        }
    }
}

impl Store {
    /// Returns the time zone that an event's item names, whatever else is wrong with the item: absent, Tokyo. `None`:
    /// there is no such item, or what it names is no time zone. 1 `GetItem`.
    #[tracing::instrument(name = "store.time_zone", level = "debug", skip_all)]
    pub async fn time_zone(&self, event_id: &EventId) -> Result<Option<TimeZone>, StoreError> {
        let get = self.client.get_item().table_name(&self.tables.main);
        let get = get.set_key(Some(items::primary_key(&ItemKey::Event(event_id.clone()))));
        // The name is one of DynamoDB's reserved words.
        let get = get.projection_expression("#zone").expression_attribute_names("#zone", "timeZone");
        Ok(get.send().await?.item.and_then(|item| items::time_zone(&item)))
    }

    /// Counts the facts of one event anew, by a consistent Scan of the whole table; reports after each page how many
    /// items were read.
    #[tracing::instrument(name = "store.count_facts", level = "debug", skip_all)]
    pub async fn count_facts(&self, event: &Event, mut read_so_far: impl FnMut(usize)) -> Result<Recount, StoreError> {
        let scan = self.client.scan().table_name(&self.tables.main).consistent_read(true);
        let (mut pages, mut recount, mut read) = (Pages::default(), Recount::default(), 0);
        while let Some(page) = pages.next(|after| scan.clone().set_exclusive_start_key(after).send()).await? {
            for item in page.found() {
                read += 1;
                let may_count = may_count(&item, &event.event_id);
                match items::decode(item) {
                    Ok(stored) => recount.count(stored, event),
                    Err(unreadable) => {
                        self.report(&unreadable);
                        recount.unreadable += usize::from(may_count);
                    }
                }
            }
            read_so_far(read);
        }
        Ok(recount)
    }
}

/// Returns whether an item is, as its key or else its attributes say, a fact that counts for an event, readable or not.
fn may_count(item: &Item, event_id: &EventId) -> bool {
    let fields = Fields::of(item);
    let by_key = match ItemKey::parse(fields.pk(), fields.sk()) {
        Some(
            ItemKey::Profile { event_id: found, .. }
            | ItemKey::Notice(NoticeId { event_id: found, key: NoticeKey::Completed | NoticeKey::Stamp(_), .. }),
        ) => found == *event_id,
        Some(_) | None => false,
    };
    let [entity_type, named] = ["entityType", "eventId"].map(|name| fields.some_text(name).ok().flatten());
    let is_counted = entity_type.is_some_and(|found| [User::TYPE, UserStamp::TYPE, Completed::TYPE].contains(&found));
    by_key || (is_counted && named == Some(event_id.as_str()))
}

//! One item of the main table by itself: its attributes, its key, its index keys.

use crate::domain::{
    event::{Event, IndexShards},
    fact::{Fact, User, UserStamp},
    ids::EventId,
    notice::{NoticeId, NoticeStatus},
    stamp::StampMaster,
};
use crate::store::{
    StoreError,
    items::{self, Fields, Item, Setting, Stored},
    keys::{self, Gsi1Key, ItemKey, Shard},
    unreadable::Unreadable,
};

use super::{
    Check,
    finding::{Fault, of_no_event},
};

/// What there is of a setting.
#[derive(Debug, Clone)]
pub(super) enum Settings<T> {
    Absent,
    Readable(Box<T>),
    Unreadable,
}

/// Returns whether an item is of an event: by its key, its `eventId`, or the index partition that lists it.
pub(super) fn is_of(event_id: &EventId, item: &Item) -> bool {
    let fields = Fields::of(item);
    let names = ["PK", "GSI1PK", "GSI2PK"];
    names.iter().any(|name| keys::is_of_event(fields.key(name), event_id)) || fields.key("eventId") == event_id.as_str()
}

/// Returns the event that an item is of, by its partition or else by its `eventId`.
pub(super) fn event_of(item: &Item) -> Option<EventId> {
    let fields = Fields::of(item);
    keys::event_part(fields.pk()).unwrap_or_else(|| fields.key("eventId")).parse().ok()
}

impl Check {
    /// Returns what is wrong with an item by itself.
    pub(super) async fn fault_of_item(&mut self, item: &Item) -> Result<Option<Fault>, StoreError> {
        let stored = match items::decode(item.clone()) {
            Ok(stored) => stored,
            Err(unreadable) => return Ok(Some(fault_of_unreadable(unreadable))),
        };
        Ok(match &stored {
            Stored::Event(event) => setting_listed(item, event, &format!("/admin/api/events/{}", event.event_id)),
            Stored::Fact(fact) => self.fault_of_fact(item, fact).await?,
            Stored::Friendship(_) | Stored::Pace(_) => unlisted(item),
            Stored::Other(_) => foreign(item),
            Stored::Staff(staff) => match self.event(&staff.event_id).await? {
                Settings::Absent => Some(of_no_event(&staff.event_id)),
                Settings::Readable(_) | Settings::Unreadable => unlisted(item),
            },
            Stored::StampMaster(master) => match self.event(&master.event_id).await? {
                Settings::Absent => Some(of_no_event(&master.event_id)),
                Settings::Readable(_) | Settings::Unreadable => {
                    let StampMaster { event_id, stamp_id, .. } = master;
                    setting_listed(item, master, &format!("/admin/api/events/{event_id}/stamps/{stamp_id}"))
                }
            },
        })
    }

    async fn fault_of_fact(&mut self, item: &Item, fact: &Fact) -> Result<Option<Fault>, StoreError> {
        let event = match self.event(fact.event_id()).await? {
            Settings::Absent => return Ok(Some(of_no_event(fact.event_id()))),
            Settings::Readable(event) => Some(event),
            Settings::Unreadable => None,
        };
        if let Some(event) = &event {
            self.tally.fact(fact, event);
        }
        let listed = match fact {
            Fact::User(user) => return Ok(user_listed(item, user, event.as_deref())),
            Fact::UserStamp(stamp) => self.holder_listed(item, stamp, event.as_deref()),
            Fact::Completed(_) | Fact::Resend(_) | Fact::ResendCompleted(_) => None,
        };
        let marks = fact.notice().and_then(|(key, status)| {
            let (event_id, line_user_id) = (fact.event_id().clone(), fact.line_user_id().clone());
            marks(item, NoticeId { event_id, line_user_id, key }, status)
        });
        Ok(marks.or(listed))
    }

    /// Judges the place of a stamp in its list. A stamp may lack both keys, as the source article's do.
    fn holder_listed(&mut self, item: &Item, stamp: &UserStamp, event: Option<&Event>) -> Option<Fault> {
        if !item.contains_key("GSI2PK") && !item.contains_key("GSI2SK") {
            self.looked.without_keys += 1;
            return None;
        }
        let shards = possible(event, |shards| Shard::of(&stamp.line_user_id, shards));
        let wanted = shards.into_iter().map(|shard| items::holder_key(stamp, shard)).map(|key| [key.pk(), key.sk()]);
        listed_as(item, ["GSI2PK", "GSI2SK"], &wanted.collect::<Vec<_>>())
    }
}

/// The partitions that a participant's entry may be in: of the event's present or earlier number of them, or of any.
fn possible(event: Option<&Event>, of: impl Fn(IndexShards) -> Shard) -> Vec<Shard> {
    match event {
        Some(event) => event.all_index_shards().map(of).collect(),
        None => Shard::possible().collect(),
    }
}

/// Judges the place of a setting in its list: it is listed again by any write of it.
fn setting_listed(item: &Item, setting: &impl Setting, path: &str) -> Option<Fault> {
    let remedy =
        format!("`PUT {path}` with the body `{{}}`, or `event apply` of a file that names it: it is listed again");
    gsi1(item, &setting.listed()).map(|fault| Fault { remedy, ..fault })
}

fn user_listed(item: &Item, user: &User, event: Option<&Event>) -> Option<Fault> {
    let shards = possible(event, |shards| Shard::of(&user.line_user_id, shards));
    let wanted = shards.into_iter().map(|shard| items::user_key(user, shard)).map(|key| [key.pk(), key.sk()]);
    listed_as(item, ["GSI1PK", "GSI1SK"], &wanted.collect::<Vec<_>>())
}

fn gsi1(item: &Item, key: &Gsi1Key) -> Option<Fault> {
    listed_as(item, ["GSI1PK", "GSI1SK"], &[[key.pk(), key.sk()]])
}

/// Its index keys must be one of these pairs, the first one if it is written now.
fn listed_as(item: &Item, names: [&str; 2], wanted: &[[String; 2]]) -> Option<Fault> {
    let found = names.map(|name| Fields::of(item).key(name));
    if wanted.iter().any(|pair| pair.each_ref().map(String::as_str) == found) {
        return None;
    }
    let [[pk, sk], ..] = wanted else { return None };
    let wrong = names.iter().zip(found).zip([pk, sk]).find(|((_, found), wanted)| found != wanted);
    let (name, problem) = match wrong {
        Some(((name, ""), _)) => (*name, "is missing, so that a list doesn't show it".to_owned()),
        Some(((name, found), _)) => (*name, format!("is `{found}`, which its other attributes contradict")),
        None => (names[0], "contradicts its other attributes".to_owned()),
    };
    Some(Fault::new(name, problem, format!("set {} to `{pk}` and {} to `{sk}`", names[0], names[1])))
}

/// Judges the delivery's marks on a fact, beside each other and beside its place among parked notices.
fn marks(item: &Item, notice: NoticeId, status: &NoticeStatus) -> Option<Fault> {
    if let NoticeStatus::Parked(parked) = status {
        return gsi1(item, &Gsi1Key::Parked { notice, state: parked.state, since: parked.since });
    }
    let leftover = ["noticeState", "GSI1PK", "GSI1SK"].into_iter().find(|name| item.contains_key(*name));
    if let Some(name) = leftover {
        let problem = match status {
            NoticeStatus::Sent { .. } => "is there although the notice was sent",
            NoticeStatus::None | NoticeStatus::Parked(_) | NoticeStatus::Pending { .. } => {
                "is there although the notice is not parked"
            }
        };
        return Some(Fault::new(name, problem, "remove noticeState, noticeSince, noticeReason, GSI1PK and GSI1SK"));
    }
    let sent_at = item.contains_key("flexMessageSentAt") && !status.is_sent();
    sent_at.then(|| {
        Fault::new(
            "flexMessageSentAt",
            "is there although flexMessageSent is not true",
            "look at `deliveries show EVENT USER`: remove flexMessageSentAt if the message was not sent, or set \
             flexMessageSent to true if it was",
        )
    })
}

/// Judges an item that no index of ours lists.
fn unlisted(item: &Item) -> Option<Fault> {
    foreign(item).or_else(|| {
        let name = ["GSI1PK", "GSI2PK"].into_iter().find(|name| item.contains_key(*name))?;
        Some(Fault::new(name, "is there, and no list has such items", format!("remove {name} and its sort key")))
    })
}

/// Another program's item may have index keys, but not among ours.
fn foreign(item: &Item) -> Option<Fault> {
    let name = ["GSI1PK", "GSI2PK"].into_iter().find(|name| keys::is_listed_partition(Fields::of(item).key(name)))?;
    let problem =
        format!("is `{}`, a list that the item doesn't belong to: it is passed over there", Fields::of(item).key(name));
    Some(Fault::new(name, problem, format!("remove {name} and its sort key, or give them values of the item's own")))
}

fn fault_of_unreadable(unreadable: Unreadable) -> Fault {
    let remedy = remedy(&unreadable);
    Fault { attribute: unreadable.attribute, problem: unreadable.problem, remedy }
}

/// Returns what to do about an item that can't be read.
fn remedy(unreadable: &Unreadable) -> String {
    let Unreadable { pk, sk, attribute, .. } = unreadable;
    let setting = "what can be read keeps its value, what can't must be given";
    match ItemKey::parse(pk, sk) {
        _ if attribute == "PK" || attribute == "SK" => {
            "it lies under another item's key: write what it holds under the key that its attributes name, if that is \
             missing there, and delete this item"
                .to_owned()
        }
        None => "it has none of this program's keys: delete it, or give it an `entityType` of its own".to_owned(),
        Some(_) if attribute == "entityType" => {
            "give it the `entityType` that its key promises (and what else that one has), or delete it".to_owned()
        }
        Some(ItemKey::Event(event_id)) => {
            format!("`PUT /admin/api/events/{event_id}`, or `event apply`: {setting}")
        }
        Some(ItemKey::Master { event_id, stamp_id }) => {
            format!("`PUT /admin/api/events/{event_id}/stamps/{stamp_id}`, or `event apply`: {setting}")
        }
        Some(ItemKey::Notice(_)) => {
            format!(
                "set {attribute} right in the table; until then the participant's notices are held, and go out then"
            )
        }
        Some(ItemKey::Profile { .. }) => {
            format!("set {attribute} right in the table; the participant's card answers then")
        }
        Some(ItemKey::Pace { .. } | ItemKey::Refusals { .. } | ItemKey::Tries { .. }) => {
            "delete the item: the next claim writes another".to_owned()
        }
        Some(ItemKey::Staff { .. }) => {
            format!(
                "set {attribute} right in the table, or delete the item and make another with `staff new`; until then its \
                 token is refused"
            )
        }
        Some(ItemKey::Friendship { .. }) => {
            format!(
                "set {attribute} right in the table, or delete the item: the next follow or unfollow writes another"
            )
        }
    }
}

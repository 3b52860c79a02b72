//! The facts of one participant, beside each other and beside the event's stamps.

use std::collections::HashSet;

use crate::domain::{fact::Fact, notice::NoticeKey};
use crate::store::{
    StoreError,
    items::{self, Fields, Item, Stored},
    keys::{self, PROFILE},
    paging,
};

use super::{Check, Finding, finding::Fault};

impl Check {
    /// Judges the items of one participant, and begins with the next one's. Where one seems to be missing, all are read
    /// again first: it may have been written meanwhile.
    pub(super) async fn judge_group(&mut self, findings: &mut Vec<Finding>) -> Result<(), StoreError> {
        let mut items = std::mem::take(&mut self.group);
        let Some(pk) = items.first().map(|first| Fields::of(first).pk().to_owned()) else { return Ok(()) };
        if items.iter().any(|item| lacks(item, &items).is_some()) {
            let query = self.store.partition(&self.store.tables.main, &pk);
            items = paging::all(|after| query.clone().set_exclusive_start_key(after).send()).await?;
        }
        for item in &items {
            let fault = match self.fault_of_item(item).await? {
                None => self.fault_beside(item, &items).await?,
                fault => fault,
            };
            findings.extend(fault.map(|fault| self.finding(fault, item)));
        }
        Ok(())
    }

    async fn fault_beside(&mut self, item: &Item, all: &[Item]) -> Result<Option<Fault>, StoreError> {
        if let Some(fault) = lacks(item, all) {
            return Ok(Some(fault));
        }
        let Some(Fact::UserStamp(stamp)) = fact(item) else { return Ok(None) };
        let has_master = self.has_master(&stamp.event_id, &stamp.stamp_id).await?;
        Ok((!has_master).then(|| {
            Fault::new(
                "stampId",
                format!("is {}, and the event has no such stamp", stamp.stamp_id),
                "bring the stamp back (`event apply` with its `[[stamps]]`; `isActive = false` if it shall not be acquired \
                 any more)",
            )
        }))
    }
}

fn fact(item: &Item) -> Option<Fact> {
    match items::decode(item.clone()) {
        Ok(Stored::Fact(fact)) => Some(fact),
        Ok(_) | Err(_) => None,
    }
}

/// Returns what a fact presupposes and its participant hasn't, not even unreadable.
fn lacks(item: &Item, all: &[Item]) -> Option<Fault> {
    let fact = fact(item)?;
    let there: HashSet<&str> = all.iter().map(|item| Fields::of(item).sk()).collect();
    let (event_id, is_registered) = (fact.event_id(), there.contains(PROFILE));
    let needed = match &fact {
        Fact::User(_) => return None,
        _ if !is_registered => {
            return Some(Fault::new(
                "lineUserId",
                "is of a participant who isn't registered: there is no `PROFILE` beside it",
                format!(
                    "it is registered by the participant's next `PUT /api/events/{event_id}/me` or next stamp; delete \
                     the item if no participant is meant"
                ),
            ));
        }
        Fact::Completed(completed) => ("byStampId", &completed.by_stamp_id),
        Fact::Resend(resend) => ("stampId", &resend.stamp_id),
        Fact::ResendCompleted(_) => return lacks_full_card(&there),
        Fact::UserStamp(_) => return None,
    };
    let (attribute, stamp_id) = needed;
    let sk = keys::notice_sk(&NoticeKey::Stamp(stamp_id.clone()));
    (!there.contains(&*sk)).then(|| {
        Fault::new(
            attribute,
            format!("is {stamp_id}, a stamp that the participant doesn't have"),
            format!("bring back the stamp's item (`{sk}`) from a backup, or delete this one"),
        )
    })
}

/// Judges a resend of a full card's notice.
fn lacks_full_card(there: &HashSet<&str>) -> Option<Fault> {
    let sk = keys::notice_sk(&NoticeKey::Completed);
    (!there.contains(&*sk)).then(|| {
        Fault::new(
            "SK",
            "is a resend of a full card's notice, and the participant has no full card",
            format!("bring back the item `{sk}` from a backup, or delete this one"),
        )
    })
}

//! The delivery's bookkeeping on an item: `flexMessage…`, `notice…`, and the index keys of a special state.
//!
//! | attributes | means |
//! | --- | --- |
//! | no `flexMessageSent` | [`NoticeStatus::None`]: no notice is called for, and none is sent |
//! | `flexMessageSent` true | [`NoticeStatus::Sent`], whatever else is there |
//! | `noticeState` | [`NoticeStatus::Parked`] |
//! | else | [`NoticeStatus::Pending`] |

use crate::domain::notice::{NoticeStatus, Parked, ParkedState, PushRefused, Via};

use super::{
    super::{
        keys::{Gsi1Key, ItemKey},
        unreadable::Unreadable,
    },
    Item,
    attributes::{Attributes, Writer},
};

pub(super) fn read(item: &mut Attributes) -> Result<NoticeStatus, Unreadable> {
    match item.flag("flexMessageSent")? {
        None => Ok(NoticeStatus::None),
        Some(true) => sent(item),
        Some(false) => unsent(item),
    }
}

fn sent(item: &mut Attributes) -> Result<NoticeStatus, Unreadable> {
    let via: Option<String> = item.optional("noticeVia")?;
    let via: Option<Via> =
        via.map(|via| via.parse()).transpose().map_err(|_| item.unreadable("noticeVia", "is not a way we know"))?;
    let (at, request_id) = (item.optional("flexMessageSentAt")?, item.optional("flexMessageRequestId")?);
    Ok(NoticeStatus::Sent { at, request_id, via })
}

fn unsent(item: &mut Attributes) -> Result<NoticeStatus, Unreadable> {
    let maybe_sent_at = item.optional("noticeTriedAt")?;
    let state: Option<String> = item.optional("noticeState")?;
    let Some(state) = state else { return Ok(NoticeStatus::Pending { maybe_sent_at }) };
    let state: ParkedState = state.parse().map_err(|_| item.unreadable("noticeState", "is not a state we know"))?;
    Ok(NoticeStatus::Parked(Parked {
        state,
        since: item.required("noticeSince")?,
        reason: item.optional("noticeReason")?,
        maybe_sent_at,
        error: item.map("flexMessageError")?.as_mut().map(read_refusal).transpose()?,
    }))
}

fn read_refusal(item: &mut Attributes) -> Result<PushRefused, Unreadable> {
    let status: i64 = item.number("status")?.ok_or_else(|| item.missing("flexMessageError.status"))?;
    Ok(PushRefused {
        status: u16::try_from(status).map_err(|_| item.unreadable("flexMessageError.status", "is out of range"))?,
        message: item.required("message")?,
        at: item.required("at")?,
    })
}

/// Returns whether an item's notice waits: unsent and not parked.
pub(in super::super) fn is_waiting(item: &Item) -> bool {
    let is_unsent = item.get("flexMessageSent").and_then(|sent| sent.as_bool().ok()) == Some(&false);
    is_unsent && !item.contains_key("noticeState")
}

pub(in super::super) fn refusal(refused: &PushRefused) -> aws_sdk_dynamodb::types::AttributeValue {
    aws_sdk_dynamodb::types::AttributeValue::M(refusal_map(refused).done())
}

fn refusal_map(refused: &PushRefused) -> Writer {
    Writer::map().number("status", refused.status).text("message", &refused.message).text("at", refused.at)
}

impl Writer {
    /// Writes the status of the notice that the item at `key` calls for.
    pub(super) fn notice(self, key: &ItemKey, status: &NoticeStatus) -> Self {
        match status {
            NoticeStatus::None => self,
            NoticeStatus::Sent { at, request_id, via } => self
                .flag("flexMessageSent", true)
                .some("flexMessageSentAt", *at, Self::text)
                .some("flexMessageRequestId", request_id.as_ref(), Self::text)
                .some("noticeVia", *via, Self::text),
            NoticeStatus::Pending { maybe_sent_at } => {
                self.flag("flexMessageSent", false).some("noticeTriedAt", *maybe_sent_at, Self::text)
            }
            NoticeStatus::Parked(parked) => self.parked(key, parked),
        }
    }

    fn parked(self, key: &ItemKey, parked: &Parked) -> Self {
        let item = self
            .flag("flexMessageSent", false)
            .text("noticeState", parked.state)
            .text("noticeSince", parked.since)
            .some("noticeReason", parked.reason.as_ref(), Self::text)
            .some("noticeTriedAt", parked.maybe_sent_at, Self::text)
            .some("flexMessageError", parked.error.as_ref(), |item, name, error| item.inner(name, refusal_map(error)));
        match key {
            ItemKey::Notice(notice) => {
                item.gsi1(&Gsi1Key::Parked { notice: notice.clone(), state: parked.state, since: parked.since })
            }
            _ => item,
        }
    }
}

//! What participants are shown.

use serde::Serialize;

use crate::domain::{
    card::StampCard,
    fact::{Acquisition, User},
    ids::{EventId, LineUserId, StampId},
    notice::NoticeStatus,
    proof::Proofs,
    schedule::AllHours,
    stamp::StampMaster,
    time::Timestamp,
};

/// A stamp card.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CardView<'a> {
    event_id: &'a str,
    line_user_id: &'a str,
    /// When they registered; missing only to organisers, of a participant who has facts and no registration.
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<Timestamp>,
    stamps: Vec<StampView<'a>>,
    acquired_count: usize,
    total_count: usize,
    completed: bool,
}

impl<'a> CardView<'a> {
    /// Shows the card of a registered participant.
    pub fn of(user: &'a User, card: &'a StampCard<'a>) -> Self {
        Self::seen_by_organiser(&user.event_id, &user.line_user_id, Some(user), card)
    }

    /// Shows the card of any participant with facts.
    pub fn seen_by_organiser(
        event_id: &'a EventId,
        line_user_id: &'a LineUserId,
        user: Option<&User>,
        card: &'a StampCard<'a>,
    ) -> Self {
        Self {
            event_id: event_id.as_str(),
            line_user_id: line_user_id.as_str(),
            created_at: user.map(|user| user.created_at),
            stamps: card.stamps.iter().map(|stamp| StampView::of(stamp.master, stamp.acquired)).collect(),
            acquired_count: card.acquired_count,
            total_count: card.total_count,
            completed: card.completed,
        }
    }
}

/// The last place on a card.
const LAST_PLACE: u16 = 999;

/// One stamp of a card.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StampView<'a> {
    stamp_id: &'a str,
    name: &'a str,
    order: u16,
    acquired: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    acquired_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flex_message_sent: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flex_message_sent_at: Option<Timestamp>,
}

impl<'a> StampView<'a> {
    /// Shows a stamp, and its acquisition if it happened.
    pub fn of(master: &'a StampMaster, acquisition: Acquisition<'_>) -> Self {
        Self::showing(&master.stamp_id, master.name.as_str(), master.order.number(), acquisition)
    }

    fn showing(stamp_id: &'a StampId, name: &'a str, order: u16, acquisition: Acquisition<'_>) -> Self {
        let acquired = acquisition.stamp();
        let sent_at = acquired.and_then(|stamp| match stamp.notice {
            NoticeStatus::Sent { at, .. } => at,
            NoticeStatus::None | NoticeStatus::Parked(_) | NoticeStatus::Pending { .. } => None,
        });
        Self {
            stamp_id: stamp_id.as_str(),
            name,
            order,
            acquired: acquisition != Acquisition::None,
            acquired_at: acquired.map(|stamp| stamp.acquired_at),
            flex_message_sent: acquired.map(|stamp| stamp.notice.is_sent()),
            flex_message_sent_at: sent_at,
        }
    }

    /// Shows an acquired stamp of which nothing but its id can be read: that is its name, and its place is the last.
    pub fn without_master(stamp_id: &'a StampId, acquisition: Acquisition<'_>) -> Self {
        Self::showing(stamp_id, stamp_id.as_str(), LAST_PLACE, acquisition)
    }
}

/// The stamps of an event, for callers without a token.
#[derive(Debug, Serialize)]
pub struct PublicStampsView<'a> {
    pub stamps: Vec<PublicStampView<'a>>,
}

/// One stamp, without its message; what its rules leave open isn't there.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PublicStampView<'a> {
    stamp_id: &'a str,
    name: &'a str,
    order: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    proofs: Option<&'a Proofs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    available_from: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    available_until: Option<Timestamp>,
    #[serde(skip_serializing_if = "AllHours::is_empty")]
    hours: &'a AllHours,
    #[serde(skip_serializing_if = "<[StampId]>::is_empty")]
    after: &'a [StampId],
}

impl<'a> PublicStampView<'a> {
    pub fn of(master: &'a StampMaster) -> Self {
        let rules = &master.rules;
        Self {
            stamp_id: master.stamp_id.as_str(),
            name: master.name.as_str(),
            order: master.order.number(),
            proofs: Some(&rules.proofs).filter(|proofs| **proofs != Proofs::default()),
            available_from: rules.schedule.available.from,
            available_until: rules.schedule.available.until,
            hours: &rules.schedule.hours,
            after: rules.after.ids(),
        }
    }
}

/// A participant's code, for staff to scan.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PersonCodeView {
    pub code: String,
    /// When its step ends; staff may be slower by another step.
    pub expires_at: Timestamp,
}
